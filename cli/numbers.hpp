// SPDX-License-Identifier: Apache-2.0
// One kernel by numbers, as flags: --flops --bytes --peak --bandwidth.
#pragma once

#include <string>

#include "cli/options.hpp"
#include "model/report/document.hpp"
#include "model/rewrite/kernel_numbers.hpp"

namespace floorline {

struct NumbersOptions {
  std::string flops, bytes, peak, bandwidth;
  [[nodiscard]] bool given() const {
    return !flops.empty() || !bytes.empty() || !peak.empty() || !bandwidth.empty();
  }
};
void add_numbers_options(CLI::App& verb, NumbersOptions& options);

/// The numbers with every --set applied. Throws InputError; a workload or device beside them is
/// one.
KernelNumbers read_numbers(const NumbersOptions& options, const WorkloadOptions& workload,
                           const DeviceOptions& device);
/// As echoed under `inputs`; what was not given is null.
Json json_of(const KernelNumbers& kernel);

}  // namespace floorline
