// SPDX-License-Identifier: Apache-2.0
// The chain that sets the end, and how much later everything else could be.
#include <algorithm>

#include "model/quantity/expect.hpp"
#include "model/timeline/analysis.hpp"

namespace floorline {

namespace {

TaskId last_to_end(const Schedule& s) {
  std::size_t last = 0;
  for (std::size_t t = 0; t < s.end.size(); ++t)
    if (s.end[t] == s.makespan_ticks) last = t;
  return TaskId{static_cast<std::uint32_t>(last)};
}

struct Before {
  TaskId task = kNoTask;
  bool by_start = false;  ///< the path leaves it at its start
};

/// A server held by a task without room is free when the consumer starts.
Before before(const Schedule& s, const Cause& cause) {
  if (cause.wait == Wait::buffer_full)
    return {s.release_by[static_cast<std::size_t>(cause.task)], true};
  return {cause.task, cause.event == Event::start};
}

}  // namespace

CriticalChain critical_chain(const Schedule& s) {
  CriticalChain chain;
  if (s.end.empty()) return chain;
  Before here{last_to_end(s), false};
  while (here.task != kNoTask) {
    const auto t = static_cast<std::size_t>(here.task);
    PathStep step;
    step.stage = s.stage_of(here.task);
    step.item = s.item_of(here.task);
    step.start = s.start[t];
    step.end = here.by_start ? s.start[t] : s.end[t];
    step.wait = s.cause[t].wait;
    here = before(s, s.cause[t]);
    if (here.task != kNoTask) {
      step.waited_for = s.stage_of(here.task);
      step.waited_for_item = s.item_of(here.task);
    } else {
      chain.waits = step.start;
    }
    chain.steps.push_back(step);
  }
  std::reverse(chain.steps.begin(), chain.steps.end());
  return chain;
}

std::vector<Ticks> task_slack(const Pipeline& p, const Schedule& s) {
  const std::size_t tasks = s.end.size();
  std::vector<Ticks> after_end(tasks, 0);    // the longest that follows its end
  std::vector<Ticks> after_start(tasks, 0);  // and what only waits for its start
  std::vector<Ticks> turn(p.pools.size(), 0);
  for (auto at = s.order.rbegin(); at != s.order.rend(); ++at) {
    const auto t = static_cast<std::size_t>(*at);
    const Stage& stage = p.stages[index_of(s.stage_of(*at))];
    const Pool& pool = p.pools[index_of(stage.pool)];
    if (pool.queue == Queue::in_order)
      after_start[t] = std::max(after_start[t], turn[index_of(stage.pool)]);
    const Ticks rest = std::max(s.end[t] - s.start[t] + after_end[t], after_start[t]);
    turn[index_of(stage.pool)] = rest;
    const auto push = [&](std::vector<Ticks>& to, TaskId task) {
      Ticks& known = to[static_cast<std::size_t>(task)];
      known = std::max(known, rest);
    };
    const std::int64_t item = s.item_of(*at);
    for (const Dependency& d : stage.after)
      if (d.distance <= item)
        push(d.event == Event::finish ? after_end : after_start,
             s.task(d.stage, item - d.distance));
    const TaskId server_before = s.before_on_server[t];
    if (server_before == kNoTask || pool.sharing == Sharing::fair) continue;
    push(after_end, server_before);
    if (!s.release_by.empty()) {
      const TaskId taker = s.release_by[static_cast<std::size_t>(server_before)];
      if (taker != kNoTask) push(after_start, taker);
    }
  }
  for (std::size_t t = 0; t < tasks; ++t) after_end[t] = s.makespan_ticks - s.end[t] - after_end[t];
  return after_end;
}

}  // namespace floorline
