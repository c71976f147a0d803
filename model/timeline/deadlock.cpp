// SPDX-License-Identifier: Apache-2.0
// Names the cycle when nothing can go on. Every task that has not started, and every ended task
// that keeps its server, waits for at least one other such task; following any one of those waits
// long enough comes round.
#include <optional>
#include <unordered_map>

#include "model/quantity/expect.hpp"
#include "model/timeline/engine.hpp"

namespace floorline {

namespace {

struct Next {
  TaskId task = kNoTask;
  std::string why;
};

std::string at_item(const Engine& e, TaskId task) {
  return e.pipeline().stages[index_of(e.schedule().stage_of(task))].name + " (item " +
         std::to_string(e.schedule().item_of(task)) + ")";
}

std::optional<Next> missing_dependency(const Engine& e, TaskId task) {
  const std::size_t s = index_of(e.schedule().stage_of(task));
  const std::int64_t item = e.schedule().item_of(task);
  for (const Dependency& d : e.pipeline().stages[s].after) {
    if (d.distance > item) continue;
    const TaskId before = e.schedule().task(d.stage, item - d.distance);
    const TaskState state = e.state(before);
    const bool met =
        state == TaskState::ended || (d.event == Event::start && state == TaskState::running);
    if (!met)
      return Next{before, std::string(d.event == Event::start ? "the start" : "the result") +
                              " of " + at_item(e, before)};
  }
  return std::nullopt;
}

/// Of a task that is ready: whose turn it is, or who keeps a server.
Next holder_of_server(const Engine& e, TaskId task) {
  const std::size_t s = index_of(e.schedule().stage_of(task));
  const PoolId pool_id = e.pipeline().stages[s].pool;
  const PoolState& pool = e.pool(pool_id);
  if (pool.in_order()) {
    const TaskId turn = e.schedule().task(StageId(pool.program[pool.turn]), pool.turn_item);
    if (turn != task)
      return {turn, "its turn on " + pool.spec->name + ", after " + at_item(e, turn)};
  }
  for (std::int64_t i = 0; i < e.graph().items; ++i) {
    for (const std::uint32_t stage : pool.program) {
      const TaskId other = e.schedule().task(StageId(stage), i);
      if (e.blocked(other))
        return {other, "a server of " + pool.spec->name + ", kept by " + at_item(e, other) +
                           " that has no room to leave"};
    }
  }
  FLOORLINE_EXPECT(false);
  return {};
}

/// Of an ended task without room: the consumer's start on the first item that is in its way.
Next room(const Engine& e, TaskId task) {
  const StageId producer = e.schedule().stage_of(task);
  for (const std::uint32_t b : e.graph().buffers_out.of(index_of(producer))) {
    if (!e.buffer(b).blocks(e.schedule().item_of(task))) continue;
    const StageId consumer = e.pipeline().buffers[b].consumer;
    for (std::int64_t i = 0; i < e.graph().items; ++i) {
      const TaskId takes = e.schedule().task(consumer, i);
      const bool lies = e.state(e.schedule().task(producer, i)) == TaskState::ended;
      const TaskState taker = e.state(takes);
      if (lies && (taker == TaskState::pending || taker == TaskState::ready))
        return {takes, "room before " + at_item(e, takes)};
    }
  }
  FLOORLINE_EXPECT(false);
  return {};
}

Next next_of(const Engine& e, TaskId task) {
  if (e.blocked(task)) return room(e, task);
  if (std::optional<Next> missing = missing_dependency(e, task)) return *missing;
  return holder_of_server(e, task);
}

TaskId first_stuck(const Engine& e) {
  const std::size_t tasks = e.graph().stages * static_cast<std::size_t>(e.graph().items);
  for (std::size_t t = 0; t < tasks; ++t) {
    const TaskId task{static_cast<std::uint32_t>(t)};
    if (e.state(task) == TaskState::pending || e.state(task) == TaskState::ready) return task;
  }
  FLOORLINE_EXPECT(false);
  return kNoTask;
}

}  // namespace

Deadlock find_deadlock(const Engine& engine) {
  std::vector<std::pair<TaskId, std::string>> walk;
  std::unordered_map<std::uint32_t, std::size_t> seen;
  TaskId task = first_stuck(engine);
  while (seen.emplace(static_cast<std::uint32_t>(task), walk.size()).second) {
    Next next = next_of(engine, task);
    walk.emplace_back(task, std::move(next.why));
    task = next.task;
  }
  Deadlock deadlock;
  for (std::size_t i = seen.at(static_cast<std::uint32_t>(task)); i < walk.size(); ++i) {
    deadlock.cycle.push_back({engine.schedule().stage_of(walk[i].first),
                              engine.schedule().item_of(walk[i].first), walk[i].second});
  }
  return deadlock;
}

}  // namespace floorline
