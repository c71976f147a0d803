// SPDX-License-Identifier: Apache-2.0
#include "model/whatif/fusion_component.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "model/demand/input_reads.hpp"

namespace floorline {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kRounding = 1e-12;  // sums in another order

template <class Visit>
void each_bit(FusionComponent::Set set, Visit visit) {
  for (; set != 0; set &= set - 1) visit(static_cast<std::size_t>(std::countr_zero(set)));
}

FusionComponent::Set bit(std::size_t i) { return FusionComponent::Set{1} << i; }
FusionComponent::Set lowest(FusionComponent::Set set) { return set & (~set + 1); }

}  // namespace

FusionComponent::FusionComponent(const Evaluation& evaluation, const FusionRules& rules,
                                 FusionCost& cost, std::span<const OperatorId> ops)
    : rules_(rules),
      cost_(cost),
      ops_(ops.begin(), ops.end()),
      near_(ops.size()),
      before_(ops.size()),
      after_(ops.size()) {
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    const std::vector<int>& readers = rules.readers_of(static_cast<int>(ops_[i]));
    for (std::size_t j = i + 1; j < ops_.size(); ++j) {
      const bool reads =
          std::find(readers.begin(), readers.end(), static_cast<int>(ops_[j])) != readers.end();
      if (!reads || !rules.may_share(ops_[i], ops_[j])) continue;
      near_[i] |= bit(j);
      near_[j] |= bit(i);
    }
  }
  find_paths(evaluation, rules);
  find_edges(evaluation);
}

/// Paths through the whole graph: which members come before and after each operator.
void FusionComponent::find_paths(const Evaluation& evaluation, const FusionRules& rules) {
  const std::size_t count = evaluation.bound.ops.size();
  std::vector<Set> own(count, 0);
  std::vector<Outside> paths(count);
  for (std::size_t i = 0; i < ops_.size(); ++i) own[index(ops_[i])] = bit(i);
  const std::size_t first = index(ops_.front());
  const std::size_t last = index(ops_.back());
  for (std::size_t i = first; i <= last; ++i) {
    for (const int r : rules.readers_of(static_cast<int>(i)))
      paths[static_cast<std::size_t>(r)].before |= paths[i].before | own[i];
  }
  for (std::size_t i = last + 1; i-- > first;) {
    for (const int r : rules.readers_of(static_cast<int>(i))) {
      const auto reader = static_cast<std::size_t>(r);
      paths[i].after |= paths[reader].after | own[reader];
    }
  }
  for (std::size_t i = first; i <= last; ++i) {
    if (own[i] == 0 && paths[i].before != 0 && paths[i].after != 0) outside_.push_back(paths[i]);
  }
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    before_[i] = paths[index(ops_[i])].before;
    after_[i] = paths[index(ops_[i])].after;
  }
}

void FusionComponent::find_edges(const Evaluation& evaluation) {
  const BoundGraph& bound = evaluation.bound;
  const OnChip chip;
  std::vector<Edge> edges(bound.tensors.size());
  std::vector<char> elsewhere(bound.tensors.size(), 0);
  std::vector<Set> own(bound.ops.size(), 0);
  for (std::size_t i = 0; i < ops_.size(); ++i) own[index(ops_[i])] = bit(i);
  for (std::size_t i = 0; i < bound.ops.size(); ++i) {
    const InputReads reads(bound, bound.ops[i], chip);
    for (int k = 0; k < bound.ops[i].input_count; ++k) {
      const auto t =
          static_cast<std::size_t>(bound.inputs(bound.ops[i])[static_cast<std::size_t>(k)].tensor);
      Edge& edge = edges[t];
      if (own[i] == 0) elsewhere[t] = 1;
      edge.read = edge.readers == 0 ? reads.bytes(k) : std::min(edge.read, reads.bytes(k));
      edge.readers |= own[i];
    }
    for (const TensorUse& use : bound.outputs(bound.ops[i])) {
      edges[static_cast<std::size_t>(use.tensor)].maker = own[i];
      edges[static_cast<std::size_t>(use.tensor)].written =
          bound.tensors[static_cast<std::size_t>(use.tensor)].bytes;
    }
  }
  for (const BoundCarry& c : bound.carries) {
    elsewhere[static_cast<std::size_t>(c.made)] = 1;
    elsewhere[static_cast<std::size_t>(c.read)] = 1;
  }
  for (std::size_t t = 0; t < edges.size(); ++t) {
    Edge& edge = edges[t];
    if (edge.maker == 0 || edge.readers == 0) continue;
    const bool stays = elsewhere[t] != 0 || bound.tensors[t].role != TensorRole::intermediate;
    if (stays) edge.written = Bytes(0);  // written in any case
    edges_.push_back(edge);
  }
}

std::span<const OperatorId> FusionComponent::ops_of(Set set) {
  scratch_.clear();
  each_bit(set, [&](std::size_t i) { scratch_.push_back(ops_[i]); });
  return scratch_;
}

bool FusionComponent::convex(Set set) const {
  Set before = 0;
  Set after = 0;
  each_bit(set, [&](std::size_t i) {
    before |= before_[i];
    after |= after_[i];
  });
  if ((before & after & ~set) != 0) return false;
  return std::none_of(outside_.begin(), outside_.end(), [set](const Outside& o) {
    return (o.before & set) != 0 && (o.after & set) != 0;
  });
}

double FusionComponent::cost_of(Set group) {
  const auto [at, is_new] = costs_.try_emplace(group, kNever);
  if (!is_new) return at->second;
  const std::span<const OperatorId> ops = ops_of(group);
  const bool legal = ops.size() == 1 || (convex(group) && rules_.fits(ops));
  if (legal) at->second = cost_.cold(ops).in_base_units();
  return at->second;
}

double FusionComponent::bound_of(Set rest) {
  if (rest == 0) return 0;
  const auto [at, is_new] = bounds_.try_emplace(rest, 0);
  if (is_new) at->second = cost_.cold_with(ops_of(rest), Bytes(0), Bytes(0)).in_base_units();
  return at->second;
}

/// All of `rest` as one kernel, but tensors between `group` and `barred` cross HBM.
double FusionComponent::bound_with(Set rest, Set group, Set barred) {
  Bytes read(0);
  Bytes written(0);
  for (const Edge& edge : edges_) {
    const bool out = (edge.maker & group) != 0 && (edge.readers & barred) != 0;
    const bool in = (edge.maker & barred) != 0 && (edge.readers & group) != 0;
    if (!out && !in) continue;
    read += edge.read;
    // Readers that were taken out of `rest` before have made it cross already.
    if ((edge.readers & ~rest) == 0) written += edge.written;
  }
  if (!(read > Bytes(0))) return bound_of(rest);
  return cost_.cold_with(ops_of(rest), read, written).in_base_units();
}

double FusionComponent::least_from(Set rest) {
  if (rest == 0) return 0;
  if (const auto at = known_.find(rest); at != known_.end()) return at->second.cost;
  Known best{kNever, 0};
  // The whole first: where it is legal nothing is better.
  if (cost_of(rest) < kNever && std::popcount(rest) > 1) {
    Set reached = lowest(rest);
    for (Set grown = 0; grown != reached;) {
      grown = reached;
      each_bit(grown, [&](std::size_t i) { reached |= near_[i] & rest; });
    }
    if (reached == rest) best = {cost_of(rest), rest};
  }
  if (best.cost > bound_of(rest) * (1 + kRounding)) {
    const Set first = lowest(rest);
    grow(rest, first, rest & (first - 1), best);
  }
  known_[rest] = best;
  return best.cost;
}

/// Groups of `rest` that hold `group`, connected, and nothing of `barred`.
void FusionComponent::grow(Set rest, Set group, Set barred, Known& best) {
  const double own = cost_of(group);
  if (own < kNever && own + bound_of(rest & ~group) < best.cost * (1 - kRounding)) {
    const double all = own + least_from(rest & ~group);
    if (all < best.cost * (1 - kRounding)) best = {all, group};
  }
  Set around = 0;
  each_bit(group, [&](std::size_t i) { around |= near_[i]; });
  around &= rest & ~group & ~barred;
  while (around != 0) {
    const Set next = lowest(around);
    around &= ~next;
    if (best.cost < kNever && bound_with(rest, group, barred) >= best.cost * (1 - kRounding))
      return;
    grow(rest, group | next, barred, best);
    barred |= next;
  }
}

std::vector<FusionGroup> FusionComponent::best() {
  std::vector<FusionGroup> groups;
  Set rest = bit(ops_.size()) - 1;
  least_from(rest);
  while (rest != 0) {
    const Set group = known_.at(rest).first;
    const auto ops = ops_of(group);
    groups.emplace_back(ops.begin(), ops.end());
    rest &= ~group;
    least_from(rest);
  }
  return groups;
}

double FusionComponent::least_in_order(Set done) {
  const Set rest = (bit(ops_.size()) - 1) & ~done;
  if (rest == 0) return 0;
  if (const auto at = in_order_.find(done); at != in_order_.end()) return at->second.cost;
  Known best{kNever, 0};
  Set barred = done;
  each_bit(rest, [&](std::size_t i) {
    grow_in_order(done, bit(i), barred, best);
    barred |= bit(i);
  });
  in_order_[done] = best;
  return best.cost;
}

void FusionComponent::grow_in_order(Set done, Set group, Set barred, Known& best) {
  const Set after = done | group;
  Set around = 0;
  bool closed = true;
  each_bit(group, [&](std::size_t i) {
    around |= near_[i];
    closed = closed && (before_[i] & ~after) == 0;
  });
  const double own = closed ? cost_of(group) : kNever;
  if (own < best.cost) {
    const double all = own + least_in_order(after);
    if (all < best.cost) best = {all, group};
  }
  around &= ~group & ~barred;
  while (around != 0) {
    const Set next = lowest(around);
    around &= ~next;
    grow_in_order(done, group | next, barred, best);
    barred |= next;
  }
}

std::vector<FusionGroup> FusionComponent::best_in_order() {
  std::vector<FusionGroup> groups;
  const Set all = bit(ops_.size()) - 1;
  for (Set done = 0; done != all;) {
    least_in_order(done);
    const Set group = in_order_.at(done).first;
    const auto ops = ops_of(group);
    groups.emplace_back(ops.begin(), ops.end());
    done |= group;
  }
  return groups;
}

}  // namespace floorline
