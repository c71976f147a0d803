// SPDX-License-Identifier: Apache-2.0
// Quantities and numbers as text; the units are those of unit_table().
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "model/quantity/unit_names.hpp"

namespace floorline {

namespace {

/// Wide enough for any double with up to 17 digits, in any of the forms used here.
using Buffer = std::array<char, 64>;

template <class... How>
std::string chars(double value, How... how) {
  Buffer buffer{};
  const auto written = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, how...);
  return {buffer.data(), written.ptr};
}

// Names that print, the smallest first.
using Ladder = std::span<const std::string_view>;
constexpr std::array<std::string_view, 6> kBytes{"B", "kB", "MB", "GB", "TB", "PB"};
constexpr std::array<std::string_view, 6> kBinary{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
constexpr std::array<std::string_view, 7> kFlops{"FLOP",  "kFLOP", "MFLOP", "GFLOP",
                                                 "TFLOP", "PFLOP", "EFLOP"};
constexpr std::array<std::string_view, 4> kSeconds{"ns", "us", "ms", "s"};
constexpr std::array<std::string_view, 6> kByteRates{"B/s", "kB/s", "MB/s", "GB/s", "TB/s", "PB/s"};
constexpr std::array<std::string_view, 7> kFlopRates{"FLOP/s",  "kFLOP/s", "MFLOP/s", "GFLOP/s",
                                                     "TFLOP/s", "PFLOP/s", "EFLOP/s"};
constexpr std::array<std::string_view, 4> kHertz{"Hz", "kHz", "MHz", "GHz"};

double factor_of(std::string_view name) {
  for (const UnitName& unit : unit_table()) {
    if (unit.name == name) return unit.factor;
  }
  return 1;  // not reached: a test prints with every name above
}

std::string with_unit(const std::string& number, std::string_view unit) {
  return (number + ' ').append(unit);
}

/// The name of the base unit, for amounts that no prefix suits.
std::string_view base_name(Ladder ladder) {
  const auto found = std::find_if(ladder.begin(), ladder.end(),
                                  [](std::string_view name) { return factor_of(name) == 1; });
  return found == ladder.end() ? ladder.front() : *found;
}

std::string prefixed(double base, Ladder ladder, int digits) {
  if (base == 0 || !std::isfinite(base)) {
    return with_unit(base == 0 ? "0" : exact_text(base), base_name(ladder));
  }
  std::size_t i = ladder.size() - 1;
  while (i > 0 && std::abs(base) < factor_of(ladder[i])) --i;
  std::string number = number_text(base / factor_of(ladder[i]), digits);
  // Rounding may reach the next prefix: 999.96 us is 1.000 ms.
  if (i + 1 < ladder.size()) {
    const double shown = parse_number(number).value_or(0) * factor_of(ladder[i]);
    if (std::abs(shown) >= factor_of(ladder[i + 1])) {
      ++i;
      number = number_text(base / factor_of(ladder[i]), digits);
    }
  }
  return with_unit(number, ladder[i]);
}

/// Like prefixed, but a whole number below the first prefix has no decimals.
std::string prefixed_count(double base, Ladder ladder, int digits) {
  const bool small = std::abs(base) < factor_of(ladder[1]);
  if (small && std::trunc(base) == base) {
    return with_unit(chars(base, std::chars_format::fixed, 0), ladder[0]);
  }
  return prefixed(base, ladder, digits);
}

}  // namespace

std::string to_text(Bytes b, int digits) {
  return prefixed_count(b.in_base_units(), kBytes, digits);
}
std::string to_text_binary(Bytes b, int digits) {
  return prefixed_count(b.in_base_units(), kBinary, digits);
}
std::string to_text(Flops f, int digits) {
  return prefixed_count(f.in_base_units(), kFlops, digits);
}
std::string to_text(Seconds t, int digits) { return prefixed(t.in_base_units(), kSeconds, digits); }
std::string to_text(BytesPerSecond r, int digits) {
  return prefixed(r.in_base_units(), kByteRates, digits);
}
std::string to_text(FlopsPerSecond r, int digits) {
  return prefixed(r.in_base_units(), kFlopRates, digits);
}
std::string to_text(Hertz f, int digits) {
  constexpr double kMegahertzUpTo = 1e10;
  const bool in_megahertz = std::abs(f.in_base_units()) < kMegahertzUpTo;
  const Ladder ladder = in_megahertz ? Ladder(kHertz).first(3) : Ladder(kHertz);
  return prefixed(f.in_base_units(), ladder, digits);
}
std::string to_text(FlopsPerByte i, int digits) {
  return with_unit(number_text(i.in_base_units(), digits), "FLOP/byte");
}

std::string number_text(double value, int digits) {
  if (value == 0) return "0";
  if (!std::isfinite(value)) return exact_text(value);
  digits = std::clamp(digits, 1, 17);
  std::string rounded = chars(value, std::chars_format::scientific, digits - 1);
  // The exponent after rounding, so that 9.9996 is "10.00" and not "10.000".
  const std::size_t e = rounded.find('e');
  int exponent = 0;
  const char* first = rounded.data() + e + (rounded[e + 1] == '+' ? 2 : 1);
  std::from_chars(first, rounded.data() + rounded.size(), exponent);
  if (exponent < -4 || exponent > 6) return rounded;
  return chars(parse_number(rounded).value_or(value), std::chars_format::fixed,
               std::max(0, digits - 1 - exponent));
}

std::string exact_text(double value) { return chars(value); }

std::string count_text(double count) {
  constexpr double kMost = 9007199254740992.0;
  if (!(std::abs(count) <= kMost) || std::floor(count) != count) return exact_text(count);
  return std::to_string(static_cast<std::int64_t>(count));
}

std::string quoted(std::string_view text) {
  constexpr std::size_t kMaxLength = 64;
  std::string out = "\"";
  std::size_t end = std::min(text.size(), kMaxLength);
  // Never cut inside a UTF-8 sequence.
  while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) {
    --end;
  }
  out.append(text.substr(0, end)).append(end < text.size() ? "...\"" : "\"");
  return out;
}

}  // namespace floorline
