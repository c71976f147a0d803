// SPDX-License-Identifier: Apache-2.0
// Keys of one operator that contradict each other or its tensors. Internal to bound_graph.
#pragma once

#include "model/workload/bound_graph.hpp"

namespace floorline {

/// What is wrong and what was expected; null where the keys agree. Allocates nothing.
const char* contradiction(const BoundGraph& graph, const BoundOperator& op);

}  // namespace floorline
