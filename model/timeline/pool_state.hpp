// SPDX-License-Identifier: Apache-2.0
// One resource while a schedule is made: who waits, which servers are free, what shares it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <tuple>
#include <vector>

#include "model/timeline/pipeline.hpp"
#include "model/timeline/schedule.hpp"

namespace floorline {

/// A task that is ready, with the key of its queue in front.
struct Waiting {
  std::int64_t first = 0;   ///< fifo: ready; priority: sequence; in_order: item
  std::int64_t second = 0;  ///< fifo, priority: item; in_order: sequence
  std::uint32_t stage = 0;
  std::int64_t item = 0;
  Ticks ready = 0;

  friend bool operator>(const Waiting& a, const Waiting& b) {
    return std::tie(a.first, a.second, a.stage) > std::tie(b.first, b.second, b.stage);
  }
};

/// Free servers, the lowest first, without a list of all of them.
class FreeServers {
 public:
  explicit FreeServers(std::int64_t servers) : servers_(servers) {}
  [[nodiscard]] bool any() const { return !returned_.empty() || never_used_ < servers_; }
  std::uint32_t take() {
    if (returned_.empty()) return static_cast<std::uint32_t>(never_used_++);
    const std::uint32_t lowest = returned_.top();
    returned_.pop();
    return lowest;
  }
  void give_back(std::uint32_t server) { returned_.push(server); }

 private:
  std::int64_t servers_;
  std::int64_t never_used_ = 0;
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> returned_;
};

/// Tasks that run at once on a fair resource. Progress is the time each would have had alone; all
/// run at the same rate, so the one that needs least from its start on ends first.
class FairShare {
 public:
  struct Running {
    long double ends_at = 0;  ///< progress
    std::int64_t item = 0;
    std::uint32_t stage = 0;
    friend bool operator>(const Running& a, const Running& b) {
      return std::tie(a.ends_at, a.item, a.stage) > std::tie(b.ends_at, b.item, b.stage);
    }
  };
  void start(Ticks now, std::int64_t servers, Ticks time, std::int64_t item, std::uint32_t stage) {
    advance(now, servers);
    running_.push({progress_ + static_cast<long double>(time), item, stage});
  }
  Running finish(Ticks now) {
    const Running first = running_.top();
    running_.pop();
    progress_ = first.ends_at;
    since_ = now;
    return first;
  }
  [[nodiscard]] bool idle() const { return running_.empty(); }
  [[nodiscard]] const Running& next() const { return running_.top(); }
  /// When the next one ends if nothing starts before.
  [[nodiscard]] Ticks next_end(std::int64_t servers) const {
    const long double left = std::max(running_.top().ends_at - progress_, 0.0L) / rate(servers);
    return since_ + static_cast<Ticks>(left + 0.5L);
  }
  std::int64_t version = 0;  ///< counts changes: older announcements of an end are void

 private:
  [[nodiscard]] long double rate(std::int64_t servers) const {
    return std::min(1.0L,
                    static_cast<long double>(servers) / static_cast<long double>(running_.size()));
  }
  void advance(Ticks now, std::int64_t servers) {
    if (!running_.empty())
      progress_ = std::min(progress_ + static_cast<long double>(now - since_) * rate(servers),
                           running_.top().ends_at);
    since_ = now;
  }
  std::priority_queue<Running, std::vector<Running>, std::greater<>> running_;
  long double progress_ = 0;
  Ticks since_ = 0;
};

struct PoolState {
  explicit PoolState(const Pool& pool)
      : spec(&pool), free(pool.sharing == Sharing::fair ? kMostTasks : pool.servers) {}

  const Pool* spec;
  FreeServers free;
  FairShare fair;
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting;
  std::vector<TaskId> last_on_server;
  std::vector<Ticks> freed_at;

  // in_order: whose turn it is.
  std::vector<std::uint32_t> program;  ///< stages by (sequence, stage)
  std::size_t turn = 0;
  std::int64_t turn_item = 0;
  TaskId previous_in_order = kNoTask;

  [[nodiscard]] bool in_order() const { return spec->queue == Queue::in_order; }
  /// A task waits, it may go, and a server is free.
  [[nodiscard]] bool can_start() const {
    if (waiting.empty() || !free.any()) return false;
    if (!in_order()) return true;
    return waiting.top().item == turn_item && waiting.top().stage == program[turn];
  }
  void next_turn() {
    if (++turn < program.size()) return;
    turn = 0;
    ++turn_item;
  }
  [[nodiscard]] Waiting entry(const Stage& stage, std::uint32_t id, std::int64_t item,
                              Ticks ready) const {
    switch (spec->queue) {
      case Queue::priority:
        return {stage.sequence, item, id, item, ready};
      case Queue::in_order:
        return {item, stage.sequence, id, item, ready};
      case Queue::fifo:
        break;
    }
    return {ready, item, id, item, ready};
  }
};

}  // namespace floorline
