// SPDX-License-Identifier: Apache-2.0
// The time between items once a pipeline runs steadily.
//
// For constant times on resources that serve one stage each (or one server in a fixed order) a
// pipeline is a max-plus linear system: start(s, i) is the maximum of start(p, i - d) + w over the
// edges p -> s of
//     a dependency on a result      w = time of p, its distance
//     a dependency on a start       w = 0, its distance
//     n servers                     s -> s, w = time of s, distance n
//     a fixed order, one server     to the next stage of the order; last to first with distance 1
//     a buffer of K after p         consumer -> p, w = 0, distance K + n
// and its period is the largest weight / distance over the cycles (Baccelli, Cohen, Olsder,
// Quadrat: Synchronization and Linearity, 1992, chapter 2). The cycle is found by improving: from
// the ratio of one cycle, a longer one under weights w - ratio * distance (Bellman-Ford), until
// there is none.
//
// Where that does not apply (several stages share servers in order of readiness, times differ from
// item to item, arrivals, fair sharing) the period is that of a simulated run, and is labelled so:
// for times that are the same for all items the exact one if the completions repeat, else the mean
// of the second half, and no less than the busiest resource needs.
//
// At least, always: of each resource the times of its stages for one item over its servers.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/timeline/pipeline.hpp"
#include "model/timeline/schedule.hpp"

namespace floorline {

enum class PeriodKind : std::uint8_t { cycle_mean, simulated };

struct Period {
  Seconds time{0};
  PeriodKind kind = PeriodKind::simulated;
  std::vector<StageId> cycle;        ///< the stages that set it (cycle_mean)
  std::optional<Seconds> repeats;    ///< of the simulated completions, if they repeat
  std::int64_t simulated_items = 0;  ///< how many items the simulated run had
  Seconds at_least{0};               ///< the busiest resource's time an item
  std::optional<PoolId> busiest;
};

/// Nothing for one item.
std::optional<Period> steady_period(const Pipeline& pipeline, const Schedule& schedule);

/// The largest cycle mean, where the pipeline is such a system; nothing else.
struct CycleMean {
  Seconds time{0};
  std::vector<StageId> stages;
};
std::optional<CycleMean> largest_cycle_mean(const Pipeline& pipeline);

/// Of ends of items in order of their ends: the time an item if the second half repeats exactly.
std::optional<Seconds> repeating_period(const Schedule& schedule);

}  // namespace floorline
