// SPDX-License-Identifier: Apache-2.0
// A device with round numbers, for tests that work times by hand.
#pragma once

#include <string>
#include <string_view>

#include "model/device/device_file.hpp"
#include "model/evaluate.hpp"

namespace floorline::testing {

/// 100 units at 1 GHz published, 1.25 GHz highest:
///   tensor bf16  1000 a clock: 100 TFLOP/s nominal, 125 ceiling     vector fp32  10 and 12.5
///   HBM 1 TB/s    S_keep = 1,000,000 B    S_all = S_keep + 100 x (6,000 + 4,000) = 2,000,000 B
inline constexpr std::string_view kRoundDevice = R"(
schema = 1
name = "round"
units = 100
[clock.sm]
published = "1000 MHz"
highest = "1250 MHz"
[rate.tensor.bf16.fp32]
per_clock_per_unit = 1000
clock = "sm"
[rate.vector.fp32]
per_clock_per_unit = 100
clock = "sm"
[memory.hbm]
bandwidth = "1 TB/s"
[memory.l2]
capacity = "1 MB"
[memory.shared]
capacity_per_unit = "6 kB"
[memory.registers]
capacity_per_unit = "4 kB"
[link.h2d]
bandwidth = "50 GB/s"
[link.d2h]
bandwidth = "50 GB/s"
[link.peer]
bandwidth = "450 GB/s"
)";

inline Machine machine_from(std::string_view text, const ClockChoice& clocks = {}) {
  return machine_of(parse_device(text, "test.toml", {}), clocks);
}
inline Machine round_machine(const std::string& more = "") {
  return machine_from(std::string(kRoundDevice) + more);
}

/// A kernel by numbers on a machine by numbers.
inline Rates rates_by_numbers(FlopsPerSecond peak, BytesPerSecond bandwidth) {
  Rates rates;
  Rate compute;
  compute.known = compute.has_ceiling = true;
  compute.ceiling = compute.nominal = AmountPerSecond(peak);
  compute.via = {Unit::compute};
  Rate memory = compute;
  memory.ceiling = memory.nominal = AmountPerSecond(bandwidth);
  memory.via = {Unit::memory};
  rates.set({Unit::compute}, compute);
  rates.set({Unit::memory}, memory);
  return rates;
}

}  // namespace floorline::testing
