// SPDX-License-Identifier: Apache-2.0
// Runs the experiments of a hypothesis on a backend of this machine.
#pragma once

#include <memory>
#include <string>

#include "cli/options.hpp"
#include "model/evaluate.hpp"
#include "validation/experiment/experiment.hpp"
#include "validation/verdict/hypothesis_run.hpp"

namespace floorline {

class BackendRunner {
 public:
  virtual ~BackendRunner() = default;
  [[nodiscard]] virtual const Machine& machine() const = 0;
  [[nodiscard]] virtual Scale scale() const = 0;
  /// Every experiment of the suite beside its floors, printed; false: something is impossible or
  /// wrong.
  virtual bool run_experiments(const OutputOptions& output) = 0;
  /// Whether the hypothesis' experiments mean something here.
  [[nodiscard]] virtual bool is_meant(const Hypothesis& hypothesis) const = 0;
  /// Fills in what was observed, runs again what lies below a floor, and judges. A case without an
  /// experiment, or that this machine cannot run, is not measured and says why.
  virtual void observe(HypothesisRun& run) = 0;
};

/// "cpu" or "cuda". `device`: a file of this machine that predicts instead of the probe. Throws
/// InputError for any other name, MeasurementError where there is none.
std::unique_ptr<BackendRunner> open_backend(const std::string& name, bool quick,
                                            const DeviceOptions& device);

}  // namespace floorline
