// SPDX-License-Identifier: Apache-2.0
// What must hold of every change, on random graphs.
#include <doctest/doctest.h>

#include "tests/property/random_graph.hpp"
#include "tests/whatif/situations.hpp"

using namespace floorline;
using namespace floorline::testing;

namespace {

constexpr double kRounding = 1e-9;

bool at_most(const std::optional<double>& value, double most) {
  return !value || *value <= most * (1 + kRounding);
}

void check_not_slower(const Ratios& r) {
  for (const Ratio& ratio : {r.serial, r.critical_path, r.fused}) {
    if (ratio.cold) CHECK(*ratio.cold >= 1 - kRounding);
    if (ratio.any) CHECK(*ratio.any >= 1 - kRounding);
  }
}

void check_same(const Ratios& r) {
  for (const Ratio& ratio : {r.serial, r.critical_path, r.fused}) {
    if (ratio.cold) CHECK(*ratio.cold == doctest::Approx(1).epsilon(1e-12));
    if (ratio.any) CHECK(*ratio.any == doctest::Approx(1).epsilon(1e-12));
  }
}

const std::vector<std::string>& rate_keys() {
  static const std::vector<std::string> keys{"memory.hbm.bandwidth", "rate.tensor.bf16.fp32",
                                             "rate.vector.fp32",     "link.h2d.bandwidth",
                                             "link.d2h.bandwidth",   "units"};
  return keys;
}

}  // namespace

TEST_SUITE("property") {
  TEST_CASE("a change by factor 1 changes nothing; a faster device is never slower") {
    for (std::uint64_t seed = 1; seed <= 120; ++seed) {
      CAPTURE(seed);
      Dice dice(seed);
      const Situation s = of_graph(random_graph(dice, true));
      const std::string& key = rate_keys()[static_cast<std::size_t>(dice.whole(0, 5))];
      const std::string op = s.graph
                                 ->ops[static_cast<std::size_t>(
                                     dice.whole(0, static_cast<int>(s.graph->ops.size()) - 1))]
                                 .name;
      check_same(testing::ask(s, {key + "*=1"}).ratios);
      check_same(testing::ask(s, {"op." + op + ".flops*=1", "op." + op + ".bytes*=1"}).ratios);
      // More units also keep more on chip.
      const std::string factor = exact_text(dice.real(1, 8));
      check_not_slower(testing::ask(s, {key + "*=" + factor}).ratios);
      check_not_slower(testing::ask(s, {"op." + op + ".flops*=0.5"}).ratios);
    }
  }

  TEST_CASE("no single change buys more than the share it touches") {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
      CAPTURE(seed);
      Dice dice(seed);
      const Situation s = of_graph(random_graph(dice, true));
      const Ranking ranking = rank_changes(s, evaluate(s), {});
      for (const RankedChange& r : ranking.changes) {
        CAPTURE(r.name);
        if (r.ceiling) CHECK(at_most(r.gain.cold, *r.ceiling));
        if (r.kind == RankedKind::resource) CHECK(at_most(r.gain.cold, 2));
        CHECK(r.share >= 0);
        CHECK(r.share <= 1 + kRounding);
        if (r.elasticity) CHECK(*r.elasticity <= 1 + 1e-3);
      }
      for (std::size_t i = 1; i < ranking.changes.size(); ++i) {
        CHECK(ranking.changes[i - 1].gain.cold.value_or(1) >=
              ranking.changes[i].gain.cold.value_or(1));
      }
    }
  }

  TEST_CASE("at the break-even the binding has moved, just before it has not") {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      CAPTURE(seed);
      Dice dice(seed);
      const Situation s = of_graph(random_graph(dice, false));
      const Whatif w = testing::ask(s, {"memory.hbm.bandwidth*=64"});
      const auto& even = w.changes[0].break_even.found;
      if (!even) continue;
      const auto binding_at = [&](double factor) {
        return testing::ask(s, {"memory.hbm.bandwidth*=" + exact_text(factor)})
            .after.evaluation.floors.serial_binding;
      };
      const ResourceId now = w.before.evaluation.floors.serial_binding;
      CHECK(binding_at(even->factor * (1 - 1e-6)) == now);
      CHECK_FALSE(binding_at(even->factor * (1 + 1e-6)) == now);
    }
  }

  TEST_CASE("removal leaves a graph that can be evaluated, never with more work") {
    int tried = 0;
    for (std::uint64_t seed = 1; seed <= 240; ++seed) {
      CAPTURE(seed);
      Dice dice(seed);
      const Situation s = of_graph(random_graph(dice, true));
      Diagnostics diagnostics;  // a graph file could not say all that the dice say
      check_graph(*s.graph, diagnostics);
      if (s.graph->ops.size() < 2 || !diagnostics.empty()) continue;
      ++tried;
      const std::string op = s.graph
                                 ->ops[static_cast<std::size_t>(
                                     dice.whole(0, static_cast<int>(s.graph->ops.size()) - 1))]
                                 .name;
      const Whatif w = testing::ask(s, {"op." + op + "=remove"});
      CHECK(w.after.evaluation.floors.sum.flops <= w.before.evaluation.floors.sum.flops);
      CHECK(w.after.evaluation.graph.ops.size() + 1 == w.before.evaluation.graph.ops.size());
    }
    CHECK(tried > 60);
  }
}
