// SPDX-License-Identifier: Apache-2.0
#include "model/quantity/unit_names.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <system_error>
#include <utility>

namespace floorline {

namespace {

constexpr double kKi = 1024.0;
constexpr double kMi = 1024.0 * kKi;
constexpr double kGi = 1024.0 * kMi;
constexpr double kTi = 1024.0 * kGi;
constexpr double kPi = 1024.0 * kTi;

constexpr std::array<UnitName, 54> kUnits{{
    {"B", Dimension::bytes, 1},
    {"kB", Dimension::bytes, 1e3},
    {"MB", Dimension::bytes, 1e6},
    {"GB", Dimension::bytes, 1e9},
    {"TB", Dimension::bytes, 1e12},
    {"PB", Dimension::bytes, 1e15},
    {"KiB", Dimension::bytes, kKi},
    {"MiB", Dimension::bytes, kMi},
    {"GiB", Dimension::bytes, kGi},
    {"TiB", Dimension::bytes, kTi},
    {"PiB", Dimension::bytes, kPi},
    {"FLOP", Dimension::flops, 1},
    {"kFLOP", Dimension::flops, 1e3},
    {"MFLOP", Dimension::flops, 1e6},
    {"GFLOP", Dimension::flops, 1e9},
    {"TFLOP", Dimension::flops, 1e12},
    {"PFLOP", Dimension::flops, 1e15},
    {"EFLOP", Dimension::flops, 1e18},
    {"s", Dimension::seconds, 1},
    {"ms", Dimension::seconds, 1e-3},
    {"us", Dimension::seconds, 1e-6},
    {"\u00B5s", Dimension::seconds, 1e-6},  // the micro sign
    {"\u03BCs", Dimension::seconds, 1e-6},  // the Greek letter that many keyboards give
    {"ns", Dimension::seconds, 1e-9},
    {"min", Dimension::seconds, 60},
    {"h", Dimension::seconds, 3600},
    {"B/s", Dimension::bytes_per_second, 1},
    {"kB/s", Dimension::bytes_per_second, 1e3},
    {"MB/s", Dimension::bytes_per_second, 1e6},
    {"GB/s", Dimension::bytes_per_second, 1e9},
    {"TB/s", Dimension::bytes_per_second, 1e12},
    {"PB/s", Dimension::bytes_per_second, 1e15},
    {"KiB/s", Dimension::bytes_per_second, kKi},
    {"MiB/s", Dimension::bytes_per_second, kMi},
    {"GiB/s", Dimension::bytes_per_second, kGi},
    {"TiB/s", Dimension::bytes_per_second, kTi},
    {"Mbit/s", Dimension::bytes_per_second, 1e6 / 8},
    {"Gbit/s", Dimension::bytes_per_second, 1e9 / 8},
    {"Tbit/s", Dimension::bytes_per_second, 1e12 / 8},
    {"FLOP/s", Dimension::flops_per_second, 1},
    {"kFLOP/s", Dimension::flops_per_second, 1e3},
    {"MFLOP/s", Dimension::flops_per_second, 1e6},
    {"GFLOP/s", Dimension::flops_per_second, 1e9},
    {"TFLOP/s", Dimension::flops_per_second, 1e12},
    {"PFLOP/s", Dimension::flops_per_second, 1e15},
    {"EFLOP/s", Dimension::flops_per_second, 1e18},
    {"Hz", Dimension::hertz, 1},
    {"kHz", Dimension::hertz, 1e3},
    {"MHz", Dimension::hertz, 1e6},
    {"GHz", Dimension::hertz, 1e9},
    {"FLOP/byte", Dimension::flops_per_byte, 1},
    {"FLOP/B", Dimension::flops_per_byte, 1},
    {"token/s", Dimension::tokens_per_second, 1},
    {"tokens/s", Dimension::tokens_per_second, 1},
}};

/// How a dimension is spoken of in messages.
struct DimensionWords {
  std::string_view name;
  std::string_view short_name;
  std::string_view example;
};

/// In the order of Dimension.
constexpr std::array<DimensionWords, kDimensionCount> kDimensions{{
    {"a size in bytes", "a size", "80 GB"},
    {"an amount of FLOPs", "an amount of FLOPs", "2 TFLOP"},
    {"a time", "a time", "5 us"},
    {"a rate in bytes per second", "a rate", "3.35 TB/s"},
    {"a rate in FLOP per second", "a compute rate", "989.4 TFLOP/s"},
    {"a frequency", "a frequency", "1980 MHz"},
    {"an arithmetic intensity", "an arithmetic intensity", "295 FLOP/byte"},
    {"a rate in tokens per second", "a token rate", "75.9 token/s"},
}};

constexpr const DimensionWords& words(Dimension dimension) {
  return kDimensions[static_cast<std::size_t>(dimension)];
}

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_blank(char c) { return c == ' ' || c == '\t'; }

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Index of the first character at or after `from` that is no digit.
std::size_t skip_digits(std::string_view text, std::size_t from) {
  while (from < text.size() && is_digit(text[from])) ++from;
  return from;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// `text` as a double; absent when it is not all a number or no finite double is near it.
std::optional<double> from_decimal(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

const UnitName* find_unit(std::string_view name) {
  const auto* found = std::find_if(kUnits.begin(), kUnits.end(),
                                   [name](const UnitName& unit) { return unit.name == name; });
  return found == kUnits.end() ? nullptr : &*found;
}

// ---- numbers ----

/// n if `factor` is 10^n.
std::optional<int> power_of_ten(double factor) {
  std::array<char, 32> buffer{};
  const auto written = std::to_chars(buffer.data(), buffer.data() + buffer.size(), factor,
                                     std::chars_format::scientific);
  const std::string_view text(buffer.data(), static_cast<std::size_t>(written.ptr - buffer.data()));
  if (!text.starts_with("1e")) return std::nullopt;
  int exponent = 0;
  const char* first = text.data() + (text[2] == '+' ? 3 : 2);
  std::from_chars(first, text.data() + text.size(), exponent);
  return exponent;
}

/// The unsigned number × factor. Decimal prefixes move the exponent before the one rounding there
/// is, so "3.35 TB/s" is the very double 3.35e12.
std::optional<double> scaled(std::string_view number, double factor) {
  const std::optional<double> value = from_decimal(number);
  if (!value || *value == 0) return value;
  const std::optional<double> product =
      std::isfinite(*value * factor) ? std::optional(*value * factor) : std::nullopt;
  const std::optional<int> shift = power_of_ten(factor);
  if (!shift) return product;

  const std::size_t e = std::min(number.find_first_of("eE"), number.size());
  int exponent = 0;
  if (e < number.size()) {
    const char* first = number.data() + e + (number[e + 1] == '+' ? 2 : 1);
    const auto read = std::from_chars(first, number.data() + number.size(), exponent);
    if (read.ec != std::errc{} || std::abs(exponent) > 1'000'000) return product;
  }
  std::string text(number.substr(0, e));
  text.append("e").append(std::to_string(exponent + *shift));
  return from_decimal(text);
}

// ---- messages ----

/// Edits that turn `a` into `b`: 2 for a character more or less, 3 for another one, none for case
/// ("G" is nearer to "GB" than to "B"). Both are short.
std::size_t edit_cost(std::string_view a, std::string_view b) {
  constexpr std::size_t kMaxLength = 16;
  if (a.size() > kMaxLength || b.size() > kMaxLength) return 3 * (a.size() + b.size());
  std::array<std::size_t, kMaxLength + 1> row{};
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = 2 * j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = 2 * i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 3;
      const std::size_t best = std::min({row[j] + 2, row[j - 1] + 2, diagonal + change});
      diagonal = row[j];
      row[j] = best;
    }
  }
  return row[b.size()];
}

/// The nearest unit of a dimension, if up to half of the word has to change.
const UnitName* nearest_unit(std::string_view word, Dimension dimension) {
  const UnitName* nearest = nullptr;
  std::size_t least = 2 * ((word.size() + 1) / 2) + 1;
  for (const UnitName& unit : kUnits) {
    if (unit.dimension != dimension) continue;
    const std::size_t cost = edit_cost(word, unit.name);
    if (cost >= least) continue;
    least = cost;
    nearest = &unit;
  }
  return nearest;
}

/// "Gb/s" and "Gbps" may mean bits or bytes: both are named. Empty if it is neither.
std::string bits_or_bytes(std::string_view word) {
  if (word.size() != 4 || (word.substr(1) != "b/s" && word.substr(1) != "bps")) return {};
  const std::string bits = std::string(1, word[0]) + "bit/s";
  const std::string bytes = std::string(1, word[0]) + "B/s";
  if (find_unit(bits) == nullptr || find_unit(bytes) == nullptr) return {};
  return quoted(bits) + " or " + quoted(bytes);
}

std::string expected(Dimension dimension) {
  const DimensionWords& d = words(dimension);
  std::string text = "expected ";
  text.append(d.short_name).append(" such as ").append(quoted(d.example));
  return text;
}

std::string unknown_unit(std::string_view text, std::string_view unit, Dimension dimension) {
  std::string message = quoted(text) + ": " + quoted(unit) + " is not ";
  message.append(name_of(dimension)).append("; ");
  std::string meant;
  if (dimension == Dimension::bytes_per_second) meant = bits_or_bytes(unit);
  if (meant.empty()) {
    if (const UnitName* near = nearest_unit(unit, dimension)) meant = quoted(near->name);
  }
  if (meant.empty()) return message + expected(dimension);
  return message + "did you mean " + meant + "?";
}

std::string other_dimension(std::string_view text, const UnitName& unit, Dimension dimension) {
  std::string message = quoted(text) + " is ";
  message.append(words(unit.dimension).short_name).append(", ").append(expected(dimension));
  return message;
}

/// A quantity's text in its two parts; `number` has no sign and is empty when there is none.
struct Parts {
  bool negative = false;
  std::string_view number;
  std::string_view unit;
};

Parts split(std::string_view text) {
  Parts parts;
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    parts.negative = text.front() == '-';
    text.remove_prefix(1);
  }
  const std::size_t length = number_length(text);
  parts.number = text.substr(0, length);
  parts.unit = trimmed(text.substr(length));
  return parts;
}

ParsedQuantity failed(std::string message) { return {0, std::move(message)}; }

}  // namespace

std::string_view name_of(Dimension dimension) { return words(dimension).name; }

std::span<const UnitName> unit_table() { return kUnits; }

std::size_t number_length(std::string_view text) {
  std::size_t length = skip_digits(text, 0);
  if (length == 0) return 0;
  if (length < text.size() && text[length] == '.') {
    const std::size_t end = skip_digits(text, length + 1);
    if (end > length + 1) length = end;
  }
  // "5 EFLOP" may be written "5EFLOP": an exponent needs a digit.
  if (length < text.size() && lower(text[length]) == 'e') {
    std::size_t digits = length + 1;
    if (digits < text.size() && (text[digits] == '+' || text[digits] == '-')) ++digits;
    const std::size_t end = skip_digits(text, digits);
    if (end > digits) length = end;
  }
  return length;
}

std::optional<double> parse_number(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || number_length(text) != text.size()) return std::nullopt;
  const std::optional<double> value = from_decimal(text);
  if (!value) return std::nullopt;
  return negative ? -*value : *value;
}

ParsedQuantity parse_quantity(std::string_view text, Dimension dimension) {
  text = trimmed(text);
  const Parts parts = split(text);
  if (parts.number.empty()) {
    return failed(quoted(text) + " does not start with a number; " + expected(dimension));
  }
  if (parts.negative) return failed(quoted(text) + " is negative; " + expected(dimension));

  double factor = 1;
  if (!parts.unit.empty()) {
    const UnitName* unit = find_unit(parts.unit);
    if (unit == nullptr) return failed(unknown_unit(text, parts.unit, dimension));
    if (unit->dimension != dimension) return failed(other_dimension(text, *unit, dimension));
    factor = unit->factor;
  } else if (dimension != Dimension::flops) {
    return failed(quoted(text) + " has no unit; " + expected(dimension));
  }
  const std::optional<double> base = scaled(parts.number, factor);
  // Amounts of this size are slips of a unit or attempts at overflow, not machines or runs.
  constexpr double kLargest = 1e36;
  constexpr double kSmallest = 1e-24;
  const bool sane = base && *base <= kLargest && (*base == 0 || *base >= kSmallest);
  if (!sane) return failed(quoted(text) + " is out of range; " + expected(dimension));
  return {*base, {}};
}

std::optional<AnyQuantity> parse_any_quantity(std::string_view text) {
  const Parts parts = split(trimmed(text));
  const UnitName* unit = find_unit(parts.unit);
  if (unit == nullptr) return std::nullopt;
  const ParsedQuantity parsed = parse_quantity(text, unit->dimension);
  if (!parsed.error.empty()) return std::nullopt;
  return AnyQuantity{unit->dimension, parsed.base};
}

}  // namespace floorline
