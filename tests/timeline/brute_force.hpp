// SPDX-License-Identifier: Apache-2.0
// The scheduling rule once more, written to be obvious: whole time steps of one unit, every task
// looked at in every step, no queues, no heaps, no events.
#pragma once

#include <cstdint>
#include <vector>

#include "model/timeline/pipeline.hpp"

namespace floorline {

struct BruteForce {
  std::vector<std::int64_t> start;  ///< item x stages + stage, in units; -1: never
  std::vector<std::int64_t> end;
  std::vector<std::int64_t> server;
  bool deadlock = false;
};

/// Durations, arrivals and not_before must be whole multiples of `unit`; exclusive resources only.
BruteForce brute_force(const Pipeline& pipeline, Seconds unit);

}  // namespace floorline
