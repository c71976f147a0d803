// SPDX-License-Identifier: Apache-2.0
// A graph in which a group of operators is one: kind fused, the members as its parts. Inputs of the
// group are read once, what leaves it is written once; what one member hands to another vanishes
// unless somebody outside reads it too. Whether the group may be fused is asked in fuse_rules.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/workload/graph.hpp"

namespace floorline {

/// Operators of the graph, in execution order.
using FusionGroup = std::vector<OperatorId>;

/// What of the group's tensors crosses its border, in order of first use.
struct FusionBorder {
  std::vector<TensorId> inputs;
  std::vector<TensorId> outputs;
  std::vector<TensorId> inside;  ///< vanish from HBM
};
FusionBorder border_of(const OperatorGraph& graph, std::span<const OperatorId> group);

/// Order of the operators in which the members stand next to each other; `inside` by operator.
std::vector<std::size_t> gathered_order(const OperatorGraph& graph,
                                        const std::vector<bool>& inside);

/// The group must be legal. Operators between its first and last member move behind it if they
/// depend on a member, before it otherwise.
OperatorGraph fused_graph(const OperatorGraph& graph, std::span<const OperatorId> group);

/// Several groups that share no operator.
OperatorGraph fused_graph(const OperatorGraph& graph, std::span<const FusionGroup> groups);

/// "a+b+c", shortened where long, and not the name of another operator.
std::string fused_name(const OperatorGraph& graph, std::span<const OperatorId> group);

/// The other way round: operators of kind `fused` as their parts again.
struct SplitGraph {
  OperatorGraph graph;
  std::vector<FusionGroup> groups;  ///< the parts of each
  std::vector<std::string> names;   ///< what each was called
};
SplitGraph split_graph(const OperatorGraph& graph);

}  // namespace floorline
