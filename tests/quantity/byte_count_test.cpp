// SPDX-License-Identifier: Apache-2.0
#include "model/quantity/byte_count.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <type_traits>

namespace floorline {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

static_assert(!std::is_convertible_v<ByteCount, Bytes>);
static_assert(!std::is_constructible_v<ByteCount, Bytes>);
static_assert(!std::is_convertible_v<std::int64_t, ByteCount>);

TEST_SUITE("quantity") {
  TEST_CASE("bytes of 7e9 parameters of 16 bits") {
    // 7e9 × 16 / 8
    CHECK(ByteCount::from_bits(7'000'000'000, 16).count() == 14'000'000'000);
  }

  TEST_CASE("fractional widths are exact for a tensor") {
    // 4.5 bits: 7e9 × 9 / 2 / 8 = 3,937,500,000
    CHECK(ByteCount::from_bits(7'000'000'000, 9, 2).count() == 3'937'500'000);
    // 4.25 bits: 4096 × 17 / 4 / 8 = 2176
    CHECK(ByteCount::from_bits(4096, 17, 4).count() == 2176);
  }

  TEST_CASE("a part of a byte takes a byte") {
    CHECK(ByteCount::from_bits(0, 4).count() == 0);
    CHECK(ByteCount::from_bits(1, 4).count() == 1);
    CHECK(ByteCount::from_bits(2, 4).count() == 1);
    CHECK(ByteCount::from_bits(3, 4).count() == 2);
    // 3 × 4.5 = 13.5 bits
    CHECK(ByteCount::from_bits(3, 9, 2).count() == 2);
    // -12 bits are -1.5 bytes, and up is towards -1
    CHECK(ByteCount::from_bits(-3, 4).count() == -1);
  }

  TEST_CASE("the product of elements and bits has more than 64 bits") {
    // 2^62 elements × 16 bits = 2^66 bits = 2^63 bytes: one too many
    CHECK(ByteCount::from_bits(std::int64_t{1} << 62, 16).overflowed());
    // 2^61 × 16 bits = 2^65 bits = 2^62 bytes
    CHECK(ByteCount::from_bits(std::int64_t{1} << 61, 16).count() == std::int64_t{1} << 62);
    CHECK(ByteCount::from_bits(kMost, 8).count() == kMost);
    CHECK(ByteCount::from_bits(kMost, kMost, kMost).count() == (kMost >> 3) + 1);
    CHECK(ByteCount::from_bits(kMost, kMost).overflowed());
    CHECK(ByteCount::from_bits(kLeast, kLeast, 1).overflowed());
  }

  TEST_CASE("a width without meaning is no count") {
    CHECK(ByteCount::from_bits(8, 8, 0).overflowed());
    CHECK(ByteCount::from_bits(8, 8, -1).overflowed());
  }

  TEST_CASE("overflow is a value") {
    CHECK((ByteCount(kMost) + ByteCount(1)).overflowed());
    CHECK((ByteCount(kLeast) - ByteCount(1)).overflowed());
    CHECK((ByteCount(kMost) * 2).overflowed());
    CHECK((ByteCount(kLeast) * -1).overflowed());
    CHECK_FALSE(ByteCount::overflow().count());
    CHECK(ByteCount::overflow().to_bytes().in_base_units() ==
          std::numeric_limits<double>::infinity());
  }

  TEST_CASE("an overflow stays one") {
    const ByteCount over = ByteCount::overflow();
    CHECK((over + ByteCount(1)).overflowed());
    CHECK((ByteCount(1) + over).overflowed());
    CHECK((over - ByteCount(1)).overflowed());
    CHECK((ByteCount(1) - over).overflowed());
    CHECK((over * 0).overflowed());
  }

  TEST_CASE("order") {
    CHECK(ByteCount(1) < ByteCount(2));
    CHECK(ByteCount(2) == ByteCount(2));
    CHECK(ByteCount(kMost) < ByteCount::overflow());
    CHECK(ByteCount::overflow() == ByteCount(kMost) + ByteCount(5));
    CHECK(ByteCount() == ByteCount(0));
  }

  TEST_CASE("within range it is plain arithmetic") {
    CHECK((ByteCount(5) + ByteCount(7)).count() == 12);
    CHECK((ByteCount(5) - ByteCount(7)).count() == -2);
    CHECK((ByteCount(5) * 7).count() == 35);
    CHECK(ByteCount(1'208'000'000).to_bytes() == bytes(1.208e9));
  }
}

}  // namespace
}  // namespace floorline
