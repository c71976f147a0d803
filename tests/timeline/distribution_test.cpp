// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "model/timeline/pipeline_file.hpp"

namespace floorline {

namespace {

double mean_of(const std::vector<Seconds>& times) {
  double sum = 0;
  for (const Seconds t : times) sum += t.in_base_units();
  return sum / static_cast<double>(times.size());
}

double deviation_of(const std::vector<Seconds>& times) {
  const double mean = mean_of(times);
  double sum = 0;
  for (const Seconds t : times) sum += std::pow(t.in_base_units() - mean, 2);
  return std::sqrt(sum / static_cast<double>(times.size()));
}

}  // namespace

TEST_SUITE_BEGIN("timeline");

TEST_CASE("draws have the mean and the deviation they were asked for, and repeat with their seed") {
  // 100,000 draws: the mean's own deviation is 1 / sqrt(1e5) = 0.3 % of one; 2 % is six of those.
  Distribution d;
  d.mean = seconds(10);
  d.deviation = seconds(2);
  d.low = seconds(4);
  d.high = seconds(16);
  d.seed = 7;
  struct Expected {
    DistributionKind kind;
    double deviation;
  };
  // Uniform over [4, 16]: 12 / sqrt(12) = 3.464. Exponential: its mean.
  for (const Expected& e :
       {Expected{DistributionKind::uniform, 3.4641}, Expected{DistributionKind::normal, 2},
        Expected{DistributionKind::lognormal, 2}, Expected{DistributionKind::exponential, 10}}) {
    d.kind = e.kind;
    const std::vector<Seconds> times = draw(d, 100'000);
    CHECK(mean_of(times) == doctest::Approx(10).epsilon(0.02));
    CHECK(deviation_of(times) == doctest::Approx(e.deviation).epsilon(0.03));
    CHECK(draw(d, 100'000) == times);
    CHECK(*std::min_element(times.begin(), times.end()) >= Seconds(0));
  }
  Distribution other = d;
  other.seed = 8;
  CHECK(draw(other, 10) != draw(d, 10));
}

TEST_SUITE_END();

}  // namespace floorline
