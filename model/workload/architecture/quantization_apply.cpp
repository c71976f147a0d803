// SPDX-License-Identifier: Apache-2.0
// Which weights a format is for: matrices of layers. Never: norms, biases, convolutions, routers
// and the projection to eh_proj and weights_proj (DeepSeek), which their checkpoints keep. Scales
// are weights of their own, so that bytes are exact: a matrix of n rows and k columns has 1, n,
// ⌈n/r⌉·⌈k/c⌉ or n·⌈k/g⌉ of them, as many zero points, and is divided over ranks as the matrix is.
#include <algorithm>
#include <map>
#include <utility>

#include "model/workload/architecture/quantization.hpp"

namespace floorline {

namespace {

std::int64_t divided_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

bool is_candidate(const NamedWeight& w, bool head) {
  if (w.rows <= 1 || w.cols <= 1 || w.scale) return false;
  if (w.group < 0 && !w.draft) return head && w.name == "lm_head.weight";
  constexpr std::string_view kNever[] = {"mlp.gate.weight", "conv1d", "eh_proj", "weights_proj",
                                         "router"};
  return std::none_of(std::begin(kNever), std::end(kNever), [&](std::string_view part) {
    return w.name.find(part) != std::string::npos;
  });
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos) return {};
  return text.replace(at, from.size(), to);
}

/// What families call the same modules.
std::vector<std::string> names_of_module(const NamedWeight& weight, std::size_t layer) {
  constexpr std::pair<std::string_view, std::string_view> kAlso[] = {
      {".mlp.", ".feed_forward."},
      {".mlp.", ".block_sparse_moe."},
      {".mlp.", ".mixer."},
      {".self_attn.", ".mixer."},
      {"shared_experts", "shared_expert"},
      {"in_proj_qk", "in_proj_qkv"},
      {"in_proj_vz", "in_proj_qkv"},
      {"in_proj_ba", "in_proj_b"},
      {".gate_proj", ".gate_up_proj"},
      {".up_proj", ".gate_up_proj"},
      {".q_proj", ".qkv_proj"},
      {".k_proj", ".qkv_proj"},
      {".v_proj", ".qkv_proj"}};
  std::string name = weight.name;
  if (name.ends_with(".weight")) name.resize(name.size() - 7);
  const std::string at = "layers." + std::to_string(layer) + ".";
  if (name.starts_with("layers.")) name = at + name.substr(7);
  if (name.starts_with("mtp.")) name = at + name.substr(4);
  std::vector<std::string> names{name};
  for (const auto& [from, to] : kAlso) {
    std::string other = replaced(name, from, to);
    if (!other.empty()) names.push_back(std::move(other));
  }
  return names;
}

class Kept {
 public:
  explicit Kept(const std::vector<ModulePattern>& patterns) {
    for (const ModulePattern& p : patterns) {
      (p.layer() < 0 ? anywhere_ : in_layer_[p.layer()]).push_back(&p);
    }
  }
  [[nodiscard]] bool has(const NamedWeight& weight, std::size_t layer) const {
    const std::vector<std::string> names = names_of_module(weight, layer);
    const auto here = in_layer_.find(static_cast<int>(layer));
    return any(anywhere_, names) || (here != in_layer_.end() && any(here->second, names));
  }

 private:
  using Patterns = std::vector<const ModulePattern*>;
  static bool any(const Patterns& patterns, const std::vector<std::string>& names) {
    return std::any_of(patterns.begin(), patterns.end(), [&](const ModulePattern* p) {
      return std::any_of(names.begin(), names.end(),
                         [&](const std::string& name) { return p->matches(name); });
    });
  }
  Patterns anywhere_;
  std::map<int, Patterns> in_layer_;
};

/// Layers of one kind of which other weights are kept become another kind.
void split_kinds(const Kept& kept, Architecture& a) {
  a.order = a.layer_order();
  std::map<std::pair<int, std::vector<bool>>, int> kinds;
  std::vector<LayerGroup> layers;
  std::vector<int> came_from;
  std::vector<int> order;
  for (std::size_t layer = 0; layer < a.order.size(); ++layer) {
    const int old = a.order[layer];
    std::vector<bool> signature;
    for (const NamedWeight& w : a.weights) {
      if (w.group == old && is_candidate(w, false)) signature.push_back(kept.has(w, layer));
    }
    const auto [kind, is_new] =
        kinds.try_emplace({old, std::move(signature)}, static_cast<int>(layers.size()));
    if (is_new) {
      layers.push_back(a.layers[static_cast<std::size_t>(old)]);
      layers.back().count = 0;
      const auto same = std::count(came_from.begin(), came_from.end(), old);
      if (same > 0) layers.back().name += "_" + std::to_string(same + 1);
      came_from.push_back(old);
    }
    ++layers[static_cast<std::size_t>(kind->second)].count;
    order.push_back(kind->second);
  }
  if (layers.size() == a.layers.size()) return;
  std::vector<NamedWeight> weights;
  for (const NamedWeight& w : a.weights) {
    if (w.group < 0) weights.push_back(w);
    for (std::size_t g = 0; g < layers.size() && w.group >= 0; ++g) {
      if (came_from[g] != w.group) continue;
      const std::int64_t all = a.layers[static_cast<std::size_t>(w.group)].count;
      weights.push_back(w);
      weights.back().group = static_cast<int>(g);
      weights.back().count = w.count / all * layers[g].count;
      weights.back().active = w.active / all * layers[g].count;
    }
  }
  a.layers = std::move(layers);
  a.order = std::move(order);
  a.weights = std::move(weights);
}

struct ScaleShape {
  std::int64_t per_rows = 1;
  std::int64_t per_cols = 1;
};

ScaleShape shape_of(const WeightFormat& format, const NamedWeight& w) {
  switch (format.scale_of) {
    case ScaleOf::channel:
      return {1, w.cols};
    case ScaleOf::block:
      return {format.scale_rows, format.scale_cols};
    case ScaleOf::group:
      return {1, format.scale_cols};
    default:
      return {w.rows, w.cols};
  }
}

NamedWeight scale_of(const NamedWeight& w, const char* suffix, ScaleShape per, Precision storage) {
  NamedWeight scale = w;
  scale.name += suffix;
  scale.rows = divided_up(w.rows, per.per_rows);
  scale.cols = divided_up(w.cols, per.per_cols);
  scale.storage = storage;
  scale.compute = Precision::none;
  scale.scale = true;
  const bool by_row = w.sharding == Sharding::row;
  if ((by_row ? scale.cols : scale.rows) == 1) scale.sharding = Sharding::replicated;
  scale.unit = std::max<std::int64_t>(1, w.unit / (by_row ? per.per_cols : per.per_rows));
  return scale;
}

void add_scales(const WeightFormat& f, const NamedWeight& w, std::vector<NamedWeight>& out) {
  const ScaleShape whole{w.rows, w.cols};
  if (f.scale_of != ScaleOf::none) {
    const ScaleShape per = shape_of(f, w);
    out.push_back(scale_of(w, "_scale", per, f.scale));
    if (f.zero != Precision::none) out.push_back(scale_of(w, "_zero_point", per, f.zero));
  }
  if (f.order) out.push_back(scale_of(w, "_g_idx", {w.rows, 1}, Precision::int32));
  if (f.tensor_scale) out.push_back(scale_of(w, "_scale_2", whole, Precision::fp32));
  if (f.input_scale) out.push_back(scale_of(w, "_input_scale", whole, Precision::fp32));
}

}  // namespace

void apply_quantization(const Quantization& quantization, Architecture& a) {
  const Kept kept(quantization.kept);
  split_kinds(kept, a);
  const WeightFormat& format = quantization.format;
  std::vector<std::size_t> first(a.layers.size(), 0);
  for (std::size_t layer = a.order.size(); layer-- > 0;) {
    first[static_cast<std::size_t>(a.order[layer])] = layer;
  }
  std::vector<NamedWeight> weights;
  for (NamedWeight& w : a.weights) {
    const std::size_t layer =
        w.group < 0 ? a.order.size() : first[static_cast<std::size_t>(w.group)];
    if (is_candidate(w, quantization.head) && !kept.has(w, layer)) {
      w.storage = format.storage;
      w.compute = format.compute;
      weights.push_back(w);
      add_scales(format, w, weights);
    } else {
      weights.push_back(w);
    }
  }
  a.weights = std::move(weights);
  a.kv_dtype = quantization.kv_dtype;
  a.quantization = format.text;
  a.assumptions.insert(a.assumptions.end(), quantization.assumptions.begin(),
                       quantization.assumptions.end());
}

}  // namespace floorline
