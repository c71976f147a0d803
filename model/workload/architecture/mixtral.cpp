// SPDX-License-Identifier: Apache-2.0
// Families whose every layer has grouped attention and routed experts, with no dense layers:
// Mixtral, gpt-oss and MiniMax-M2.
// gpt-oss (model card arXiv 2508.10925): layers alternate as layer_types says; biases everywhere;
// one learned sink logit a query head; the window's width is that of sliding layers.
// MiniMax-M2: queries and keys are normalized over the whole row, part of a head turns
// (rotary_dim), scores are corrected by one number an expert.
#include "model/input/table_reader.hpp"
#include "model/workload/architecture/dense.hpp"
#include "model/workload/architecture/family.hpp"

namespace floorline {

namespace {

/// intermediate_size is that of an expert.
void take_experts(DenseConfig& dense, ExpertShape experts) {
  dense.layer.feed_forward = FeedForward::experts;
  dense.layer.experts = experts;
  dense.layer.mlp = {};
}

}  // namespace

Architecture read_mixtral(TableReader& config) {
  DenseConfig dense = read_dense(config, {.family = "mixtral"});
  take_experts(
      dense, read_experts(config, "num_local_experts", "num_experts_per_tok", "intermediate_size"));
  const Node* window = config.node("sliding_window");
  const bool slides = window != nullptr && window->kind != Node::Kind::null;
  pass_over(config, {"output_router_logits", "router_aux_loss_coef", "router_jitter_noise"});
  const std::int64_t width = slides ? read_size(config, "sliding_window", kMostPositions) : 0;
  const std::vector<std::int64_t> windows = same_window(dense, width);
  return finish_dense(std::move(dense), windows);
}

Architecture read_gpt_oss(TableReader& config) {
  constexpr std::int64_t kDefaultWindow = 128;
  DenseConfig dense = read_dense(config, {.family = "gpt_oss", .head_dim = 64});
  ExpertShape experts =
      read_experts(config, "num_local_experts", "num_experts_per_tok", "intermediate_size");
  const std::int64_t same = read_size_or(config, "experts_per_token", kMostExperts, experts.top_k);
  if (same != experts.top_k) {
    config.error("experts_per_token", "says something else than num_experts_per_tok");
  }
  experts.bias = experts.router_bias = true;
  take_experts(dense, experts);
  dense.layer.attention.sinks = true;
  pass_over(config, {"initial_context_length", "output_router_logits", "router_aux_loss_coef",
                     "swiglu_limit"});
  const std::int64_t window = read_window(config, kDefaultWindow, dense.architecture);
  auto windows = read_layer_types(config, dense.layer_count, window);
  if (!windows) {
    windows = same_window(dense, 0);
    for (std::size_t i = 0; i < windows->size(); i += 2) (*windows)[i] = window;
    if (!config.has("layer_types")) {
      dense.architecture.assumptions.emplace_back(
          "layers slide by turns, from the first on (layer_types is not given)");
    }
  }
  return finish_dense(std::move(dense), *windows);
}

Architecture read_minimax_m2(TableReader& config) {
  DenseConfig dense = read_dense(config, {.family = "minimax_m2"});
  ExpertShape experts =
      read_experts(config, "num_local_experts", "num_experts_per_tok", "intermediate_size");
  experts.score_bias = config.flag("use_routing_bias").value_or(false);
  experts.shared_intermediate =
      read_size_or(config, "shared_intermediate_size", kMostIntermediate, 0);
  take_experts(dense, experts);
  AttentionShape& attention = dense.layer.attention;
  if (config.flag("use_qk_norm").value_or(false)) {
    const std::optional<std::string> type = config.text("qk_norm_type");
    attention.qk_norm = QkNorm::row;
    if (type && *type != "per_layer") {
      config.error("qk_norm_type", "\"" + *type + "\" is not understood yet; expected per_layer");
    }
  }
  attention.rotary_dim = read_size_or(config, "rotary_dim", attention.head_dim, 0);
  pass_over(config, {"scoring_func", "output_router_logits", "router_aux_loss_coef",
                     "router_jitter_noise"});
  if (config.flag("use_mtp").value_or(false)) {
    dense.architecture.assumptions.emplace_back(
        "multi-token prediction modules (use_mtp) are not counted: their shape is not stated");
  }
  pass_over(config, {"num_mtp_modules", "mtp_transformer_layers"});
  const std::vector<std::int64_t> windows = same_window(dense, 0);
  return finish_dense(std::move(dense), windows);
}

}  // namespace floorline
