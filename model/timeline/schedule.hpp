// SPDX-License-Identifier: Apache-2.0
// A pipeline placed in time, event by event, exactly.
//
// Rule: non-preemptive; a free server takes the task that was ready first, ties by (item, stage);
// of several free servers the one of lowest index. At one instant all ends are dealt with first,
// then starts, in the order (ready, item, stage) over all resources; a task of zero time ends at
// the instant it starts, and the instant is dealt with again.
//
// Time is counted in whole ticks, the finest power of ten for which the whole run fits in 63 bits
// (1 fs up to 4,000 s of work in all): equal instants are equal, however they were reached, and
// durations are rounded to the nearest tick. A fair-shared resource rounds its ends to ticks too.
//
// Ignores: contention between resources (two copies sharing one memory), preemption, jitter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/timeline/pipeline.hpp"

namespace floorline {

using Ticks = std::int64_t;
/// Sums over tasks: more than 2^63 ticks is a few hours of thousands of tasks.
__extension__ using TickSum = __int128;
enum class TaskId : std::uint32_t {};
constexpr TaskId kNoTask{0xffffffffU};

/// What a task waited for last.
enum class Wait : std::uint8_t {
  nothing,  ///< started at zero
  arrival,  ///< its item, or its not_before
  data,     ///< a dependency; buffer_empty: one through a buffer
  buffer_empty,
  synchronous,
  stream,
  program,
  credit,
  server,       ///< the task before it on its server (or, held up by a full buffer, its consumer)
  buffer_full,  ///< its server was held by a task that had ended and had no room
  turn          ///< in_order: the task before it in the order
};
std::string_view word(Wait wait);

struct Cause {
  TaskId task = kNoTask;
  Wait wait = Wait::nothing;
  Event event = Event::finish;  ///< of `task`: when it allowed the start
};

/// Nothing can start and not all has ended: each waits for the next, the last for the first.
struct Deadlock {
  struct Link {
    StageId stage{};
    std::int64_t item = 0;
    std::string waits_for;  ///< "the result of decode (item 3)"
  };
  std::vector<Link> cycle;
};

struct ScheduleOptions {
  bool record = true;  ///< false: ends of items only (makespan, completions)
  /// Times of one group, multiplied: 0 free, 0.5 twice as fast.
  std::vector<double> factor;  ///< per stage; empty: all 1
};

struct Schedule {
  std::int64_t items = 0;
  std::size_t stages = 0;
  double ticks_per_second = 1;
  Ticks makespan_ticks = 0;
  std::vector<Ticks> completion;  ///< of each item: when its last task ended
  std::optional<Deadlock> deadlock;

  // One entry a task (item x stages + stage); empty without `record`.
  std::vector<Ticks> start;
  std::vector<Ticks> end;
  std::vector<Ticks> release;            ///< of its server; empty: at the end (no buffers)
  std::vector<TaskId> release_by;        ///< whose start made room; parallel to `release`
  std::vector<std::uint32_t> server;     ///< lane of a fair resource
  std::vector<TaskId> before_on_server;  ///< the task its server ran before, or kNoTask
  std::vector<Cause> cause;
  std::vector<TaskId> order;  ///< all tasks in the order of their starts

  [[nodiscard]] TaskId task(StageId stage, std::int64_t item) const {
    return TaskId(
        static_cast<std::uint32_t>(static_cast<std::size_t>(item) * stages + index_of(stage)));
  }
  [[nodiscard]] StageId stage_of(TaskId task) const {
    return StageId(static_cast<std::uint32_t>(static_cast<std::size_t>(task) % stages));
  }
  [[nodiscard]] std::int64_t item_of(TaskId task) const {
    return static_cast<std::int64_t>(static_cast<std::size_t>(task) / stages);
  }
  [[nodiscard]] Seconds time_of(Ticks ticks) const;
  [[nodiscard]] Seconds time_of_sum(TickSum ticks) const {
    return Seconds(static_cast<double>(ticks) / ticks_per_second);
  }
  [[nodiscard]] Seconds makespan() const { return time_of(makespan_ticks); }
  [[nodiscard]] Seconds start_of(StageId stage, std::int64_t item) const;
  [[nodiscard]] Seconds end_of(StageId stage, std::int64_t item) const;
};

/// Throws InputError where the run has more than kMostTasks tasks. A deadlock (a cycle of
/// dependencies without initial tokens, buffers too small for how paths meet again) is a value.
Schedule make_schedule(const Pipeline& pipeline, const ScheduleOptions& options = {});

}  // namespace floorline
