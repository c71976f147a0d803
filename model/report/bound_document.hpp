// SPDX-License-Identifier: Apache-2.0
// What `floorline bound` prints.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/evaluate_model.hpp"
#include "model/floor/measured.hpp"
#include "model/report/document.hpp"

namespace floorline {

/// What was asked, echoed under `inputs`.
struct BoundInputs {
  std::string command = "bound";
  std::string workload;  ///< a file, the text of --op, or "" for a kernel by numbers
  std::vector<std::string> set;
  std::optional<std::string> measured;
  double ranks = 1;
  int top = 0;  ///< rows of the operator table; 0: all
  bool explain = false;
  Json numbers;  ///< a kernel by numbers: what was typed
};

struct BoundReport {
  BoundInputs inputs;
  const Machine* machine = nullptr;  ///< null for a kernel by numbers
  Rates numbers;                     ///< the rates of a kernel by numbers
  const Evaluation* evaluation = nullptr;
  std::optional<ModelFloors> model;
  std::vector<std::string> assumptions;  ///< beside the graph's own
  std::vector<std::string> notes;
};

/// Every term of one operator.
Floor floor_in(const BoundReport& report, std::size_t op, Residency residency = Residency::cold);

/// Work and floors that a measured time or rate is about: of one kernel the floor at any residency
/// when kernels do not overlap, of a whole graph the fused one, of a model its step or request.
struct Judging {
  MeasuredWork work;
  Seconds cold{0};
  std::optional<Seconds> any;
  Seconds serial{0};  ///< cold, if kernels do not overlap: what hints of overhead are measured by
};
Judging judging_of(const BoundReport& report);

Document bound_document(const BoundReport& report);
/// The verdict, when --measured was given; its exit status is 1 for impossible.
std::optional<Measured> judge_measured(const BoundReport& report);

}  // namespace floorline
