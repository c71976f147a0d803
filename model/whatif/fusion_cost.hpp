// SPDX-License-Identifier: Apache-2.0
// What a group of operators asks for and the least time it takes as one kernel, by the formulas of
// kind fused, without rewriting the graph: groups are laid out behind a copy of its arrays.
#pragma once

#include <span>
#include <vector>

#include "model/demand/demand.hpp"
#include "model/evaluate.hpp"
#include "model/rewrite/fuse.hpp"

namespace floorline {

class FusionCost {
 public:
  FusionCost(const Evaluation& evaluation, const Machine& machine);

  /// Of all its iterations, cold. A single operator costs what it costs in the graph.
  Seconds cold(std::span<const OperatorId> group);
  /// The same if `read` and `written` bytes crossed HBM besides.
  Seconds cold_with(std::span<const OperatorId> group, Bytes read, Bytes written);
  Demand demand(std::span<const OperatorId> group);

 private:
  const Evaluation& evaluation_;
  const Machine& machine_;
  BoundGraph scratch_;
  std::size_t uses_;               ///< those of the graph itself
  std::vector<int> readers_;       ///< by tensor
  std::vector<int> inside_reads_;  ///< by tensor, scratch: reads by members
  std::vector<char> made_, seen_;  ///< by tensor, scratch
  std::vector<char> stays_;        ///< by tensor: leaves any group that makes it
};

}  // namespace floorline
