// SPDX-License-Identifier: Apache-2.0
// NVML, loaded at run time: clocks, temperature, power, what holds the clocks down, the driver's
// version. What it cannot tell stays absent.
#pragma once

#include <cstdint>
#include <string>

#include "validation/observation/sample.hpp"

namespace floorline::cuda {

class NvmlLibrary {
 public:
  /// `pci_bus_id` as cudaDeviceGetPCIBusId gives it. Never throws: without NVML all is absent.
  explicit NvmlLibrary(const std::string& pci_bus_id);
  NvmlLibrary(const NvmlLibrary&) = delete;
  NvmlLibrary& operator=(const NvmlLibrary&) = delete;
  ~NvmlLibrary();
  [[nodiscard]] MachineState state() const;
  /// "" when not known.
  [[nodiscard]] std::string driver_version() const;

 private:
  void* library_ = nullptr;
  void* device_ = nullptr;
};

/// "none", or the words for the bits that NVML reports, separated by commas.
std::string throttle_words(std::uint64_t bits);

}  // namespace floorline::cuda
