// SPDX-License-Identifier: Apache-2.0
// DeepSeek-V2, V3, R1, V3.2 and Kimi-K2: multi-head latent attention, first_k_dense_replace dense
// layers, then routed and shared experts; num_nextn_predict_layers modules of multi-token
// prediction, whose layer has experts (arXiv 2412.19437, §2). V3.2 has an indexer that chooses
// index_topk keys for each query (DeepSeek-V3.2-Exp report, §2.1).
#include "model/input/table_reader.hpp"
#include "model/workload/architecture/dense.hpp"
#include "model/workload/architecture/family.hpp"
#include "model/workload/architecture/weight_list.hpp"

namespace floorline {

namespace {

LatentShape read_latent(TableReader& config) {
  LatentShape latent;
  latent.q_rank = read_size_or(config, "q_lora_rank", kMostHidden, 0);
  latent.kv_rank = read_size(config, "kv_lora_rank", kMostHidden);
  latent.nope_dim = read_size(config, "qk_nope_head_dim", kMostHeadDim);
  latent.rope_dim = read_size(config, "qk_rope_head_dim", kMostHeadDim);
  latent.v_dim = read_size(config, "v_head_dim", kMostHeadDim);
  return latent;
}

void read_indexer(TableReader& config, LatentShape& latent) {
  latent.index_heads = read_size(config, "index_n_heads", kMostHeads);
  latent.index_dim = read_size(config, "index_head_dim", kMostHeadDim);
  latent.index_top_k = read_size(config, "index_topk", kMostPositions);
  if (latent.q_rank == 0) {
    config.error("q_lora_rank", "the indexer reads the queries' low rank; expected a number");
  }
}

ExpertShape read_deepseek_experts(TableReader& config) {
  ExpertShape experts =
      read_experts(config, "n_routed_experts", "num_experts_per_tok", "moe_intermediate_size");
  constexpr std::int64_t kMostShared = 1024;
  experts.shared_intermediate =
      experts.intermediate * read_size_or(config, "n_shared_experts", kMostShared, 0);
  experts.score_bias = config.text("topk_method").value_or("") == "noaux_tc";
  pass_over(config, {"n_group", "topk_group", "norm_topk_prob", "routed_scaling_factor",
                     "scoring_func", "seq_aux", "aux_loss_alpha", "ep_size"});
  return experts;
}

/// Kinds 0, dense, and 1, with experts: every moe_layer_freq-th from first_k_dense_replace on.
std::vector<int> read_kinds(TableReader& config, std::int64_t layer_count) {
  const std::int64_t dense = read_size_or(config, "first_k_dense_replace", kMostLayers, 0);
  const std::int64_t every = read_size_or(config, "moe_layer_freq", kMostLayers, 1);
  std::vector<int> order;
  for (std::int64_t i = 0; i < layer_count; ++i) {
    order.push_back(i >= dense && every > 0 && i % every == 0 ? 1 : 0);
  }
  return order;
}

Architecture read_latent_model(TableReader& config, const char* family, bool indexed) {
  DenseConfig config_read = read_dense(config, {.family = family, .heads = false});
  LayerGroup& layer = config_read.layer;
  layer.mixer = Mixer::latent_attention;
  layer.latent = read_latent(config);
  if (indexed) read_indexer(config, layer.latent);
  expect_flag(config, "attention_bias", false);
  pass_over(config, {"num_key_value_heads"});  // of the expanded form
  LayerGroup dense = layer;
  dense.name = "dense";
  LayerGroup moe = layer;
  moe.name = "moe";
  moe.feed_forward = FeedForward::experts;
  moe.experts = read_deepseek_experts(config);
  const std::vector<int> order = read_kinds(config, config_read.layer_count);
  constexpr std::int64_t kMostModules = 64;
  const std::int64_t modules = read_size_or(config, "num_nextn_predict_layers", kMostModules, 0);
  Architecture architecture = finish_layers(std::move(config_read), {dense, moe}, order);
  add_draft_weights(architecture, moe, modules);
  return architecture;
}

}  // namespace

Architecture read_deepseek_v2(TableReader& config) {
  return read_latent_model(config, "deepseek_v2", false);
}
Architecture read_deepseek_v3(TableReader& config) {
  return read_latent_model(config, "deepseek_v3", false);
}
Architecture read_kimi_k2(TableReader& config) {
  return read_latent_model(config, "kimi_k2", false);
}
Architecture read_deepseek_v32(TableReader& config) {
  return read_latent_model(config, "deepseek_v32", true);
}

}  // namespace floorline
