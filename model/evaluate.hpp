// SPDX-License-Identifier: Apache-2.0
// One call that runs the chain: graph + device → demand → floors. The main job, on one screen.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/device/device.hpp"
#include "model/device/rates.hpp"
#include "model/floor/graph_floor.hpp"
#include "model/workload/bound_graph.hpp"
#include "model/workload/graph.hpp"

namespace floorline {

/// A device with one clock choice, ready to give floors.
struct Machine {
  DeviceSpec device;
  ClockChoice clocks;
  Rates rates;
  OnChip chip;
};
Machine machine_of(DeviceSpec device, const ClockChoice& clocks);

struct Evaluation {
  OperatorGraph graph;
  BoundGraph bound;
  GraphFloors floors;
  /// Where a router decides and the floors count the least: the same under uniform routing.
  /// Convexity makes it a bound on the mean step from below, not on every step.
  std::optional<GraphFloors> uniform;
};

/// Throws InputError: sizes that do not bind, rates that the device does not state (naming device,
/// key and operator).
Evaluation evaluate(OperatorGraph graph, const Machine& machine);

/// What the device lacks for these operators; one diagnostic for each resource.
std::vector<Diagnostic> missing_for(const OperatorGraph& graph, const GraphFloors& floors,
                                    const Machine& machine);

/// One kernel by numbers on "compute" and "memory"; no on-chip capacities, so the floor at any
/// residency has its compute term only.
Evaluation evaluate_numbers(Flops flops, Bytes bytes, const Rates& rates);

/// The same graph with other symbol values: nothing is allocated. False when a size is bad.
bool reevaluate(const Machine& machine, std::span<const double> symbol_values,
                Evaluation& evaluation);
/// The same where only the symbols of `touched` have other values than the last time: operators
/// that do not depend on them keep their floors. False, too, when one of the others asks for a rate
/// that the device does not state.
bool reevaluate(const Machine& machine, std::span<const double> symbol_values,
                const Touched& touched, Evaluation& evaluation);

}  // namespace floorline
