// SPDX-License-Identifier: Apache-2.0
// HBM bytes of a whole graph: each tensor that enters it (inputs, weights, state) once, the largest
// part that any reader needs; each that leaves it (outputs, state) once. Internal to graph_floor.
#pragma once

#include <span>

#include "model/floor/graph_floor.hpp"

namespace floorline {

/// Sizes the arrays and finds what enters; after this nothing is allocated.
void prepare_traffic(const BoundGraph& graph, GraphFloors& result);

/// What enters the graph by this operator: of tensors that nothing in it makes. `entering` has what
/// it reads of each input, and keeps that of inputs that do not enter, which nobody asks for. Where
/// ranks share what a router decides, the mean rank: it exists for the whole graph.
void scale_entering(const BoundGraph& graph, const OnChip& chip, const BoundOperator& op,
                    const Demand& demand, std::span<Bytes> entering);
/// Outputs and state that it writes.
Bytes leaving_by(const BoundGraph& graph, const BoundOperator& op, const Demand& demand);
/// What enters the graph, each tensor once: the largest part any reader needs. What leaves it.
void fused_traffic(const BoundGraph& graph, GraphFloors& result);

}  // namespace floorline
