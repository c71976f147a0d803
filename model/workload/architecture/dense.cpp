// SPDX-License-Identifier: Apache-2.0
#include "model/workload/architecture/dense.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "model/input/table_reader.hpp"
#include "model/workload/architecture/weight_list.hpp"

namespace floorline {

namespace {

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

std::string_view names_of(Activation activation) {
  switch (activation) {
    case Activation::silu:
      return "silu";
    case Activation::gelu:
      return "gelu_pytorch_tanh";
    case Activation::relu2:
      return "relu2";
  }
  return "";
}

bool is_activation(std::string_view name, Activation activation) {
  if (name == names_of(activation)) return true;
  if (activation == Activation::silu) return name == "swish";
  return activation == Activation::gelu && (name == "gelu" || name == "gelu_new");
}

void read_mlp(TableReader& config, const DenseDefaults& defaults, MlpShape& mlp) {
  if (defaults.mlp) {
    mlp.intermediate = read_size(config, "intermediate_size", kMostIntermediate);
    mlp.bias = config.flag("mlp_bias").value_or(false);
  }
  mlp.gated = defaults.gated;
  mlp.activation = defaults.activation;
  const std::optional<std::string> activation = config.text(defaults.activation_key);
  if (activation && !is_activation(*activation, defaults.activation)) {
    config.error(defaults.activation_key, "\"" + *activation +
                                              "\" is not understood yet; expected " +
                                              std::string(names_of(defaults.activation)));
  }
}

/// Elements of a head that turn; an error where the family turns all of them.
std::int64_t read_rotary(TableReader& config, const DenseDefaults& defaults,
                         std::int64_t head_dim) {
  constexpr const char* kFactor = "partial_rotary_factor";
  double part = defaults.rotary;
  const auto judge = [&](const char* key, const Node* factor) {
    if (factor == nullptr || factor->kind == Node::Kind::null) return;
    const bool known = factor->is_number() && factor->real > 0 && factor->real <= 1;
    if (known && (factor->real == 1.0 || defaults.partial_rotary)) {
      part = factor->real;
    } else {
      config.error(key, std::string(kFactor) + " is not understood yet; expected 1");
    }
  };
  judge(kFactor, config.node(kFactor));
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    const Node* rope = config.node(key);
    if (rope != nullptr && rope->kind == Node::Kind::table) judge(key, rope->find(kFactor));
  }
  return part == 1.0 ? 0 : static_cast<std::int64_t>(static_cast<double>(head_dim) * part);
}

void read_heads(TableReader& config, const DenseDefaults& defaults, DenseConfig& dense) {
  AttentionShape& attention = dense.layer.attention;
  attention.q_heads = read_size(config, "num_attention_heads", kMostHeads);
  if (!defaults.heads) return;
  Architecture& a = dense.architecture;
  attention.kv_heads = read_kv_heads(config, defaults, attention.q_heads, a);
  attention.head_dim = attention.v_dim = read_head_dim(config, defaults, attention.q_heads, a);
  attention.qk_norm = defaults.qk_norm;
  const bool biased = config.flag("attention_bias").value_or(false);
  attention.qkv_bias = biased || defaults.bias == AttentionBias::qkv;
  attention.o_bias = biased && defaults.bias == AttentionBias::stated;
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

std::int64_t read_size_or(TableReader& config, const char* key, std::int64_t most,
                          std::int64_t fallback) {
  const Node* node = config.node(key);
  if (node == nullptr || node->kind == Node::Kind::null) return fallback;
  const std::optional<std::int64_t> size = config.count(key);
  if (!size) return fallback;
  if (*size <= most) return *size;
  config.error(key, std::to_string(*size) + " is more than any model has; expected at most " +
                        std::to_string(most));
  return fallback;
}

void pass_over(TableReader& config, std::initializer_list<const char*> keys) {
  for (const char* key : keys) config.node(key);
}

void expect_flag(TableReader& config, const char* key, bool value) {
  const std::optional<bool> flag = config.flag(key);
  if (flag && *flag != value) {
    config.error(key, std::string(*flag ? "true" : "false") + " is not understood yet; expected " +
                          (value ? "true" : "false"));
  }
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

std::optional<std::vector<std::string>> read_layer_names(TableReader& config,
                                                         std::int64_t layer_count,
                                                         const std::vector<std::string>& known) {
  constexpr const char* kKey = "layer_types";
  std::optional<std::vector<std::string>> types = config.texts(kKey);
  if (!types) return std::nullopt;
  for (const std::string& type : *types) {
    if (std::find(known.begin(), known.end(), type) != known.end()) continue;
    std::string all;
    for (const std::string& name : known) all += (all.empty() ? "" : " or ") + name;
    config.error(kKey, "\"" + type + "\" is not understood yet; expected " + all);
    return std::nullopt;
  }
  if (layer_count > 0 && std::cmp_not_equal(types->size(), layer_count)) {
    config.error(kKey, "has " + std::to_string(types->size()) + " layers; expected " +
                           std::to_string(layer_count) + ", as num_hidden_layers says");
    return std::nullopt;
  }
  return types;
}

std::optional<std::vector<std::int64_t>> read_layer_types(TableReader& config,
                                                          std::int64_t layer_count,
                                                          std::int64_t window) {
  constexpr const char* kKey = "layer_types";
  const auto types = read_layer_names(config, layer_count, {"full_attention", "sliding_attention"});
  if (!types) return std::nullopt;
  std::vector<std::int64_t> windows;
  for (const std::string& type : *types) {
    const bool sliding = type == "sliding_attention";
    if (sliding && window == 0) {
      config.error(kKey, "has sliding_attention, but there is no window; expected sliding_window");
      return std::nullopt;
    }
    windows.push_back(sliding ? window : 0);
  }
  return windows;
}

std::vector<std::int64_t> same_window(const DenseConfig& config, std::int64_t window) {
  return std::vector<std::int64_t>(static_cast<std::size_t>(config.layer_count), window);
}

std::vector<std::int64_t> read_qwen_windows(TableReader& config, DenseConfig& dense) {
  constexpr std::int64_t kDefaultWindow = 4096;
  constexpr std::int64_t kDefaultFullLayers = 28;
  constexpr const char* kFull = "max_window_layers";
  std::vector<std::int64_t> windows = same_window(dense, 0);
  std::int64_t window = 0;
  if (config.flag("use_sliding_window").value_or(false)) {
    window = read_window(config, kDefaultWindow, dense.architecture);
    const std::optional<std::int64_t> given = config.count(kFull);
    if (!given && !config.has(kFull)) {
      dense.architecture.assumptions.push_back(
          "max_window_layers = 28 (not given: the default of " + dense.architecture.family + ")");
    }
    for (std::int64_t i = given.value_or(kDefaultFullLayers); i < dense.layer_count; ++i) {
      windows[static_cast<std::size_t>(i)] = window;
    }
  } else {
    pass_over(config, {"sliding_window", kFull});
  }
  const auto stated = read_layer_types(config, dense.layer_count, window);
  return stated ? *stated : windows;
}

ExpertShape read_experts(TableReader& config, const char* experts_key, const char* top_k_key,
                         const char* intermediate_key) {
  ExpertShape shape;
  shape.experts = read_size(config, experts_key, kMostExperts);
  shape.top_k = read_size(config, top_k_key, kMostExperts);
  shape.intermediate = read_size(config, intermediate_key, kMostIntermediate);
  if (shape.experts > 0 && shape.top_k > shape.experts) {
    config.error(top_k_key, std::to_string(shape.top_k) + " is more than " + experts_key + " = " +
                                std::to_string(shape.experts) + "; expected at most that");
    shape.top_k = shape.experts;
  }
  return shape;
}

DenseConfig read_dense(TableReader& config, const DenseDefaults& defaults) {
  DenseConfig dense;
  Architecture& a = dense.architecture;
  a.family = defaults.family;
  a.vocab = read_size(config, "vocab_size", kMostVocab);
  a.hidden = read_size(config, "hidden_size", kMostHidden);
  dense.layer_count = read_size(config, "num_hidden_layers", kMostLayers);
  read_heads(config, defaults, dense);
  read_mlp(config, defaults, dense.layer.mlp);
  dense.layer.norm = defaults.norm;
  a.tied_embeddings = read_flag(config, "tie_word_embeddings", defaults.tied, a);
  a.dtype = read_dtype(config, a);
  a.max_positions = read_size_or(config, "max_position_embeddings", kMostPositions, 0);
  dense.layer.attention.rotary_dim = read_rotary(config, defaults, dense.layer.attention.head_dim);
  return dense;
}

Architecture finish_dense(DenseConfig config, const std::vector<std::int64_t>& windows) {
  std::vector<LayerGroup> kinds;
  std::vector<int> order;
  for (const std::int64_t window : windows) {
    const auto same = [&](const LayerGroup& kind) { return kind.attention.window == window; };
    auto kind = std::find_if(kinds.begin(), kinds.end(), same);
    if (kind == kinds.end()) {
      kinds.push_back(config.layer);
      kind = kinds.end() - 1;
      kind->attention.window = window;
      kind->name = window > 0 ? "sliding" : "full";
    }
    order.push_back(static_cast<int>(kind - kinds.begin()));
  }
  return finish_layers(std::move(config), kinds, order);
}

Architecture finish_layers(DenseConfig config, const std::vector<LayerGroup>& kinds,
                           const std::vector<int>& order) {
  Architecture& a = config.architecture;
  std::vector<int> place(kinds.size(), -1);
  for (const int kind : order) {
    const auto k = static_cast<std::size_t>(kind);
    if (place[k] < 0) {
      place[k] = static_cast<int>(a.layers.size());
      a.layers.push_back(kinds[k]);
      a.layers.back().count = 0;
    }
    ++a.layers[static_cast<std::size_t>(place[k])].count;
    a.order.push_back(place[k]);
  }
  add_weights(a);
  return std::move(a);
}

}  // namespace floorline
