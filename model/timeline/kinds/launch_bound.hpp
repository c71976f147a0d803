// SPDX-License-Identifier: Apache-2.0
// Is a step bound by its kernels or by the host that launches them, and what would a graph buy?
//   eager   the host launches kernel after kernel, launch_time each, at most queue_depth ahead of
//           the GPU; kernels run in order on one stream
//   graph   one launch of graph_launch_time, then every kernel after node_time on the device
// synchronizations: how often in a step the host waits for the GPU, evenly spread, the last at the
// end of the step (sampling the token). 0: the host never waits. A graph can only wait at its end.
// With n kernels of K and launches of L, one wait at the end: eager n L + K if L >= K, else L + n
// K. Ignored: host work between launches beside launch_time, several streams, launch latency that
// does not occupy the host.
#pragma once

#include <cstdint>

#include "model/timeline/kinds/built_kind.hpp"

namespace floorline {

class TableReader;

struct LaunchBound {
  std::int64_t steps = 4;
  std::int64_t kernels = 1;
  Seconds kernel{0};
  Seconds launch{0};
  bool graph = false;
  Seconds graph_launch{0};
  Seconds node{0};
  std::int64_t synchronizations = 1;
  Seconds synchronization{0};  ///< host time of one, once the GPU is there
  std::int64_t queue_depth = 1024;
  bool graph_known = false;  ///< graph_launch_time was given: both ways are compared
};

LaunchBound read_launch_bound(TableReader& table, std::vector<std::string>& assumptions);
BuiltKind build(const LaunchBound& step);

}  // namespace floorline
