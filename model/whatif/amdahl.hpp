// SPDX-License-Identifier: Apache-2.0
// What measured times alone say of a change (Amdahl 1967): a part that takes t_i of t, made s times
// faster, leaves t - t_i + t_i/s; nothing done to it buys more than t/(t - t_i).
// Shares are of measured time, never of floors.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/quantity/quantity.hpp"
#include "model/rewrite/assignment.hpp"

namespace floorline {

struct MeasuredPart {
  std::string name;  ///< of an operator; all its executions in the measured interval
  Seconds time{0};
};

struct MeasuredTimes {
  std::optional<Seconds> whole;
  std::string given;        ///< the text of the whole
  bool token_rate = false;  ///< it was one: the whole is the time between steps
  std::vector<MeasuredPart> parts;

  [[nodiscard]] const MeasuredPart* find(std::string_view name) const;
};

/// "5.1ms" or "op.NAME=22ms" each; the whole is left as text, since it may be a rate of the
/// workload. Throws InputError: a part twice, a bad time, two wholes.
MeasuredTimes read_measured(const std::vector<std::string>& texts);
/// Parts beyond the whole are an error.
void check_measured(const MeasuredTimes& measured);

/// True for op.NAME.time.
bool names_measured_time(std::string_view name);

struct PartChange {
  std::string name;
  Seconds before{0};
  Seconds after{0};
  std::string why;  ///< what the time after rests on
  [[nodiscard]] double local_ratio() const { return before / after; }
};

struct AmdahlPrediction {
  std::vector<PartChange> parts;
  Seconds before{0};
  Seconds after{0};  ///< the whole
  Seconds changed_before{0};
  /// Operators that change too but have no measured time: taken to stay as they are.
  std::vector<std::string> unmeasured;

  [[nodiscard]] double ratio() const { return before / after; }
  [[nodiscard]] double share() const { return changed_before / before; }
  /// However fast the changed parts get; absent when they are all of it.
  [[nodiscard]] std::optional<double> ceiling() const;
};

/// Every op.NAME.time=VALUE or *=FACTOR of `changes`. Throws InputError: a part that was not
/// measured (listing those that were), a time that is not above zero.
std::vector<PartChange> stated_parts(const MeasuredTimes& measured,
                                     const std::vector<Assignment>& changes);

AmdahlPrediction amdahl(Seconds whole, std::vector<PartChange> parts);

}  // namespace floorline
