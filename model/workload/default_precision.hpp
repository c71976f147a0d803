// SPDX-License-Identifier: Apache-2.0
// Defaults of compute and accumulate precision, used by every way in and printed as assumptions.
#pragma once

#include "model/quantity/precision.hpp"

namespace floorline {

/// A product computes at the wider of its operands' storage (4-bit weights with 16-bit activations
/// compute at 16 bits), the first at equal width.
constexpr Precision widest_storage(Precision a, Precision b) {
  return storage_bits(b) > storage_bits(a) ? b : a;
}

/// fp32 for all but integers (int32) and fp64; any stays any.
constexpr Precision default_accumulate(Precision compute) {
  switch (compute) {
    case Precision::any:
      return Precision::any;
    case Precision::int8:
    case Precision::int4:
    case Precision::int32:
      return Precision::int32;
    case Precision::fp64:
      return Precision::fp64;
    default:
      return Precision::fp32;
  }
}

}  // namespace floorline
