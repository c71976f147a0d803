// SPDX-License-Identifier: Apache-2.0
// The scheduler against a second one written differently, on random pipelines.
#include <doctest/doctest.h>

#include <cmath>

#include "model/timeline/analysis.hpp"
#include "model/timeline/schedule.hpp"
#include "tests/timeline/brute_force.hpp"
#include "tests/timeline/random_pipeline.hpp"

namespace floorline {

TEST_SUITE_BEGIN("timeline");

TEST_CASE("event by event equals step by step on 1,000 random pipelines") {
  int deadlocks = 0;
  for (unsigned seed = 1; seed <= 1000; ++seed) {
    CAPTURE(seed);
    const Pipeline p = random_pipeline(seed);
    const BruteForce expected = brute_force(p, milliseconds(1));
    const Schedule s = make_schedule(p);
    REQUIRE(s.deadlock.has_value() == expected.deadlock);
    if (expected.deadlock) {
      ++deadlocks;
      CHECK(!s.deadlock->cycle.empty());
      continue;
    }
    const auto per_ms = static_cast<Ticks>(std::llround(s.ticks_per_second / 1000));
    for (std::size_t t = 0; t < s.start.size(); ++t) {
      CAPTURE(t);
      REQUIRE(s.start[t] == expected.start[t] * per_ms);
      REQUIRE(s.end[t] == expected.end[t] * per_ms);
      REQUIRE(s.server[t] == expected.server[t]);
    }
  }
  // The comparison is of schedules, not of deadlocks alone.
  CHECK(deadlocks > 0);
  CHECK(deadlocks < 300);
}

TEST_CASE("critical path with its waits is the makespan, its steps follow one another") {
  for (unsigned seed = 1; seed <= 1000; ++seed) {
    CAPTURE(seed);
    const Pipeline p = random_pipeline(seed);
    const Schedule s = make_schedule(p);
    if (s.deadlock) continue;
    const CriticalChain chain = critical_chain(s);
    Ticks sum = chain.waits;
    Ticks at = chain.waits;
    for (const PathStep& step : chain.steps) {
      REQUIRE(step.start == at);
      sum += step.end - step.start;
      at = step.end;
    }
    REQUIRE(sum == s.makespan_ticks);
  }
}

TEST_CASE("no slack is negative, and what is on the critical path to its end has none") {
  for (unsigned seed = 1; seed <= 1000; ++seed) {
    CAPTURE(seed);
    const Pipeline p = random_pipeline(seed);
    const Schedule s = make_schedule(p);
    if (s.deadlock) continue;
    const std::vector<Ticks> slack = task_slack(p, s);
    for (const Ticks t : slack) REQUIRE(t >= 0);
    for (const PathStep& step : critical_chain(s).steps) {
      const auto t = static_cast<std::size_t>(s.task(step.stage, step.item));
      if (step.end == s.end[t] && step.end > step.start) REQUIRE(slack[t] == 0);
    }
  }
}

TEST_CASE("busy, held and idle times fill servers x makespan, and the reasons fill the idle time") {
  for (unsigned seed = 1; seed <= 500; ++seed) {
    CAPTURE(seed);
    const Pipeline p = random_pipeline(seed);
    const Schedule s = make_schedule(p);
    if (s.deadlock) continue;
    for (const ResourceUse& use : resource_use(p, s)) {
      const double all =
          static_cast<double>(p.pools[index_of(use.pool)].servers) * s.makespan().in_base_units();
      const Seconds filled = use.busy + use.held + use.idle;
      REQUIRE(filled.in_base_units() == doctest::Approx(all));
      Seconds reasons{0};
      for (const IdleReason& why : use.why) reasons += why.time;
      // Servers that never ran anything have no gap of their own.
      REQUIRE(reasons.in_base_units() <= (use.idle + use.held).in_base_units() + 1e-12);
    }
  }
}

TEST_CASE("constant times: busiest resource <= period <= serial sum; cycle mean = simulated") {
  int exact = 0;
  for (unsigned seed = 1; seed <= 500; ++seed) {
    CAPTURE(seed);
    RandomShape shape;
    shape.constant = true;
    shape.shared = seed % 2 == 0;
    Pipeline p = random_pipeline(seed, shape);
    p.items += 1;
    const Schedule s = make_schedule(p);
    if (s.deadlock) continue;
    const auto period = steady_period(p, s);
    REQUIRE(period);
    Seconds serial{0};
    for (std::uint32_t k = 0; k < p.stages.size(); ++k) serial += p.time_of(StageId{k}, 0);
    REQUIRE(period->time.in_base_units() >= period->at_least.in_base_units() * (1 - 1e-12));
    REQUIRE(period->time.in_base_units() <= serial.in_base_units() * (1 + 1e-12));
    if (period->kind != PeriodKind::cycle_mean || !period->repeats) continue;
    ++exact;
    REQUIRE(period->time.in_base_units() ==
            doctest::Approx(period->repeats->in_base_units()).epsilon(1e-12));
  }
  CHECK(exact > 200);
}

TEST_SUITE_END();

}  // namespace floorline
