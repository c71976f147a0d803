// SPDX-License-Identifier: Apache-2.0
// Verdicts on hand-made observations. The machine: HBM 1 TB/s, S_keep 1 MB, S_all 2 MB, tensor bf16
// 125 TFLOP/s at most (tests/floor/test_machine.hpp).
#include "validation/verdict/verdict.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "model/workload/op_text.hpp"
#include "tests/floor/test_machine.hpp"
#include "tests/validation/hypothesis_text.hpp"
#include "validation/hypothesis/hypothesis_file.hpp"
#include "validation/verdict/amount.hpp"

using namespace floorline;
using namespace floorline::testing;

namespace {

constexpr double us = 1e-6;

CaseFloors floors_of(const std::string& op, const Machine& machine) {
  return case_floors(evaluate(parse_op_text(op), machine), machine, KernelSchedule::serial);
}
const Machine& round() {
  static const Machine machine = round_machine();
  return machine;
}
/// 100 MB read, 100 MB written: cold 200 us; any residency (99 + 99) MB / 1 TB/s = 198 us.
CaseFloors copy_floors() { return floors_of("copy bytes=100MB path=d2d", round()); }

/// Nine samples around a median: the interval is the 2nd to the 8th (coverage 96.1 %).
Observation observed(double median, double half_width, double fastest) {
  std::vector<double> samples{fastest,
                              median - half_width,
                              median,
                              median,
                              median,
                              median,
                              median,
                              median + half_width,
                              median + half_width};
  Observation o;
  o.what = {"time", MeasurandKind::time};
  o.summary = summarize(samples);
  o.caches = {CacheMode::rotating, Bytes(2e9), 10};  // W = 2000 S_keep, 200 MB a call
  return o;
}
Observation observed(double median, double half_width = 0) {
  return observed(median, half_width, median - half_width);
}
/// Nothing is known of the caches: only the floor at any residency stands.
Observation uncontrolled(double median, double fastest) {
  Observation o = observed(median, 0, fastest);
  o.caches = {};
  return o;
}
Observation typed(double value) {
  Observation o;
  o.summary = typed_value(value);
  o.evidence = EvidenceClass::typed;
  return o;
}

/// Baseline and variant are the same copy: only the times tell them apart.
Hypothesis predicting(const std::string& interval, const std::string& amount = "time_ratio") {
  std::string text = replaced(kStorageHypothesis, "interval = [1.7, 2.05]", interval);
  return parse_hypothesis(replaced(text, "\"time_ratio\"", '"' + amount + '"'), "h.toml");
}

struct Run {
  CaseObservations baseline, variant;
};
Run run(std::optional<Observation> baseline, std::optional<Observation> variant) {
  return {{std::move(baseline), {}, {}}, {std::move(variant), {}, {}}};
}

HypothesisVerdict judged(const Hypothesis& h, const Run& r, double tolerance = 0.05) {
  static const CaseFloors floors = copy_floors();
  return judge(h, {&floors, &r.baseline}, {&floors, &r.variant}, tolerance);
}

}  // namespace

TEST_SUITE("validation") {
  TEST_CASE("what the engine says of a copy") {
    const CaseFloors c = copy_floors();
    CHECK(c.cold.in_base_units() == doctest::Approx(200 * us));
    CHECK(c.any_ceiling.in_base_units() == doctest::Approx(198 * us));
    CHECK(c.any_best_seen.in_base_units() == doctest::Approx(198 * us));
    CHECK(c.hbm_counted == Bytes(200e6));
    REQUIRE(c.binding.has_value());
    CHECK(name_of(*c.binding) == "hbm");
    CHECK(c.keep == Bytes(1e6));
    REQUIRE(c.terms.size() == 1);
  }

  TEST_CASE("the interval an observation stands for") {
    const auto i = interval_of(observed(300 * us, 10 * us), 0.05);
    REQUIRE(i.has_value());
    CHECK(i->low == doctest::Approx(290 * us));
    CHECK(i->high == doctest::Approx(310 * us));
    Observation coarse = observed(300 * us, 10 * us);
    coarse.timer_resolution = Seconds(8 * us);
    coarse.calls_per_sample = 4;  // a sample is 4 calls: 2 us of doubt a call
    CHECK(interval_of(coarse, 0.05)->low == doctest::Approx(288 * us));
    CHECK(interval_of(coarse, 0.05)->high == doctest::Approx(312 * us));
    CHECK(interval_of(typed(100 * us), 0.05)->high == doctest::Approx(105 * us));
    Observation few = observed(300 * us);
    few.summary = summarize({1, 2, 3});
    CHECK_FALSE(interval_of(few, 0.05).has_value());
  }

  TEST_CASE("supported: the whole interval inside the predicted one, its ends included") {
    const Hypothesis h = predicting("interval = [1.0, 1.25]");
    CHECK(judged(h, run(observed(330 * us), observed(300 * us))).verdict == Verdict::supported);
    // 375 / 300 = 1.25: the upper border belongs to the interval; 1.0 the lower one.
    CHECK(judged(h, run(observed(375 * us), observed(300 * us))).verdict == Verdict::supported);
    CHECK(judged(h, run(observed(300 * us), observed(300 * us))).verdict == Verdict::supported);
  }

  TEST_CASE("refuted: the whole interval outside") {
    const Hypothesis h = predicting("interval = [1.0, 1.25]");
    CHECK(judged(h, run(observed(376 * us), observed(300 * us))).verdict == Verdict::refuted);
    CHECK(judged(h, run(observed(299 * us), observed(300 * us))).verdict == Verdict::refuted);
    const Hypothesis half = predicting("at_least = 0.5", "floor_share");
    // 200 us / 399 us = 0.501; 200 / 401 = 0.4988. Above twice the floor the limit falls as well,
    // but the prediction is named first.
    CHECK(judged(half, run({}, observed(399 * us))).verdict == Verdict::supported);
    CHECK(judged(half, run({}, observed(401 * us))).verdict == Verdict::refuted);
  }

  TEST_CASE("inconclusive: the interval crosses the line, however little") {
    const Hypothesis h = predicting("interval = [1.0, 1.25]");
    // 370 / 300 = 1.233 with 2 us on each side: 368 / 302 = 1.2185 to 372 / 298 = 1.2483, inside.
    CHECK(judged(h, run(observed(370 * us, 2 * us), observed(300 * us, 2 * us))).verdict ==
          Verdict::supported);
    // 3 us: 367 / 303 = 1.2112 to 373 / 297 = 1.2559, across 1.25.
    const auto v = judged(h, run(observed(370 * us, 3 * us), observed(300 * us, 3 * us)));
    CHECK(v.verdict == Verdict::inconclusive);
    CHECK(v.observed->low == doctest::Approx(367.0 / 303));
    CHECK(v.observed->high == doctest::Approx(373.0 / 297));
    CHECK(*v.value == doctest::Approx(370.0 / 300));
  }

  TEST_CASE("inconclusive: not observed, too few samples, wrong results") {
    const Hypothesis h = predicting("interval = [1.0, 1.25]");
    CHECK(judged(h, run({}, observed(300 * us))).verdict == Verdict::inconclusive);
    Observation few = observed(300 * us);
    few.summary = summarize({300 * us, 301 * us});
    CHECK(judged(h, run(few, observed(300 * us))).verdict == Verdict::inconclusive);
    Observation wrong = observed(300 * us);
    wrong.correctness = Correctness{1e-2, 1e-5, false};
    const auto v = judged(h, run(wrong, observed(300 * us)));
    CHECK(v.verdict == Verdict::inconclusive);
    CHECK(v.reasons.at(0).find("wrong kernel") != std::string::npos);
    wrong.correctness = Correctness{1e-6, 1e-5, true};
    CHECK(judged(h, run(wrong, observed(300 * us))).verdict == Verdict::supported);
  }

  TEST_CASE("floor_violated: fastest sample + resolution below 198 us, in two runs") {
    const Hypothesis h = predicting("interval = [0.5, 2]");
    Run r = run(uncontrolled(210 * us, 190 * us), observed(210 * us));
    r.baseline.second = uncontrolled(210 * us, 191 * us);
    auto v = judged(h, r);
    CHECK(v.verdict == Verdict::floor_violated);
    REQUIRE(v.baseline.doubts.size() >= 3);
    CHECK(v.baseline.doubts[0].symbol == "D");
    CHECK(v.baseline.doubts[1].symbol == "B");
    CHECK(v.baseline.doubts.back().symbol == "t");
    CHECK(v.prediction == Verdict::supported);  // what the ratio says stays on record
    // 0.5 us below the line, and as much resolution: on the line, not below it.
    r.baseline.time = uncontrolled(210 * us, 197.5 * us);
    r.baseline.time->timer_resolution = Seconds(0.51 * us);
    CHECK(judged(h, r).verdict == Verdict::supported);
    r.baseline.time->timer_resolution = Seconds(0.49 * us);
    CHECK(judged(h, r).verdict == Verdict::floor_violated);
  }

  TEST_CASE("floor_violated: a rotation that proves more than any residency does") {
    // 2 GB in 10 calls of 200 MB: 200 MB - 2 x 1 MB / 10 = 199.8 us, whatever was on chip.
    const Hypothesis h = predicting("interval = [0.5, 2]");
    Run r = run(observed(210 * us, 0, 199.7 * us), observed(210 * us));
    r.baseline.second = observed(210 * us, 0, 199.7 * us);
    const auto v = judged(h, r);
    CHECK(v.verdict == Verdict::floor_violated);
    const auto& doubts = v.baseline.doubts;
    CHECK(
        std::any_of(doubts.begin(), doubts.end(), [](const Doubt& d) { return d.symbol == "W"; }));
    r.baseline.time = observed(210 * us, 0, 199.9 * us);
    CHECK(judged(h, r).verdict == Verdict::supported);
    // A rotation never proves more than the engine counts.
    r.baseline.time = observed(210 * us, 0, 200.5 * us);
    r.baseline.time->caches.rotated = Bytes(9e9);
    CHECK(judged(h, r).verdict == Verdict::supported);
  }

  TEST_CASE("below the floor once is inconclusive, also when a second run is not below") {
    const Hypothesis h = predicting("interval = [0.5, 2]");
    Run r = run(uncontrolled(210 * us, 190 * us), observed(210 * us));
    auto v = judged(h, r);
    CHECK(v.verdict == Verdict::inconclusive);
    CHECK(v.baseline.reasons.at(0).find("has not confirmed") != std::string::npos);
    CHECK_FALSE(v.baseline.doubts.empty());
    r.baseline.second = uncontrolled(210 * us, 199 * us);
    v = judged(h, r);
    CHECK(v.verdict == Verdict::inconclusive);
    CHECK(v.baseline.reasons.at(0).find("t of the first is in doubt") != std::string::npos);
  }

  TEST_CASE("a compute-bound violation doubts F and P") {
    // 2 x 1000^3 = 2e9 FLOP / 125 TFLOP/s = 16 us; (2 + 2 - 1) MB + (2 - 1) MB = 4 us of HBM.
    const CaseFloors floors = floors_of("gemm m=1000 n=1000 k=1000 in=bf16", round());
    CHECK(floors.any_ceiling.in_base_units() == doctest::Approx(16 * us));
    CaseObservations o{observed(15 * us), observed(15 * us), {}};
    o.time->caches = o.second->caches = {CacheMode::warm, Bytes(0), 0};
    const CaseVerdict v = judge_time(floors, o, 0.05);
    CHECK(v.finding == Verdict::floor_violated);
    REQUIRE(v.doubts.size() == 3);
    CHECK(v.doubts[0].symbol == "F");
    CHECK(v.doubts[1].symbol == "P");
    o.time = o.second = observed(16.1 * us);
    CHECK_FALSE(judge_time(floors, o, 0.05).finding.has_value());
  }

  TEST_CASE("only terms with a ceiling call a run impossible") {
    const std::string observed_hbm =
        replaced(std::string(kRoundDevice), "bandwidth = \"1 TB/s\"",
                 "bandwidth = { value = \"1 TB/s\", kind = \"best_seen\", origin = \"measured\", "
                 "source = \"probe\" }");
    const Machine machine = machine_from(observed_hbm);
    const CaseFloors floors = floors_of("copy bytes=100MB path=d2d", machine);
    CHECK(floors.any_ceiling == Seconds(0));
    CHECK(floors.any_best_seen.in_base_units() == doctest::Approx(198 * us));
    CaseObservations o{observed(190 * us), observed(190 * us), {}};
    CHECK(judge_time(floors, o, 0.05).finding == Verdict::above_observed);
    o.time = observed(199.9 * us);  // rotated: 200 MB - 2 x 1 MB / 10 calls = 199.8 us
    CHECK_FALSE(judge_time(floors, o, 0.05).finding.has_value());
    o.time = observed(199.7 * us);
    CHECK(judge_time(floors, o, 0.05).finding == Verdict::above_observed);
  }

  TEST_CASE("above_observed: the interval ends before the time at an observed link rate") {
    // 100 MB at an observed 40 GB/s: 2500 us; at the ceiling of 50 GB/s 2000 us.
    const Machine machine = machine_from(
        replaced(std::string(kRoundDevice), "[link.h2d]\nbandwidth = \"50 GB/s\"",
                 "[link.h2d]\nbandwidth = \"50 GB/s\"\nbandwidth_observed = \"40 GB/s\""));
    const CaseFloors floors = floors_of("copy bytes=100MB path=h2d", machine);
    CHECK(floors.any_ceiling.in_base_units() == doctest::Approx(2000 * us));
    CaseObservations o{observed(2400 * us, 90 * us), {}, {}};
    CHECK(judge_time(floors, o, 0.05).finding == Verdict::above_observed);
    o.time = observed(2400 * us, 110 * us);  // ends at 2510 us: across the line
    CHECK_FALSE(judge_time(floors, o, 0.05).finding.has_value());
  }

  TEST_CASE("limit_refuted: the interval above twice the claimed limit's term") {
    const Hypothesis h = predicting("interval = [0.9, 1.1]");
    // Twice 200 us; W - S_keep over 10 calls: (2000 - 1) MB / 10 = 199.9 MB a call: 399.8 us.
    auto v = judged(h, run(observed(399 * us), observed(399 * us)));
    CHECK(v.verdict == Verdict::supported);
    CHECK(v.baseline.limit_line->in_base_units() == doctest::Approx(400 * us));  // cold: counted
    v = judged(h, run(observed(401 * us), observed(401 * us)));
    CHECK(v.verdict == Verdict::limit_refuted);
    CHECK(v.prediction == Verdict::supported);
    v = judged(h, run(observed(402 * us, 3 * us), observed(402 * us, 3 * us)));
    CHECK(v.verdict == Verdict::supported);  // 399 to 405: not on one side of the line
  }

  TEST_CASE("a ratio with one case not observed is inconclusive, whatever the other one says") {
    const Hypothesis h = predicting("interval = [0.9, 1.1]");
    const auto v = judged(h, run({}, observed(500 * us)));  // above twice 200 us
    CHECK(v.variant.finding == Verdict::limit_refuted);
    CHECK(v.verdict == Verdict::inconclusive);
    CHECK(v.reasons.at(0) == "the baseline's time was not observed");
    // A time of the variant alone needs no baseline.
    const Hypothesis alone = predicting("interval = [\"1 us\", \"1 ms\"]", "time");
    CHECK(judged(alone, run({}, observed(500 * us))).verdict == Verdict::limit_refuted);
  }

  TEST_CASE(
      "a time below the cold floor, where the boundary says cold, is told beside the verdict") {
    // 100 MB: cold 200 us, any residency 198 us (S_keep = 1 MB, twice).
    Hypothesis h = predicting("interval = [0.9, 1.1]");
    const std::string told =
        "199.0 us is below the cold floor 200.0 us: not cold, or F, D, B or t "
        "is wrong";
    const Run r = run(uncontrolled(199 * us, 199 * us), uncontrolled(201 * us, 201 * us));
    auto v = judged(h, r);
    CHECK(v.verdict == Verdict::supported);
    CHECK(v.baseline.reasons == std::vector<std::string>{told});
    CHECK(v.variant.reasons.empty());
    h.boundary = "one kernel, warm caches";
    CHECK(judged(h, r).baseline.reasons.empty());
  }

  TEST_CASE("limit_refuted: outside a calibrated interval, on either side") {
    Hypothesis h = predicting("interval = [0.9, 1.1]");
    h.baseline.expected_time = TimeInterval{Seconds(310 * us), Seconds(350 * us)};
    CHECK(judged(h, run(observed(330 * us), observed(330 * us))).verdict == Verdict::supported);
    CHECK(judged(h, run(observed(350 * us), observed(350 * us))).verdict == Verdict::supported);
    CHECK(judged(h, run(observed(351 * us), observed(351 * us))).verdict == Verdict::limit_refuted);
    CHECK(judged(h, run(observed(309 * us), observed(309 * us))).verdict == Verdict::limit_refuted);
  }

  TEST_CASE("cold only from 20 S_keep on") {
    const CaseFloors floors = copy_floors();
    const auto residency = [&](double rotated) {
      return residency_of({CacheMode::rotating, Bytes(rotated), 10}, floors);
    };
    CHECK(residency(20e6) == RunResidency::cold);
    CHECK(residency(19.999e6) == RunResidency::rotated);
    CHECK(residency_of({CacheMode::warm, Bytes(1e9), 10}, floors) == RunResidency::warm);
    // (11 - 1) MB / 10 calls; fewer bytes than S_keep: none need cross.
    CHECK(bytes_judged({CacheMode::rotating, Bytes(11e6), 10}, floors) == Bytes(1e6));
    CHECK(bytes_judged({CacheMode::rotating, Bytes(0.5e6), 10}, floors) == Bytes(0));
    CHECK(bytes_judged({CacheMode::rotating, Bytes(1e9), 0.5}, floors) == floors.hbm_counted);
  }

  TEST_CASE("a run that is not cold is judged by max(0, W - S_keep) / calls") {
    const CaseFloors floors = floors_of("copy bytes=1MB path=d2d", round());
    // W = 11 MB over 10 calls: 1 MB a call, 1 us at 1 TB/s; twice that is the line, not 4 us.
    Hypothesis h = predicting("interval = [0.9, 1.1]");
    CaseObservations o{observed(1.9 * us), {}, {}};
    o.time->caches = {CacheMode::rotating, Bytes(11e6), 10};
    CHECK(judge(h, {&floors, &o}, {&floors, &o}).verdict == Verdict::supported);
    o.time = observed(2.1 * us);
    o.time->caches = {CacheMode::rotating, Bytes(11e6), 10};
    const auto refuted = judge(h, {&floors, &o}, {&floors, &o});
    CHECK(refuted.verdict == Verdict::limit_refuted);
    // 2 MB / 1 TB/s = 2 us cold; (11 - 1) MB / 10 calls = 1 MB: 1 us.
    CHECK(
        refuted.baseline.reasons.at(0).find(
            "above twice the 1.000 us of hbm (2.000 us cold, less what S_keep = 1.000 MB may have "
            "held: the run rotates over W = 11.00 MB, below 20 S_keep") != std::string::npos);
    // Warm: the claim about HBM is not tested, and the record says so.
    o.time->caches = {CacheMode::warm, Bytes(0), 0};
    const auto warm = judge(h, {&floors, &o}, {&floors, &o});
    CHECK(warm.verdict == Verdict::supported);
    CHECK(warm.baseline.reasons.at(0).find("says nothing of the claimed hbm") != std::string::npos);
    CHECK_FALSE(warm.baseline.limit_line.has_value());
  }

  TEST_CASE("typed numbers: a verdict only outside the stated tolerance") {
    const Hypothesis h = predicting("interval = [1.1, 1.3]");
    // 1.2 within 2 %: 1.2 x 0.98/1.02 = 1.153 to 1.2 x 1.02/0.98 = 1.249: inside.
    CHECK(judged(h, run(typed(360 * us), typed(300 * us)), 0.02).verdict == Verdict::supported);
    // 5 %: 1.0857 to 1.3263, across both.
    CHECK(judged(h, run(typed(360 * us), typed(300 * us)), 0.05).verdict == Verdict::inconclusive);
    // 1.5 within 5 %: 1.357 at least.
    CHECK(judged(h, run(typed(450 * us), typed(300 * us)), 0.05).verdict == Verdict::refuted);
  }

  TEST_CASE("typed numbers below the floor need the tolerance and a second number") {
    const Hypothesis h = predicting("interval = [0.9, 1.1]");
    Run r = run(typed(180 * us), typed(200 * us));
    r.baseline.second = typed(181 * us);
    CHECK(judged(h, r).verdict == Verdict::floor_violated);  // 189 and 190.05 us, below 198
    r.baseline.time = typed(189 * us);                       // x 1.05 = 198.45 us
    CHECK(judged(h, r).verdict == Verdict::inconclusive);
  }

  TEST_CASE("traffic at three times the hand count refutes the count; the floor stands") {
    // Design: intensity 2.5 by hand, 0.83 measured. 200 MB are counted, 600 MB were read.
    const Hypothesis h = predicting("interval = [0.95, 1.1]", "traffic_over_count");
    Run r = run(observed(300 * us), observed(300 * us));
    Observation traffic = typed(600e6);
    traffic.what = {"hbm_bytes", MeasurandKind::bytes};
    r.variant.hbm_bytes = traffic;
    const auto v = judged(h, r);
    CHECK(v.verdict == Verdict::refuted);
    CHECK(*v.value == doctest::Approx(3));
    CHECK_FALSE(v.variant.finding.has_value());  // neither time contradicts a floor
    CHECK(v.variant.proven_line.in_base_units() == doctest::Approx(199.8 * us));
    r.variant.hbm_bytes->summary = typed_value(205e6);  // 1.025 -+ 5 %: 0.974 to 1.076
    CHECK(judged(h, r).verdict == Verdict::supported);
  }

  TEST_CASE("finishing the same work sooner is a success, whatever a utilization figure says") {
    // Design: GPU-Util is no amount that can be predicted; time, share of floor and of HBM are.
    const Hypothesis h = predicting("at_least = 1.05");
    CHECK(judged(h, run(observed(330 * us), observed(300 * us))).verdict == Verdict::supported);
    CHECK_FALSE(predicted_amount_named("gpu_util").has_value());
    // 15 % of the bandwidth is 15 %, however busy the device was said to be.
    const auto v =
        judged(predicting("at_least = 0.5", "hbm_share"), run({}, observed(200.0 / 0.15 * us)));
    CHECK(*v.value == doctest::Approx(0.15));
    CHECK(v.verdict == Verdict::refuted);
  }

  TEST_CASE("the engine's own figure for a claimed amount") {
    // Design: 268,468,224 / 134,250,496 = 1.9998 for LayerNorm with fp16 storage.
    const Machine& m = round();
    const std::string shape = "layernorm rows=8192 cols=4096 weight=fp32 compute=fp32 ";
    const CaseFloors before = floors_of(shape + "in=fp32 out=fp32", m);
    const CaseFloors after = floors_of(shape + "in=fp16 out=fp16", m);
    CHECK(before.hbm_counted == Bytes(268468224));
    CHECK(after.hbm_counted == Bytes(134250496));
    CHECK(*engine_amount(PredictedAmount::time_ratio, before, after) ==
          doctest::Approx(1.9998).epsilon(1e-4));
    CHECK(*engine_amount(PredictedAmount::time, before, after) == doctest::Approx(134.250496 * us));
    CHECK(*engine_amount(PredictedAmount::hbm_share, before, after) == doctest::Approx(1));
    CHECK(*engine_amount(PredictedAmount::bandwidth, before, after) == doctest::Approx(1e12));
  }

  TEST_CASE("more spread around the same medians never makes a verdict, it only takes one away") {
    std::mt19937_64 random(11);
    std::uniform_real_distribution<double> share(0, 1);
    int kept = 0;
    for (int i = 0; i < 2000; ++i) {
      CAPTURE(i);
      const double low = 0.5 + share(random);
      Hypothesis h = predicting("interval = [1, 1]");
      h.prediction.low = low;
      h.prediction.high = low + 0.3 * share(random);
      const double before = (250 + 100 * share(random)) * us;
      const double after = (250 + 100 * share(random)) * us;
      const double narrow = 5 * us * share(random);
      const double wide = narrow + 20 * us * share(random);
      const Verdict first =
          judged(h, run(observed(before, narrow), observed(after, narrow))).prediction;
      const Verdict second =
          judged(h, run(observed(before, wide), observed(after, wide))).prediction;
      CHECK((second == first || second == Verdict::inconclusive));
      if (second == first && first != Verdict::inconclusive) ++kept;
    }
    CHECK(kept > 200);  // the property was not empty
  }

  TEST_CASE("verdicts read back by name") {
    for (const Verdict v :
         {Verdict::supported, Verdict::refuted, Verdict::inconclusive, Verdict::floor_violated,
          Verdict::limit_refuted, Verdict::above_observed}) {
      CHECK(verdict_named(name_of(v)) == v);
    }
    CHECK_FALSE(verdict_named("proven").has_value());
  }
}
