// SPDX-License-Identifier: Apache-2.0
// The event loop behind make_schedule, and what deadlock.cpp needs to see of it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <tuple>
#include <vector>

#include "model/timeline/pool_state.hpp"
#include "model/timeline/schedule.hpp"
#include "model/timeline/task_graph.hpp"

namespace floorline {

/// An end or an arrival to come.
struct Coming {
  Ticks at = 0;
  std::int64_t item = 0;
  std::uint32_t stage = 0;
  enum class What : std::uint8_t { end, fair_end, ready } what = What::end;
  std::int64_t version = 0;

  friend bool operator>(const Coming& a, const Coming& b) {
    return std::tie(a.at, a.item, a.stage) > std::tie(b.at, b.item, b.stage);
  }
};

/// Items in a buffer, and items whose producer has ended and waits for room.
class BufferState {
 public:
  explicit BufferState(std::int64_t items) : blocked_(static_cast<std::size_t>(items), false) {}

  std::int64_t used = 0;
  void block(std::int64_t item) {
    blocked_[static_cast<std::size_t>(item)] = true;
    in_order_.push_back(item);
  }
  [[nodiscard]] bool blocks(std::int64_t item) const {
    return blocked_[static_cast<std::size_t>(item)];
  }
  void unblock(std::int64_t item) { blocked_[static_cast<std::size_t>(item)] = false; }
  /// The first to have ended of those that wait; false if none does.
  bool unblock_first(std::int64_t& item) {
    while (!in_order_.empty()) {
      item = in_order_.front();
      in_order_.pop_front();
      if (!blocks(item)) continue;  // was taken from its server
      unblock(item);
      return true;
    }
    return false;
  }

 private:
  std::vector<bool> blocked_;
  std::deque<std::int64_t> in_order_;  ///< by their ends; those unblocked since stay until met
};

enum class TaskState : std::uint8_t { pending, ready, running, ended };

class Engine {
 public:
  Engine(const Pipeline& pipeline, const ScheduleOptions& options);
  Schedule run();

  // What deadlock.cpp asks for.
  [[nodiscard]] const Pipeline& pipeline() const { return pipeline_; }
  [[nodiscard]] const Schedule& schedule() const { return schedule_; }
  [[nodiscard]] const TaskGraph& graph() const { return graph_; }
  [[nodiscard]] TaskState state(TaskId task) const {
    return state_[static_cast<std::size_t>(task)];
  }
  [[nodiscard]] const PoolState& pool(PoolId id) const { return pools_[index_of(id)]; }
  [[nodiscard]] const BufferState& buffer(std::size_t b) const { return buffers_[b]; }
  [[nodiscard]] bool blocked(TaskId task) const {
    return !holds_.empty() && holds_[static_cast<std::size_t>(task)] > 0;
  }

 private:
  struct Candidate {
    Ticks ready = 0;
    std::int64_t item = 0;
    std::uint32_t stage = 0;
    friend bool operator>(const Candidate& a, const Candidate& b) {
      return std::tie(a.ready, a.item, a.stage) > std::tie(b.ready, b.item, b.stage);
    }
  };
  void offer_first();
  void offer_source(std::uint32_t stage, std::int64_t item);
  void become_ready(std::uint32_t stage, std::int64_t item, Cause cause);
  void join_queue(std::uint32_t stage, std::int64_t item, Ticks ready);
  void meet(const Rows<Successor>& edges, std::uint32_t stage, std::int64_t item, Event event);
  void consider(std::size_t pool);
  void start_all();
  void start(PoolState& pool, const Waiting& next);
  void record_start(PoolState& pool, TaskId task, const Waiting& next, std::uint32_t server);
  void announce_fair_end(PoolState& pool);
  void end(std::uint32_t stage, std::int64_t item);
  void put_into_buffers(std::uint32_t stage, TaskId task);
  void take_from_buffers(std::uint32_t stage, std::int64_t item, TaskId taker);
  void release(TaskId task, TaskId by);
  void handle(const Coming& next);

  const Pipeline& pipeline_;
  TaskGraph graph_;
  bool record_;
  Ticks now_ = 0;
  std::size_t started_ = 0;
  Schedule schedule_;
  std::vector<PoolState> pools_;
  std::vector<BufferState> buffers_;
  std::vector<TaskState> state_;
  std::vector<std::uint32_t> met_;    ///< dependencies met, a task
  std::vector<std::uint32_t> holds_;  ///< buffers without room for it, a task; empty: no buffers
  std::priority_queue<Coming, std::vector<Coming>, std::greater<>> coming_;
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> candidates_;
};

/// The cycle of waiting tasks once nothing can go on.
Deadlock find_deadlock(const Engine& engine);

}  // namespace floorline
