// SPDX-License-Identifier: Apache-2.0
// Whole bytes for ledgers: checked 64-bit integers. Overflow is a value ("more than 9.2e18 bytes"),
// never a wrap; converts to Bytes explicitly, never back.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>

#include "model/quantity/quantity.hpp"

namespace floorline {

class ByteCount {
 public:
  constexpr ByteCount() = default;
  constexpr explicit ByteCount(std::int64_t n) : count_(n) {}

  /// elements × bits, rounded up to whole bytes: 4.5 bits per weight is exact per tensor.
  /// `bits_numerator / bits_denominator` is the width of one element in bits; an overflow when the
  /// count does not fit or the denominator is not positive.
  static ByteCount from_bits(std::int64_t elements, std::int64_t bits_numerator,
                             std::int64_t bits_denominator = 1);
  static constexpr ByteCount overflow() {
    ByteCount b;
    b.overflow_ = true;
    return b;
  }

  [[nodiscard]] constexpr bool overflowed() const { return overflow_; }
  /// The count; absent after an overflow.
  [[nodiscard]] constexpr std::optional<std::int64_t> count() const {
    return overflow_ ? std::nullopt : std::optional(count_);
  }
  /// Infinite after an overflow.
  [[nodiscard]] Bytes to_bytes() const;

  // Any part that overflowed makes the result an overflow, a subtrahend too: compare a need with a
  // budget first, and subtract only when both have a count.
  friend ByteCount operator+(ByteCount a, ByteCount b);
  friend ByteCount operator-(ByteCount a, ByteCount b);
  friend ByteCount operator*(ByteCount a, std::int64_t n);
  /// An overflow is larger than every count and equal to another overflow.
  friend std::strong_ordering operator<=>(ByteCount a, ByteCount b);
  friend bool operator==(ByteCount a, ByteCount b) { return (a <=> b) == 0; }

 private:
  std::int64_t count_ = 0;
  bool overflow_ = false;
};

}  // namespace floorline
