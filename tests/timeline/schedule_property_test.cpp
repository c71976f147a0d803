// SPDX-License-Identifier: Apache-2.0
// The scheduler against a second one written differently, on random pipelines.
#include <doctest/doctest.h>

#include <cmath>

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

TEST_SUITE_END();

}  // namespace floorline
