// SPDX-License-Identifier: Apache-2.0
// Gemma 2 and 3, text models (transformers, Gemma2Config and Gemma3TextConfig). What attention and
// MLP give is normalized before it is added; the embedding is lm_head. Gemma 2: layers slide by
// turns, from the first on. Gemma 3: each sixth layer (sliding_window_pattern) sees all, the others
// slide; queries and keys are normalized head by head. Soft-capping of logits changes no size and
// is not counted as work.
#include "model/input/table_reader.hpp"
#include "model/workload/architecture/dense.hpp"
#include "model/workload/architecture/family.hpp"

namespace floorline {

namespace {

DenseConfig read_gemma(TableReader& config, const char* family, QkNorm qk_norm) {
  constexpr std::int64_t kHeadDim = 256;
  DenseConfig dense = read_dense(config, {.family = family,
                                          .qk_norm = qk_norm,
                                          .head_dim = kHeadDim,
                                          .tied = true,
                                          .activation_key = "hidden_activation",
                                          .activation = Activation::gelu});
  dense.layer.sandwich_norms = true;
  pass_over(config, {"hidden_act", "attn_logit_softcapping", "final_logit_softcapping",
                     "query_pre_attn_scalar", "rope_local_base_freq", "cache_implementation"});
  expect_flag(config, "use_bidirectional_attention", false);
  return dense;
}

/// Each `pattern`-th layer sees all, unless layer_types says otherwise.
Architecture finish_gemma(TableReader& config, DenseConfig dense, std::int64_t pattern) {
  constexpr std::int64_t kDefaultWindow = 4096;
  const std::int64_t window = read_window(config, kDefaultWindow, dense.architecture);
  std::vector<std::int64_t> windows = same_window(dense, window);
  for (std::size_t i = 0; i < windows.size(); ++i) {
    if (pattern > 0 && (static_cast<std::int64_t>(i) + 1) % pattern == 0) windows[i] = 0;
  }
  const auto stated = read_layer_types(config, dense.layer_count, window);
  return finish_dense(std::move(dense), stated ? *stated : windows);
}

}  // namespace

Architecture read_gemma2(TableReader& config) {
  return finish_gemma(config, read_gemma(config, "gemma2", QkNorm::none), 2);
}

Architecture read_gemma3_text(TableReader& config) {
  constexpr std::int64_t kFullEvery = 6;
  DenseConfig dense = read_gemma(config, "gemma3_text", QkNorm::head);
  const std::int64_t pattern =
      read_size_or(config, "sliding_window_pattern", kMostLayers, kFullEvery);
  return finish_gemma(config, std::move(dense), pattern);
}

}  // namespace floorline
