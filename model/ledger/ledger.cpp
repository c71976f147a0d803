// SPDX-License-Identifier: Apache-2.0
#include "model/ledger/ledger.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace floorline {

namespace {

ByteCount low_end(const LedgerEntry& line) {
  return line.interval ? line.interval->low : line.bytes;
}

template <class BytesOf>
ByteCount sum_at(const MemoryLedger& ledger, std::size_t instant, BytesOf bytes_of) {
  ByteCount sum;
  for (const LedgerEntry& line : ledger.lines) {
    if (line.alive.holds(instant)) sum = sum + bytes_of(line);
  }
  return sum;
}

template <class BytesAt>
Peak largest(const MemoryLedger& ledger, BytesAt bytes_at) {
  Peak peak;
  for (std::size_t i = 0; i < ledger.instants.size(); ++i) {
    const ByteCount here = bytes_at(ledger, i);
    if (i == 0 || here > peak.bytes) peak = {here, i};
  }
  return peak;
}

}  // namespace

std::string_view name_of(Evidence evidence) {
  constexpr std::array<std::string_view, 3> kNames{"exact", "formula", "interval"};
  return kNames[static_cast<std::size_t>(evidence)];
}

bool is_always_exact(std::string_view name) {
  constexpr std::array<std::string_view, 5> kNames{"weights", "kv_cache", "state", "gradients",
                                                   "optimizer"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

LedgerEntry interval_entry(std::string name, ByteInterval interval, Lifetime alive,
                           std::string formula, std::string source) {
  LedgerEntry line;
  line.name = std::move(name);
  line.bytes = interval.high;
  line.interval = interval;
  line.evidence = Evidence::interval;
  line.alive = alive;
  line.formula = std::move(formula);
  line.source = std::move(source);
  return line;
}

namespace {

/// Text such as "1.1 GB" is a byte's fraction off.
ByteCount whole(Bytes bytes, double towards(double)) {
  constexpr double kMost = 9.2233720368547748e18;  // the largest double below 2^63
  constexpr double kNoise = 1e-3;
  const double value = bytes.in_base_units();
  if (!(std::abs(value) <= kMost)) return ByteCount::overflow();
  const double nearest = std::round(value);
  const bool noise = std::abs(value - nearest) < kNoise;
  return ByteCount(static_cast<std::int64_t>(noise ? nearest : towards(value)));
}

constexpr double kUp = std::numeric_limits<double>::infinity();

Bytes exact_or(Bytes bytes, double towards) {
  constexpr double kExact = 9007199254740992;  // 2^53
  const double b = bytes.in_base_units();
  return b < kExact ? bytes : Bytes(std::nextafter(b, towards));
}

}  // namespace

// Above 2^53 the text was rounded when it was read: a need is then taken up, a budget down.
ByteCount whole_need(Bytes bytes) { return whole(exact_or(bytes, kUp), std::ceil); }
ByteCount whole_budget(Bytes bytes) { return whole(exact_or(bytes, 0), std::floor); }

ByteCount alive_at(const MemoryLedger& ledger, std::size_t instant) {
  return sum_at(ledger, instant, [](const LedgerEntry& line) { return line.bytes; });
}

ByteCount alive_at_least(const MemoryLedger& ledger, std::size_t instant) {
  return sum_at(ledger, instant, low_end);
}

Peak peak_of(const MemoryLedger& ledger) { return largest(ledger, alive_at); }
Peak least_peak_of(const MemoryLedger& ledger) { return largest(ledger, alive_at_least); }

Headroom headroom(ByteCount need, const Budget& budget) {
  Headroom result;
  result.fits = need <= budget.bytes && !need.overflowed();
  result.remaining = (budget.bytes - need).count();
  return result;
}

std::vector<std::size_t> lines_at(const MemoryLedger& ledger, std::size_t instant) {
  std::vector<std::size_t> alive;
  for (std::size_t i = 0; i < ledger.lines.size(); ++i) {
    if (ledger.lines[i].alive.holds(instant)) alive.push_back(i);
  }
  std::stable_sort(alive.begin(), alive.end(), [&](std::size_t a, std::size_t b) {
    return ledger.lines[a].bytes > ledger.lines[b].bytes;
  });
  return alive;
}

void set_line(MemoryLedger& ledger, LedgerEntry line) {
  for (LedgerEntry& old : ledger.lines) {
    if (old.name != line.name) continue;
    old = std::move(line);
    return;
  }
  ledger.lines.push_back(std::move(line));
}

const LedgerEntry* find_line(const MemoryLedger& ledger, std::string_view name) {
  for (const LedgerEntry& line : ledger.lines) {
    if (line.name == name) return &line;
  }
  return nullptr;
}

}  // namespace floorline
