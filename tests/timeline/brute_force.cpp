// SPDX-License-Identifier: Apache-2.0
#include "tests/timeline/brute_force.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace floorline {

namespace {

struct Task {
  std::int64_t start = -1, end = -1, ready = -1, released = -1, server = -1, time = 0;
};

class Stepper {
 public:
  Stepper(const Pipeline& pipeline, Seconds unit) : p(pipeline), n(pipeline.items) {
    tasks.resize(p.stages.size() * static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::size_t s = 0; s < p.stages.size(); ++s) {
        const StageId id{static_cast<std::uint32_t>(s)};
        at(s, i).time = std::llround(p.time_of(id, i) / unit);
      }
      if (!p.arrivals.empty())
        arrivals.push_back(std::llround(p.arrivals[static_cast<std::size_t>(i)] / unit));
    }
    for (const Stage& s : p.stages) not_before.push_back(std::llround(s.not_before / unit));
  }

  BruteForce run() {
    for (now = 0; !all_ended() && now <= serial(); ++now) {
      bool changed = true;
      while (changed) {
        changed = end_what_is_over();
        mark_ready();
        while (start_one()) changed = true;
      }
    }
    BruteForce result;
    result.deadlock = !all_ended();
    for (const Task& t : tasks) {
      result.start.push_back(t.start);
      result.end.push_back(t.end);
      result.server.push_back(t.server);
    }
    return result;
  }

 private:
  Task& at(std::size_t s, std::int64_t i) {
    return tasks[static_cast<std::size_t>(i) * p.stages.size() + s];
  }
  bool all_ended() const {
    return std::all_of(tasks.begin(), tasks.end(), [](const Task& t) { return t.end >= 0; });
  }

  /// Nothing takes longer than all one after another, after the last arrival.
  std::int64_t serial() const {
    std::int64_t sum = 0;
    for (const Task& t : tasks) sum += t.time;
    for (const std::int64_t a : not_before) sum = sum + a;
    for (const std::int64_t a : arrivals) sum = sum + a;
    return sum;
  }

  bool end_what_is_over() {
    bool any = false;
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::size_t s = 0; s < p.stages.size(); ++s) {
        Task& t = at(s, i);
        if (t.start < 0 || t.end >= 0 || t.start + t.time > now) continue;
        t.end = now;
        any = true;
        ended.push_back({s, i});
      }
    }
    release_what_has_room();
    return any;
  }

  /// Of the ended items of a producer whose consumer has not started, the first `capacity` by end
  /// may lie in the buffer... but one that found a place keeps it, so places are handed out once.
  void release_what_has_room() {
    for (const auto& [s, i] : ended) {
      for (std::size_t b = 0; b < p.buffers.size(); ++b) {
        const Buffer& buffer = p.buffers[b];
        if (index_of(buffer.producer) != s || settled(b, i)) continue;
        if (at(index_of(buffer.consumer), i).start >= 0) {
          settle(b, i);
        } else if (lying(b) < buffer.capacity) {
          settle(b, i);
        }
      }
      Task& t = at(s, i);
      if (t.released < 0 && all_settled(s, i)) t.released = now;
    }
  }
  std::int64_t lying(std::size_t b) {
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < n; ++i)
      if (settled(b, i) && at(index_of(p.buffers[b].consumer), i).start < 0) ++count;
    return count;
  }
  bool settled(std::size_t b, std::int64_t i) const {
    return std::find(places.begin(), places.end(), std::make_pair(b, i)) != places.end();
  }
  void settle(std::size_t b, std::int64_t i) { places.push_back({b, i}); }
  bool all_settled(std::size_t s, std::int64_t i) const {
    for (std::size_t b = 0; b < p.buffers.size(); ++b)
      if (index_of(p.buffers[b].producer) == s && !settled(b, i)) return false;
    return true;
  }

  void mark_ready() {
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::size_t s = 0; s < p.stages.size(); ++s) {
        Task& t = at(s, i);
        if (t.ready >= 0 || now < not_before[s]) continue;
        if (!arrivals.empty() && now < arrivals[static_cast<std::size_t>(i)]) continue;
        bool met = true;
        for (const Dependency& d : p.stages[s].after) {
          if (d.distance > i) continue;
          const Task& before = at(index_of(d.stage), i - d.distance);
          met = met && (d.event == Event::finish ? before.end >= 0 : before.start >= 0);
        }
        if (met) t.ready = now;
      }
    }
  }

  std::int64_t free_server(std::size_t pool) {
    for (std::int64_t k = 0; k < p.pools[pool].servers; ++k) {
      bool used = false;
      for (std::size_t s = 0; s < p.stages.size(); ++s)
        for (std::int64_t i = 0; i < n && index_of(p.stages[s].pool) == pool; ++i)
          used = used || (at(s, i).start >= 0 && at(s, i).released < 0 && at(s, i).server == k);
      if (!used) return k;
    }
    return -1;
  }

  using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
  Key queue_key(std::size_t s, std::int64_t i) {
    const auto stage = static_cast<std::int64_t>(s);
    switch (p.pool_of(StageId{static_cast<std::uint32_t>(s)}).queue) {
      case Queue::priority:
        return {p.stages[s].sequence, i, stage};
      case Queue::in_order:
        return {i, p.stages[s].sequence, stage};
      case Queue::fifo:
        break;
    }
    return {at(s, i).ready, i, stage};
  }

  /// The first of a resource's queue, if it may go: its stage and item.
  bool head(std::size_t pool, std::size_t& stage, std::int64_t& item) {
    const bool in_order = p.pools[pool].queue == Queue::in_order;
    bool found = false;
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::size_t s = 0; s < p.stages.size(); ++s) {
        if (index_of(p.stages[s].pool) != pool || at(s, i).start >= 0) continue;
        if (!in_order && at(s, i).ready < 0) continue;
        if (found && queue_key(stage, item) < queue_key(s, i)) continue;
        stage = s;
        item = i;
        found = true;
      }
    }
    return found && at(stage, item).ready >= 0;
  }

  bool start_one() {
    bool found = false;
    std::size_t stage = 0;
    std::int64_t item = 0;
    for (std::size_t pool = 0; pool < p.pools.size(); ++pool) {
      std::size_t s = 0;
      std::int64_t i = 0;
      if (free_server(pool) < 0 || !head(pool, s, i)) continue;
      const auto key = [&](std::size_t a, std::int64_t b) {
        return Key{at(a, b).ready, b, static_cast<std::int64_t>(a)};
      };
      if (found && key(stage, item) < key(s, i)) continue;
      stage = s;
      item = i;
      found = true;
    }
    if (!found) return false;
    at(stage, item).server = free_server(index_of(p.stages[stage].pool));
    at(stage, item).start = now;
    release_what_has_room();
    mark_ready();
    return true;
  }

  const Pipeline& p;
  std::int64_t n;
  std::int64_t now = 0;
  std::vector<Task> tasks;
  std::vector<std::int64_t> arrivals, not_before;
  std::vector<std::pair<std::size_t, std::int64_t>> ended;  ///< in the order of their ends
  std::vector<std::pair<std::size_t, std::int64_t>> places;
};

}  // namespace

BruteForce brute_force(const Pipeline& pipeline, Seconds unit) {
  return Stepper(pipeline, unit).run();
}

}  // namespace floorline
