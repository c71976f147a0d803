// SPDX-License-Identifier: Apache-2.0
// What changes would buy: a situation evaluated before, after each change alone, and after all of
// them. Ratios are of floors. With a measured time t, and only then, something is said of the real
// run: speed-up <= t / (any-residency floor after).
#pragma once

#include "model/whatif/amdahl.hpp"
#include "model/whatif/break_even.hpp"
#include "model/whatif/line_fit.hpp"
#include "model/whatif/ranking.hpp"
#include "model/whatif/ratios.hpp"

namespace floorline {

/// A measured point of the calibrated line: other changes than those asked about, or plain bytes.
struct PointText {
  std::string text;
  std::string what;  ///< "base", an amount of bytes, changes separated by ';'
  Seconds time{0};
};
/// "WHAT=TIME". Throws InputError.
PointText read_point(const std::string& text);

struct WhatifQuestion {
  std::vector<Assignment> changes;  ///< of the situation and of measured operators
  MeasuredTimes measured;
  std::vector<PointText> points;
  bool rank = true;
  RankingOptions ranking;
};

struct SingleChange {
  Assignment change;
  std::string from;
  std::string to;
  std::optional<double> executions = 1;  ///< see Variable
  BreakEvenAnswer break_even;
  std::optional<Ratios> alone;  ///< absent: it cannot be made by itself
  std::string cannot;
};

/// Whether changes work together: the product of their single ratios against the joint one.
struct Interaction {
  double product = 1;
  double joint = 1;
  [[nodiscard]] bool interact() const;
};

struct MeasuredAnswer {
  Seconds time{0};
  std::optional<Seconds> floor_before;  ///< any residency, proven
  std::optional<Seconds> floor_after;
  std::optional<double> speedup_at_most;  ///< absent too where the time is impossible
  /// Of tokens a second, where the change makes a step of other tokens.
  std::optional<double> token_speedup_at_most;
  bool impossible = false;  ///< below the floor before: F, D, P, B or t is wrong
  bool warm = false;        ///< between that floor and the cold one: some of it was on chip
  double over_serial = 0;   ///< t over the serial cold floor before
  bool far_above = false;
  std::vector<std::string> look_first;
  /// An expected interval: nothing gained (what holds the run hides the change) to all of the
  /// difference of the floors, t - (serial cold before - after), if what is above the floor stays.
  /// Absent where that is nothing.
  std::optional<Seconds> expected;
};

struct LineAnswer {
  LineFit fit;
  Bytes before{0};
  Bytes after{0};
  Seconds time_before{0};
  Seconds time_after{0};
  /// Points below their floor at any residency: nothing follows from a line through them.
  std::vector<std::string> impossible;
  std::vector<std::string> doubts;
};

struct Whatif {
  Situation situation;  ///< before
  Situation variant;    ///< after
  Outcome before;
  Outcome after;
  std::vector<SingleChange> changes;
  Ratios ratios;
  std::optional<double> uniform;  ///< serial cold under uniform routing: the mean step's ratio
  std::optional<Interaction> interaction;
  std::optional<MeasuredAnswer> measured;
  std::optional<AmdahlPrediction> amdahl;
  std::optional<LineAnswer> line;
  Ranking ranking;
  std::vector<std::string> notes;
  std::vector<std::string> unfit;  ///< that before or after does not fit the device's memory
};

/// Throws InputError. `whole` of the measured times is already a time.
Whatif ask(const Situation& situation, const WhatifQuestion& question);

/// `measured.whole` is there.
MeasuredAnswer answer_measured(const Outcome& before, const Outcome& after,
                               const MeasuredTimes& measured);

/// HBM bytes of one step as the kernels move them (kernel by numbers: its bytes).
Bytes traffic_of(const Outcome& outcome);
/// The resource after the binding one by share of the serial cold floor (one kernel: its
/// runner-up).
std::optional<ResourceId> runner_up_of(const Outcome& outcome);

}  // namespace floorline
