// SPDX-License-Identifier: Apache-2.0
// One hypothesis with what the engine predicts, what was observed, and the verdict: what is printed
// and what a record keeps.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "validation/verdict/verdict.hpp"

namespace floorline {

struct CaseRun {
  CaseFloors floors;
  CaseObservations observed;
  std::string device;         ///< that predicts this case
  std::string device_text;    ///< all its numbers, for the record's hash
  std::string workload_text;  ///< the operator graph, likewise
  std::string experiment;     ///< at the sizes that run or are predicted: 'layernorm rows=…'
  std::string not_measured;   ///< why the backend could not run it
};

struct HypothesisRun {
  Hypothesis hypothesis;
  CaseRun baseline;
  CaseRun variant;
  std::string backend;             ///< "" when nothing was observed, "typed", "cpu", "cuda"
  std::vector<std::string> typed;  ///< as given: "baseline=5.074ms"
  bool quick = false;
  double tolerance = kDefaultTolerance;
  std::optional<HypothesisVerdict> verdict;  ///< absent: the file was only checked
  std::vector<std::string> assumptions;
  std::vector<std::string> notes;
};

/// The weakest of what was observed: mechanism without any observation, typed as soon as one number
/// was, measured only of samples on a named device. Never stronger than its parts.
EvidenceClass evidence_of(const HypothesisRun& run);
/// The first line of every report: what this says of a GPU.
std::string standing_of(const HypothesisRun& run);

}  // namespace floorline
