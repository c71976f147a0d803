// SPDX-License-Identifier: Apache-2.0
// What a backend is: it says what it runs on, what it cannot do and why, and prepares kernels whose
// calls the runner (runner.hpp) checks, warms, rotates and times. No method is in here: a backend
// has kernels, buffers and a clock; all else is shared.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/evaluate.hpp"
#include "validation/experiment/experiment.hpp"
#include "validation/experiment/method.hpp"
#include "validation/experiment/reference.hpp"
#include "validation/observation/sample.hpp"

namespace floorline {

/// An experiment's kernel with its buffers: `sets` copies of all that one call touches.
class PreparedExperiment {
 public:
  virtual ~PreparedExperiment() = default;
  /// Enqueues one call on copy `set` of the buffers, waits for it. For correctness and warm-up.
  virtual void call(std::int64_t set) = 0;
  /// The seconds that `calls` calls took, one after the other, on sets first, first + 1, …
  /// (modulo the number of sets), by device events or a monotonic clock.
  virtual Seconds time_calls(std::int64_t first_set, std::int64_t calls) = 0;
  /// The output of copy `set`, in the order of reference.hpp.
  virtual std::vector<double> output(std::int64_t set) = 0;
  /// Overwrites the output of copy `set` with NaN (whole numbers: with their smallest): what a
  /// kernel skips is then seen.
  virtual void poison_output(std::int64_t set) = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;
  /// "cpu", "cuda".
  [[nodiscard]] virtual std::string name() const = 0;
  /// The device that predicts: floors are read from it, S_keep too.
  [[nodiscard]] virtual const Machine& machine() const = 0;
  [[nodiscard]] virtual MeasuredOn measured_on() const = 0;
  [[nodiscard]] virtual MachineState state() const = 0;
  /// What a reader of its times must know: "load average 3.1 on 2 CPUs: not idle".
  [[nodiscard]] virtual std::vector<std::string> notes() const { return {}; }
  [[nodiscard]] virtual Scale scale() const = 0;
  [[nodiscard]] virtual Seconds timer_resolution() const = 0;
  /// Bytes of device memory that rotations may take at most.
  [[nodiscard]] virtual Bytes memory_free() const = 0;
  /// "" when it can run this; else the reason: "needs two devices; there is one".
  [[nodiscard]] virtual std::string why_not(const ExperimentSpec& spec) const = 0;
  /// `sets` copies of the buffers, each filled with `data`. Throws MeasurementError.
  virtual std::unique_ptr<PreparedExperiment> prepare(const ExperimentSpec& spec,
                                                      const ExperimentData& data,
                                                      std::int64_t sets) = 0;
};

}  // namespace floorline
