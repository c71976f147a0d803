// SPDX-License-Identifier: Apache-2.0
#include "validation/calibration/line_fit.hpp"

#include <doctest/doctest.h>

#include <random>

#include "validation/calibration/line_points.hpp"

using namespace floorline;

namespace {

MeasuredPoint at(double size, double time) {
  return {Amount(Bytes(size)), Seconds(time), "", true, ""};
}

std::string refusal(const std::string& csv, const LineColumns& columns) {
  try {
    line_points(CsvTable::parse(csv, "t.csv"), columns);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_SUITE("validation") {
  TEST_CASE("proportional times have no fixed cost, whatever rounding leaves of one") {
    // 1 us a megabyte: 1 GB 1 ms, 2 GB 2 ms; 300, 600 and 900 bytes in as many microseconds.
    std::vector<MeasuredPoint> two{at(1e9, 1000e-6), at(2e9, 2000e-6)};
    CHECK(fit_line(two, {}).refusal == LineRefusal::none);
    CHECK(fit_line(two, {}).fixed == Seconds(0));
    std::vector<MeasuredPoint> three{at(300, 300e-6), at(600, 600e-6), at(900, 900e-6)};
    CHECK(fit_line(three, {}).refusal == LineRefusal::none);
  }

  TEST_CASE("two sizes give the line through them") {
    // 10 us + x / 1 TB/s: 1 MB takes 11 us, 100 MB 110 us. n_half = 10 us x 1 TB/s = 10 MB.
    std::vector<MeasuredPoint> points{at(1e6, 11e-6), at(100e6, 110e-6)};
    const MeasuredLine fit = fit_line(points, {});
    CHECK(fit.refusal == LineRefusal::none);
    CHECK(fit.fixed.in_base_units() == doctest::Approx(10e-6));
    CHECK(fit.rate->in_base_units() == doctest::Approx(1e12));
    CHECK(fit.half_size->in_base_units() == doctest::Approx(10e6));
    CHECK(fit.largest_residual < 1e-9);
  }

  TEST_CASE("residuals are relative, and small sizes count as much as large ones") {
    // The same line, the middle point 10 % slow: 1.1 x 20 us = 22 us.
    std::vector<MeasuredPoint> points{at(1e6, 11e-6), at(10e6, 22e-6), at(1000e6, 1010e-6)};
    const MeasuredLine fit = fit_line(points, {});
    CHECK(fit.used == 3);
    CHECK(fit.largest_residual > 0.03);
    CHECK(fit.largest_residual < 0.1);
    CHECK(fit.rate->in_base_units() == doctest::Approx(1e12).epsilon(0.03));
    CHECK(fit.fixed.in_base_units() == doctest::Approx(10e-6).epsilon(0.1));
  }

  TEST_CASE("sizes up to 2 S_keep are left out, the border included") {
    std::vector<MeasuredPoint> points{at(1e6, 1e-6), at(2e6, 2e-6), at(4e6, 14e-6), at(8e6, 18e-6)};
    const MeasuredLine fit = fit_line(points, {Amount(Bytes(2e6)), {}});
    CHECK(fit.used == 2);
    CHECK_FALSE(points[1].used);
    CHECK(points[2].used);
    CHECK(fit.fixed.in_base_units() == doctest::Approx(10e-6));
    std::vector<MeasuredPoint> one_left{at(1e6, 1e-6), at(4e6, 14e-6), at(4e6, 15e-6)};
    CHECK(fit_line(one_left, {Amount(Bytes(2e6)), {}}).refusal == LineRefusal::too_few);
  }

  TEST_CASE("a rate above the ceiling is refused, at it it is not") {
    const LineLimits limits{{}, AmountPerSecond(BytesPerSecond(1e12))};
    std::vector<MeasuredPoint> above{at(1e6, 10.9e-6), at(100e6, 109e-6)};  // 99 MB in 98.1 us
    const MeasuredLine fit = fit_line(above, limits);
    CHECK(fit.refusal == LineRefusal::above_ceiling);
    CHECK(fit.rate->in_base_units() == doctest::Approx(99e6 / 98.1e-6));
    CHECK_FALSE(fit.half_size.has_value());
    std::vector<MeasuredPoint> below{at(1e6, 11e-6), at(100e6, 110.001e-6)};
    CHECK(fit_line(below, limits).refusal == LineRefusal::none);
  }

  TEST_CASE("times that do not grow, and a fixed cost below zero") {
    std::vector<MeasuredPoint> flat{at(1e6, 80e-6), at(2e6, 80e-6), at(4e6, 80e-6)};
    const MeasuredLine fit = fit_line(flat, {});
    CHECK(fit.refusal == LineRefusal::not_growing);
    CHECK(fit.fixed.in_base_units() == doctest::Approx(80e-6));
    std::vector<MeasuredPoint> bent{at(1e6, 1e-6), at(100e6, 200e-6)};  // 2.01 ps a byte, - 1.01 us
    CHECK(fit_line(bent, {}).refusal == LineRefusal::negative_fixed);
  }

  TEST_CASE("a line with noise is found again") {
    std::mt19937_64 random(7);
    for (int run = 0; run < 50; ++run) {
      CAPTURE(run);
      std::uniform_real_distribution<double> noise(0.99, 1.01);
      std::vector<MeasuredPoint> points;
      for (double x = 1e5; x < 1e10; x *= 4) {
        points.push_back(at(x, (12e-6 + x / 1.5e12) * noise(random)));
      }
      const MeasuredLine fit = fit_line(points, {});
      CHECK(fit.fixed.in_base_units() == doctest::Approx(12e-6).epsilon(0.02));
      CHECK(fit.rate->in_base_units() == doctest::Approx(1.5e12).epsilon(0.02));
    }
  }

  TEST_CASE("points from a table: times by the column's name, rates by their unit") {
    const CsvTable table =
        CsvTable::parse("flops,t_us,tflops\n2e9,10,200\n4e9,15,266.7\n", "t.csv");
    const auto times = line_points(table, {AmountKind::flops, "flops", "t_us", "", ""});
    REQUIRE(times.size() == 2);
    CHECK(times[1].time.in_base_units() == doctest::Approx(15e-6));
    const auto rates = line_points(table, {AmountKind::flops, "flops", "", "tflops", "TFLOP/s"});
    CHECK(rates[0].time.in_base_units() == doctest::Approx(10e-6));  // 2e9 / 200e12
  }

  TEST_CASE("tables that cannot be read as a line") {
    const std::string csv = "bytes,t_us,t\n1,2,3\n-4,nan,6\n";
    CHECK(refusal(csv, {AmountKind::bytes, "bytes", "t_us", "", ""}).find("t.csv:3:1") !=
          std::string::npos);
    CHECK(refusal(csv, {AmountKind::bytes, "bytes", "t", "", ""}).find("does not end in") !=
          std::string::npos);
    CHECK(
        refusal(csv, {AmountKind::bytes, "byte", "t_us", "", ""}).find("did you mean \"bytes\"") !=
        std::string::npos);
    CHECK(refusal(csv, {AmountKind::bytes, "bytes", "", "", ""}).find("one of --time and --rate") !=
          std::string::npos);
    CHECK(refusal(csv, {AmountKind::bytes, "bytes", "", "t_us", "us"}).find("--unit") !=
          std::string::npos);
  }
}
