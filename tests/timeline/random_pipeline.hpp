// SPDX-License-Identifier: Apache-2.0
// Small random pipelines: shared resources, several servers, all queues, buffers, fan-in and
// fan-out, dependencies across items, arrivals, zero times.
#pragma once

#include <random>
#include <string>

#include "model/timeline/pipeline.hpp"

namespace floorline {

struct RandomShape {
  bool constant = false;  ///< times of every stage equal for all items, no arrivals
  bool shared = true;     ///< several stages a resource; false: a resource a stage, fifo
};

inline Pipeline random_pipeline(unsigned seed, const RandomShape& shape = {}) {
  std::mt19937 random(seed);
  const auto pick = [&](int low, int high) {
    return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
  };
  Pipeline p;
  p.items = pick(1, 7);
  const int stages = pick(1, 6);
  const int pools = shape.shared ? pick(1, stages) : stages;
  for (int r = 0; r < pools; ++r) {
    Pool pool;
    pool.name = "r" + std::to_string(r);
    pool.servers = pick(1, 3);
    if (shape.shared) pool.queue = static_cast<Queue>(pick(0, 5) > 3 ? pick(1, 2) : 0);
    p.add(pool);
  }
  for (int s = 0; s < stages; ++s) {
    Stage stage;
    stage.name = "s" + std::to_string(s);
    stage.pool = PoolId{static_cast<std::uint32_t>(shape.shared ? pick(0, pools - 1) : s)};
    stage.sequence = pick(0, 3);
    if (!shape.constant && pick(0, 1) == 1) {
      for (std::int64_t i = 0; i < p.items; ++i)
        stage.time.per_item.push_back(milliseconds(pick(0, 9)));
    } else {
      stage.time.constant = milliseconds(pick(0, 9));
    }
    if (!shape.constant && pick(0, 9) == 0) stage.not_before = milliseconds(pick(0, 20));
    for (int before = 0; before < s; ++before) {
      if (pick(0, 2) != 0) continue;
      stage.after.push_back({StageId{static_cast<std::uint32_t>(before)}});
      if (pick(0, 2) == 0)
        p.buffers.push_back({StageId{static_cast<std::uint32_t>(before)},
                             StageId{static_cast<std::uint32_t>(s)}, pick(0, 2)});
    }
    p.add(stage);
  }
  for (int extra = pick(0, 2); extra > 0; --extra) {
    const int from = pick(0, stages - 1);
    p.stages[static_cast<std::size_t>(pick(0, stages - 1))].after.push_back(
        {StageId{static_cast<std::uint32_t>(from)}, pick(1, 3),
         pick(0, 1) == 0 ? Event::finish : Event::start, DependencyKind::credit});
  }
  if (!shape.constant && pick(0, 3) == 0)
    for (std::int64_t i = 0; i < p.items; ++i) p.arrivals.push_back(milliseconds(pick(0, 30)));
  return p;
}

}  // namespace floorline
