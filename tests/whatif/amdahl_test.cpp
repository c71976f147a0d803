// SPDX-License-Identifier: Apache-2.0
#include "model/whatif/amdahl.hpp"

#include <doctest/doctest.h>

#include "model/whatif/line_fit.hpp"
#include "tests/whatif/situations.hpp"

using namespace floorline;
using namespace floorline::testing;

TEST_SUITE("whatif") {
  TEST_CASE("a fused optimizer, 22 to 8 ms in a step of 922 ms") {
    MeasuredTimes m = read_measured({"922ms", "op.optimizer=22ms"});
    CHECK(m.given == "922ms");
    m.whole = milliseconds(922);
    check_measured(m);
    const AmdahlPrediction p =
        amdahl(*m.whole, stated_parts(m, {parse_assignment("op.optimizer.time=8ms")}));
    CHECK(p.parts[0].local_ratio() == doctest::Approx(2.75));
    CHECK(p.after.in_base_units() == doctest::Approx(0.908));
    CHECK(p.ratio() == doctest::Approx(922.0 / 908));
    CHECK(p.share() == doctest::Approx(22.0 / 922));
    CHECK(*p.ceiling() == doctest::Approx(922.0 / 900));
    const AmdahlPrediction scaled =
        amdahl(*m.whole, stated_parts(m, {parse_assignment("op.optimizer.time*=0.5")}));
    CHECK(scaled.after.in_base_units() == doctest::Approx(0.911));
  }

  TEST_CASE("a part that is everything has no ceiling") {
    CHECK_FALSE(amdahl(seconds(1), {{"all", seconds(1), seconds(0.5), ""}}).ceiling());
  }

  TEST_CASE("measured times that are none") {
    const auto read = [](const std::vector<std::string>& texts) {
      return refusal([&] { read_measured(texts); });
    };
    CHECK(read({"5ms", "6ms"}).find("given twice, 5ms and 6ms") != std::string::npos);
    CHECK(read({"op.a=5ms", "op.a=6ms"}).find("measured twice") != std::string::npos);
    CHECK(read({"op.a=0s"}).find("not a time above zero") != std::string::npos);
    CHECK(read({"op.a=5GB"}) != "accepted");
    CHECK(read({"a=5ms"}).find("neither a time nor op.NAME=22ms") != std::string::npos);
    MeasuredTimes m = read_measured({"op.a=5ms", "op.b=6ms"});
    m.whole = milliseconds(10);
    CHECK(refusal([&] { check_measured(m); }).find("more than the whole") != std::string::npos);
    const auto parts = [&](std::string_view change) {
      return refusal([&] { stated_parts(m, {parse_assignment(change)}); });
    };
    CHECK(parts("op.c.time=1ms").find("has no measured time; measured are a, b") !=
          std::string::npos);
    CHECK(parts("op.a.time=0s") != "accepted");
    CHECK(parts("op.a.time*=0") != "accepted");
    CHECK(parts("op.a.time*=nan") != "accepted");
  }

  TEST_CASE("measured operators in a graph: their time goes as their floor") {
    // naive attention: three kernels; half the traffic of the softmax halves its memory-bound floor
    const Situation s = of_graph(
        parse_op_text(
            "attention batch=1 q_heads=8 kv_heads=8 q_len=512 kv_len=512 head_dim=64 form=naive "
            "causal=0 compute=bf16"),
        machine_from(std::string(kRoundDevice) +
                     "[rate.sfu]\nper_clock_per_unit = 1000000\nclock = \"sm\"\n"
                     "[rate.vector.bf16]\nper_clock_per_unit = 1000000\nclock = \"sm\"\n"));
    WhatifQuestion q = question({"op.softmax.bytes*=0.5"});
    q.measured = read_measured({"10ms", "op.softmax=4ms"});
    q.measured.whole = milliseconds(10);
    const AmdahlPrediction p = *floorline::ask(s, q).amdahl;
    CHECK(p.parts[0].after.in_base_units() == doctest::Approx(2e-3));
    CHECK(p.after.in_base_units() == doctest::Approx(8e-3));
    // Both products: 2 x 2 x 512 x 512 x 64 x 8 = 537 MFLOP, 4.3 us; the parts say 1 + 0.1 us.
    q.changes = {parse_assignment("op.softmax.time=1us")};
    q.measured = read_measured({"4.0001ms", "op.softmax=4ms"});
    q.measured.whole = milliseconds(4.0001);
    CHECK(floorline::ask(s, q).notes.front().find("lies below the floor") != std::string::npos);
    q.changes = {};
    q.measured = read_measured({"10ms", "op.softmaks=4ms"});
    q.measured.whole = milliseconds(10);
    CHECK(refusal([&] { floorline::ask(s, q); }).find("is no operator of this workload") !=
          std::string::npos);
  }

  TEST_CASE("a line through two points: int4 from 16 and 8 bits") {
    // 13.320 GB in 9.533 ms, 6.872 GB in 6.428 ms: B = 6.448 GB / 3.105 ms = 2.0767 TB/s,
    // t0 = 6.428 - 6.872e9 / 2.0767e12 = 3.119 ms; 4.384 GB: 3.119 + 2.111 = 5.230 ms
    const LineFit fit = fit_line(
        {{"base", GB(13.320), milliseconds(9.533)}, {"int8", GB(6.872), milliseconds(6.428)}});
    CHECK(fit.bandwidth.in_base_units() == doctest::Approx(2.07665e12).epsilon(1e-5));
    CHECK(fit.fixed.in_base_units() == doctest::Approx(3.1188e-3).epsilon(1e-4));
    CHECK(fit.at(GB(4.384)).in_base_units() == doctest::Approx(5.2299e-3).epsilon(1e-4));
    CHECK(fit.worst_residual == Seconds(0));
  }

  TEST_CASE("three points: least squares") {
    // D = 1, 2, 3 GB, t = 2, 3, 7 ms: slope = ((-1)(-2) + 0 + (1)(3)) / 2 = 2.5 ms/GB, t0 = 4 - 5
    // ms; residuals at 1, 2, 3: 0.5, -1, 0.5 ms
    const LineFit fit = fit_line({{"a", GB(1), milliseconds(2)},
                                  {"b", GB(2), milliseconds(3)},
                                  {"c", GB(3), milliseconds(7)}});
    CHECK(fit.bandwidth.in_base_units() == doctest::Approx(4e11));
    CHECK(fit.fixed.in_base_units() == doctest::Approx(-1e-3));
    CHECK(fit.worst_residual.in_base_units() == doctest::Approx(1e-3));
  }

  TEST_CASE("points that make no line") {
    CHECK(refusal([] {
            fit_line({{"a", GB(1), milliseconds(2)}});
          }).find("one point gives no line") != std::string::npos);
    CHECK(refusal([] {
            fit_line({{"a", GB(1), milliseconds(2)}, {"b", GB(1), milliseconds(3)}});
          }).find("move the same bytes") != std::string::npos);
    CHECK(refusal([] {
            fit_line({{"a", GB(1), milliseconds(2)}, {"b", GB(2), milliseconds(1)}});
          }).find("does not rise") != std::string::npos);
    CHECK(refusal([] { read_point("base"); }) != "accepted");
    CHECK(refusal([] { read_point("base=0s"); }) != "accepted");
    CHECK(refusal([] { read_point("=5ms"); }) != "accepted");
    CHECK(refusal([] { read_point("base="); }) != "accepted");
    const PointText point = read_point("weight_dtype=int8;m=4=5ms");
    CHECK(point.what == "weight_dtype=int8;m=4");
    CHECK(point.time.in_base_units() == doctest::Approx(5e-3));
  }

  TEST_CASE("a line calibrated by changes of the same workload") {
    // gemm m=100 n=1000 k=1000: 2.4 MB at 16 bits, 1.4 MB with 8-bit weights, 0.9 MB with 4 bits
    WhatifQuestion q = question({"weight_dtype=int4"});
    q.points = {read_point("base=34us"), read_point("weight_dtype=fp8=24us")};
    const LineAnswer line = *floorline::ask(of_op("gemm m=100 n=1000 k=1000"), q).line;
    CHECK(line.fit.bandwidth.in_base_units() == doctest::Approx(1e11));  // 1 MB in 10 us
    CHECK(line.time_after.in_base_units() == doctest::Approx(19e-6));    // 10 + 9 us
    CHECK(line.doubts.empty());
    // 1 MB in 0.5 us: twice the ceiling of 1 TB/s
    q.points = {read_point("base=34us"), read_point("weight_dtype=fp8=33.5us")};
    CHECK(floorline::ask(of_op("gemm m=100 n=1000 k=1000"), q).line->doubts.size() == 1);
  }
}
