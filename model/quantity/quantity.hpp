// SPDX-License-Identifier: Apache-2.0
// Physical amounts as types: adding seconds to bytes does not compile.
// One class template over the exponents of byte, flop and second; storage is a double in base
// units (byte, flop, second), so whole bytes stay exact up to 2^53 (8 PiB).
// "Operations" that are not floating point (an exponential on the special-function unit, an atomic
// transaction) are counted in the flop dimension; the resource they are asked of names them.
#pragma once

#include <algorithm>
#include <compare>

namespace floorline {

template <int ByteExp, int FlopExp, int SecondExp>
class Quantity {
 public:
  constexpr Quantity() = default;                                         // zero
  constexpr explicit Quantity(double base) : base_(base) {}               // no implicit way in
  [[nodiscard]] constexpr double in_base_units() const { return base_; }  // the one way out

  constexpr Quantity& operator+=(Quantity other) {
    base_ += other.base_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    base_ -= other.base_;
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) {
    return Quantity(a.base_ + b.base_);
  }
  friend constexpr Quantity operator-(Quantity a, Quantity b) {
    return Quantity(a.base_ - b.base_);
  }
  friend constexpr Quantity operator*(Quantity a, double s) { return Quantity(a.base_ * s); }
  friend constexpr Quantity operator*(double s, Quantity a) { return Quantity(s * a.base_); }
  friend constexpr Quantity operator/(Quantity a, double s) { return Quantity(a.base_ / s); }
  friend constexpr auto operator<=>(Quantity a, Quantity b) = default;
  // Written out: by way of <=> g++ 12 makes three comparisons of one.
  friend constexpr bool operator<(Quantity a, Quantity b) { return a.base_ < b.base_; }
  friend constexpr bool operator>(Quantity a, Quantity b) { return a.base_ > b.base_; }
  friend constexpr bool operator<=(Quantity a, Quantity b) { return a.base_ <= b.base_; }
  friend constexpr bool operator>=(Quantity a, Quantity b) { return a.base_ >= b.base_; }

 private:
  double base_ = 0;
};

namespace detail {
template <int B, int F, int S>
struct Reduced {
  using type = Quantity<B, F, S>;
};
template <>
struct Reduced<0, 0, 0> {
  using type = double;
};
}  // namespace detail

/// Product and quotient add and subtract exponents; all exponents zero give a plain double.
template <int B1, int F1, int S1, int B2, int F2, int S2>
constexpr auto operator*(Quantity<B1, F1, S1> a, Quantity<B2, F2, S2> b) {
  using R = typename detail::Reduced<B1 + B2, F1 + F2, S1 + S2>::type;
  return R(a.in_base_units() * b.in_base_units());
}
template <int B1, int F1, int S1, int B2, int F2, int S2>
constexpr auto operator/(Quantity<B1, F1, S1> a, Quantity<B2, F2, S2> b) {
  using R = typename detail::Reduced<B1 - B2, F1 - F2, S1 - S2>::type;
  return R(a.in_base_units() / b.in_base_units());
}

using Bytes = Quantity<1, 0, 0>;
using Flops = Quantity<0, 1, 0>;
using Seconds = Quantity<0, 0, 1>;
using BytesPerSecond = Quantity<1, 0, -1>;
using FlopsPerSecond = Quantity<0, 1, -1>;
using FlopsPerByte = Quantity<-1, 1, 0>;
using Hertz = Quantity<0, 0, -1>;

// Named makers. GB is 10^9 bytes and GiB is 2^30 bytes, never mixed.
constexpr Bytes bytes(double n) { return Bytes(n); }
constexpr Bytes GB(double n) { return Bytes(n * 1e9); }
constexpr Bytes KiB(double n) { return Bytes(n * 1024.0); }
constexpr Bytes MiB(double n) { return Bytes(n * 1048576.0); }
constexpr Bytes GiB(double n) { return Bytes(n * 1073741824.0); }
constexpr BytesPerSecond GBPerSecond(double n) { return BytesPerSecond(n * 1e9); }
constexpr BytesPerSecond TBPerSecond(double n) { return BytesPerSecond(n * 1e12); }
constexpr Flops flops(double n) { return Flops(n); }
constexpr FlopsPerSecond TflopsPerSecond(double n) { return FlopsPerSecond(n * 1e12); }
constexpr Hertz MHz(double n) { return Hertz(n * 1e6); }
constexpr Seconds seconds(double n) { return Seconds(n); }
constexpr Seconds milliseconds(double n) { return Seconds(n * 1e-3); }
constexpr Seconds microseconds(double n) { return Seconds(n * 1e-6); }

/// The floor of one piece of work on one compute unit and one memory level: max(F/P, D/B).
constexpr Seconds floor_time(Flops f, FlopsPerSecond p, Bytes d, BytesPerSecond b) {
  return std::max(f / p, d / b);  // any swapped argument does not compile
}

}  // namespace floorline
