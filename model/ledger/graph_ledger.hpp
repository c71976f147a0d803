// SPDX-License-Identifier: Apache-2.0
// The memory ledger of an operator graph at the operator where most is alive: liveness.hpp as
// lines.
#pragma once

#include "model/ledger/ledger.hpp"
#include "model/workload/bound_graph.hpp"
#include "model/workload/graph.hpp"

namespace floorline {

/// Lines weights, state, inputs, outputs, intermediates, as far as there are any; one instant,
/// named after the operator. The formula of intermediates names the largest of them.
MemoryLedger graph_ledger(const OperatorGraph& graph, const BoundGraph& bound);

}  // namespace floorline
