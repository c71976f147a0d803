// SPDX-License-Identifier: Apache-2.0
#include "model/whatif/fusion_search.hpp"

#include <algorithm>
#include <numeric>

#include "model/whatif/fusion_component.hpp"

namespace floorline {

namespace {

constexpr double kRounding = 1e-12;

/// Operators that could stand in one group, by way of others.
std::vector<std::vector<OperatorId>> components_of(const FusionRules& rules, std::size_t count) {
  std::vector<std::size_t> root(count);
  std::iota(root.begin(), root.end(), std::size_t{0});
  const auto find = [&root](std::size_t i) {
    while (root[i] != i) i = root[i] = root[root[i]];
    return i;
  };
  for (std::size_t i = 0; i < count; ++i) {
    for (const int r : rules.readers_of(static_cast<int>(i))) {
      const auto reader = static_cast<std::size_t>(r);
      if (!rules.may_share(static_cast<OperatorId>(i), static_cast<OperatorId>(reader))) continue;
      const std::size_t a = find(i);
      const std::size_t b = find(reader);
      root[std::max(a, b)] = std::min(a, b);
    }
  }
  std::vector<std::vector<OperatorId>> by_root(count);
  for (std::size_t i = 0; i < count; ++i) by_root[find(i)].push_back(static_cast<OperatorId>(i));
  std::erase_if(by_root, [](const auto& ops) { return ops.empty(); });
  return by_root;
}

/// Runs of neighbours in execution order: f(i) = min over j of f(j) + cost(j … i - 1).
std::vector<FusionGroup> best_runs(const FusionRules& rules, FusionCost& cost,
                                   const std::vector<OperatorId>& ops) {
  const std::span<const OperatorId> all(ops);
  std::vector<double> least(ops.size() + 1, 0);
  std::vector<std::size_t> from(ops.size() + 1, 0);
  for (std::size_t i = 1; i <= ops.size(); ++i) {
    least[i] = least[i - 1] + cost.cold(all.subspan(i - 1, 1)).in_base_units();
    from[i] = i - 1;
    for (std::size_t n = 2; n <= std::min(i, kExactFusion); ++n) {
      const auto run = all.subspan(i - n, n);
      if (least[i - n] >= least[i] || !rules.legal(run)) continue;
      const double sum = least[i - n] + cost.cold(run).in_base_units();
      if (sum >= least[i] * (1 - kRounding)) continue;
      least[i] = sum;
      from[i] = i - n;
    }
  }
  std::vector<FusionGroup> groups;
  for (std::size_t i = ops.size(); i > 0; i = from[i])
    groups.emplace_back(ops.begin() + static_cast<std::ptrdiff_t>(from[i]),
                        ops.begin() + static_cast<std::ptrdiff_t>(i));
  std::reverse(groups.begin(), groups.end());
  return groups;
}

/// Takes members out that gain nothing: at equal floors the fewest fused operators.
void drop_idle_members(const FusionRules& rules, FusionCost& cost,
                       std::vector<FusionGroup>& groups) {
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (std::size_t k = groups[g].size(); k-- > 0 && groups[g].size() > 1;) {
      FusionGroup rest = groups[g];
      const FusionGroup one{rest[k]};
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(k));
      if (rest.size() > 1 && !rules.legal(rest)) continue;
      const Seconds apart = cost.cold(rest) + cost.cold(one);
      if (apart <= cost.cold(groups[g]) * (1 + kRounding)) groups[g] = rest;
    }
  }
}

void keep_true_groups(std::vector<FusionGroup>& groups) {
  std::erase_if(groups, [](const FusionGroup& g) { return g.size() < 2; });
  std::sort(groups.begin(), groups.end());
}

}  // namespace

bool can_be_ordered(const FusionRules& rules, std::size_t operators,
                    const std::vector<FusionGroup>& groups) {
  std::vector<std::size_t> node(operators);
  std::iota(node.begin(), node.end(), std::size_t{0});
  for (const FusionGroup& group : groups) {
    for (const OperatorId op : group) node[index(op)] = index(group.front());
  }
  std::vector<std::vector<std::size_t>> next(operators);
  std::vector<int> waits(operators, 0);
  for (std::size_t i = 0; i < operators; ++i) {
    for (const int r : rules.readers_of(static_cast<int>(i))) {
      const std::size_t to = node[static_cast<std::size_t>(r)];
      if (to == node[i]) continue;
      next[node[i]].push_back(to);
      ++waits[to];
    }
  }
  std::vector<std::size_t> free;
  std::size_t nodes = 0;
  for (std::size_t i = 0; i < operators; ++i) {
    if (node[i] != i) continue;
    ++nodes;
    if (waits[i] == 0) free.push_back(i);
  }
  std::size_t placed = 0;
  for (; !free.empty(); ++placed) {
    const std::size_t i = free.back();
    free.pop_back();
    for (const std::size_t to : next[i]) {
      if (--waits[to] == 0) free.push_back(to);
    }
  }
  return placed == nodes;
}

FusionPlan search_fusions(const Evaluation& evaluation, const Machine& machine,
                          const FusionRules& rules) {
  const std::size_t count = evaluation.bound.ops.size();
  FusionPlan plan;
  FusionCost cost(evaluation, machine);
  for (const std::vector<OperatorId>& ops : components_of(rules, count)) {
    std::vector<FusionGroup> groups;
    if (ops.size() <= kExactFusion) {
      groups = ops.size() > 1 ? FusionComponent(evaluation, rules, cost, ops).best()
                              : std::vector<FusionGroup>{{ops.front()}};
    } else {
      groups = best_runs(rules, cost, ops);
      plan.exact = false;
      plan.cut.push_back(std::to_string(ops.size()) + " operators from \"" +
                         evaluation.graph.ops[index(ops.front())].name +
                         "\" on hang together; only runs of neighbours in execution order, up to " +
                         std::to_string(kExactFusion) + " operators each, were looked at");
    }
    plan.groups.insert(plan.groups.end(), groups.begin(), groups.end());
  }
  drop_idle_members(rules, cost, plan.groups);
  keep_true_groups(plan.groups);
  if (!can_be_ordered(rules, count, plan.groups) && count <= kExactFusion) {
    std::vector<OperatorId> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(static_cast<OperatorId>(i));
    plan.groups = FusionComponent(evaluation, rules, cost, all).best_in_order();
    keep_true_groups(plan.groups);
  }
  while (!can_be_ordered(rules, count, plan.groups)) {
    plan.exact = false;
    plan.cut.push_back("groups that would wait for one another: \"" +
                       evaluation.graph.ops[index(plan.groups.back().front())].name +
                       "\" and what was fused with it stay apart");
    plan.groups.pop_back();
  }
  std::vector<bool> fused(count, false);
  for (const FusionGroup& group : plan.groups) {
    plan.cold_after += cost.cold(group);
    for (const OperatorId op : group) fused[index(op)] = true;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const OperatorId one[] = {static_cast<OperatorId>(i)};
    plan.cold_before += cost.cold(one);
    if (!fused[i]) plan.cold_after += cost.cold(one);
  }
  return plan;
}

}  // namespace floorline
