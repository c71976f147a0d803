// SPDX-License-Identifier: Apache-2.0
// The predicted amount: from observations (with its interval) and from the engine's own counts.
#pragma once

#include <optional>
#include <string>

#include "validation/verdict/verdict.hpp"

namespace floorline {

struct ObservedAmount {
  std::optional<double> value;
  std::optional<Interval> interval;
  std::string missing;  ///< why there is none
};
/// Ratios of two intervals are their widest ends: at least 1 - 2 (1 - coverage) holds.
ObservedAmount observed_amount(PredictedAmount amount, const JudgedCase& baseline,
                               const JudgedCase& variant, double tolerance);

/// What the engine's counts give for the same amount, cold: ratio of floors, floor, bytes. Absent
/// where floors say nothing (shares of a time nobody knows).
std::optional<double> engine_amount(PredictedAmount amount, const CaseFloors& baseline,
                                    const CaseFloors& variant);

}  // namespace floorline
