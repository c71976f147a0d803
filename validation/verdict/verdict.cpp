// SPDX-License-Identifier: Apache-2.0
#include "validation/verdict/verdict.hpp"

#include <algorithm>
#include <array>

#include "model/quantity/expect.hpp"
#include "model/quantity/unit_names.hpp"
#include "validation/verdict/amount.hpp"
#include "validation/verdict/doubts.hpp"

namespace floorline {

namespace {

constexpr std::array<std::pair<Verdict, std::string_view>, 6> kVerdicts{{
    {Verdict::supported, "supported"},
    {Verdict::refuted, "refuted"},
    {Verdict::inconclusive, "inconclusive"},
    {Verdict::floor_violated, "floor_violated"},
    {Verdict::limit_refuted, "limit_refuted"},
    {Verdict::above_observed, "above_observed"},
}};

bool is_typed(const Observation& o) { return o.summary.count == 0; }

/// The timer's resolution of one call.
double resolution(const Observation& o) {
  return o.timer_resolution.in_base_units() / std::max(1.0, o.calls_per_sample);
}

/// The fastest that the sample may truly have been slow: fastest sample + resolution.
Seconds fastest(const Observation& o, double tolerance) {
  if (is_typed(o)) return Seconds(o.summary.median * (1 + tolerance));
  return Seconds(o.summary.minimum + resolution(o));
}

/// HBM bytes a call that no run can avoid, whatever the caches held before and hold after.
Bytes bytes_proven(const CacheTreatment& caches, const CaseFloors& floors) {
  if (caches.mode != CacheMode::rotating || !(caches.calls >= 1) || !floors.caches_known)
    return Bytes(0);
  const Bytes each = std::min(caches.rotated / caches.calls, floors.hbm_counted);
  return std::max(Bytes(0), each - floors.keep * 2 / caches.calls);
}

void set_lines(const CaseFloors& floors, const Observation& o, CaseVerdict& v) {
  v.residency = residency_of(o.caches, floors);
  v.proven_line = floors.any_ceiling;
  v.provisional_line = floors.any_best_seen;
  if (!floors.hbm_rate) return;
  const Seconds rotation = bytes_proven(o.caches, floors) / *floors.hbm_rate;
  v.provisional_line = std::max(v.provisional_line, rotation);
  if (floors.hbm_kind == RateKind::ceiling) v.proven_line = std::max(v.proven_line, rotation);
}

std::string time_text(Seconds t) { return to_text(t); }

void check_floor(const CaseFloors& floors, const CaseObservations& observed, double tolerance,
                 CaseVerdict& v) {
  const Seconds first = fastest(*observed.time, tolerance);
  if (!(first < v.proven_line)) return;
  const bool rotated = v.proven_line > floors.any_ceiling;
  v.doubts = doubts_of(floors, rotated);
  const std::string below =
      "fastest sample + timer resolution " + time_text(first) + " is below the floor " +
      time_text(v.proven_line) +
      (rotated ? " of a run that rotates over its bytes" : " at any residency");
  if (!observed.second) {
    v.finding = Verdict::inconclusive;
    v.reasons.push_back(below + "; a second run has not confirmed it");
  } else if (fastest(*observed.second, tolerance) < v.proven_line) {
    v.finding = Verdict::floor_violated;
    v.reasons.push_back(below + ", and a second run confirms it (" +
                        time_text(fastest(*observed.second, tolerance)) +
                        "): one of F, D, P, B and t is wrong");
  } else {
    v.finding = Verdict::inconclusive;
    v.reasons.push_back(below + ", but a second run is not (" +
                        time_text(fastest(*observed.second, tolerance)) +
                        "): t of the first is in doubt");
  }
}

/// Beside the verdict: a claim about cold runs, and a time that no cold run has.
void check_cold(const std::string& boundary, const JudgedCase& c, double tolerance,
                CaseVerdict& v) {
  const Observation& time = *c.observed->time;
  if (boundary.find("cold") == std::string::npos || v.finding == Verdict::floor_violated) return;
  if (!(fastest(time, tolerance) < c.floors->cold)) return;
  const Seconds seen(is_typed(time) ? time.summary.median : time.summary.minimum);
  v.reasons.push_back(time_text(seen) + " is below the cold floor " + time_text(c.floors->cold) +
                      ": not cold, or F, D, B or t is wrong");
}

/// Against rates that a probe saw: beating them says something of the probe.
void check_observed(const CaseFloors& floors, const Observation& time, double tolerance,
                    CaseVerdict& v) {
  if (v.finding) return;
  const Seconds quickest = fastest(time, tolerance);
  if (v.provisional_line > v.proven_line && quickest < v.provisional_line) {
    v.finding = Verdict::above_observed;
    v.reasons.push_back("fastest sample + timer resolution " + time_text(quickest) + " is below " +
                        time_text(v.provisional_line) +
                        ", which rests on a best-seen rate: the probe is refuted first");
    return;
  }
  const std::optional<Interval> interval = interval_of(time, tolerance);
  if (!interval) return;
  for (const LimitTerm& term : floors.observed) {
    const bool level = term.resource.unit == Unit::hbm || term.resource.unit == Unit::l2;
    if (level && v.residency != RunResidency::cold) continue;  // the bytes may have been elsewhere
    if (Seconds(interval->high) < term.time) {
      v.finding = Verdict::above_observed;
      v.reasons.push_back("the interval ends at " + time_text(Seconds(interval->high)) +
                          ", before " + time_text(term.time) + " at the observed rate of " +
                          name_of(term.resource));
      return;
    }
  }
}

/// The claimed limit's time in this run: HBM bytes as the run's residency has them.
std::optional<Seconds> limit_time(const LimitTerm& term, const Observation& o,
                                  const CaseFloors& floors) {
  if (term.resource.unit != Unit::hbm) return term.time;
  const Bytes judged = bytes_judged(o.caches, floors);
  const Bytes counted(term.amount.in_base_units());
  if (!(judged > Bytes(0)) || !(counted > Bytes(0))) return std::nullopt;
  return term.time * std::min(1.0, judged / counted);
}

/// Where the line is less than the term of the table: what was taken off.
std::string taken_off(const LimitTerm& term, Seconds line, const Observation& o,
                      const CaseFloors& floors) {
  if (!(line < term.time)) return "";
  return " (" + time_text(term.time) + " cold, less what S_keep = " + to_text(floors.keep) +
         " may have held: the run rotates over W = " + to_text(o.caches.rotated) +
         ", below 20 S_keep, so (W - S_keep) / calls is judged)";
}

void check_limit(const LimitTerm* term, const HypothesisCase& c, const JudgedCase& judged,
                 double tolerance, CaseVerdict& v) {
  const Observation& time = *judged.observed->time;
  const std::optional<Interval> interval = interval_of(time, tolerance);
  if (!interval) return;
  const auto refute = [&v](const std::string& reason) {
    if (!v.finding) v.finding = Verdict::limit_refuted;
    v.reasons.push_back(reason);
  };
  if (c.expected_time && (Seconds(interval->low) > c.expected_time->high ||
                          Seconds(interval->high) < c.expected_time->low)) {
    refute("the interval of the time lies outside the calibrated " +
           time_text(c.expected_time->low) + " to " + time_text(c.expected_time->high));
  }
  if (term == nullptr) return;
  const std::optional<Seconds> line = limit_time(*term, time, *judged.floors);
  if (!line) {
    v.reasons.push_back("a run that may find all its bytes on chip says nothing of the claimed " +
                        name_of(term->resource));
    return;
  }
  v.limit_line = *line * kLimitFactor;
  if (Seconds(interval->low) > *v.limit_line) {
    refute("the interval begins at " + time_text(Seconds(interval->low)) + ", above twice the " +
           time_text(*line) + " of " + name_of(term->resource) +
           taken_off(*term, *line, time, *judged.floors) + ": the claimed limit does not hold it");
  }
}

/// The claim is of the baseline, and of the variant where the engine finds the same limit binding.
const LimitTerm* limit_of(const Hypothesis& h, const JudgedCase& c, bool is_baseline) {
  const LimitTerm* term = claimed_term(h, *c.floors);
  const bool binds = term != nullptr && c.floors->binding && *c.floors->binding == term->resource;
  return is_baseline || binds ? term : nullptr;
}

CaseVerdict judge_case(const Hypothesis& h, const JudgedCase& c, bool is_baseline,
                       double tolerance) {
  CaseVerdict v = judge_time(*c.floors, *c.observed, tolerance);
  if (c.observed->time) check_cold(h.boundary, c, tolerance, v);
  if (!c.observed->time || (v.finding && *v.finding != Verdict::above_observed)) return v;
  check_limit(limit_of(h, c, is_baseline), is_baseline ? h.baseline : h.variant, c, tolerance, v);
  return v;
}

/// Rounding of two divisions: a ratio of 375 us and 300 us is 1.25.
constexpr double kRounding = 1e-12;
bool below(double a, double b) { return a < b * (1 - kRounding); }

Verdict judge_prediction(const Prediction& p, const ObservedAmount& amount) {
  if (!amount.interval) return Verdict::inconclusive;
  const Interval& i = *amount.interval;
  if ((p.low && below(i.high, *p.low)) || (p.high && below(*p.high, i.low)))
    return Verdict::refuted;
  const bool inside = !(p.low && below(i.low, *p.low)) && !(p.high && below(*p.high, i.high));
  return inside ? Verdict::supported : Verdict::inconclusive;
}

bool has(const HypothesisVerdict& v, Verdict finding) {
  return v.baseline.finding == finding || v.variant.finding == finding;
}

/// Shares are of a rate of the device: what a wrong rate would make wrong.
bool rests_on_rates(PredictedAmount amount) {
  using enum PredictedAmount;
  return amount == floor_share || amount == baseline_floor_share || amount == hbm_share ||
         amount == baseline_hbm_share;
}

/// A ratio of two cases, and one of them was not observed.
bool half_observed(const HypothesisVerdict& v, PredictedAmount amount) {
  const PredictedAmountInfo& info = info_of(amount);
  return info.needs_baseline && info.needs_variant && !v.value;
}

Verdict overall(const HypothesisVerdict& v, PredictedAmount amount, bool wrong_results) {
  if (wrong_results) return Verdict::inconclusive;
  if (has(v, Verdict::floor_violated)) return Verdict::floor_violated;
  if (half_observed(v, amount)) return Verdict::inconclusive;
  if (has(v, Verdict::inconclusive)) return Verdict::inconclusive;
  const bool refuted = v.prediction == Verdict::refuted;
  if (refuted && !rests_on_rates(amount)) return Verdict::refuted;
  if (has(v, Verdict::above_observed)) return Verdict::above_observed;
  if (refuted) return Verdict::refuted;
  if (has(v, Verdict::limit_refuted)) return Verdict::limit_refuted;
  return v.prediction;
}

bool wrong_result(const CaseObservations& observed) {
  for (const auto* o : {&observed.time, &observed.second}) {
    if (*o && (*o)->correctness && !(*o)->correctness->passed) return true;
  }
  return false;
}

}  // namespace

std::string_view name_of(Verdict verdict) {
  for (const auto& [value, name] : kVerdicts) {
    if (value == verdict) return name;
  }
  FLOORLINE_EXPECT(!"a verdict without a name");
  return "";
}

std::optional<Verdict> verdict_named(std::string_view name) {
  for (const auto& [value, known] : kVerdicts) {
    if (known == name) return value;
  }
  return std::nullopt;
}

std::string_view name_of(RunResidency residency) {
  switch (residency) {
    case RunResidency::cold:
      return "cold";
    case RunResidency::rotated:
      return "rotated";
    case RunResidency::warm:
      return "warm";
    case RunResidency::unknown:
      return "unknown";
  }
  return "";
}

std::optional<Interval> interval_of(const Observation& o, double tolerance) {
  if (is_typed(o)) {
    return Interval{o.summary.median * (1 - tolerance), o.summary.median * (1 + tolerance)};
  }
  if (!o.summary.interval) return std::nullopt;
  const double r = o.what.kind == MeasurandKind::time ? resolution(o) : 0;
  return Interval{std::max(0.0, o.summary.interval->low - r), o.summary.interval->high + r};
}

RunResidency residency_of(const CacheTreatment& caches, const CaseFloors& floors) {
  if (caches.mode == CacheMode::warm) return RunResidency::warm;
  if (caches.mode == CacheMode::unknown || !floors.caches_known) return RunResidency::unknown;
  return caches.rotated >= floors.keep * kColdRotations ? RunResidency::cold
                                                        : RunResidency::rotated;
}

Bytes bytes_judged(const CacheTreatment& caches, const CaseFloors& floors) {
  switch (residency_of(caches, floors)) {
    case RunResidency::cold:
    case RunResidency::unknown:  // cold is what the claim is about
      return floors.hbm_counted;
    case RunResidency::rotated:
      if (!(caches.calls >= 1)) return Bytes(0);
      return std::max(Bytes(0), caches.rotated - floors.keep) / caches.calls;
    case RunResidency::warm:
      break;
  }
  return Bytes(0);
}

const LimitTerm* claimed_term(const Hypothesis& h, const CaseFloors& floors) {
  const std::optional<ResourceId> id = resource_from(h.claimed_limit);
  return id ? floors.term(*id) : nullptr;
}

CaseVerdict judge_time(const CaseFloors& floors, const CaseObservations& observed,
                       double tolerance) {
  CaseVerdict v;
  if (!observed.time) return v;
  set_lines(floors, *observed.time, v);
  check_floor(floors, observed, tolerance, v);
  check_observed(floors, *observed.time, tolerance, v);
  return v;
}

HypothesisVerdict judge(const Hypothesis& h, const JudgedCase& baseline, const JudgedCase& variant,
                        double tolerance) {
  HypothesisVerdict v;
  v.baseline = judge_case(h, baseline, true, tolerance);
  v.variant = judge_case(h, variant, false, tolerance);
  const ObservedAmount amount = observed_amount(h.prediction.amount, baseline, variant, tolerance);
  v.value = amount.value;
  v.observed = amount.interval;
  v.prediction = judge_prediction(h.prediction, amount);
  const bool wrong = wrong_result(*baseline.observed) || wrong_result(*variant.observed);
  if (wrong) {
    v.prediction = Verdict::inconclusive;
    v.reasons.push_back(
        "results differ from double precision by more than their bound: the time "
        "of a wrong kernel says nothing");
  }
  if (!amount.missing.empty()) v.reasons.push_back(amount.missing);
  v.verdict = overall(v, h.prediction.amount, wrong);
  return v;
}

}  // namespace floorline
