// SPDX-License-Identifier: Apache-2.0
// n copies of b bytes: is it latency or bandwidth, and does batching pay?
//   one copy            t = latency + b / B
//   n copies, apart     n latency + n b / B
//   n copies, batched   latency + n b / B        one call for all
//   crossover (n half)  b = latency x B: latency and bytes cost the same; batching at most halves
//                       the time above it
// direction: h2d, d2h, both (n each way, at the same time where there are two engines), round_trip
// (each comes back before the next leaves).
// A measured time of all of it gives the rate that was reached and, one way, the latency that would
// explain it: measured / n - b / B.
// latency must be measured for the runtime; a pageable copy has a bandwidth of its own.
// Ignored: bandwidth that falls when both directions run, write-combining, NUMA.
#pragma once

#include <cstdint>
#include <optional>

#include "model/timeline/kinds/built_kind.hpp"

namespace floorline {

class TableReader;

enum class CopyDirection : std::uint8_t { h2d, d2h, both, round_trip };

struct Copies {
  std::int64_t count = 1;
  Bytes each{0};
  CopyDirection direction = CopyDirection::h2d;
  Seconds latency{0};
  BytesPerSecond bandwidth{1};
  std::optional<BytesPerSecond> back_bandwidth;  ///< d2h, where it differs
  bool batched = false;
  int engines = 2;
  std::optional<Seconds> measured;  ///< of all copies
};

Copies read_copies(TableReader& table, std::vector<std::string>& assumptions);
BuiltKind build(const Copies& copies);

}  // namespace floorline
