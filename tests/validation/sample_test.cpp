// SPDX-License-Identifier: Apache-2.0
#include "validation/observation/sample.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

using namespace floorline;

TEST_SUITE("validation") {
  TEST_CASE("median of an odd and of an even count") {
    CHECK(summarize({3, 1, 2}).median == 2);
    CHECK(summarize({4, 1, 3, 2}).median == 2.5);  // (2 + 3) / 2
    const SampleSummary one = summarize({7});
    CHECK(one.median == 7);
    CHECK(one.minimum == 7);
    CHECK(one.count == 1);
    CHECK_FALSE(one.interval.has_value());
  }

  TEST_CASE("spread is (maximum - minimum) / median") {
    const SampleSummary s = summarize({10, 12, 8, 11, 10});
    CHECK(s.minimum == 8);
    CHECK(s.maximum == 12);
    CHECK(s.spread() == doctest::Approx(0.4));  // (12 - 8) / 10
  }

  TEST_CASE("ranks of the interval of the median, by the binomial at one half") {
    // n = 5: x1..x5 holds it with 1 - 2/32 = 0.9375 < 0.95: no interval.
    CHECK_FALSE(median_ranks(5, 0.95).has_value());
    // n = 6: x1..x6 with 1 - 2/64 = 0.96875.
    const auto six = median_ranks(6, 0.95);
    REQUIRE(six.has_value());
    CHECK(six->low == 1);
    CHECK(six->high == 6);
    CHECK(six->coverage == doctest::Approx(0.96875));
    // n = 9: x2..x8 with 1 - 2(1 + 9)/512 = 0.9609375; x3..x7 would be 1 - 2(1+9+36)/512 = 0.8203.
    const auto nine = median_ranks(9, 0.95);
    REQUIRE(nine.has_value());
    CHECK(nine->low == 2);
    CHECK(nine->high == 8);
    CHECK(nine->coverage == doctest::Approx(0.9609375));
    // n = 20, the usual table: x6..x15, 1 - 2(1+20+190+1140+4845+15504)/1048576 = 0.95861.
    const auto twenty = median_ranks(20, 0.95);
    REQUIRE(twenty.has_value());
    CHECK(twenty->low == 6);
    CHECK(twenty->high == 15);
    CHECK(twenty->coverage == doctest::Approx(0.958610).epsilon(1e-5));
    CHECK_FALSE(median_ranks(0, 0.95).has_value());
    CHECK_FALSE(median_ranks(8, 1).has_value());  // nothing covers with certainty
  }

  TEST_CASE("a million samples have an interval, and it is near the normal one") {
    // half width 1.96 sqrt(n)/2 = 980 ranks around 500000
    const auto ranks = median_ranks(1000000, 0.95);
    REQUIRE(ranks.has_value());
    CHECK(ranks->low == doctest::Approx(499021).epsilon(5e-6));
    CHECK(ranks->low + ranks->high == 1000001);
  }

  TEST_CASE("the interval holds samples and its relative width is over the median") {
    const SampleSummary s = summarize({1, 2, 3, 4, 5, 6, 7, 8, 9});
    REQUIRE(s.interval.has_value());
    CHECK(s.interval->low == 2);
    CHECK(s.interval->high == 8);
    CHECK(*s.relative_width() == doctest::Approx(1.2));  // (8 - 2) / 5
  }

  TEST_CASE("a typed number has no spread, no interval and no samples") {
    const SampleSummary s = typed_value(5.074e-3);
    CHECK(s.median == 5.074e-3);
    CHECK(s.count == 0);
    CHECK_FALSE(s.interval.has_value());
    CHECK_FALSE(s.relative_width().has_value());
  }

  TEST_CASE("the interval covers the true median about as often as it says") {
    // Exponential samples, true median log 2; 2000 runs of 20: 95.86 % expected, sd 0.45 %.
    std::mt19937_64 random(20261129);
    std::exponential_distribution<double> draw(1);
    int held = 0;
    for (int run = 0; run < 2000; ++run) {
      std::vector<double> samples(20);
      std::generate(samples.begin(), samples.end(), [&] { return draw(random); });
      const auto interval = summarize(samples).interval;
      if (interval->low <= 0.6931471805599453 && 0.6931471805599453 <= interval->high) ++held;
    }
    CHECK(held > 1917 - 4 * 9);
    CHECK(held < 1917 + 4 * 9);
  }

  TEST_CASE("names read back") {
    for (const auto kind :
         {MeasurandKind::time, MeasurandKind::ratio, MeasurandKind::bytes, MeasurandKind::flops,
          MeasurandKind::bandwidth, MeasurandKind::flop_rate}) {
      CHECK(measurand_kind_named(name_of(kind)) == kind);
    }
    CHECK(cache_mode_named("rotating") == CacheMode::rotating);
    CHECK(evidence_named("typed") == EvidenceClass::typed);
    CHECK_FALSE(evidence_named("proof").has_value());
  }
}
