// SPDX-License-Identifier: Apache-2.0
// The search against every partition there is, each group's cost taken from a rewritten graph.
#include "model/whatif/fusion_search.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <map>

#include "tests/floor/test_machine.hpp"
#include "tests/whatif/random_fusable.hpp"

using namespace floorline;
using namespace floorline::testing;

namespace {

class BruteForce {
 public:
  BruteForce(const Evaluation& e, const Machine& machine, const FusionRules& rules)
      : e_(e), machine_(machine), rules_(rules) {}

  double least() {
    place(0);
    return best_;
  }

 private:
  double cost(const FusionGroup& group) {
    const auto at = costs_.find(group);
    if (at != costs_.end()) return at->second;
    double time = std::numeric_limits<double>::infinity();
    if (group.size() == 1) {
      time = e_.floors.ops[index(group.front())].cold.time().in_base_units();
    } else if (rules_.refusals(group).empty()) {
      const std::string name = fused_name(e_.graph, group);
      const Evaluation fused =
          evaluate(fused_graph(e_.graph, std::span<const OperatorId>(group)), machine_);
      const auto op = fused.graph.find_op(name).value();
      time = fused.floors.ops[index(op)].cold.time().in_base_units();
    }
    return costs_[group] = time;
  }

  void place(std::size_t i) {
    if (i == e_.graph.ops.size()) {
      double sum = 0;
      for (const FusionGroup& group : groups_) sum += cost(group);
      if (sum < best_ && can_be_ordered(rules_, e_.graph.ops.size(), groups_)) best_ = sum;
      return;
    }
    const auto op = static_cast<OperatorId>(i);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      groups_[g].push_back(op);
      place(i + 1);
      groups_[g].pop_back();
    }
    groups_.push_back({op});
    place(i + 1);
    groups_.pop_back();
  }

  const Evaluation& e_;
  const Machine& machine_;
  const FusionRules& rules_;
  std::vector<FusionGroup> groups_;
  std::map<FusionGroup, double> costs_;
  double best_ = std::numeric_limits<double>::infinity();
};

struct Searched {
  Evaluation evaluation;
  FusionPlan plan;
};

Searched search(OperatorGraph graph, const Machine& machine) {
  Searched s{evaluate(std::move(graph), machine), {}};
  const UnitMemory memory = unit_memory(machine.device);
  const FusionRules rules(s.evaluation.graph, s.evaluation.bound, memory);
  s.plan = search_fusions(s.evaluation, machine, rules);
  return s;
}

}  // namespace

TEST_SUITE("whatif") {
  TEST_CASE("the search equals every partition of 500 random graphs") {
    const Machine machine = round_machine();
    int fused = 0;
    for (std::uint64_t seed = 1; seed <= 500; ++seed) {
      CAPTURE(seed);
      Dice dice(seed);
      // 64 columns fit everywhere; 640 do not fit 16 rows in 10,000 bytes.
      const OperatorGraph graph =
          random_fusable(dice, dice.whole(2, 8), dice.chance(50) ? 64 : 640);
      const Searched s = search(graph, machine);
      const UnitMemory memory = unit_memory(machine.device);
      const FusionRules rules(s.evaluation.graph, s.evaluation.bound, memory);
      const double least = BruteForce(s.evaluation, machine, rules).least();
      CHECK(s.plan.exact);
      CHECK(s.plan.cold_after.in_base_units() == doctest::Approx(least).epsilon(1e-9));
      const Evaluation after = evaluate(
          fused_graph(s.evaluation.graph, std::span<const FusionGroup>(s.plan.groups)), machine);
      CHECK(after.floors.serial.cold.in_base_units() == doctest::Approx(least).epsilon(1e-9));
      fused += s.plan.groups.empty() ? 0 : 1;
    }
    CHECK(fused > 300);
  }

  TEST_CASE("groups that would wait for one another are put in order") {
    // A = {0, 3} and B = {1, 2} would each wait for the other (0 → 2, 1 → 3).
    const Machine machine = round_machine();
    OperatorGraph graph;
    graph.name = "circle";
    for (int i = 0; i < 6; ++i)
      add_tensor(graph, "t" + std::to_string(i), 64,
                 i < 2 ? TensorRole::input : TensorRole::intermediate);
    const auto add = [&](const char* name, std::vector<int> in, int out) {
      Operator op;
      op.name = name;
      op.kind = OperatorKind::elementwise;
      for (const int t : in) op.inputs.push_back(static_cast<TensorId>(t));
      op.outputs = {static_cast<TensorId>(out)};
      graph.ops.push_back(op);
    };
    add("o0", {0}, 2);
    add("o1", {1}, 3);
    add("o2", {3, 2}, 4);
    add("o3", {2, 3}, 5);
    graph.tensors[4].role = graph.tensors[5].role = TensorRole::output;
    const Searched s = search(graph, machine);
    const UnitMemory memory = unit_memory(machine.device);
    const FusionRules rules(s.evaluation.graph, s.evaluation.bound, memory);
    const FusionGroup a{OperatorId{0}, OperatorId{3}};
    const FusionGroup b{OperatorId{1}, OperatorId{2}};
    CHECK(rules.legal(a));
    CHECK(rules.legal(b));
    CHECK_FALSE(can_be_ordered(rules, 4, {a, b}));
    CHECK(can_be_ordered(rules, 4, s.plan.groups));
  }

  TEST_CASE("beyond 20 operators that hang together the plan says what was cut") {
    Dice dice(7);
    const Searched s = search(random_fusable(dice, 60), round_machine());
    CHECK_FALSE(s.plan.exact);
    REQUIRE(!s.plan.cut.empty());
    CHECK(s.plan.cut.front().find("runs of neighbours") != std::string::npos);
    CHECK(s.plan.cold_after <= s.plan.cold_before);
  }
}
