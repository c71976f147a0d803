// SPDX-License-Identifier: Apache-2.0
// An operator graph placed in time on one device: what overlaps, and how much communication stays
// exposed? Each operator starts when its inputs are there and its resource is free:
//   compute   one stream: kernels do not overlap each other
//   comm      one stream for collectives and send_recv, beside compute
//   h2d, d2h  one copy engine each way (copies within the device are compute)
//   host      one thread
// List schedule: a free resource takes the operator that was ready first, ties by the order of the
// graph (Graham, "Bounds on multiprocessing timing anomalies", 1969). Repeat blocks are unrolled.
// Durations are the operators' floors, cold or at any residency: the schedule is that of a machine
// on which every operator attains its floor, so it is no floor itself and no measured time either.
// Ignored: launches, collectives that slow kernels by the SMs and the HBM bandwidth they take.
#pragma once

#include <cstdint>

#include "model/floor/graph_floor.hpp"
#include "model/timeline/pipeline.hpp"
#include "model/workload/bound_graph.hpp"
#include "model/workload/graph.hpp"

namespace floorline {

enum class OperatorDuration : std::uint8_t { cold, any_residency };

/// Most operators after unrolling.
inline constexpr double kMostUnrolledOperators = 200'000;

/// Items = 1, a stage an operator and iteration, one group an operator. Throws InputError when the
/// graph unrolls to more than kMostUnrolledOperators.
Pipeline operator_pipeline(const OperatorGraph& graph, const BoundGraph& bound,
                           const GraphFloors& floors, OperatorDuration duration);

}  // namespace floorline
