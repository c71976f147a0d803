// SPDX-License-Identifier: Apache-2.0
// Text to quantity and back: "3.35 TB/s", "989.4 TFLOP/s", "80 GB", "79.6 GiB", "5 us", "1980 MHz".
// One table; `k` alone is refused, `b` alone is refused (Gbit/s is accepted for rates), locale
// never matters. Numbers are read by our own reader: nan, inf and hex are refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "model/quantity/quantity.hpp"

namespace floorline {

enum class Dimension : std::uint8_t {
  bytes,
  flops,
  seconds,
  bytes_per_second,
  flops_per_second,
  hertz,
  flops_per_byte,
  tokens_per_second,
};
inline constexpr int kDimensionCount = 8;
std::string_view name_of(Dimension dimension);  // "a size in bytes", "a rate in bytes per second"…

struct UnitName {
  std::string_view name;  ///< "GB/s"
  Dimension dimension;
  double factor;  ///< base units in one of it
};
/// Every unit, by dimension; of two names of the same amount the one that prints comes first.
std::span<const UnitName> unit_table();

/// A number as our formats write it: digits, then perhaps a fraction and an exponent, with a sign
/// in front or not. Nothing else (no nan, inf, hex, locale), and the whole text must match; absent
/// too when no double is near enough to it (1e400, 1e-400).
std::optional<double> parse_number(std::string_view text);
/// How many characters at the front of `text` are a number without a sign; 0 when it has none.
std::size_t number_length(std::string_view text);

/// A value with unit in base units, or the reason it is not one ("3.35 TBs": "TBs" is not a rate in
/// bytes per second; did you mean "TB/s"?). Negative values are refused, and a value too large for
/// a double. White space between number and unit is optional. FLOPs may be a bare number.
struct ParsedQuantity {
  double base = 0;
  std::string error;  ///< empty when all is well
};
ParsedQuantity parse_quantity(std::string_view text, Dimension dimension);

/// The dimension a text carries, if it is any known number with unit (a bare number carries none).
struct AnyQuantity {
  Dimension dimension;
  double base;
};
std::optional<AnyQuantity> parse_any_quantity(std::string_view text);

template <class Q>
struct DimensionOf;
template <>
struct DimensionOf<Bytes> {
  static constexpr Dimension value = Dimension::bytes;
};
template <>
struct DimensionOf<Flops> {
  static constexpr Dimension value = Dimension::flops;
};
template <>
struct DimensionOf<Seconds> {
  static constexpr Dimension value = Dimension::seconds;
};
template <>
struct DimensionOf<BytesPerSecond> {
  static constexpr Dimension value = Dimension::bytes_per_second;
};
template <>
struct DimensionOf<FlopsPerSecond> {
  static constexpr Dimension value = Dimension::flops_per_second;
};
template <>
struct DimensionOf<Hertz> {
  static constexpr Dimension value = Dimension::hertz;
};
template <>
struct DimensionOf<FlopsPerByte> {
  static constexpr Dimension value = Dimension::flops_per_byte;
};

/// Value of type Q from text; the error text otherwise.
template <class Q>
std::variant<Q, std::string> quantity_from(std::string_view text) {
  ParsedQuantity p = parse_quantity(text, DimensionOf<Q>::value);
  if (!p.error.empty()) return p.error;
  return Q(p.base);
}

// For reading by people: `digits` significant digits, the largest prefix that keeps the number
// >= 1. Memory amounts print GiB and GB; rates print decimal; clocks print MHz up to 10 GHz, as
// datasheets do. Whole bytes and FLOPs below the first prefix print without decimals ("12 B"), and
// zero is "0 B".
std::string to_text(Bytes b, int digits = 4);           // decimal: "1.208 GB"
std::string to_text_binary(Bytes b, int digits = 4);    // "13.04 GiB"
std::string to_text(Flops f, int digits = 4);           // "2.000 TFLOP"
std::string to_text(Seconds t, int digits = 4);         // "40.05 us"
std::string to_text(BytesPerSecond r, int digits = 4);  // "3.352 TB/s"
std::string to_text(FlopsPerSecond r, int digits = 4);  // "989.4 TFLOP/s"
std::string to_text(Hertz f, int digits = 4);           // "1980 MHz"
std::string to_text(FlopsPerByte i, int digits = 4);    // "295.3 FLOP/byte"
/// `digits` significant digits, no exponent for 1e-4 … 1e7, trailing zeros kept; locale-free.
std::string number_text(double value, int digits = 4);
/// The shortest text that reads back to the same double.
std::string exact_text(double value);
/// A count for people: all digits of a whole number up to 2^53 (100000, not 1e+05).
std::string count_text(double count);
/// `text` in double quotes for a message; long text is cut.
std::string quoted(std::string_view text);

}  // namespace floorline
