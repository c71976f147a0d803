// SPDX-License-Identifier: Apache-2.0
#include "model/timeline/schedule.hpp"

#include <algorithm>
#include <utility>

#include "model/quantity/expect.hpp"
#include "model/timeline/engine.hpp"

namespace floorline {

Engine::Engine(const Pipeline& pipeline, const ScheduleOptions& options)
    : pipeline_(pipeline),
      graph_(task_graph_of(pipeline, options.factor)),
      record_(options.record) {
  const std::size_t tasks = graph_.stages * static_cast<std::size_t>(graph_.items);
  schedule_.items = graph_.items;
  schedule_.stages = graph_.stages;
  schedule_.ticks_per_second = graph_.ticks_per_second;
  schedule_.completion.assign(static_cast<std::size_t>(graph_.items), 0);
  schedule_.server.assign(tasks, 0);
  state_.assign(tasks, TaskState::pending);
  met_.assign(tasks, 0);
  for (std::size_t b = 0; b < pipeline.buffers.size(); ++b) buffers_.emplace_back(graph_.items);
  if (!buffers_.empty()) holds_.assign(tasks, 0);
  if (record_) {
    schedule_.start.assign(tasks, 0);
    schedule_.end.assign(tasks, 0);
    schedule_.before_on_server.assign(tasks, kNoTask);
    schedule_.cause.assign(tasks, {});
    schedule_.order.reserve(tasks);
    if (!buffers_.empty()) {
      schedule_.release.assign(tasks, 0);
      schedule_.release_by.assign(tasks, kNoTask);
    }
  }
  for (const Pool& pool : pipeline.pools) pools_.emplace_back(pool);
  for (std::uint32_t s = 0; s < graph_.stages; ++s)
    pools_[index_of(pipeline.stages[s].pool)].program.push_back(s);
  for (PoolState& pool : pools_) {
    std::stable_sort(pool.program.begin(), pool.program.end(),
                     [&](std::uint32_t a, std::uint32_t b) {
                       return pipeline.stages[a].sequence < pipeline.stages[b].sequence;
                     });
  }
}

/// What needs nothing is ready at once. A stage without any dependency offers one item after the
/// other, so that a million waiting items cost nothing.
void Engine::offer_first() {
  for (std::uint32_t s = 0; s < graph_.stages; ++s) {
    if (graph_.max_distance[s] < 0 && graph_.arrivals_sorted) {
      become_ready(s, 0, {});
      continue;
    }
    const std::int64_t last =
        graph_.max_distance[s] < 0 ? graph_.items : std::min(graph_.items, graph_.max_distance[s]);
    for (std::int64_t i = 0; i < last; ++i)
      if (graph_.needs(s, i) == 0) become_ready(s, i, {});
  }
}

void Engine::offer_source(std::uint32_t stage, std::int64_t item) {
  if (graph_.max_distance[stage] < 0 && graph_.arrivals_sorted && item + 1 < graph_.items)
    become_ready(stage, item + 1, {});
}

void Engine::become_ready(std::uint32_t stage, std::int64_t item, Cause cause) {
  const std::size_t task = static_cast<std::size_t>(schedule_.task(StageId(stage), item));
  const Ticks earliest = graph_.earliest(stage, item);
  // A source that is offered late was ready when its item came.
  const bool source = graph_.max_distance[stage] < 0;
  if (earliest > now_ || (source && earliest > 0)) cause = {kNoTask, Wait::arrival, Event::finish};
  if (record_) schedule_.cause[task] = cause;
  if (earliest > now_) {
    coming_.push({earliest, item, stage, Coming::What::ready, 0});
  } else {
    join_queue(stage, item, source ? earliest : now_);
  }
}

void Engine::join_queue(std::uint32_t stage, std::int64_t item, Ticks ready) {
  state_[static_cast<std::size_t>(schedule_.task(StageId(stage), item))] = TaskState::ready;
  const std::size_t pool = index_of(pipeline_.stages[stage].pool);
  pools_[pool].waiting.push(pools_[pool].entry(pipeline_.stages[stage], stage, item, ready));
  consider(pool);
}

void Engine::meet(const Rows<Successor>& edges, std::uint32_t stage, std::int64_t item,
                  Event event) {
  const TaskId by = schedule_.task(StageId(stage), item);
  for (const Successor& next : edges.of(stage)) {
    if (next.distance >= graph_.items - item) continue;
    const std::int64_t then = item + next.distance;
    const auto task = static_cast<std::size_t>(schedule_.task(StageId(next.stage), then));
    if (++met_[task] == graph_.needs(next.stage, then))
      become_ready(next.stage, then, {by, next.wait, event});
  }
}

void Engine::consider(std::size_t pool) {
  if (!pools_[pool].can_start()) return;
  const Waiting& head = pools_[pool].waiting.top();
  candidates_.push({head.ready, head.item, head.stage});
}

/// Candidates may be outdated: each is checked against the head of its resource's queue.
void Engine::start_all() {
  while (!candidates_.empty()) {
    const Candidate first = candidates_.top();
    candidates_.pop();
    const std::size_t id = index_of(pipeline_.stages[first.stage].pool);
    PoolState& pool = pools_[id];
    if (!pool.can_start()) continue;
    const Waiting head = pool.waiting.top();
    if (head.stage != first.stage || head.item != first.item) continue;
    pool.waiting.pop();
    start(pool, head);
    consider(id);
  }
}

void Engine::start(PoolState& pool, const Waiting& next) {
  const TaskId task = schedule_.task(StageId(next.stage), next.item);
  const std::uint32_t server = pool.free.take();
  schedule_.server[static_cast<std::size_t>(task)] = server;
  state_[static_cast<std::size_t>(task)] = TaskState::running;
  ++started_;
  if (record_) record_start(pool, task, next, server);
  if (pool.in_order()) {
    pool.previous_in_order = task;
    pool.next_turn();
  }
  const Ticks time = graph_.time(next.stage, next.item);
  if (pool.spec->sharing == Sharing::fair) {
    pool.fair.start(now_, pool.spec->servers, time, next.item, next.stage);
    announce_fair_end(pool);
  } else {
    coming_.push({now_ + time, next.item, next.stage, Coming::What::end, 0});
  }
  offer_source(next.stage, next.item);
  if (!buffers_.empty()) take_from_buffers(next.stage, next.item, task);
  meet(graph_.on_start, next.stage, next.item, Event::start);
}

void Engine::record_start(PoolState& pool, TaskId task, const Waiting& next, std::uint32_t server) {
  const auto t = static_cast<std::size_t>(task);
  schedule_.start[t] = now_;
  schedule_.order.push_back(task);
  if (server >= pool.last_on_server.size()) {
    pool.last_on_server.resize(server + 1, kNoTask);
    pool.freed_at.resize(server + 1, -1);
  }
  const TaskId before = pool.last_on_server[server];
  schedule_.before_on_server[t] = before;
  pool.last_on_server[server] = task;
  if (now_ == next.ready) return;  // the cause is what made it ready
  if (pool.freed_at[server] == now_) {
    const auto b = static_cast<std::size_t>(before);
    const bool held = !schedule_.release.empty() && schedule_.release[b] > schedule_.end[b];
    schedule_.cause[t] = {before, held ? Wait::buffer_full : Wait::server, Event::finish};
  } else {
    schedule_.cause[t] = {pool.previous_in_order, Wait::turn, Event::start};
  }
}

void Engine::announce_fair_end(PoolState& pool) {
  ++pool.fair.version;
  if (pool.fair.idle()) return;
  const FairShare::Running& next = pool.fair.next();
  coming_.push({std::max(now_, pool.fair.next_end(pool.spec->servers)), next.item, next.stage,
                Coming::What::fair_end, pool.fair.version});
}

void Engine::end(std::uint32_t stage, std::int64_t item) {
  const TaskId task = schedule_.task(StageId(stage), item);
  state_[static_cast<std::size_t>(task)] = TaskState::ended;
  if (record_) schedule_.end[static_cast<std::size_t>(task)] = now_;
  Ticks& completion = schedule_.completion[static_cast<std::size_t>(item)];
  completion = std::max(completion, now_);
  if (!buffers_.empty()) put_into_buffers(stage, task);
  if (!blocked(task)) release(task, kNoTask);
  meet(graph_.on_finish, stage, item, Event::finish);
}

void Engine::put_into_buffers(std::uint32_t stage, TaskId task) {
  for (const std::uint32_t b : graph_.buffers_out.of(stage)) {
    if (buffers_[b].used < pipeline_.buffers[b].capacity) {
      ++buffers_[b].used;
    } else {
      buffers_[b].block(schedule_.item_of(task));
      ++holds_[static_cast<std::size_t>(task)];
    }
  }
}

void Engine::take_from_buffers(std::uint32_t stage, std::int64_t item, TaskId taker) {
  for (const std::uint32_t b : graph_.buffers_in.of(stage)) {
    BufferState& buffer = buffers_[b];
    std::int64_t gone = item;  // from its producer's server, or else the first that waits moves in
    if (buffer.blocks(item)) {
      buffer.unblock(item);
    } else {
      --buffer.used;
      if (!buffer.unblock_first(gone)) continue;
      ++buffer.used;
    }
    const TaskId freed = schedule_.task(pipeline_.buffers[b].producer, gone);
    if (--holds_[static_cast<std::size_t>(freed)] == 0) release(freed, taker);
  }
}

void Engine::release(TaskId task, TaskId by) {
  const auto t = static_cast<std::size_t>(task);
  const std::size_t id = index_of(pipeline_.stages[index_of(schedule_.stage_of(task))].pool);
  const std::uint32_t server = schedule_.server[t];
  pools_[id].free.give_back(server);
  if (record_) pools_[id].freed_at[server] = now_;
  if (record_ && !schedule_.release.empty()) {
    schedule_.release[t] = now_;
    schedule_.release_by[t] = by;
  }
  consider(id);
}

void Engine::handle(const Coming& next) {
  switch (next.what) {
    case Coming::What::end:
      return end(next.stage, next.item);
    case Coming::What::ready:
      return join_queue(next.stage, next.item, next.at);
    case Coming::What::fair_end: {
      PoolState& pool = pools_[index_of(pipeline_.stages[next.stage].pool)];
      if (next.version != pool.fair.version) return;
      const FairShare::Running done = pool.fair.finish(now_);
      announce_fair_end(pool);
      return end(done.stage, done.item);
    }
  }
}

Schedule Engine::run() {
  offer_first();
  start_all();
  while (!coming_.empty()) {
    now_ = coming_.top().at;
    while (!coming_.empty() && coming_.top().at == now_) {
      const Coming next = coming_.top();
      coming_.pop();
      handle(next);
    }
    start_all();
  }
  if (started_ < state_.size()) {
    schedule_.deadlock = find_deadlock(*this);
  } else {
    schedule_.makespan_ticks =
        *std::max_element(schedule_.completion.begin(), schedule_.completion.end());
  }
  return std::move(schedule_);
}

Schedule make_schedule(const Pipeline& pipeline, const ScheduleOptions& options) {
  return Engine(pipeline, options).run();
}

Seconds Schedule::time_of(Ticks ticks) const {
  return Seconds(static_cast<double>(ticks) / ticks_per_second);
}

Seconds Schedule::start_of(StageId stage, std::int64_t item) const {
  return time_of(start[static_cast<std::size_t>(task(stage, item))]);
}

Seconds Schedule::end_of(StageId stage, std::int64_t item) const {
  return time_of(end[static_cast<std::size_t>(task(stage, item))]);
}

std::string_view word(Wait wait) {
  switch (wait) {
    case Wait::nothing:
      return "nothing";
    case Wait::arrival:
      return "arrival";
    case Wait::data:
      return "data";
    case Wait::buffer_empty:
      return "buffer empty";
    case Wait::synchronous:
      return "synchronous call";
    case Wait::stream:
      return "stream order";
    case Wait::program:
      return "program order";
    case Wait::credit:
      return "credit";
    case Wait::server:
      return "server busy";
    case Wait::buffer_full:
      return "buffer full";
    case Wait::turn:
      return "turn";
  }
  return "nothing";
}

}  // namespace floorline
