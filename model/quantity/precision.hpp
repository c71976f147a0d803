// SPDX-License-Identifier: Apache-2.0
// Number formats: names and storage width. Storage, compute and accumulate precision of an operator
// are separate attributes; this header only names the formats.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace floorline {

enum class Precision : std::uint8_t {
  none,  ///< does not apply
  any,   ///< unknown: the floor takes the fastest that the device has
  fp64,
  fp32,
  tf32,
  bf16,
  fp16,
  fp8_e4m3,
  fp8_e5m2,
  fp6,
  fp4,
  mxfp4,
  nvfp4,
  int8,
  int4,
  int32,
};
inline constexpr int kPrecisionCount = 16;

struct PrecisionInfo {
  Precision id;
  std::string_view name;
  /// Bits per stored element, block scales included (mxfp4: 4 + 8/32; nvfp4: 4 + 8/16).
  double bits;
};

inline constexpr std::array<PrecisionInfo, kPrecisionCount> kPrecisions{{
    {Precision::none, "none", 0},
    {Precision::any, "any", 0},
    {Precision::fp64, "fp64", 64},
    {Precision::fp32, "fp32", 32},
    {Precision::tf32, "tf32", 32},
    {Precision::bf16, "bf16", 16},
    {Precision::fp16, "fp16", 16},
    {Precision::fp8_e4m3, "fp8_e4m3", 8},
    {Precision::fp8_e5m2, "fp8_e5m2", 8},
    {Precision::fp6, "fp6", 6},
    {Precision::fp4, "fp4", 4},
    {Precision::mxfp4, "mxfp4", 4.25},
    {Precision::nvfp4, "nvfp4", 4.5},
    {Precision::int8, "int8", 8},
    {Precision::int4, "int4", 4},
    {Precision::int32, "int32", 32},
}};

constexpr const PrecisionInfo& info(Precision p) {
  return kPrecisions[static_cast<std::size_t>(p)];
}
constexpr std::string_view name_of(Precision p) { return info(p).name; }
/// Bits of one stored element; 0 for none and any.
constexpr double storage_bits(Precision p) { return info(p).bits; }

/// "bf16" and so on; "fp8" reads as fp8_e4m3. "none" is not a name users can write.
std::optional<Precision> precision_from(std::string_view name);

}  // namespace floorline
