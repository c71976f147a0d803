// SPDX-License-Identifier: Apache-2.0
// Pipelines the timeline tests share.
#pragma once

#include <string>
#include <vector>

#include "model/timeline/pipeline.hpp"

namespace floorline {

/// Stages one after another, each on a resource of its own, a buffer of `capacity` between them.
inline Pipeline chain(const std::vector<double>& ms, std::int64_t items, std::int64_t capacity,
                      std::int64_t first_servers = 1) {
  static const char* const names[] = {"load", "h2d", "gpu", "d2h", "store", "send"};
  Pipeline p;
  p.items = items;
  for (std::size_t s = 0; s < ms.size(); ++s) {
    Pool pool;
    pool.name = std::string("r_") + names[s];
    if (s == 0) pool.servers = first_servers;
    Stage stage;
    stage.name = names[s];
    stage.pool = p.add(pool);
    stage.time.constant = milliseconds(ms[s]);
    if (s > 0) stage.after.push_back({StageId(static_cast<std::uint32_t>(s - 1))});
    p.add(stage);
    if (s > 0 && capacity >= 0)
      p.buffers.push_back({StageId(static_cast<std::uint32_t>(s - 1)),
                           StageId(static_cast<std::uint32_t>(s)), capacity});
  }
  return p;
}

}  // namespace floorline
