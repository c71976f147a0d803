// SPDX-License-Identifier: Apache-2.0
// The operators of a run of layers. Internal to model_graph.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/workload/graph_builder.hpp"

namespace floorline {

/// What flows from one layer to the next.
struct LayerStream {
  TensorId normed{};    ///< what the layer's projections read
  TensorId residual{};  ///< what its first norm adds
};

/// Layers of the given kinds, one after the other, `times` times: one repeat block.
struct LayerRun {
  std::vector<int> groups;  ///< of Architecture::layers
  std::int64_t times = 0;
  std::vector<std::string>
      prefixes;  ///< of operator and tensor names: "" or "sliding.", one a layer
  friend bool operator==(const LayerRun&, const LayerRun&) = default;
};

/// The shortest pattern that covers most of what is left, again and again. Prefixes are unique.
std::vector<LayerRun> runs_of(const Architecture& architecture, const std::vector<int>& order);

LayerStream add_layers(GraphBuilder& builder, const LayerRun& run, LayerStream stream);

}  // namespace floorline
