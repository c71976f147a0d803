// SPDX-License-Identifier: Apache-2.0
// Lines through three points, by hand, under both weightings.
#include "model/quantity/line.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace floorline;

namespace {

std::vector<LineSample> samples(const std::vector<std::pair<double, double>>& points) {
  std::vector<LineSample> all;
  for (const auto& [size, time] : points) all.push_back({Amount(Bytes(size)), Seconds(time)});
  return all;
}

}  // namespace

TEST_SUITE("quantity") {
  TEST_CASE("line: two points, whatever the weights") {
    for (const LineWeights weights : {LineWeights::equal, LineWeights::relative}) {
      const auto line = fit(samples({{10, 3}, {30, 4}}), weights);
      REQUIRE(line.has_value());
      CHECK(line->slope == doctest::Approx(0.05));  // 1 / 20
      CHECK(line->fixed.in_base_units() == doctest::Approx(2.5));
    }
  }

  TEST_CASE("line: what is weighed decides between three points") {
    const auto points = samples({{1, 1}, {2, 2}, {3, 4}});
    // Means 2 and 7/3; (-1)(-4/3) + (1)(5/3) = 3 over 2: 1.5 and 7/3 - 3 = -2/3.
    const auto equal = fit(points, LineWeights::equal);
    REQUIRE(equal.has_value());
    CHECK(equal->slope == doctest::Approx(1.5));
    CHECK(equal->fixed.in_base_units() == doctest::Approx(-2.0 / 3));
    // Weights 1, 1/4, 1/16, 21/16 in all; means 9/7 and 4/3. Spread 4/49 + 25/196 + 9/49 = 11/28,
    // rise 2/21 + 5/42 + 2/7 = 1/2: 14/11 and 4/3 - (14/11)(9/7) = -10/33.
    const auto relative = fit(points, LineWeights::relative);
    REQUIRE(relative.has_value());
    CHECK(relative->slope == doctest::Approx(14.0 / 11));
    CHECK(relative->fixed.in_base_units() == doctest::Approx(-10.0 / 33));
  }

  TEST_CASE("line: one size gives none") {
    CHECK_FALSE(fit(samples({{5, 1}}), LineWeights::equal).has_value());
    CHECK_FALSE(fit(samples({{5, 1}, {5, 2}, {5, 3}}), LineWeights::relative).has_value());
    const auto falling = fit(samples({{1, 2}, {2, 1}}), LineWeights::equal);
    REQUIRE(falling.has_value());
    CHECK(falling->slope == doctest::Approx(-1.0));
  }
}
