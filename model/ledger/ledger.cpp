// SPDX-License-Identifier: Apache-2.0
#include "model/ledger/ledger.hpp"

#include <algorithm>
#include <array>
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

}  // namespace floorline
