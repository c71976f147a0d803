// SPDX-License-Identifier: Apache-2.0
// This machine's processors as a backend: threads, loops and Eigen. The machine that predicts is
// probed (cpu_device.hpp) or given.
#pragma once

#include <memory>

#include "validation/experiment/backend.hpp"
#include "validation/experiment/cpu/cpu_device.hpp"

namespace floorline {

struct CpuBackendOptions {
  /// Predicts instead of the probe: a device file of this machine, with its hypotheses.
  std::optional<DeviceSpec> device;
  Seconds probe_budget{1};
  const char* level = "";      ///< "baseline", "avx2", "avx512"; "": the widest there is
  bool break_kernels = false;  ///< for tests: each kernel skips the last worker's part
};

/// Throws MeasurementError when the probe cannot be made, InputError for what its file lacks.
std::unique_ptr<Backend> make_cpu_backend(const CpuBackendOptions& options = {});

}  // namespace floorline
