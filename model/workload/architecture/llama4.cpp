// SPDX-License-Identifier: Apache-2.0
// Llama-4 text models (transformers, Llama4TextConfig). Each fourth layer sees all tokens and turns
// none (no_rope_layers); the others see their chunk of attention_chunk_size. Every
// interleave_moe_layer_step-th layer has experts and one shared expert of the same size, the others
// a dense MLP of intermediate_size_mlp. Queries and keys that turn are normalized without scale.
#include <utility>

#include "model/input/table_reader.hpp"
#include "model/workload/architecture/dense.hpp"
#include "model/workload/architecture/family.hpp"

namespace floorline {

namespace {

constexpr std::int64_t kFullEvery = 4;

/// Layers that turn their queries and keys, and see their own chunk only.
std::vector<bool> read_chunked(TableReader& config, std::int64_t layer_count) {
  constexpr const char* kKey = "no_rope_layers";
  const std::int64_t every =
      read_size_or(config, "no_rope_layer_interval", kMostLayers, kFullEvery);
  std::vector<bool> chunked;
  for (std::int64_t i = 0; i < layer_count; ++i) {
    chunked.push_back(every == 0 || (i + 1) % every != 0);
  }
  const Node* list = config.node(kKey);
  if (list == nullptr || list->items.empty()) return chunked;
  if (std::cmp_not_equal(list->items.size(), layer_count)) {
    config.error(kKey, "has " + std::to_string(list->items.size()) + " layers; expected " +
                           std::to_string(layer_count) + ", as num_hidden_layers says");
    return chunked;
  }
  for (std::size_t i = 0; i < chunked.size(); ++i) chunked[i] = list->items[i].integer != 0;
  return chunked;
}

struct FeedForwards {
  LayerGroup dense;
  LayerGroup moe;
};

FeedForwards read_feed_forwards(TableReader& config, const LayerGroup& layer) {
  FeedForwards both{layer, layer};
  both.dense.mlp.intermediate =
      read_size_or(config, "intermediate_size_mlp", kMostIntermediate, layer.mlp.intermediate);
  both.moe.feed_forward = FeedForward::experts;
  both.moe.experts =
      read_experts(config, "num_local_experts", "num_experts_per_tok", "intermediate_size");
  both.moe.experts.shared_intermediate = both.moe.experts.intermediate;
  both.dense.name = "dense";
  both.moe.name = "moe";
  return both;
}

LayerGroup with_attention(LayerGroup layer, bool chunked, std::int64_t chunk, bool qk_norm) {
  layer.attention.rope = chunked;
  layer.attention.chunk = chunked ? chunk : 0;
  layer.attention.qk_norm = chunked && qk_norm ? QkNorm::unscaled : QkNorm::none;
  layer.name = (chunked ? "chunked_" : "full_") + layer.name;
  return layer;
}

}  // namespace

Architecture read_llama4_text(TableReader& config) {
  DenseConfig dense = read_dense(config, {.family = "llama4_text"});
  const FeedForwards kinds = read_feed_forwards(config, dense.layer);
  const std::int64_t chunk = read_size_or(config, "attention_chunk_size", kMostPositions, 0);
  const bool qk_norm = config.flag("use_qk_norm").value_or(true);
  const std::int64_t step = read_size_or(config, "interleave_moe_layer_step", kMostLayers, 1);
  const std::vector<bool> chunked = read_chunked(config, dense.layer_count);
  if (config.has("moe_layers")) {
    config.error("moe_layers", "is not understood yet; expected interleave_moe_layer_step");
    config.node("moe_layers");
  }
  pass_over(config,
            {"output_router_logits", "router_aux_loss_coef", "router_jitter_noise", "attn_scale",
             "floor_scale", "attn_temperature_tuning", "for_llm_compressor", "layer_types"});
  std::vector<int> order;
  for (std::int64_t i = 0; i < dense.layer_count; ++i) {
    const bool moe = step > 0 && (i + 1) % step == 0;
    order.push_back((moe ? 2 : 0) + (chunked[static_cast<std::size_t>(i)] ? 0 : 1));
  }
  return finish_layers(std::move(dense),
                       {with_attention(kinds.dense, true, chunk, qk_norm),
                        with_attention(kinds.dense, false, chunk, qk_norm),
                        with_attention(kinds.moe, true, chunk, qk_norm),
                        with_attention(kinds.moe, false, chunk, qk_norm)},
                       order);
}

}  // namespace floorline
