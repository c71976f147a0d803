// SPDX-License-Identifier: Apache-2.0
// What is measured of this machine because nothing states it: the clock while working, and how fast
// memory can be read, written and copied by all processors. Independent of the experiments: other
// loops, other buffers.
//   clock    a chain of integer multiplications, three cycles each on every x86-64 since 2008
//            (Fog, Instruction tables); on Arm a chain of additions, one cycle each
//   memory   the best of many passes over a buffer of at least 8 S_keep (memory permitting), for
//            reads, for writes, for copies (read + written bytes); the largest of the three,
//            enlarged by its spread: best × (1 + (best - median) / best)
#pragma once

#include <cstdint>

#include "model/quantity/quantity.hpp"

namespace floorline::cpu {

struct ProbedRate {
  BytesPerSecond best{0};
  BytesPerSecond median{0};
  [[nodiscard]] BytesPerSecond enlarged() const { return best + (best - median); }
};
struct MemoryProbe {
  ProbedRate read, write, copy;
  Bytes buffer{0};
  std::int64_t passes = 0;  ///< of each
  [[nodiscard]] BytesPerSecond best_seen() const;
};

Hertz probe_clock();
/// Takes about `budget`. Throws MeasurementError when there is no memory for it.
MemoryProbe probe_memory(std::int64_t workers, Bytes caches, Seconds budget);

}  // namespace floorline::cpu
