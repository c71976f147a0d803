// SPDX-License-Identifier: Apache-2.0
// Which operators to fuse for the least serial cold floor: a partition of the graph into legal
// groups (model/rewrite/fuse_rules), minimal in the sum of their floors.
//   Operators that could never stand in one group fall apart into components, searched one by one.
//   Up to kExact operators a component is searched exactly: f(R) = min over connected groups G of R
//   that hold R's first operator of cost(G) + f(R \ G), remembered for each R, cut off only where
//   cost so far + floor of all the rest as one kernel (a bound: fused ≤ serial) cannot win.
//   A partition whose groups would wait for one another in a circle is searched again in the order
//   of execution: f over sets closed under producers. Beyond kExact only runs of neighbours in
//   execution order, kExact operators at most, are looked at, and `cut` says so.
// Among equal floors the one with the fewest fused operators, as far as taking single ones out
// shows.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "model/evaluate.hpp"
#include "model/rewrite/fuse_rules.hpp"

namespace floorline {

struct FusionPlan {
  std::vector<FusionGroup> groups;  ///< of two and more operators, in execution order
  Seconds cold_before{0};
  Seconds cold_after{0};
  bool exact = true;
  std::vector<std::string> cut;    ///< what was not looked at
  std::vector<std::string> alone;  ///< operators that no group may take, with the reason
};

inline constexpr std::size_t kExactFusion = 20;

/// `evaluation`: of the graph on `machine`.
FusionPlan search_fusions(const Evaluation& evaluation, const Machine& machine,
                          const FusionRules& rules);

/// Whether groups (and all other operators alone) could run one after another.
bool can_be_ordered(const FusionRules& rules, std::size_t operators,
                    const std::vector<FusionGroup>& groups);

}  // namespace floorline
