// SPDX-License-Identifier: Apache-2.0
// What must hold of the floors of whatever graph an input gave.
#pragma once

#include <cmath>
#include <cstdlib>
#include <initializer_list>

#include "tests/floor/test_machine.hpp"

namespace floorline::testing {

inline void require_floors(const OperatorGraph& graph) {
  const auto require = [](bool holds) {
    if (!holds) std::abort();
  };
  static const Machine machine = round_machine();
  const BoundGraph bound = bind(graph);
  GraphFloors floors;
  prepare(bound, floors);
  graph_floors(bound, machine.rates, machine.chip, floors);
  const auto at_most = [&](Seconds a, Seconds b) {
    require(a.in_base_units() <= b.in_base_units() * (1 + 1e-9));
  };
  for (const ResidencyTimes& times : {floors.fused, floors.critical_path, floors.serial}) {
    // Sizes are bounded, stated FLOPs are not: an infinite time is one, not a number it must be.
    require(!std::isnan(times.cold.in_base_units()) && !std::isnan(times.any.in_base_units()));
    at_most(times.any, times.cold);
  }
  at_most(floors.fused.cold, floors.critical_path.cold);
  at_most(floors.critical_path.cold, floors.serial.cold);
  missing_for(graph, floors, machine);
}

}  // namespace floorline::testing
