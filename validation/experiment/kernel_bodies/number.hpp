// SPDX-License-Identifier: Apache-2.0
// Storage formats as kernels see them: bits in memory, float (of fp64: double) in registers.
// Store<T> says how; CUDA may specialize it for its own __half and __nv_bfloat16.
// Rounding is to nearest, ties to even. NaN stays NaN.
#pragma once

#include "validation/experiment/kernel_bodies/host_device.hpp"

namespace floorline::bodies {

struct Bf16 {
  std::uint16_t bits = 0;
};
struct Fp16 {
  std::uint16_t bits = 0;
};

FLOORLINE_HOST_DEVICE inline float float_of_bits(std::uint32_t bits) {
  float value = 0;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}
FLOORLINE_HOST_DEVICE inline std::uint32_t bits_of_float(float value) {
  std::uint32_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits;
}

FLOORLINE_HOST_DEVICE inline float float_of_bf16(Bf16 value) {
  return float_of_bits(static_cast<std::uint32_t>(value.bits) << 16U);
}
/// The exponent is moved from bias 15 to 127 by one exact multiplication, subnormals included;
/// infinities and NaN take the branch.
FLOORLINE_HOST_DEVICE inline float float_of_fp16(Fp16 value) {
  const std::uint32_t sign = (value.bits & 0x8000U) << 16U;
  const std::uint32_t rest = static_cast<std::uint32_t>(value.bits & 0x7fffU) << 13U;
  const std::uint32_t special = rest >= 0x0f800000U ? 0x70000000U : 0U;
  const float magnitude = float_of_bits(rest) * 0x1p112F;
  const std::uint32_t bits = special != 0 ? (rest | 0x7f800000U) : bits_of_float(magnitude);
  return float_of_bits(bits | sign);
}

template <class T>
struct Store;  // ::to(T) widens, ::from(value) rounds to T

template <>
struct Store<float> {
  FLOORLINE_HOST_DEVICE static float to(float value) { return value; }
  FLOORLINE_HOST_DEVICE static float from(float value) { return value; }
};
template <>
struct Store<double> {
  FLOORLINE_HOST_DEVICE static double to(double value) { return value; }
  FLOORLINE_HOST_DEVICE static double from(double value) { return value; }
};
template <>
struct Store<Bf16> {
  FLOORLINE_HOST_DEVICE static float to(Bf16 value) { return float_of_bf16(value); }
  FLOORLINE_HOST_DEVICE static Bf16 from(float value) {
    const std::uint32_t bits = bits_of_float(value);
    const std::uint32_t rounded = bits + 0x7fffU + ((bits >> 16U) & 1U);
    const bool nan = (bits & 0x7fffffffU) > 0x7f800000U;
    return {static_cast<std::uint16_t>((nan ? (bits | 0x400000U) : rounded) >> 16U)};
  }
};
template <>
struct Store<Fp16> {
  FLOORLINE_HOST_DEVICE static float to(Fp16 value) { return float_of_fp16(value); }
  /// Adding 2^e with the right e makes the float unit round the mantissa where fp16 would.
  FLOORLINE_HOST_DEVICE static Fp16 from(float value) {
    const std::uint32_t bits = bits_of_float(value);
    const std::uint32_t sign = (bits >> 16U) & 0x8000U;
    const std::uint32_t magnitude = bits & 0x7fffffffU;
    if (magnitude > 0x7f800000U) return {static_cast<std::uint16_t>(sign | 0x7e00U)};
    if (magnitude >= 0x477ff000U) return {static_cast<std::uint16_t>(sign | 0x7c00U)};
    if (magnitude < 0x38800000U) {  // below 2^-14: subnormal, steps of 2^-24
      const float shifted = float_of_bits(magnitude) + 0.5F;
      return {static_cast<std::uint16_t>(sign | (bits_of_float(shifted) - 0x3f000000U))};
    }
    const std::uint32_t odd = (magnitude >> 13U) & 1U;
    const std::uint32_t rounded = magnitude - 0x38000000U + 0xfffU + odd;
    return {static_cast<std::uint16_t>(sign | (rounded >> 13U))};
  }
};

template <class T>
FLOORLINE_HOST_DEVICE inline auto to_float(T value) {
  return Store<T>::to(value);
}
/// What T is in registers: float, or double.
template <class T>
using Register = decltype(Store<T>::to(T{}));
/// A value rounded to the storage format T.
template <class T, class A>
FLOORLINE_HOST_DEVICE inline T stored(A value) {
  return Store<T>::from(static_cast<Register<T>>(value));
}

}  // namespace floorline::bodies
