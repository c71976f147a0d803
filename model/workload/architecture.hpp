// SPDX-License-Identifier: Apache-2.0
// What a model is made of, whatever file said so: layers by kind, the shape of attention and cache,
// and every named weight with its shape, storage precision, sharding rule and layers. Nothing here
// depends on batch, phase or devices: scenario.hpp and layout.hpp add those, model_graph.hpp makes
// operators of all three, and a memory ledger reads it too.
// Not described yet: experts, latent attention, state-space layers, quantized checkpoints.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/quantity/precision.hpp"
#include "model/quantity/sourced.hpp"

namespace floorline {

enum class NormKind : std::uint8_t { rmsnorm };
enum class Activation : std::uint8_t { silu };

struct AttentionShape {
  std::int64_t q_heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t v_dim = 0;
  std::int64_t window = 0;  ///< keys that a query sees, itself included; 0: all
  bool qk_norm = false;     ///< each query and key head is normalized
  bool qkv_bias = false;
  bool o_bias = false;
  bool rope = true;
};

struct MlpShape {
  std::int64_t intermediate = 0;
  bool gated = true;  ///< activation(gate) · up, else activation(up)
  Activation activation = Activation::silu;
  bool bias = false;
};

/// `count` equal layers that follow each other.
struct LayerGroup {
  std::string name;
  std::int64_t count = 0;
  AttentionShape attention;
  MlpShape mlp;
  NormKind norm = NormKind::rmsnorm;
};

/// How tensor parallelism divides a weight of `rows` outputs by `cols` inputs.
enum class Sharding : std::uint8_t {
  replicated,
  column,    ///< outputs divided
  row,       ///< inputs divided, results summed over ranks
  vocab,     ///< rows of a vocabulary divided
  kv_heads,  ///< outputs divided by KV head; a rank never has less than one head
};
std::string_view name_of(Sharding sharding);

struct NamedWeight {
  std::string name;         ///< "layers.self_attn.q_proj.weight"
  int group = -1;           ///< of Architecture::layers; -1: outside the layers
  std::int64_t rows = 0;    ///< outputs
  std::int64_t cols = 1;    ///< inputs; 1: a vector
  std::int64_t count = 1;   ///< instances, over all layers of the group
  std::int64_t active = 1;  ///< instances that a token uses
  Precision storage = Precision::bf16;
  Sharding sharding = Sharding::replicated;
  std::int64_t unit = 1;  ///< rows (or columns, if these are divided) that stay on one rank
};

struct WeightShape {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
};
/// One instance on the rank that has most of it: whole units, rounded up.
WeightShape rank_shape(const NamedWeight& weight, std::int64_t tp);

struct ParameterCount {
  std::int64_t total = 0;
  std::int64_t active = 0;  ///< used for one token
};

struct Architecture {
  std::string name;
  std::string family;
  std::int64_t vocab = 0;
  std::int64_t hidden = 0;
  std::int64_t max_positions = 0;     ///< 0: not given
  bool tied_embeddings = false;       ///< lm_head is the embedding table
  Precision dtype = Precision::bf16;  ///< what the checkpoint stores
  std::vector<LayerGroup> layers;     ///< in order
  std::vector<NamedWeight> weights;
  std::vector<std::string> assumptions;
  Position at;

  [[nodiscard]] std::int64_t layer_count() const;
  [[nodiscard]] ParameterCount parameter_count() const;
  /// nullptr when there is no such weight.
  [[nodiscard]] const NamedWeight* find_weight(std::string_view weight, int group) const;
};

/// Elements of K and V that one token leaves in the cache of one rank, over all layers.
std::int64_t kv_elements_per_token(const Architecture& architecture, std::int64_t tp = 1);

}  // namespace floorline
