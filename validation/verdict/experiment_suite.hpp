// SPDX-License-Identifier: Apache-2.0
// Every experiment of the suite on one backend, each beside its floors: what is impossible, what is
// not measured, and whether this machine was quiet enough for the rest to prove anything.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "validation/experiment/runner.hpp"
#include "validation/verdict/verdict.hpp"

namespace floorline {

struct SuiteRow {
  ExperimentRun run;
  std::string prediction;             ///< the operator or graph file that predicts it
  std::optional<CaseFloors> floors;   ///< absent: not measured
  std::optional<Observation> second;  ///< where the first lay below a floor: with other data
  CaseVerdict verdict;

  /// Fastest sample over the cold floor; absent when there is either none.
  [[nodiscard]] std::optional<double> times_floor() const;
};

/// Experiments that ought to come near their floors when nothing else runs.
struct SuiteStanding {
  bool proves = true;             ///< all of those within kNearFloor
  std::vector<std::string> slow;  ///< "triad: 4.1 times its floor"
};
constexpr double kNearFloor = 2;

/// Calls `done` after each experiment, for progress.
std::vector<SuiteRow> run_suite(Backend& backend, const Method& method,
                                const std::function<void(const SuiteRow&)>& done);
SuiteStanding standing_of(const std::vector<SuiteRow>& rows);
/// Anything impossible or wrong among them.
bool sound(const std::vector<SuiteRow>& rows);

}  // namespace floorline
