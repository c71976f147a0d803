// SPDX-License-Identifier: Apache-2.0
// Gemma 4, text models with experts (google/gemma-4-26B-A4B). Sliding layers have head_dim and
// num_key_value_heads, full ones global_head_dim and num_global_key_value_heads, and with
// attention_k_eq_v no v_proj: values are the keys' projection, normalized. A dense MLP and the
// routed experts see the same tokens and are added. The matrices give the published 25.2 billion
// parameters, 3.8 active; the vectors (norms of either path, scales of router and layer) are as
// transformers' Gemma4TextDecoderLayer is known to have them, and are no operators of the graph.
#include "model/input/table_reader.hpp"
#include "model/workload/architecture/dense.hpp"
#include "model/workload/architecture/family.hpp"

namespace floorline {

namespace {

/// Sizes that would add what is not described here must be 0.
void expect_none(TableReader& config, const char* key) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40U;
  if (read_size_or(config, key, kMost, 0) != 0) {
    config.error(key, "is not understood yet; expected 0");
  }
}

/// rope_parameters.full_attention.partial_rotary_factor
std::int64_t full_rotary(TableReader& config, std::int64_t head_dim) {
  const Node* rope = config.node("rope_parameters");
  if (rope == nullptr) return 0;
  const Node* full = rope->find("full_attention");
  const Node* part = full == nullptr ? nullptr : full->find("partial_rotary_factor");
  const bool given = part != nullptr && part->is_number() && part->real > 0 && part->real < 1;
  return given ? static_cast<std::int64_t>(static_cast<double>(head_dim) * part->real) : 0;
}

}  // namespace

Architecture read_gemma4_text(TableReader& config) {
  constexpr std::int64_t kHeadDim = 256;
  DenseConfig dense = read_dense(config, {.family = "gemma4_text",
                                          .qk_norm = QkNorm::head,
                                          .head_dim = kHeadDim,
                                          .tied = true,
                                          .activation_key = "hidden_activation",
                                          .activation = Activation::gelu});
  LayerGroup& layer = dense.layer;
  layer.sandwich_norms = true;
  if (config.flag("enable_moe_block").value_or(false)) {
    layer.feed_forward = FeedForward::dense_and_experts;
    layer.experts = read_experts(config, "num_experts", "top_k_experts", "moe_intermediate_size");
    layer.experts.activation = Activation::gelu;
  }
  for (const char* key : {"hidden_size_per_layer_input", "num_kv_shared_layers"}) {
    expect_none(config, key);
  }
  expect_flag(config, "use_double_wide_mlp", false);
  pass_over(config,
            {"final_logit_softcapping", "use_bidirectional_attention", "vocab_size_per_layer_input",
             "num_experts", "top_k_experts", "moe_intermediate_size"});
  LayerGroup sliding = layer;
  sliding.name = "sliding";
  sliding.attention.window = read_size(config, "sliding_window", kMostPositions);
  LayerGroup full = layer;
  full.name = "full";
  AttentionShape& a = full.attention;
  a.head_dim = a.v_dim = read_size_or(config, "global_head_dim", kMostHeadDim, a.head_dim);
  a.k_is_v = config.flag("attention_k_eq_v").value_or(false);
  const std::int64_t global =
      read_size_or(config, "num_global_key_value_heads", kMostHeads, a.kv_heads);
  if (a.k_is_v) a.kv_heads = global;
  a.rotary_dim = full_rotary(config, a.head_dim);
  const auto types =
      read_layer_names(config, dense.layer_count, {"sliding_attention", "full_attention"});
  std::vector<int> order;
  if (!types) config.required_node("layer_types", "the type of each layer");
  for (std::size_t i = 0; types && i < types->size(); ++i) {
    order.push_back((*types)[i] == "full_attention" ? 1 : 0);
  }
  return finish_layers(std::move(dense), {sliding, full}, order);
}

}  // namespace floorline
