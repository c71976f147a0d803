// SPDX-License-Identifier: Apache-2.0
#include "validation/verdict/machines.hpp"

#include <algorithm>
#include <array>

namespace floorline {

namespace {

struct Alias {
  std::string_view gpu;
  std::string_view device;
};
// The data's A100 is the part with 80 GB of HBM2e (README of the data). a100_vidur may mix SXM and
// PCIe: the same peaks, and SXM has the faster memory. Pairs of NVLink bridges join PCIe boards;
// whether those of H100 are PCIe or NVL is not said: their links have the same rate.
constexpr std::array kAliases{Alias{"a100_sxm", "a100_sxm_80gb"},
                              Alias{"a100_vidur", "a100_sxm_80gb"},
                              Alias{"a100_dgx", "a100_sxm_80gb"},
                              Alias{"a100_pairwise_nvlink", "a100_pcie_80gb"},
                              Alias{"a40_vidur", "a40"},
                              Alias{"a40_pairwise_nvlink", "a40"},
                              Alias{"h100_vidur", "h100_sxm"},
                              Alias{"h100_dgx", "h100_sxm"},
                              Alias{"h100_pairwise_nvlink", "h100_nvl"}};

std::string device_of(std::string_view gpu) {
  for (const Alias& alias : kAliases) {
    if (alias.gpu == gpu) return std::string(alias.device);
  }
  return std::string(gpu);
}

}  // namespace

Machines::Machines(DevicePath path) : path_(std::move(path)), names_(device_names(path_)) {}

const Machine* Machines::find(std::string_view gpu) {
  const auto held = found_.find(gpu);
  if (held != found_.end()) return held->second.get();
  std::unique_ptr<Machine>& made = found_[std::string(gpu)];
  const std::string name = device_of(gpu);
  if (std::find(names_.begin(), names_.end(), name) != names_.end()) {
    made = std::make_unique<Machine>(machine_of(load_device(name, path_), {}));
  }
  return made.get();
}

}  // namespace floorline
