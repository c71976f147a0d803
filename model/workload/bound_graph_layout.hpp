// SPDX-License-Identifier: Apache-2.0
// The arrays of a bound graph that do not depend on its numbers: who uses what, distinct sizes and
// shapes, repeat blocks. Internal to bound_graph.
#pragma once

#include "model/workload/bound_graph.hpp"

namespace floorline {

/// Fills an empty `bound`; sizes, keys and copies are left to rebind().
void lay_out(const OperatorGraph& graph, BoundGraph& bound);

}  // namespace floorline
