// SPDX-License-Identifier: Apache-2.0
// Anything with a rate: compute units by precision, memory levels, link directions. The same words
// stand in files, flags and output. A demand and a rate meet only under the very same id: there is
// no neighbour's rate.
#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/quantity/precision.hpp"
#include "model/quantity/quantity.hpp"

namespace floorline {

/// The order is the order in which ties are broken.
enum class Unit : std::uint8_t {
  compute,  ///< kernel by numbers only
  memory,   ///< kernel by numbers only
  tensor,   ///< matrix products of 16-bit and narrower inputs (and tf32), by input and accumulate
  product,  ///< fp32/fp64 matrix products: vector, tensor, their sum, or a declared emulation
  vector,   ///< element-wise arithmetic, by precision
  linear,   ///< sums, scalings: may run on the vector and the tensor unit at once
  sfu,      ///< exponentials; the vector unit may share them
  hbm,
  l2,
  l1_port,
  shared,
  atomic,
  h2d,
  d2h,
  peer_out,
  peer_in,
  net_out,
  net_in,
  host,
};
inline constexpr int kUnitCount = 19;

enum class AmountKind : std::uint8_t { bytes, flops, operations, seconds };

struct ResourceId {
  Unit unit = Unit::compute;
  Precision input = Precision::none;
  Precision accumulate = Precision::none;
  bool sparse = false;

  friend constexpr auto operator<=>(const ResourceId&, const ResourceId&) = default;
  /// All members at once: demands are searched by it millions of times a second.
  friend constexpr bool operator==(const ResourceId& a, const ResourceId& b) {
    return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
  }
  /// A dense index for arrays of rates, below kResourceIndexEnd.
  [[nodiscard]] constexpr std::size_t index() const {
    const auto in = static_cast<std::size_t>(input);
    const auto acc = static_cast<std::size_t>(accumulate);
    constexpr auto kP = static_cast<std::size_t>(kPrecisionCount);
    switch (unit) {
      case Unit::tensor:
        return kUnitCount + (in * kP + acc) * 2 + (sparse ? 1 : 0);
      case Unit::product:
        return kUnitCount + kP * kP * 2 + in;
      case Unit::vector:
        return kUnitCount + kP * kP * 2 + kP + in;
      case Unit::linear:
        return kUnitCount + kP * kP * 2 + 2 * kP + in;
      default:
        return static_cast<std::size_t>(unit);
    }
  }
};
inline constexpr std::size_t kResourceIndexEnd =
    kUnitCount + kPrecisionCount * kPrecisionCount * 2 + 3 * kPrecisionCount;

constexpr AmountKind amount_kind(Unit unit) {
  switch (unit) {
    case Unit::compute:
    case Unit::tensor:
    case Unit::product:
    case Unit::vector:
    case Unit::linear:
      return AmountKind::flops;
    case Unit::sfu:
    case Unit::atomic:
      return AmountKind::operations;
    case Unit::host:
      return AmountKind::seconds;
    default:
      return AmountKind::bytes;
  }
}

/// "tensor.bf16.fp32", "tensor.bf16.fp32.sparse", "vector.fp32", "hbm", "peer_out"… "product.fp32"
/// and "linear.fp32" are internal: output names the unit that gives their rate (see Rate::via).
std::string name_of(ResourceId id);
std::string_view name_of(Unit unit);
/// The id of a name; "fp8" is the one alias, and precisions that do not apply are not written.
std::optional<ResourceId> resource_from(std::string_view name);

/// Bytes, FLOPs, operations or seconds of the host, told apart by the resource they are asked of.
class Amount {
 public:
  constexpr Amount() = default;
  constexpr explicit Amount(Bytes b) : base_(b.in_base_units()) {}
  constexpr explicit Amount(Flops f) : base_(f.in_base_units()) {}
  constexpr explicit Amount(Seconds t) : base_(t.in_base_units()) {}
  static constexpr Amount operations(double n) { return Amount(Flops(n)); }
  [[nodiscard]] constexpr double in_base_units() const { return base_; }
  friend constexpr Amount operator*(Amount a, double s) { return Amount(Flops(a.base_ * s)); }
  constexpr Amount& operator+=(Amount other) {
    base_ += other.base_;
    return *this;
  }
  friend constexpr auto operator<=>(Amount, Amount) = default;
  friend constexpr bool operator<(Amount a, Amount b) { return a.base_ < b.base_; }
  friend constexpr bool operator>(Amount a, Amount b) { return a.base_ > b.base_; }
  friend constexpr bool operator<=(Amount a, Amount b) { return a.base_ <= b.base_; }
  friend constexpr bool operator>=(Amount a, Amount b) { return a.base_ >= b.base_; }

 private:
  double base_ = 0;
};

class AmountPerSecond {
 public:
  constexpr AmountPerSecond() = default;
  constexpr explicit AmountPerSecond(BytesPerSecond b) : base_(b.in_base_units()) {}
  constexpr explicit AmountPerSecond(FlopsPerSecond f) : base_(f.in_base_units()) {}
  [[nodiscard]] constexpr double in_base_units() const { return base_; }
  friend constexpr AmountPerSecond operator+(AmountPerSecond a, AmountPerSecond b) {
    return AmountPerSecond(FlopsPerSecond(a.base_ + b.base_));
  }
  friend constexpr AmountPerSecond operator*(AmountPerSecond a, double s) {
    return AmountPerSecond(FlopsPerSecond(a.base_ * s));
  }
  friend constexpr auto operator<=>(AmountPerSecond, AmountPerSecond) = default;
  friend constexpr bool operator<(AmountPerSecond a, AmountPerSecond b) {
    return a.base_ < b.base_;
  }
  friend constexpr bool operator>(AmountPerSecond a, AmountPerSecond b) {
    return a.base_ > b.base_;
  }
  friend constexpr bool operator<=(AmountPerSecond a, AmountPerSecond b) {
    return a.base_ <= b.base_;
  }
  friend constexpr bool operator>=(AmountPerSecond a, AmountPerSecond b) {
    return a.base_ >= b.base_;
  }

 private:
  double base_ = 0;
};
constexpr Seconds operator/(Amount a, AmountPerSecond r) {
  return Seconds(a.in_base_units() / r.in_base_units());
}
constexpr Amount operator*(AmountPerSecond r, Seconds t) {
  return Amount(Flops(r.in_base_units() * t.in_base_units()));
}

}  // namespace floorline
