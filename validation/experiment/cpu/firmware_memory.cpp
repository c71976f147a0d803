// SPDX-License-Identifier: Apache-2.0
#include "validation/experiment/cpu/firmware_memory.hpp"

#include <algorithm>

namespace floorline::cpu {

namespace {

constexpr std::uint8_t kMemoryDevice = 17;
constexpr std::uint8_t kEndOfTable = 127;
// Offsets within a type 17 structure.
constexpr std::size_t kDataWidth = 0x0a, kSize = 0x0c, kSpeed = 0x15, kConfigured = 0x20,
                      kExtendedSpeed = 0x54, kExtendedConfigured = 0x58;
constexpr std::uint32_t kUnknownWord = 0xffff;  // in a speed: see the extended field

/// A structure's formatted part; what lies beyond it reads as 0, which always means "unknown".
class Structure {
 public:
  explicit Structure(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  [[nodiscard]] std::uint32_t word(std::size_t at) const { return number(at, 2); }
  [[nodiscard]] std::uint32_t double_word(std::size_t at) const { return number(at, 4); }

 private:
  [[nodiscard]] std::uint32_t number(std::size_t at, std::size_t size) const {
    if (at + size > bytes_.size()) return 0;
    std::uint32_t value = 0;
    for (std::size_t i = size; i > 0; --i) value = value << 8U | bytes_[at + i - 1];
    return value;
  }
  std::span<const std::uint8_t> bytes_;
};

// NOLINTNEXTLINE(bugprone-easily-swappable-parameters): two offsets
std::uint32_t speed(const Structure& s, std::size_t at, std::size_t extended) {
  const std::uint32_t plain = s.word(at);
  return plain == kUnknownWord ? s.double_word(extended) & 0x7fffffffU : plain;
}

/// The end of the strings that follow a structure: two zero bytes.
std::size_t after_strings(std::span<const std::uint8_t> table, std::size_t at) {
  while (at + 1 < table.size() && (table[at] != 0 || table[at + 1] != 0)) ++at;
  return at + 2;
}

}  // namespace

std::vector<MemoryModule> memory_modules(std::span<const std::uint8_t> table) {
  std::vector<MemoryModule> modules;
  for (std::size_t at = 0; at + 4 <= table.size();) {
    const std::uint8_t type = table[at];
    const std::size_t length = table[at + 1];
    if (type == kEndOfTable || length < 4 || at + length > table.size()) break;
    const Structure s(table.subspan(at, length));
    if (type == kMemoryDevice && s.word(kSize) != 0) {
      modules.push_back({s.word(kDataWidth), speed(s, kSpeed, kExtendedSpeed),
                         speed(s, kConfigured, kExtendedConfigured)});
    }
    at = after_strings(table, at + length);
  }
  return modules;
}

std::optional<FirmwareMemory> firmware_memory(const std::vector<MemoryModule>& modules) {
  FirmwareMemory memory;
  for (const MemoryModule& m : modules) {
    const std::uint32_t fastest = std::max(m.rated, m.configured);
    const bool width_known = m.data_width_bits > 0 && m.data_width_bits < kUnknownWord;
    if (fastest == 0 || !width_known) return std::nullopt;
    const double bytes_a_transfer = static_cast<double>(m.data_width_bits) / 8;
    const std::uint32_t running = m.configured > 0 ? m.configured : m.rated;
    memory.configured += BytesPerSecond(static_cast<double>(running) * 1e6 * bytes_a_transfer);
    memory.fastest += BytesPerSecond(static_cast<double>(fastest) * 1e6 * bytes_a_transfer);
    ++memory.modules;
  }
  if (memory.modules == 0) return std::nullopt;
  return memory;
}

}  // namespace floorline::cpu
