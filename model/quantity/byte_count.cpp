// SPDX-License-Identifier: Apache-2.0
#include "model/quantity/byte_count.hpp"

#include <limits>

namespace floorline {

namespace {

__extension__ using Int128 = __int128;

}  // namespace

// NOLINTNEXTLINE(bugprone-easily-swappable-parameters): a fraction, in the order it is written
ByteCount ByteCount::from_bits(std::int64_t elements, std::int64_t bits_numerator,
                               std::int64_t bits_denominator) {
  if (bits_denominator <= 0) return overflow();
  const Int128 bits = static_cast<Int128>(elements) * bits_numerator;
  const Int128 per_byte = static_cast<Int128>(bits_denominator) * 8;
  // Division truncates towards zero, so only a positive rest rounds up.
  const Int128 whole = bits / per_byte + (bits % per_byte > 0 ? 1 : 0);
  using Limits = std::numeric_limits<std::int64_t>;
  if (whole > Limits::max() || whole < Limits::min()) return overflow();
  return ByteCount(static_cast<std::int64_t>(whole));
}

Bytes ByteCount::to_bytes() const {
  if (overflow_) return Bytes(std::numeric_limits<double>::infinity());
  return Bytes(static_cast<double>(count_));
}

ByteCount operator+(ByteCount a, ByteCount b) {
  ByteCount sum;
  sum.overflow_ =
      a.overflow_ || b.overflow_ || __builtin_add_overflow(a.count_, b.count_, &sum.count_);
  return sum;
}

ByteCount operator-(ByteCount a, ByteCount b) {
  ByteCount rest;
  rest.overflow_ =
      a.overflow_ || b.overflow_ || __builtin_sub_overflow(a.count_, b.count_, &rest.count_);
  return rest;
}

ByteCount operator*(ByteCount a, std::int64_t n) {
  ByteCount product;
  product.overflow_ = a.overflow_ || __builtin_mul_overflow(a.count_, n, &product.count_);
  return product;
}

std::strong_ordering operator<=>(ByteCount a, ByteCount b) {
  if (a.overflow_ || b.overflow_)
    return static_cast<int>(a.overflow_) <=> static_cast<int>(b.overflow_);
  return a.count_ <=> b.count_;
}

}  // namespace floorline
