// SPDX-License-Identifier: Apache-2.0
// Every CUDA call is checked: what fails becomes a MeasurementError that names the call.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "validation/experiment/method.hpp"

namespace floorline::cuda {

inline void check(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  throw MeasurementError(std::string("CUDA: ") + call + ": " + cudaGetErrorName(status) + ": " +
                         cudaGetErrorString(status));
}

/// After a kernel launch: the launch itself may fail (too many threads, no code for this device).
inline void check_launch(const char* kernel) { check(cudaGetLastError(), kernel); }

}  // namespace floorline::cuda
