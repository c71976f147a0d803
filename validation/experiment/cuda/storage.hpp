// SPDX-License-Identifier: Apache-2.0
// From floats to the bytes of a storage format and back, on the host. Formats that the hand-written
// kernels know: fp64, fp32, fp16, bf16; the library's products also take tf32 (fp32 bytes).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "model/quantity/precision.hpp"
#include "validation/experiment/kernel_bodies/number.hpp"

namespace floorline::cuda {

[[nodiscard]] bool can_store(Precision precision);
[[nodiscard]] std::size_t size_of(Precision precision);
/// `values` rounded to `precision`.
std::vector<std::byte> to_storage(const std::vector<float>& values, Precision precision);
std::vector<double> from_storage(const std::vector<std::byte>& bytes, Precision precision);

/// Calls f(T{}) with the type of `precision`; can_store() must hold.
template <class F>
decltype(auto) with_storage(Precision precision, F&& f) {
  switch (precision) {
    case Precision::fp64:
      return f(double{});
    case Precision::fp16:
      return f(bodies::Fp16{});
    case Precision::bf16:
      return f(bodies::Bf16{});
    default:
      return f(float{});
  }
}

}  // namespace floorline::cuda
