// SPDX-License-Identifier: Apache-2.0
#include "model/workload/architecture.hpp"

#include <algorithm>

namespace floorline {

namespace {

/// Whole units of a dimension that the fullest of `tp` ranks holds.
std::int64_t divided(std::int64_t size, std::int64_t unit, std::int64_t tp) {
  const std::int64_t units = (size + unit - 1) / unit;
  return (units + tp - 1) / tp * unit;
}

}  // namespace

std::string_view name_of(Sharding sharding) {
  switch (sharding) {
    case Sharding::replicated:
      return "replicated";
    case Sharding::column:
      return "column";
    case Sharding::row:
      return "row";
    case Sharding::vocab:
      return "vocab";
    case Sharding::kv_heads:
      return "kv_heads";
  }
  return "";
}

WeightShape rank_shape(const NamedWeight& weight, std::int64_t tp) {
  switch (weight.sharding) {
    case Sharding::replicated:
      break;
    case Sharding::column:
    case Sharding::vocab:
    case Sharding::kv_heads:
      return {divided(weight.rows, weight.unit, tp), weight.cols};
    case Sharding::row:
      return {weight.rows, divided(weight.cols, weight.unit, tp)};
  }
  return {weight.rows, weight.cols};
}

namespace {

/// Ranks that divide one expert.
std::int64_t expert_tp(const ParallelLayout& layout) {
  return std::max<std::int64_t>(1, layout.tp / std::max<std::int64_t>(1, layout.ep));
}

}  // namespace

WeightShape rank_shape(const NamedWeight& weight, const ParallelLayout& layout) {
  return rank_shape(weight, weight.experts > 0 ? expert_tp(layout) : layout.tp);
}

std::int64_t rank_count(const NamedWeight& weight, const ParallelLayout& layout) {
  if (weight.experts == 0) return weight.count;
  return weight.count / weight.experts * divided(weight.experts, 1, layout.ep);
}

std::int64_t Architecture::layer_count() const {
  std::int64_t count = 0;
  for (const LayerGroup& group : layers) count += group.count;
  return count;
}

std::vector<int> Architecture::layer_order() const {
  if (!order.empty()) return order;
  std::vector<int> kinds;
  for (std::size_t g = 0; g < layers.size(); ++g) {
    kinds.insert(kinds.end(), static_cast<std::size_t>(layers[g].count), static_cast<int>(g));
  }
  return kinds;
}

ParameterCount Architecture::parameter_count() const {
  ParameterCount parameters;
  for (const NamedWeight& weight : weights) {
    if (weight.scale) continue;
    const std::int64_t size = weight.rows * weight.cols;
    (weight.draft ? parameters.draft : parameters.total) += size * weight.count;
    if (!weight.draft) parameters.active += size * weight.active;
  }
  return parameters;
}

const NamedWeight* Architecture::find_weight(std::string_view weight, int group) const {
  const auto found = std::find_if(weights.begin(), weights.end(), [&](const NamedWeight& w) {
    return w.group == group && w.name == weight;
  });
  return found == weights.end() ? nullptr : &*found;
}

bool Architecture::has_experts() const {
  return std::any_of(layers.begin(), layers.end(),
                     [](const LayerGroup& group) { return group.experts.experts > 0; });
}

std::int64_t kv_elements_per_token(const Architecture& architecture, std::int64_t tp) {
  std::int64_t elements = 0;
  for (const LayerGroup& group : architecture.layers) {
    const AttentionShape& a = group.attention;
    if (group.mixer == Mixer::latent_attention) {
      elements += group.count * (group.latent.kv_rank + group.latent.rope_dim);
    } else if (group.mixer == Mixer::attention) {
      elements += group.count * divided(a.kv_heads, 1, tp) * (a.head_dim + a.v_dim);
    }
  }
  return elements;
}

std::int64_t index_elements_per_token(const Architecture& architecture) {
  std::int64_t elements = 0;
  for (const LayerGroup& group : architecture.layers) {
    if (group.latent.index_heads > 0) elements += group.count * group.latent.index_dim;
  }
  return elements;
}

std::int64_t conv_channels(const LayerGroup& group, std::int64_t tp) {
  const StateShape& s = group.state;
  return divided(s.heads, 1, tp) * s.value_dim + 2 * divided(s.key_heads, 1, tp) * s.key_dim;
}

StateElements state_elements(const Architecture& architecture, std::int64_t tp) {
  StateElements sum;
  for (const LayerGroup& group : architecture.layers) {
    if (group.mixer != Mixer::mamba2 && group.mixer != Mixer::gated_delta_net) continue;
    const StateShape& s = group.state;
    sum.conv += group.count * (s.conv_width - 1) * conv_channels(group, tp);
    sum.recurrent += group.count * divided(s.heads, 1, tp) * s.key_dim * s.value_dim;
  }
  return sum;
}

}  // namespace floorline
