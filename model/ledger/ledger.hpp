// SPDX-License-Identifier: Apache-2.0
// What is alive in memory at the same time, against a budget.
// A ledger is one rank's: lines with whole bytes, each alive at some of its instants. The peak is
// the largest sum over the lines that are alive at one instant, never the sum of all lines and
// never a sum over ranks. A line whose bytes are not known exactly has an interval; its high end
// decides a fit. Overflow is a value: larger than every budget, so it does not fit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/quantity/byte_count.hpp"

namespace floorline {

/// exact: reproduces an allocation to the byte. formula: a few per cent. interval: a range.
enum class Evidence : std::uint8_t { exact, formula, interval };
std::string_view name_of(Evidence evidence);

struct ByteInterval {
  ByteCount low;
  ByteCount high;
};

/// A set of a ledger's instants, by their index.
class Lifetime {
 public:
  static constexpr std::size_t kMaxInstants = 64;

  constexpr Lifetime() = default;  ///< alive at none
  /// Alive at the first `count` instants: all of a ledger that has so many.
  static constexpr Lifetime all(std::size_t count) {
    Lifetime l;
    l.bits_ = count >= kMaxInstants ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
    return l;
  }
  static constexpr Lifetime at(std::size_t instant) { return Lifetime().with(instant); }
  [[nodiscard]] constexpr Lifetime with(std::size_t instant) const {
    Lifetime l = *this;
    if (instant < kMaxInstants) l.bits_ |= std::uint64_t{1} << instant;
    return l;
  }
  [[nodiscard]] constexpr bool holds(std::size_t instant) const {
    return instant < kMaxInstants && ((bits_ >> instant) & 1U) != 0;
  }
  [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
  friend constexpr bool operator==(Lifetime a, Lifetime b) = default;

 private:
  std::uint64_t bits_ = 0;
};

struct LedgerEntry {
  std::string name;                      ///< weights, kv_cache, state, … or the user's own
  ByteCount bytes;                       ///< what decides a fit: the high end of an interval
  std::optional<ByteInterval> interval;  ///< of evidence `interval` only
  Evidence evidence = Evidence::exact;
  Lifetime alive;
  std::string formula;  ///< with its numbers: "4 KV heads x 128 x 2 x 2 B x 28 layers"
  std::string source;
};

struct MemoryLedger {
  std::vector<std::string> instants;  ///< in time order, at most Lifetime::kMaxInstants
  std::vector<LedgerEntry> lines;
};

/// Names of lines that are never an interval: weights, kv_cache, state, gradients, optimizer.
bool is_always_exact(std::string_view name);

/// An entry known as a range; `bytes` is the high end.
LedgerEntry interval_entry(std::string name, ByteInterval interval, Lifetime alive,
                           std::string formula, std::string source);

/// Whole bytes of a need (rounded up) and of a budget (rounded down); a part of a byte that only
/// the conversion from text made is none. Overflow above 9.2e18 bytes and for what is no number.
ByteCount whole_need(Bytes bytes);
ByteCount whole_budget(Bytes bytes);

/// Bytes alive at one instant: with the high ends, or with the low ends of intervals.
ByteCount alive_at(const MemoryLedger& ledger, std::size_t instant);
ByteCount alive_at_least(const MemoryLedger& ledger, std::size_t instant);

struct Peak {
  ByteCount bytes;
  std::size_t at = 0;  ///< of MemoryLedger::instants, the first that attains it
};
Peak peak_of(const MemoryLedger& ledger);
/// The same with the low ends of intervals.
Peak least_peak_of(const MemoryLedger& ledger);

struct Budget {
  ByteCount bytes;
  std::string formula;  ///< "81559 MiB x 0.9"; empty: as typed
};

/// A need against a budget, to the byte.
struct Headroom {
  bool fits = false;
  /// Budget less need, negative when short; absent when one of them overflowed.
  std::optional<std::int64_t> remaining;
};
Headroom headroom(ByteCount need, const Budget& budget);

/// Lines alive at an instant, largest first; at the peak: what to change, since no other line
/// lowers it.
std::vector<std::size_t> lines_at(const MemoryLedger& ledger, std::size_t instant);

/// Replaces the line of that name, or adds it.
void set_line(MemoryLedger& ledger, LedgerEntry line);
/// nullptr when there is none.
const LedgerEntry* find_line(const MemoryLedger& ledger, std::string_view name);

}  // namespace floorline
