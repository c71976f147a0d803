// SPDX-License-Identifier: Apache-2.0
// What is measured of this machine because nothing states it: the clock while working, and how fast
// memory can be read, written and copied by all processors. Independent of the experiments: other
// loops, other buffers.
//   clock    a chain of integer multiplications, three cycles each on every x86-64 since 2008
//            (Fog, Instruction tables); on Arm a chain of additions, one cycle each
//   memory   each processor works through pieces of a buffer of at least 8 S_keep (memory
//            permitting) and notes when each was done; the rate is that of all processors in the
//            best window of a millisecond or more, so that another program's turn on a processor
//            does not hide what memory can do. For reads, writes past the caches, and copies (read
//            + written bytes); the largest of the three, enlarged by its spread:
//            best + (best - 90th percentile of the windows)
#pragma once

#include <cstdint>
#include <vector>

#include "model/quantity/quantity.hpp"

namespace floorline::cpu {

struct ProbedRate {
  BytesPerSecond best{0};
  BytesPerSecond often{0};  ///< 90th percentile of the windows
  [[nodiscard]] BytesPerSecond enlarged() const { return best + (best - often); }
};
struct MemoryProbe {
  ProbedRate read, write, copy;
  Bytes buffer{0};
  std::int64_t windows = 0;  ///< of each kind, at least
  [[nodiscard]] BytesPerSecond best_seen() const;
};

Hertz probe_clock();
/// One piece done: when, and how many bytes it moved.
struct PieceDone {
  double at = 0;
  double moved = 0;
};
/// Rates of windows of at least `length` seconds, one that ends at each piece. Pieces of all
/// processors, in any order.
std::vector<double> window_rates(std::vector<PieceDone> pieces, double length);

/// Takes about `budget`. Throws MeasurementError when there is no memory for it.
MemoryProbe probe_memory(std::int64_t workers, Bytes caches, Seconds budget);

}  // namespace floorline::cpu
