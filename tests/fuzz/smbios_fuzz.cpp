// SPDX-License-Identifier: Apache-2.0
// Any bytes as a firmware table: no crash, and no more modules than there is room for.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "validation/experiment/cpu/firmware_memory.hpp"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace floorline;
  const std::vector<cpu::MemoryModule> modules = cpu::memory_modules({data, size});
  if (modules.size() > size / 4) std::abort();
  if (const auto memory = cpu::firmware_memory(modules)) {
    const bool rates_hold =
        memory->configured <= memory->fastest && std::isfinite(memory->fastest.in_base_units());
    if (memory->modules < 1 || !rates_hold) std::abort();
  }
  return 0;
}
