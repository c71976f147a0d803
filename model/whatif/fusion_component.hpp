// SPDX-License-Identifier: Apache-2.0
// The exact search of one component of at most 20 operators, as sets of bits. Internal to
// fusion_search.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "model/rewrite/fuse_rules.hpp"
#include "model/whatif/fusion_cost.hpp"

namespace floorline {

class FusionComponent {
 public:
  using Set = std::uint32_t;  ///< bit i: the component's operator number i, in execution order

  FusionComponent(const Evaluation& evaluation, const FusionRules& rules, FusionCost& cost,
                  std::span<const OperatorId> ops);

  /// The best partition; its groups may wait for one another in a circle.
  std::vector<FusionGroup> best();
  /// The best partition whose groups can be put in an order.
  std::vector<FusionGroup> best_in_order();

 private:
  struct Edge {  ///< a tensor that would vanish if all of the component were one kernel
    Set maker = 0;
    Set readers = 0;
    Bytes written{0};
    Bytes read{0};  ///< the least that any reader reads
  };
  struct Outside {  ///< an operator of elsewhere between members
    Set before = 0;
    Set after = 0;
  };
  struct Known {
    double cost = 0;
    Set first = 0;  ///< the group that holds the first operator
  };

  void find_paths(const Evaluation& evaluation, const FusionRules& rules);
  void find_edges(const Evaluation& evaluation);
  [[nodiscard]] std::span<const OperatorId> ops_of(Set set);
  [[nodiscard]] bool convex(Set set) const;
  double cost_of(Set group);  ///< infinity: not legal
  double bound_of(Set rest);  ///< all of it as one kernel, legal or not
  double least_from(Set rest);
  void grow(Set rest, Set group, Set barred, Known& best);
  [[nodiscard]] double bound_with(Set rest, Set group, Set barred);
  double least_in_order(Set done);
  void grow_in_order(Set done, Set group, Set barred, Known& best);

  const FusionRules& rules_;
  FusionCost& cost_;
  std::vector<OperatorId> ops_;
  std::vector<Set> near_;            ///< by operator: who makes what it reads, reads what it makes
  std::vector<Set> before_, after_;  ///< by operator: whom it depends on, who depends on it
  std::vector<Outside> outside_;
  std::vector<Edge> edges_;
  std::unordered_map<Set, double> costs_, bounds_;
  std::unordered_map<Set, Known> known_, in_order_;
  std::vector<OperatorId> scratch_;
};

}  // namespace floorline
