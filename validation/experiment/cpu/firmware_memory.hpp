// SPDX-License-Identifier: Apache-2.0
// The memory devices that the firmware lists (SMBIOS, type 17: DMTF DSP0134, 7.18), and the most
// that they could move together:
//   sum over populated devices of transfers a second × data width
// Two modules of one channel are both counted, so the sum never lies below what the channels give.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "model/quantity/quantity.hpp"

namespace floorline::cpu {

struct MemoryModule {
  std::uint32_t data_width_bits = 0;
  std::uint32_t rated = 0;       ///< mega-transfers a second; 0: not stated
  std::uint32_t configured = 0;  ///< the same, as running; 0: not stated
};

/// The populated modules in a table such as /sys/firmware/dmi/tables/DMI. What is cut off or
/// malformed ends the list.
std::vector<MemoryModule> memory_modules(std::span<const std::uint8_t> table);

struct FirmwareMemory {
  std::int64_t modules = 0;
  BytesPerSecond configured{0};
  BytesPerSecond fastest{0};  ///< at the higher of rated and configured: the ceiling
};
/// Absent when there is no module, or one of them does not state its speed or width.
std::optional<FirmwareMemory> firmware_memory(const std::vector<MemoryModule>& modules);

}  // namespace floorline::cpu
