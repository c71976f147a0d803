// SPDX-License-Identifier: Apache-2.0
// Weights of one layer, h = hidden, d = head_dim, q and kv heads, f = intermediate:
//   input norm h · q_proj (q·d)h · k_proj, v_proj (kv·d)h each · [q_norm, k_norm d each]
//   o_proj h(q·d) · post-attention norm h · gate_proj, up_proj f·h each · down_proj h·f
// and once: embedding vocab·h, final norm h, lm_head vocab·h unless tied. Biases where stated.
// Sharding as Megatron-LM (Shoeybi et al. 2019): q, k, v, gate, up by columns, o and down by rows.
#include "model/workload/architecture/dense.hpp"

#include <string>
#include <utility>

#include "model/input/table_reader.hpp"

namespace floorline {

namespace {

// Larger than any model; they keep every count of parameters within 63 bits.
constexpr std::int64_t kMostHidden = std::int64_t{1} << 20U;
constexpr std::int64_t kMostIntermediate = std::int64_t{1} << 24U;
constexpr std::int64_t kMostHeads = std::int64_t{1} << 14U;
constexpr std::int64_t kMostHeadDim = std::int64_t{1} << 13U;
constexpr std::int64_t kMostLayers = std::int64_t{1} << 13U;
constexpr std::int64_t kMostVocab = std::int64_t{1} << 28U;
constexpr std::int64_t kMostPositions = std::int64_t{1} << 40U;

std::optional<Precision> dtype_from(std::string_view name) {
  if (name == "bfloat16") return Precision::bf16;
  if (name == "float16") return Precision::fp16;
  if (name == "float32") return Precision::fp32;
  const std::optional<Precision> ours = precision_from(name);
  return ours == Precision::any ? std::nullopt : ours;
}

std::optional<Precision> read_one_dtype(TableReader& config, const char* key) {
  const std::optional<std::string> name = config.text(key);
  if (!name) return std::nullopt;
  const std::optional<Precision> dtype = dtype_from(*name);
  if (!dtype) {
    config.error(key, "\"" + *name +
                          "\" is not a storage format known here; expected bfloat16, "
                          "float16 or float32");
  }
  return dtype;
}

Precision read_dtype(TableReader& config, Architecture& architecture) {
  const std::optional<Precision> older = read_one_dtype(config, "torch_dtype");
  const std::optional<Precision> newer = read_one_dtype(config, "dtype");
  if (older && newer && *older != *newer) {
    config.error("dtype", "says something else than torch_dtype; expected one of them");
  }
  if (older) return *older;
  if (newer) return *newer;
  if (!config.has("torch_dtype") && !config.has("dtype")) {
    architecture.assumptions.emplace_back("weights are stored as bf16 (torch_dtype is not given)");
  }
  return Precision::bf16;
}

std::int64_t read_kv_heads(TableReader& config, const DenseDefaults& defaults, std::int64_t q_heads,
                           Architecture& architecture) {
  constexpr const char* kKey = "num_key_value_heads";
  const Node* node = config.node(kKey);
  const bool given = node != nullptr && node->kind != Node::Kind::null;
  if (!given && !defaults.kv_heads_required) {
    architecture.assumptions.push_back(std::string(kKey) + " = " + std::to_string(q_heads) +
                                       " (not given: as many as query heads)");
    return q_heads;
  }
  const std::int64_t kv_heads = read_size(config, kKey, kMostHeads);
  if (kv_heads > 0 && q_heads > 0 && q_heads % kv_heads != 0) {
    config.error(kKey, std::to_string(kv_heads) + " does not divide num_attention_heads = " +
                           std::to_string(q_heads) + "; expected a divisor of it");
  }
  return kv_heads;
}

std::int64_t read_head_dim(TableReader& config, const DenseDefaults& defaults, std::int64_t q_heads,
                           Architecture& architecture) {
  const Node* node = config.node("head_dim");
  if (node != nullptr && node->kind != Node::Kind::null) {
    return read_size(config, "head_dim", kMostHeadDim);
  }
  if (defaults.head_dim > 0) {
    architecture.assumptions.push_back("head_dim = " + std::to_string(defaults.head_dim) +
                                       " (not given: the default of " + defaults.family + ")");
    return defaults.head_dim;
  }
  if (q_heads == 0) return 0;
  if (architecture.hidden % q_heads != 0) {
    config.error("hidden_size", std::to_string(architecture.hidden) +
                                    " is not a multiple of num_attention_heads = " +
                                    std::to_string(q_heads) + "; expected one, or head_dim");
  }
  return architecture.hidden / q_heads;
}

void read_mlp(TableReader& config, MlpShape& mlp) {
  mlp.intermediate = read_size(config, "intermediate_size", kMostIntermediate);
  mlp.bias = config.flag("mlp_bias").value_or(false);
  const std::optional<std::string> activation = config.text("hidden_act");
  if (activation && *activation != "silu" && *activation != "swish") {
    config.error("hidden_act", "\"" + *activation + "\" is not understood yet; expected silu");
  }
}

/// Only a part of each head turns: not counted yet.
void refuse_partial_rotary(TableReader& config) {
  constexpr const char* kFactor = "partial_rotary_factor";
  const auto refuse = [&](const char* key, const Node* factor) {
    if (factor == nullptr || factor->kind == Node::Kind::null) return;
    if (factor->is_number() && factor->real == 1.0) return;
    config.error(key, std::string(kFactor) + " is not understood yet; expected 1");
  };
  refuse(kFactor, config.node(kFactor));
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    const Node* rope = config.node(key);
    if (rope != nullptr && rope->kind == Node::Kind::table) refuse(key, rope->find(kFactor));
  }
}

class WeightList {
 public:
  WeightList(const DenseConfig& config, std::vector<NamedWeight>& weights)
      : dtype_(config.architecture.dtype), weights_(weights) {}

  void in_group(int group, std::int64_t count) {
    group_ = group;
    count_ = count;
  }
  void add(const std::string& name, WeightShape shape, Sharding sharding, std::int64_t unit = 1) {
    const std::string prefix = group_ < 0 ? "" : "layers.";
    weights_.push_back(
        {prefix + name, group_, shape.rows, shape.cols, count_, count_, dtype_, sharding, unit});
  }
  void add_projection(const std::string& name, WeightShape shape, Sharding sharding,
                      std::int64_t unit, bool bias) {
    add(name + ".weight", shape, sharding, unit);
    if (!bias) return;
    const bool summed = sharding == Sharding::row;  // added once, after the sum over ranks
    add(name + ".bias", {shape.rows, 1}, summed ? Sharding::replicated : sharding,
        summed ? 1 : unit);
  }

 private:
  int group_ = -1;
  std::int64_t count_ = 1;
  Precision dtype_;
  std::vector<NamedWeight>& weights_;
};

void add_layer_weights(std::int64_t h, const LayerGroup& layer, WeightList& list) {
  const AttentionShape& a = layer.attention;
  const MlpShape& m = layer.mlp;
  list.add("input_layernorm.weight", {h, 1}, Sharding::replicated);
  list.add_projection("self_attn.q_proj", {a.q_heads * a.head_dim, h}, Sharding::column, a.head_dim,
                      a.qkv_bias);
  list.add_projection("self_attn.k_proj", {a.kv_heads * a.head_dim, h}, Sharding::kv_heads,
                      a.head_dim, a.qkv_bias);
  list.add_projection("self_attn.v_proj", {a.kv_heads * a.v_dim, h}, Sharding::kv_heads, a.v_dim,
                      a.qkv_bias);
  if (a.qk_norm) {
    list.add("self_attn.q_norm.weight", {a.head_dim, 1}, Sharding::replicated);
    list.add("self_attn.k_norm.weight", {a.head_dim, 1}, Sharding::replicated);
  }
  list.add_projection("self_attn.o_proj", {h, a.q_heads * a.v_dim}, Sharding::row, a.v_dim,
                      a.o_bias);
  list.add("post_attention_layernorm.weight", {h, 1}, Sharding::replicated);
  list.add_projection("mlp.gate_proj", {m.intermediate, h}, Sharding::column, 1, m.bias);
  list.add_projection("mlp.up_proj", {m.intermediate, h}, Sharding::column, 1, m.bias);
  list.add_projection("mlp.down_proj", {h, m.intermediate}, Sharding::row, 1, m.bias);
}

void add_weights(DenseConfig& config) {
  Architecture& a = config.architecture;
  WeightList list(config, a.weights);
  list.add("embed_tokens.weight", {a.vocab, a.hidden}, Sharding::vocab);
  for (std::size_t g = 0; g < a.layers.size(); ++g) {
    list.in_group(static_cast<int>(g), a.layers[g].count);
    add_layer_weights(a.hidden, a.layers[g], list);
  }
  list.in_group(-1, 1);
  list.add("norm.weight", {a.hidden, 1}, Sharding::replicated);
  if (!a.tied_embeddings) list.add("lm_head.weight", {a.vocab, a.hidden}, Sharding::vocab);
}

}  // namespace

std::int64_t read_size(TableReader& config, const char* key, std::int64_t most) {
  config.required_node(key, "a whole number from 1 up");
  const std::optional<std::int64_t> size = config.count(key, 1);
  if (!size) return 0;
  if (*size <= most) return *size;
  config.error(key, std::to_string(*size) + " is more than any model has; expected at most " +
                        std::to_string(most));
  return 0;
}

bool read_flag(TableReader& config, const char* key, bool fallback, Architecture& architecture) {
  const std::optional<bool> flag = config.flag(key);
  if (!flag && !config.has(key)) {
    architecture.assumptions.push_back(std::string(key) + " = " + (fallback ? "true" : "false") +
                                       " (not given: the default of " + architecture.family + ")");
  }
  return flag.value_or(fallback);
}

std::int64_t read_window(TableReader& config, std::int64_t fallback, Architecture& architecture) {
  constexpr const char* kKey = "sliding_window";
  const Node* node = config.node(kKey);
  if (node == nullptr) {
    architecture.assumptions.push_back(std::string(kKey) + " = " + std::to_string(fallback) +
                                       " (not given: the default of " + architecture.family + ")");
    return fallback;
  }
  if (node->kind == Node::Kind::null) return 0;
  return read_size(config, kKey, kMostPositions);
}

std::optional<std::vector<std::int64_t>> read_layer_types(TableReader& config,
                                                          std::int64_t layer_count,
                                                          std::int64_t window) {
  constexpr const char* kKey = "layer_types";
  const std::optional<std::vector<std::string>> types = config.texts(kKey);
  if (!types) return std::nullopt;
  std::vector<std::int64_t> windows;
  for (const std::string& type : *types) {
    const bool sliding = type == "sliding_attention";
    if (!sliding && type != "full_attention") {
      config.error(kKey, "\"" + type +
                             "\" is not understood yet; expected full_attention or "
                             "sliding_attention");
      return std::nullopt;
    }
    if (sliding && window == 0) {
      config.error(kKey, "has sliding_attention, but there is no window; expected sliding_window");
      return std::nullopt;
    }
    windows.push_back(sliding ? window : 0);
  }
  if (layer_count > 0 && std::cmp_not_equal(windows.size(), layer_count)) {
    config.error(kKey, "has " + std::to_string(windows.size()) + " layers; expected " +
                           std::to_string(layer_count) + ", as num_hidden_layers says");
    return std::nullopt;
  }
  return windows;
}

DenseConfig read_dense(TableReader& config, const DenseDefaults& defaults) {
  DenseConfig dense;
  Architecture& a = dense.architecture;
  AttentionShape& attention = dense.layer.attention;
  a.family = defaults.family;
  a.vocab = read_size(config, "vocab_size", kMostVocab);
  a.hidden = read_size(config, "hidden_size", kMostHidden);
  dense.layer_count = read_size(config, "num_hidden_layers", kMostLayers);
  attention.q_heads = read_size(config, "num_attention_heads", kMostHeads);
  attention.kv_heads = read_kv_heads(config, defaults, attention.q_heads, a);
  attention.head_dim = attention.v_dim = read_head_dim(config, defaults, attention.q_heads, a);
  attention.qk_norm = defaults.qk_norm;
  attention.qkv_bias = attention.o_bias = config.flag("attention_bias").value_or(false);
  read_mlp(config, dense.layer.mlp);
  a.tied_embeddings = read_flag(config, "tie_word_embeddings", false, a);
  a.dtype = read_dtype(config, a);
  const Node* positions = config.node("max_position_embeddings");
  if (positions != nullptr && positions->kind != Node::Kind::null) {
    a.max_positions = read_size(config, "max_position_embeddings", kMostPositions);
  }
  refuse_partial_rotary(config);
  return dense;
}

Architecture finish_dense(DenseConfig config, const std::vector<std::int64_t>& windows) {
  std::vector<LayerGroup>& groups = config.architecture.layers;
  for (const std::int64_t window : windows) {
    if (groups.empty() || groups.back().attention.window != window) {
      LayerGroup group = config.layer;
      group.attention.window = window;
      groups.push_back(std::move(group));
    }
    ++groups.back().count;
  }
  for (std::size_t g = 0; g < groups.size(); ++g) {
    groups[g].name = groups[g].attention.window > 0 ? "sliding" : "full";
    if (groups.size() > 2) groups[g].name += std::to_string(g + 1);
  }
  add_weights(config);
  return std::move(config.architecture);
}

}  // namespace floorline
