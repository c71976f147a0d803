// SPDX-License-Identifier: Apache-2.0
// What the CUDA backend can run, decided without a device: storage formats of the hand-written
// kernels, products that cuBLAS has, how many devices an experiment needs; and whether the device
// that is there is the one whose file predicts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/device/device.hpp"
#include "validation/experiment/experiment.hpp"

namespace floorline::cuda {

struct Installation {
  int devices = 1;
  bool cublas = true;
  std::string no_cublas = {};  ///< why it is missing
};
/// "" when it can be run, else the reason.
std::string why_not_on_cuda(const ExperimentSpec& spec, const Installation& installation);

/// What the driver says of the device.
struct DeviceFacts {
  std::string name;
  int major = 0;
  int minor = 0;
  int multiprocessors = 0;
  std::uint64_t total_memory = 0;  ///< bytes
};
/// How `facts` contradict the device file: compute capability, units, memory beyond 5 %. Empty: the
/// file may be this device's. What the file does not state is not compared.
std::vector<std::string> contradictions(const DeviceSpec& device, const DeviceFacts& facts);

}  // namespace floorline::cuda
