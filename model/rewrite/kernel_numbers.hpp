// SPDX-License-Identifier: Apache-2.0
// One kernel by numbers: F, D, P, B as typed. The names for NAME=VALUE are flops, bytes, peak,
// bandwidth.
#pragma once

#include "model/device/rates.hpp"
#include "model/quantity/unit_names.hpp"
#include "model/rewrite/assignment.hpp"

namespace floorline {

struct KernelNumbers {
  Flops work{0};
  Bytes traffic{0};
  FlopsPerSecond peak{0};
  BytesPerSecond bandwidth{0};
};

/// Throws InputError: a name that is none of the four, a value with the wrong unit.
void assign(KernelNumbers& kernel, const Assignment& assignment);
/// "flops", "bytes", "peak", "bandwidth".
std::vector<std::string> kernel_number_names();
/// The number of that name in base units, and its dimension.
struct KernelNumber {
  double base = 0;
  Dimension dimension = Dimension::flops;
};
KernelNumber number_of(const KernelNumbers& kernel, std::string_view name);

/// The typed rates, as ceilings. Throws InputError: no work at all, work whose rate is missing.
Rates rates_of(const KernelNumbers& kernel);

}  // namespace floorline
