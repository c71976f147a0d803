// SPDX-License-Identifier: Apache-2.0
#include "model/quantity/quantity.hpp"

#include <doctest/doctest.h>

#include <type_traits>

#include "model/quantity/sourced.hpp"

namespace floorline {
namespace {

template <class A, class B>
concept addable = requires(A a, B b) {
  a + b;
};
template <class A, class B>
concept subtractable = requires(A a, B b) {
  a - b;
};
template <class A, class B>
concept comparable = requires(A a, B b) {
  a < b;
};

// Wrong code does not compile.
static_assert(addable<Bytes, Bytes>);
static_assert(!addable<Bytes, Seconds>);
static_assert(!addable<Bytes, Flops>);
static_assert(!addable<Bytes, double>);
static_assert(!addable<double, Seconds>);
static_assert(!addable<BytesPerSecond, FlopsPerSecond>);
static_assert(!subtractable<Bytes, Seconds>);
static_assert(!comparable<Bytes, Seconds>);
static_assert(!comparable<Bytes, double>);
static_assert(!std::is_convertible_v<double, Bytes>);
static_assert(!std::is_convertible_v<Bytes, double>);
static_assert(!std::is_constructible_v<double, Bytes>);
static_assert(!std::is_assignable_v<Bytes&, double>);
static_assert(!std::is_assignable_v<Bytes&, Seconds>);
static_assert(
    !std::is_invocable_v<decltype(floor_time), FlopsPerSecond, Flops, Bytes, BytesPerSecond>);
static_assert(
    !std::is_invocable_v<decltype(floor_time), Flops, FlopsPerSecond, BytesPerSecond, Bytes>);

// Exponents add and subtract; all zero is a plain double.
static_assert(std::is_same_v<decltype(Bytes(1) / Seconds(1)), BytesPerSecond>);
static_assert(std::is_same_v<decltype(Bytes(1) / BytesPerSecond(1)), Seconds>);
static_assert(std::is_same_v<decltype(BytesPerSecond(1) * Seconds(1)), Bytes>);
static_assert(std::is_same_v<decltype(FlopsPerSecond(1) / BytesPerSecond(1)), FlopsPerByte>);
static_assert(std::is_same_v<decltype(FlopsPerByte(1) * Bytes(1)), Flops>);
static_assert(std::is_same_v<decltype(Flops(1) * Hertz(1)), FlopsPerSecond>);
static_assert(std::is_same_v<decltype(Bytes(1) / Bytes(1)), double>);
static_assert(std::is_same_v<decltype(Seconds(1) * Hertz(1)), double>);
static_assert(sizeof(Bytes) == sizeof(double));

TEST_SUITE("quantity") {
  TEST_CASE("a default quantity is zero") {
    CHECK(Bytes().in_base_units() == 0);
    CHECK(Seconds() == seconds(0));
  }

  TEST_CASE("makers give base units") {
    CHECK(bytes(7).in_base_units() == 7);
    CHECK(GB(141).in_base_units() == 141'000'000'000.0);
    CHECK(KiB(1).in_base_units() == 1024);
    CHECK(MiB(50).in_base_units() == 52'428'800);
    CHECK(GiB(80).in_base_units() == 85'899'345'920.0);
    CHECK(GBPerSecond(2039).in_base_units() == 2'039'000'000'000.0);
    CHECK(TBPerSecond(3).in_base_units() == 3'000'000'000'000.0);
    CHECK(flops(5).in_base_units() == 5);
    CHECK(TflopsPerSecond(989).in_base_units() == 989'000'000'000'000.0);
    CHECK(MHz(1980).in_base_units() == 1'980'000'000.0);
    CHECK(seconds(2).in_base_units() == 2);
    CHECK(milliseconds(3).in_base_units() == doctest::Approx(0.003));
    CHECK(microseconds(5).in_base_units() == doctest::Approx(0.000005));
  }

  TEST_CASE("arithmetic on one kind") {
    Bytes sum = bytes(2) + bytes(3);
    CHECK(sum == bytes(5));
    sum += bytes(1);
    sum -= bytes(4);
    CHECK(sum == bytes(2));
    CHECK(bytes(2) - bytes(3) == bytes(-1));
    CHECK(2 * bytes(3) == bytes(6));
    CHECK(bytes(3) * 2 == bytes(6));
    CHECK(bytes(3) / 2 == bytes(1.5));
    CHECK(bytes(1) < bytes(2));
    CHECK(std::max(seconds(1), seconds(2)) == seconds(2));
  }

  TEST_CASE("whole bytes are exact to 2^53") {
    const Bytes most(9'007'199'254'740'992.0);
    CHECK((most - bytes(1)).in_base_units() == 9'007'199'254'740'991.0);
  }

  TEST_CASE("floor_time takes the slower of compute and memory") {
    // 2e12 FLOP at 100 TFLOP/s is 20 ms; 100 GB at 1 TB/s is 100 ms.
    CHECK(floor_time(flops(2e12), TflopsPerSecond(100), GB(100), TBPerSecond(1)) ==
          milliseconds(100));
    // 10 GB takes 10 ms, so compute is left: 20 ms.
    CHECK(floor_time(flops(2e12), TflopsPerSecond(100), GB(10), TBPerSecond(1)) ==
          milliseconds(20));
  }

  TEST_CASE("a sourced value's ends include the value") {
    const Sourced<Seconds> inside{seconds(2), seconds(1), seconds(3), RateKind::ceiling, {}};
    CHECK(inside.upper() == seconds(3));
    CHECK(inside.lower() == seconds(1));
    const Sourced<Seconds> outside{seconds(9), seconds(1), seconds(3), RateKind::ceiling, {}};
    CHECK(outside.upper() == seconds(9));
    const Sourced<Seconds> below{seconds(0.5), seconds(1), seconds(3), RateKind::ceiling, {}};
    CHECK(below.lower() == seconds(0.5));
    CHECK_FALSE(MaybeSourced<Seconds>());
  }

  TEST_CASE("origins and rate kinds print and read") {
    CHECK(name_of(Origin::datasheet) == "datasheet");
    CHECK(name_of(Origin::measured) == "measured");
    CHECK(name_of(Origin::derived) == "derived");
    CHECK(name_of(Origin::assumed) == "assumed");
    for (const Origin o : {Origin::datasheet, Origin::measured, Origin::derived, Origin::assumed}) {
      CHECK(origin_from(name_of(o)) == o);
    }
    CHECK_FALSE(origin_from("Datasheet"));
    CHECK_FALSE(origin_from(""));

    CHECK(name_of(RateKind::ceiling) == "ceiling");
    CHECK(name_of(RateKind::observed) == "observed");
    CHECK(name_of(RateKind::best_seen) == "best_seen");
    for (const RateKind k : {RateKind::ceiling, RateKind::observed, RateKind::best_seen}) {
      CHECK(rate_kind_from(name_of(k)) == k);
    }
    CHECK_FALSE(rate_kind_from("best seen"));
  }
}

}  // namespace
}  // namespace floorline
