// SPDX-License-Identifier: Apache-2.0
// What a schedule says: how busy each resource is and what it waited for, the chain of tasks that
// sets the end, how much later a stage may be, and what a faster one would buy.
//
// - busy: server-time spent on tasks; held: a task had ended but its buffer had no room; idle: the
//   rest of servers x makespan, every gap with the reason the next task gave for its start.
// - critical path: from the task that ends last, back from each start to what allowed it. Times and
//   waits of the chain sum to the makespan.
// - slack of a stage: how much later the end of any one of its tasks could be without moving the
//   makespan, with the order on every server as it is; the least over its tasks.
// - faster stages are scheduled again from the start, so the order may change: an end that comes
//   later for it is an anomaly (Graham 1969) and is marked.
// - GPU-Util: the share of time in which some kernel ran (union over the GPU's resources).
// - exposed communication: time in which a collective ran and no other kernel on the GPU.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/timeline/period.hpp"
#include "model/timeline/pipeline.hpp"
#include "model/timeline/schedule.hpp"

namespace floorline {

/// Gaps of one resource with one reason.
struct IdleReason {
  Wait wait = Wait::nothing;
  std::optional<StageId> stage;  ///< that was waited for
  Seconds time{0};               ///< server-time
  std::int64_t gaps = 0;
  bool ended = false;  ///< no more work for this server
};

struct ResourceUse {
  PoolId pool{};
  Seconds busy{0};
  Seconds held{0};
  Seconds idle{0};
  double utilization = 0;       ///< busy over servers x makespan
  std::vector<IdleReason> why;  ///< the longest first; held time stands under buffer_full
};

struct PathStep {
  StageId stage{};
  std::int64_t item = 0;
  Ticks start = 0;
  Ticks end = 0;  ///< where the path leaves it: its start, if only that was waited for
  Wait wait = Wait::nothing;
  std::optional<StageId> waited_for;
  std::int64_t waited_for_item = 0;
};

struct CriticalChain {
  std::vector<PathStep> steps;  ///< in time
  Ticks waits = 0;              ///< for an arrival, before the first step
};

struct SpeedUp {
  Seconds makespan{0};
  bool anomaly = false;   ///< later than before
  bool deadlock = false;  ///< the other order leads to one: no makespan
};

/// Stages of one group.
struct GroupReport {
  std::string name;
  std::vector<StageId> stages;
  Seconds busy{0};
  Seconds on_path{0};
  Seconds slack{0};
  std::optional<SpeedUp> twice_as_fast;  ///< absent: beyond the budget of what is scheduled again
  std::optional<SpeedUp> free;
};

struct TimelineOptions {
  bool speed_ups = true;
  std::int64_t speed_up_tasks = 20'000'000;  ///< most tasks scheduled again in all
};

struct Timeline {
  Schedule schedule;
  Seconds first_item{0};
  std::optional<Period> period;
  std::vector<ResourceUse> resources;
  CriticalChain critical_path;
  std::vector<GroupReport> groups;
  std::optional<double> gpu_util;
  std::optional<Seconds> communication;          ///< some collective ran
  std::optional<Seconds> exposed_communication;  ///< and nothing else on the GPU
};

/// Of a schedule without deadlock.
Timeline analyse(const Pipeline& pipeline, Schedule schedule, const TimelineOptions& options = {});

std::vector<ResourceUse> resource_use(const Pipeline& pipeline, const Schedule& schedule);
CriticalChain critical_chain(const Schedule& schedule);
/// Of each task, in ticks.
std::vector<Ticks> task_slack(const Pipeline& pipeline, const Schedule& schedule);

}  // namespace floorline
