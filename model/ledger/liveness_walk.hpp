// SPDX-License-Identifier: Apache-2.0
// Goes through the operators of a graph in execution order, repeat blocks folded, and notes when
// each instance of an intermediate is born and last read. Internal to liveness.cpp.
#pragma once

#include "model/ledger/liveness.hpp"

namespace floorline {

/// Fills `instances` and `step_op` of the scratch.
void walk_liveness(const BoundGraph& graph, LivenessScratch& scratch);

}  // namespace floorline
