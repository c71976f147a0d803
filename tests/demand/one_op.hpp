// SPDX-License-Identifier: Apache-2.0
// Short ways from text to a demand, for tests.
#pragma once

#include <string>
#include <string_view>

#include "model/demand/demand.hpp"
#include "model/input/document_node.hpp"
#include "model/quantity/resource.hpp"
#include "model/workload/bound_graph.hpp"
#include "model/workload/graph_file.hpp"
#include "model/workload/op_text.hpp"

namespace floorline::testing {

inline OperatorGraph graph_of_toml(std::string_view text) {
  const Node document = parse_toml(text, "graph.toml");
  return read_graph(document);
}

/// The demand of one operator of a graph.
inline Demand demand_in(const OperatorGraph& graph, std::string_view op, const OnChip& chip = {}) {
  const BoundGraph bound = bind(graph);
  return demand_of(bound, bound.ops[index(graph.find_op(op).value())], chip);
}
/// The demand of the only operator of `--op TEXT`.
inline Demand demand_of_op(std::string_view text, const OnChip& chip = {}) {
  const BoundGraph bound = bind(parse_op_text(text));
  return demand_of(bound, bound.ops.front(), chip);
}

/// What is asked of a resource, in base units; 0 when it is not in the list.
inline double asked(const Demand& demand, std::string_view resource) {
  for (const DemandEntry& entry : demand.list()) {
    if (name_of(entry.resource) == resource) return entry.amount.in_base_units();
  }
  return 0;
}
inline double work(const Demand& demand) { return demand.flops.in_base_units(); }
inline double read(const Demand& demand) { return demand.hbm_read.in_base_units(); }
inline double written(const Demand& demand) { return demand.hbm_write.in_base_units(); }

}  // namespace floorline::testing
