// SPDX-License-Identifier: Apache-2.0
// The operators of one group of equal layers. Internal to model_graph.
#pragma once

#include <cstdint>
#include <string>

#include "model/workload/graph_builder.hpp"

namespace floorline {

/// What flows from one layer to the next.
struct LayerStream {
  TensorId normed{};    ///< what the layer's projections read
  TensorId residual{};  ///< what its first norm adds
};

struct LayerRun {
  int group = 0;           ///< of Architecture::layers
  std::int64_t count = 0;  ///< layers of this stage
  std::string prefix;      ///< of operator and tensor names: "" or "sliding."
};

LayerStream add_layers(GraphBuilder& builder, const LayerRun& run, LayerStream stream);

}  // namespace floorline
