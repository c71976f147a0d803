// SPDX-License-Identifier: Apache-2.0
// Qwen3.5, dense and with experts, text models (transformers, Qwen3_5TextConfig and, for the layer
// of linear attention, Qwen3NextGatedDeltaNet). layer_types alternates linear_attention, a gated
// delta net, and full_attention, whose result is multiplied by a gate that q_proj makes.
#include "model/input/table_reader.hpp"
#include "model/workload/architecture/dense.hpp"
#include "model/workload/architecture/family.hpp"
#include "model/workload/architecture/weight_list.hpp"

namespace floorline {

namespace {

StateShape read_delta_net(TableReader& config) {
  constexpr std::int64_t kMostTaps = 64;
  StateShape state;
  state.heads = read_size(config, "linear_num_value_heads", kMostHeads);
  state.value_dim = read_size(config, "linear_value_head_dim", kMostHeadDim);
  state.key_heads = read_size(config, "linear_num_key_heads", kMostHeads);
  state.key_dim = read_size(config, "linear_key_head_dim", kMostHeadDim);
  state.conv_width = read_size(config, "linear_conv_kernel_dim", kMostTaps);
  const std::optional<std::string> dtype = config.text("mamba_ssm_dtype");
  if (dtype && *dtype == "bfloat16") state.dtype = Precision::bf16;
  return state;
}

/// 0: linear, 1: full.
std::vector<int> read_order(TableReader& config, std::int64_t layer_count) {
  constexpr std::int64_t kFullEvery = 4;
  const std::int64_t every =
      read_size_or(config, "full_attention_interval", kMostLayers, kFullEvery);
  const auto types = read_layer_names(config, layer_count, {"linear_attention", "full_attention"});
  std::vector<int> order;
  for (std::int64_t i = 0; i < layer_count; ++i) {
    const bool full = types ? (*types)[static_cast<std::size_t>(i)] == "full_attention"
                            : every > 0 && (i + 1) % every == 0;
    order.push_back(full ? 1 : 0);
  }
  return order;
}

Architecture read_hybrid(TableReader& config, const char* family, bool experts) {
  DenseConfig dense = read_dense(config, {.family = family,
                                          .qk_norm = QkNorm::head,
                                          .head_dim = 256,
                                          .mlp = !experts,
                                          .partial_rotary = true,
                                          .rotary = 0.25});
  if (experts) {
    ExpertShape& shape = dense.layer.experts;
    dense.layer.feed_forward = FeedForward::experts;
    shape = read_experts(config, "num_experts", "num_experts_per_tok", "moe_intermediate_size");
    shape.shared_intermediate =
        read_size_or(config, "shared_expert_intermediate_size", kMostIntermediate, 0);
    shape.shared_gate = shape.shared_intermediate > 0;
    pass_over(config, {"norm_topk_prob", "output_router_logits", "router_aux_loss_coef"});
  }
  const Node* only = config.node("mlp_only_layers");
  if (only != nullptr && !only->items.empty()) {
    config.error("mlp_only_layers", "is not understood yet; expected an empty list");
  }
  dense.layer.attention.output_gate = config.flag("attn_output_gate").value_or(true);
  LayerGroup linear = dense.layer;
  linear.name = "linear";
  linear.mixer = Mixer::gated_delta_net;
  linear.state = read_delta_net(config);
  LayerGroup full = dense.layer;
  full.name = "full";
  expect_flag(config, "mtp_use_dedicated_embeddings", false);
  constexpr std::int64_t kMostModules = 64;
  const std::int64_t modules = read_size_or(config, "mtp_num_hidden_layers", kMostModules, 0);
  const std::vector<int> order = read_order(config, dense.layer_count);
  Architecture architecture = finish_layers(std::move(dense), {linear, full}, order);
  add_draft_weights(architecture, full, modules);
  return architecture;
}

}  // namespace

Architecture read_qwen3_5_text(TableReader& config) {
  return read_hybrid(config, "qwen3_5_text", false);
}
Architecture read_qwen3_5_moe_text(TableReader& config) {
  return read_hybrid(config, "qwen3_5_moe_text", true);
}

}  // namespace floorline
