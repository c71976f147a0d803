// SPDX-License-Identifier: Apache-2.0
// Short ways to a situation, for tests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/whatif/whatif.hpp"
#include "tests/demand/one_op.hpp"
#include "tests/floor/test_machine.hpp"

namespace floorline::testing {

inline Situation by_numbers(double work, double traffic, double peak, double bandwidth) {
  Situation s;
  s.kernel =
      KernelNumbers{Flops(work), Bytes(traffic), FlopsPerSecond(peak), BytesPerSecond(bandwidth)};
  return s;
}
inline Situation of_graph(OperatorGraph graph, const Machine& machine = round_machine()) {
  Situation s;
  s.graph = std::move(graph);
  s.device = machine.device;
  s.clocks = machine.clocks;
  return s;
}
inline Situation of_op(std::string_view text, const Machine& machine = round_machine()) {
  return of_graph(parse_op_text(text), machine);
}

inline WhatifQuestion question(const std::vector<std::string>& changes, bool rank = false) {
  WhatifQuestion q;
  for (const std::string& text : changes) q.changes.push_back(parse_assignment(text));
  q.rank = rank;
  return q;
}
inline Whatif ask(const Situation& s, const std::vector<std::string>& changes) {
  return floorline::ask(s, question(changes));
}
inline double floor_ratio(const Situation& s, const std::vector<std::string>& changes) {
  return ask(s, changes).ratios.serial.cold.value();
}

template <class Action>
std::string refusal(Action action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace floorline::testing
