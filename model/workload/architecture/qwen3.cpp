// SPDX-License-Identifier: Apache-2.0
// Qwen2 and 2.5 (biases on q, k and v), Qwen3 (queries and keys are normalized head by head) and
// Qwen3-MoE. With use_sliding_window, layers from max_window_layers on slide (transformers,
// Qwen3Config; defaults 4096, 28 and head_dim 128). Of Qwen3-MoE, layers named in mlp_only_layers
// and those that decoder_sparse_step passes over have the dense MLP.
#include <algorithm>

#include "model/input/table_reader.hpp"
#include "model/workload/architecture/dense.hpp"
#include "model/workload/architecture/family.hpp"

namespace floorline {

namespace {

constexpr std::int64_t kDefaultHeadDim = 128;

/// mlp_only_layers: indices of layers.
std::vector<bool> read_dense_layers(TableReader& config, std::int64_t layer_count) {
  constexpr const char* kKey = "mlp_only_layers";
  std::vector<bool> dense(static_cast<std::size_t>(layer_count), false);
  const Node* list = config.node(kKey);
  if (list == nullptr || list->kind == Node::Kind::null) return dense;
  for (const Node& item : list->items) {
    if (item.kind == Node::Kind::integer && item.integer >= 0 && item.integer < layer_count) {
      dense[static_cast<std::size_t>(item.integer)] = true;
    } else {
      config.error(kKey, "has an entry that is no layer; expected numbers from 0 to " +
                             std::to_string(layer_count - 1));
      break;
    }
  }
  return dense;
}

}  // namespace

Architecture read_qwen2(TableReader& config) {
  DenseConfig dense = read_dense(config, {.family = "qwen2", .bias = AttentionBias::qkv});
  const std::vector<std::int64_t> windows = read_qwen_windows(config, dense);
  return finish_dense(std::move(dense), windows);
}

Architecture read_qwen3(TableReader& config) {
  DenseConfig dense =
      read_dense(config, {.family = "qwen3", .qk_norm = QkNorm::head, .head_dim = kDefaultHeadDim});
  const std::vector<std::int64_t> windows = read_qwen_windows(config, dense);
  return finish_dense(std::move(dense), windows);
}

Architecture read_qwen3_moe(TableReader& config) {
  DenseConfig dense = read_dense(
      config, {.family = "qwen3_moe", .qk_norm = QkNorm::head, .head_dim = kDefaultHeadDim});
  LayerGroup moe = dense.layer;
  moe.name = "moe";
  moe.feed_forward = FeedForward::experts;
  moe.experts = read_experts(config, "num_experts", "num_experts_per_tok", "moe_intermediate_size");
  LayerGroup mlp = dense.layer;
  mlp.name = "dense";
  const std::int64_t step = read_size_or(config, "decoder_sparse_step", kMostLayers, 1);
  const std::vector<bool> only = read_dense_layers(config, dense.layer_count);
  const std::vector<std::int64_t> windows = read_qwen_windows(config, dense);
  if (std::any_of(windows.begin(), windows.end(), [](std::int64_t w) { return w > 0; })) {
    config.error("use_sliding_window", "is not understood yet beside experts; expected false");
  }
  pass_over(config, {"norm_topk_prob", "output_router_logits", "router_aux_loss_coef"});
  std::vector<int> order;
  for (std::int64_t i = 0; i < dense.layer_count; ++i) {
    const bool sparse = !only[static_cast<std::size_t>(i)] && step > 0 && (i + 1) % step == 0;
    order.push_back(sparse ? 1 : 0);
  }
  return finish_layers(std::move(dense), {mlp, moe}, order);
}

}  // namespace floorline
