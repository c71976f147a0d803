// SPDX-License-Identifier: Apache-2.0
// Nemotron-H and Nemotron-3-Nano (arXiv 2504.03624; modeling_nemotron_h.py of the checkpoints). A
// layer is one thing: hybrid_override_pattern has M for Mamba2, - for an MLP, * for attention, E
// for experts. Attention has no rotary embedding; MLP and experts are squared ReLU without gate.
#include <utility>

#include "model/input/table_reader.hpp"
#include "model/workload/architecture/dense.hpp"
#include "model/workload/architecture/family.hpp"

namespace floorline {

namespace {

constexpr const char* kPattern = "hybrid_override_pattern";
constexpr std::string_view kKinds = "M-*E";

StateShape read_mamba2(TableReader& config) {
  constexpr std::int64_t kMostTaps = 64;
  StateShape state;
  state.heads = read_size(config, "mamba_num_heads", kMostHeads);
  state.value_dim = read_size(config, "mamba_head_dim", kMostHeadDim);
  state.key_heads = read_size(config, "n_groups", kMostHeads);
  state.key_dim = read_size(config, "ssm_state_size", kMostHeadDim);
  state.conv_width = read_size(config, "conv_kernel", kMostTaps);
  expect_flag(config, "mamba_proj_bias", false);
  expect_flag(config, "use_conv_bias", true);
  expect_flag(config, "use_bias", false);
  const std::optional<std::string> dtype = config.text("mamba_ssm_cache_dtype");
  if (dtype && *dtype == "bfloat16") state.dtype = Precision::bf16;
  if (dtype && *dtype == "float16") state.dtype = Precision::fp16;
  pass_over(config, {"mamba_hidden_act", "expand", "time_step_limit", "time_step_rank",
                     "time_step_min", "time_step_max", "time_step_floor", "use_mamba_kernels",
                     "chunk_size", "mamba_d_conv", "mamba_expand"});
  return state;
}

LayerGroup kind_of(const LayerGroup& layer, const char* name, Mixer mixer, FeedForward f) {
  LayerGroup kind = layer;
  kind.name = name;
  kind.mixer = mixer;
  kind.feed_forward = f;
  return kind;
}

ExpertShape read_hybrid_experts(TableReader& config) {
  constexpr std::int64_t kMostShared = 1024;
  ExpertShape experts =
      read_experts(config, "n_routed_experts", "num_experts_per_tok", "moe_intermediate_size");
  const std::int64_t shared = read_size_or(config, "n_shared_experts", kMostShared, 0);
  experts.shared_intermediate =
      shared * read_size_or(config, "moe_shared_expert_intermediate_size", kMostIntermediate, 0);
  experts.score_bias = true;
  experts.gated = false;
  experts.activation = Activation::relu2;
  pass_over(config, {"n_group", "topk_group", "norm_topk_prob", "routed_scaling_factor"});
  return experts;
}

std::vector<int> read_order(TableReader& config, std::int64_t layer_count) {
  std::vector<int> order;
  const std::string pattern = config.required_text(kPattern);
  for (const char c : pattern) {
    const std::size_t kind = kKinds.find(c);
    if (kind == std::string_view::npos) {
      config.error(kPattern, std::string("layer type \"") + (c > ' ' && c < 127 ? c : '?') +
                                 "\" is not understood; expected M, -, * or E");
      return {};
    }
    order.push_back(static_cast<int>(kind));
  }
  if (layer_count > 0 && std::cmp_not_equal(order.size(), layer_count)) {
    config.error(kPattern, "has " + std::to_string(order.size()) + " layers; expected " +
                               std::to_string(layer_count) + ", as num_hidden_layers says");
    return {};
  }
  return order;
}

}  // namespace

Architecture read_nemotron_h(TableReader& config) {
  // Older files say attention_head_dim.
  const std::int64_t head_dim = read_size_or(config, "attention_head_dim", kMostHeadDim, 128);
  DenseConfig dense = read_dense(config, {.family = "nemotron_h",
                                          .head_dim = head_dim,
                                          .gated = false,
                                          .activation_key = "mlp_hidden_act",
                                          .activation = Activation::relu2});
  dense.layer.attention.rope = false;
  LayerGroup mamba = kind_of(dense.layer, "mamba", Mixer::mamba2, FeedForward::none);
  mamba.state = read_mamba2(config);
  const std::vector<int> order = read_order(config, dense.layer_count);
  LayerGroup experts = kind_of(dense.layer, "moe", Mixer::none, FeedForward::experts);
  for (const int kind : order) {
    if (kind == 3) {
      experts.experts = read_hybrid_experts(config);
      break;
    }
  }
  pass_over(config, {"norm_eps", "layer_norm_epsilon", "rescale_prenorm_residual",
                     "residual_in_fp32", "num_logits_to_keep", "hidden_dropout", "sliding_window"});
  const std::vector<LayerGroup> kinds{
      mamba, kind_of(dense.layer, "mlp", Mixer::none, FeedForward::dense),
      kind_of(dense.layer, "attention", Mixer::attention, FeedForward::none), experts};
  return finish_layers(std::move(dense), kinds, order);
}

}  // namespace floorline
