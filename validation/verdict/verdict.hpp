// SPDX-License-Identifier: Apache-2.0
// A prediction and a claimed limit against what was observed. A verdict needs the whole interval on
// one side of its line:
//   floor_violated  fastest sample + timer resolution below the floor at any residency that
//   ceilings
//                   alone prove, in two runs: F, D, P, B or t is wrong
//   above_observed  the same against a best-seen rate, or the interval below an observed rate's
//                   time: the probe is refuted first
//   refuted         the predicted amount's interval is disjoint from the predicted one
//   limit_refuted   the interval of the time is above twice the claimed limit's term, or outside
//                   a calibrated interval: the claimed limit does not hold it
//   supported       the amount's interval lies inside the predicted one
//   inconclusive    all else: too wide, too few samples, not observed, wrong results; of a ratio
//                   also when one of its two cases was not observed, whatever the other one says
// The first that applies, in this order; but a prediction that rests on no rate of the device (a
// ratio of times) is refuted before a probe is doubted. Wrong results come first of all: their time
// is no time.
// Residency: cold if the run rotates over W >= 20 S_keep distinct bytes; otherwise HBM bytes a call
// are max(0, W - S_keep) / calls. What may call a run impossible subtracts S_keep twice, once from
// what is read and once from what is left unwritten, and never counts more than the engine does.
// Typed numbers have no spread: they stand for value (1 -+ tolerance).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "validation/hypothesis/hypothesis.hpp"
#include "validation/observation/sample.hpp"
#include "validation/verdict/case_floors.hpp"

namespace floorline {

enum class Verdict : std::uint8_t {
  supported,
  refuted,
  inconclusive,
  floor_violated,
  limit_refuted,
  above_observed,
};
std::string_view name_of(Verdict verdict);
std::optional<Verdict> verdict_named(std::string_view name);

constexpr double kColdRotations = 20;  ///< W >= 20 S_keep (design, method)
constexpr double kLimitFactor = 2;     ///< above this many times its term a limit does not hold
constexpr double kDefaultTolerance = 0.05;  ///< of typed numbers

/// What was observed of one case; what is absent was not.
struct CaseObservations {
  std::optional<Observation> time;
  std::optional<Observation> second;     ///< the time again, in a run of its own
  std::optional<Observation> hbm_bytes;  ///< measured traffic
};

struct Interval {
  double low = 0;
  double high = 0;
};
/// The interval that an observation stands for: of its median, widened by the timer's resolution;
/// of a typed number the tolerance. Absent: too few samples for one.
std::optional<Interval> interval_of(const Observation& observation, double tolerance);

enum class RunResidency : std::uint8_t { cold, rotated, warm, unknown };
std::string_view name_of(RunResidency residency);
RunResidency residency_of(const CacheTreatment& caches, const CaseFloors& floors);
/// HBM bytes a call that the run must have moved: cold the counted ones, rotated
/// max(0, W - S_keep) / calls, warm none.
Bytes bytes_judged(const CacheTreatment& caches, const CaseFloors& floors);

/// One of F, D, P, B, t and the caches: why it may be wrong, and what would tell.
struct Doubt {
  std::string_view symbol;  ///< "F", "D", "P", "B", "t", "W"
  std::string why;
  std::string next_measurement;
};

struct CaseVerdict {
  RunResidency residency = RunResidency::unknown;
  std::optional<Verdict> finding;  ///< floor_violated, above_observed, limit_refuted, inconclusive
  Seconds proven_line{0};          ///< what the run cannot be faster than
  Seconds provisional_line{0};     ///< the same with best-seen rates
  std::optional<Seconds> limit_line;  ///< twice the claimed limit's term in this run
  std::vector<std::string> reasons;
  std::vector<Doubt> doubts;  ///< the first to look at first
};

struct HypothesisVerdict {
  Verdict verdict = Verdict::inconclusive;
  Verdict prediction = Verdict::inconclusive;  ///< supported, refuted or inconclusive
  std::optional<Interval> observed;            ///< of the predicted amount
  std::optional<double> value;                 ///< from the medians
  CaseVerdict baseline;
  CaseVerdict variant;
  std::vector<std::string> reasons;
};

struct JudgedCase {
  const CaseFloors* floors = nullptr;
  const CaseObservations* observed = nullptr;
};
HypothesisVerdict judge(const Hypothesis& hypothesis, const JudgedCase& baseline,
                        const JudgedCase& variant, double tolerance = kDefaultTolerance);

/// The claimed limit's term, where the claim is a resource and the work asks for it.
const LimitTerm* claimed_term(const Hypothesis& hypothesis, const CaseFloors& floors);

/// One observed time against the floors of its work, without a hypothesis: floor_violated (needs
/// `second`), above_observed, inconclusive; nothing where it is possible.
CaseVerdict judge_time(const CaseFloors& floors, const CaseObservations& observed,
                       double tolerance);

}  // namespace floorline
