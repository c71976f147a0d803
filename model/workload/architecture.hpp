// SPDX-License-Identifier: Apache-2.0
// What a model is made of, whatever file said so: layers by kind, the shape of attention, cache and
// experts, and every named weight with its shape, storage precision, sharding rule and layers.
// Nothing here depends on batch, phase or devices: scenario.hpp and layout.hpp add those,
// model_graph.hpp makes operators of all three, and a memory ledger reads it too.
// Not described: vision and audio towers, rotary tables, what an engine adds (padding, packing).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/quantity/precision.hpp"
#include "model/quantity/sourced.hpp"
#include "model/workload/layout.hpp"

namespace floorline {

enum class NormKind : std::uint8_t { rmsnorm, layernorm };
enum class Activation : std::uint8_t { silu, gelu, relu2 };
/// What mixes tokens in a layer.
enum class Mixer : std::uint8_t { attention, latent_attention, mamba2, gated_delta_net, none };
/// `dense_and_experts`: both see the same tokens and are added (gemma-4).
enum class FeedForward : std::uint8_t { dense, experts, dense_and_experts, none };
/// Scales of the normalization of queries and keys: one head's, one for the whole row, none.
enum class QkNorm : std::uint8_t { none, head, row, unscaled };

struct AttentionShape {
  std::int64_t q_heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t v_dim = 0;
  std::int64_t window = 0;      ///< keys that a query sees, itself included; 0: all
  std::int64_t chunk = 0;       ///< a query sees its own chunk only; 0: all
  std::int64_t rotary_dim = 0;  ///< elements of a head that turn; 0: all
  QkNorm qk_norm = QkNorm::none;
  bool qkv_bias = false;
  bool o_bias = false;
  bool rope = true;
  bool sinks = false;        ///< one learned logit a query head
  bool output_gate = false;  ///< the result is multiplied by a gate as wide as the queries
  bool k_is_v = false;       ///< no v_proj: values are the keys' projection
};

/// Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434): the cache holds kv_rank + rope_dim
/// elements a token, once for all heads. Query heads are in AttentionShape.
struct LatentShape {
  std::int64_t q_rank = 0;  ///< 0: queries have no low rank
  std::int64_t kv_rank = 0;
  std::int64_t nope_dim = 0;
  std::int64_t rope_dim = 0;
  std::int64_t v_dim = 0;
  std::int64_t index_heads = 0;  ///< DeepSeek-V3.2: heads that choose keys; 0: all keys are seen
  std::int64_t index_dim = 0;
  std::int64_t index_top_k = 0;
};

/// Mamba2 (state `state_dim` × `value_dim` a head, keys shared by a group of heads) and gated delta
/// net (state `key_dim` × `value_dim` a value head).
struct StateShape {
  std::int64_t heads = 0;       ///< value heads
  std::int64_t value_dim = 0;   ///< of a head
  std::int64_t key_heads = 0;   ///< groups of Mamba2, key heads of a delta net
  std::int64_t key_dim = 0;     ///< state size of Mamba2, key head of a delta net
  std::int64_t conv_width = 0;  ///< taps
  Precision dtype = Precision::fp32;
};

struct MlpShape {
  std::int64_t intermediate = 0;
  bool gated = true;  ///< activation(gate) · up, else activation(up)
  Activation activation = Activation::silu;
  bool bias = false;
};

struct ExpertShape {
  std::int64_t experts = 0;
  std::int64_t top_k = 0;
  std::int64_t intermediate = 0;
  std::int64_t shared_intermediate = 0;  ///< of all shared experts together; 0: none
  bool gated = true;
  Activation activation = Activation::silu;
  bool bias = false;
  bool shared_gate = false;  ///< the shared expert's result is multiplied by a learned gate
  bool router_bias = false;
  bool score_bias = false;  ///< one fp32 number an expert, added to the scores to balance loads
};

/// Equal layers; Architecture::order says which layers they are.
struct LayerGroup {
  std::string name;
  std::int64_t count = 0;
  AttentionShape attention;
  MlpShape mlp;
  NormKind norm = NormKind::rmsnorm;
  Mixer mixer = Mixer::attention;
  FeedForward feed_forward = FeedForward::dense;
  LatentShape latent;
  StateShape state;
  ExpertShape experts;
  bool sandwich_norms = false;  ///< what mixer and feed-forward give is normalized too
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
  std::int64_t unit = 1;     ///< rows (or columns, if these are divided) that stay on one rank
  std::int64_t experts = 0;  ///< instances of a layer, divided by expert parallelism; 0: no expert
  /// What products with it compute in, as its format implies; none: the wider operand.
  Precision compute = Precision::none;
  bool scale = false;  ///< a scale or zero point of a quantized weight: bytes, no parameter
  bool draft = false;  ///< of multi-token prediction: stored, no part of a step
};

struct WeightShape {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
};
/// One instance on the rank that has most of it: whole units, rounded up.
WeightShape rank_shape(const NamedWeight& weight, std::int64_t tp);
/// Experts are divided over ep first; tp divides each only as far as it exceeds ep.
WeightShape rank_shape(const NamedWeight& weight, const ParallelLayout& layout);
/// Instances on the rank that has most, over all layers of the group.
std::int64_t rank_count(const NamedWeight& weight, const ParallelLayout& layout);

struct ParameterCount {
  std::int64_t total = 0;
  std::int64_t active = 0;  ///< used for one token
  std::int64_t draft = 0;   ///< of multi-token prediction, in neither of the two
};

struct Architecture {
  std::string name;
  std::string family;
  std::int64_t vocab = 0;
  std::int64_t hidden = 0;
  std::int64_t max_positions = 0;     ///< 0: not given
  bool tied_embeddings = false;       ///< lm_head is the embedding table
  Precision dtype = Precision::bf16;  ///< what the checkpoint stores where nothing else is said
  std::vector<LayerGroup> layers;     ///< kinds of layers, in order of first use
  std::vector<int> order;             ///< kind of each layer; empty: kinds as they stand
  std::vector<NamedWeight> weights;
  std::vector<std::string> assumptions;
  Precision kv_dtype = Precision::none;  ///< of the cache, where the checkpoint says so
  std::string quantization;              ///< "fp8, block 128 x 128"; empty: none
  Position at;

  [[nodiscard]] std::int64_t layer_count() const;
  /// Kind of each layer, whatever way it was given.
  [[nodiscard]] std::vector<int> layer_order() const;
  [[nodiscard]] ParameterCount parameter_count() const;
  /// nullptr when there is no such weight.
  [[nodiscard]] const NamedWeight* find_weight(std::string_view weight, int group) const;
  [[nodiscard]] bool has_experts() const;
};

/// Elements of K and V (or of the latent and rotary part, once for all heads) that one token leaves
/// in the cache of one rank, over all layers, windows and chunks aside; keys of an indexer not.
std::int64_t kv_elements_per_token(const Architecture& architecture, std::int64_t tp = 1);
/// Keys of the indexer of DeepSeek-V3.2, over all layers.
std::int64_t index_elements_per_token(const Architecture& architecture);

/// Of the state that a sequence keeps in state layers, on one rank, over all layers.
struct StateElements {
  std::int64_t conv = 0;       ///< (taps − 1) × channels
  std::int64_t recurrent = 0;  ///< heads × keys × values
};
StateElements state_elements(const Architecture& architecture, std::int64_t tp = 1);
std::int64_t conv_channels(const LayerGroup& group, std::int64_t tp = 1);

}  // namespace floorline
