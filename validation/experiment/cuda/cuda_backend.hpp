// SPDX-License-Identifier: Apache-2.0
// The CUDA backend. Compiled wherever nvcc is found; elsewhere cuda_absent.cpp says that it is not.
#pragma once

#include <memory>

#include "validation/experiment/backend.hpp"

namespace floorline {

/// `machine` predicts: its file must not contradict what the driver says of device `ordinal`.
/// Throws MeasurementError: CUDA not built in, no driver, no such device, or a contradiction.
std::unique_ptr<Backend> make_cuda_backend(Machine machine, int ordinal = 0);

/// "" when CUDA is built in and a device is there, else what is missing.
std::string why_no_cuda();

}  // namespace floorline
