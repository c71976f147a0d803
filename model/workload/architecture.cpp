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

std::int64_t Architecture::layer_count() const {
  std::int64_t count = 0;
  for (const LayerGroup& group : layers) count += group.count;
  return count;
}

ParameterCount Architecture::parameter_count() const {
  ParameterCount parameters;
  for (const NamedWeight& weight : weights) {
    parameters.total += weight.rows * weight.cols * weight.count;
    parameters.active += weight.rows * weight.cols * weight.active;
  }
  return parameters;
}

const NamedWeight* Architecture::find_weight(std::string_view weight, int group) const {
  const auto found = std::find_if(weights.begin(), weights.end(), [&](const NamedWeight& w) {
    return w.group == group && w.name == weight;
  });
  return found == weights.end() ? nullptr : &*found;
}

std::int64_t kv_elements_per_token(const Architecture& architecture, std::int64_t tp) {
  std::int64_t elements = 0;
  for (const LayerGroup& group : architecture.layers) {
    const std::int64_t heads = divided(group.attention.kv_heads, 1, tp);
    elements += group.count * heads * (group.attention.head_dim + group.attention.v_dim);
  }
  return elements;
}

}  // namespace floorline
