// SPDX-License-Identifier: Apache-2.0
// Sharded weights (ZeRO-3, FSDP): every layer's weights are gathered before its forward and again
// before its backward pass, and its gradients are reduce-scattered after it. How much of that hides
// behind compute for a prefetch depth?
//   uses       forward of layer 0 … n-1, backward of n-1 … 0, then the optimizer, on the GPU
//   gather k   all_gather of layer_bytes, in the order of the uses, begun when the use
//              prefetch + 1 places before it is done (prefetch + 1 layers are whole at once);
//              prefetch 0: nothing overlaps
//   scatter    reduce_scatter of gradient_bytes_per_layer after each backward
// Gathers and scatters share one link, one at a time, by the order in which they become ready; a
// gather goes first of two that are. The next step's gathers wait for the optimizer.
// Rajbhandari et al., arXiv 1910.02054; Zhao et al., arXiv 2304.11277. Ignored: keeping the last
// layer whole between its passes, hierarchical sharding.
#pragma once

#include <cstdint>

#include "model/timeline/kinds/collectives.hpp"

namespace floorline {

struct Zero3 {
  std::int64_t steps = 4;
  std::int64_t layers = 1;
  std::int64_t prefetch = 1;
  Seconds forward{0};   ///< of one layer
  Seconds backward{0};  ///< of one layer
  Seconds optimizer{0};
  Bytes layer_weights{0};
  Bytes layer_gradients{0};
  CollectiveKeys collective;
};

Zero3 read_zero3(TableReader& table, std::vector<std::string>& assumptions);
BuiltKind build(const Zero3& step);

}  // namespace floorline
