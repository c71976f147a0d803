// SPDX-License-Identifier: Apache-2.0
// What is evaluated before and after a change: a graph, a model or one kernel by numbers, on a
// device at its clocks. A situation is a value: a change makes another one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/device/device_file.hpp"
#include "model/evaluate.hpp"
#include "model/evaluate_model.hpp"
#include "model/rewrite/kernel_numbers.hpp"

namespace floorline {

/// Exactly one of graph, model and kernel is there; the device belongs to the first two.
struct Situation {
  std::optional<OperatorGraph> graph;
  std::optional<ModelWorkload> model;
  std::optional<KernelNumbers> kernel;
  DeviceSpec device;
  ClockChoice clocks;
  std::vector<Assignment> device_settings;  ///< applied again to another device (device=NAME)
  DevicePath device_path;                   ///< where device=NAME is looked for
};

/// A situation evaluated. Floors point into the machine, so it is held by address.
struct Outcome {
  std::shared_ptr<const Machine> machine;  ///< null for a kernel by numbers
  std::shared_ptr<const Rates> numbers;    ///< the rates of one
  Evaluation evaluation;                   ///< of a model: the stage that limits
  std::optional<ModelFloors> model;
  double ranks = 1;
  /// What is compared: of a model the whole step through all stages (generate: all steps), else the
  /// graph's floors.
  WholeTimes whole;
  std::vector<std::string> notes;
};

/// Throws InputError.
Outcome evaluate(const Situation& situation);

/// Every term of one operator.
Floor floor_in(const Outcome& outcome, std::size_t op, Residency residency = Residency::cold);

/// The floor that any run must keep: any residency, rates with a ceiling only, of one kernel when
/// kernels do not overlap. Absent where the floor holds for a chosen routing only, or caches are
/// not known and nothing else binds. `between_steps`: of a model's slowest stage, not of all.
std::optional<Seconds> proven_floor(const Outcome& outcome, bool between_steps = false);

/// Of generate its last decode step, the one that is shown; all else as it is.
Situation step_shown(Situation situation);

/// `device=NAME` first, then all else in the order given, operators removed or replaced last.
/// Throws InputError.
Situation changed(Situation situation, const std::vector<Assignment>& changes);

}  // namespace floorline
