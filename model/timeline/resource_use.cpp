// SPDX-License-Identifier: Apache-2.0
// Busy, held and idle time of every resource, and why each gap is there.
#include <algorithm>
#include <map>
#include <tuple>

#include "model/timeline/analysis.hpp"

namespace floorline {

namespace {

struct Tally {
  TickSum time = 0;
  std::int64_t gaps = 0;
};

/// (wait, stage or -1, ended) to time.
using Reasons = std::map<std::tuple<Wait, std::int64_t, bool>, Tally>;

class Use {
 public:
  Use(const Pipeline& p, const Schedule& s) : p_(p), s_(s), pools_(p.pools.size()) {}

  void add(TaskId task) {
    const auto t = static_cast<std::size_t>(task);
    const std::size_t pool = index_of(p_.stages[index_of(s_.stage_of(task))].pool);
    PerPool& use = pools_[pool];
    if (p_.pools[pool].sharing == Sharing::fair) return add_shared(task, use);
    use.busy += s_.end[t] - s_.start[t];
    if (s_.server[t] >= use.free_from.size()) use.free_from.resize(s_.server[t] + 1, 0);
    Ticks& free_from = use.free_from[s_.server[t]];
    if (s_.start[t] > free_from) gap(use, t, s_.start[t] - free_from);
    free_from = s_.end[t];
    if (s_.release.empty() || s_.release[t] <= s_.end[t]) return;
    free_from = s_.release[t];
    use.held += s_.release[t] - s_.end[t];
    const auto taker = static_cast<std::int64_t>(index_of(s_.stage_of(s_.release_by[t])));
    tally(use, {Wait::buffer_full, taker, false}, s_.release[t] - s_.end[t]);
  }

  ResourceUse result(std::size_t pool) {
    PerPool& use = pools_[pool];
    const bool fair = p_.pools[pool].sharing == Sharing::fair;
    const double servers = fair ? 1.0 : static_cast<double>(p_.pools[pool].servers);
    for (const Ticks free_from : use.free_from)
      if (free_from < s_.makespan_ticks)
        tally(use, {Wait::nothing, -1, true}, s_.makespan_ticks - free_from);
    ResourceUse result;
    result.pool = PoolId{static_cast<std::uint32_t>(pool)};
    result.busy = s_.time_of_sum(use.busy);
    result.held = s_.time_of_sum(use.held);
    const Seconds all = s_.makespan() * servers;
    result.idle = std::max(Seconds(0), all - result.busy - result.held);
    result.utilization = all > Seconds(0) ? std::min(1.0, result.busy / all) : 0;
    for (const auto& [key, tally] : use.reasons) {
      IdleReason reason;
      reason.wait = std::get<0>(key);
      if (std::get<1>(key) >= 0)
        reason.stage = StageId{static_cast<std::uint32_t>(std::get<1>(key))};
      reason.ended = std::get<2>(key);
      reason.time = s_.time_of_sum(tally.time);
      reason.gaps = tally.gaps;
      result.why.push_back(reason);
    }
    std::stable_sort(result.why.begin(), result.why.end(),
                     [](const IdleReason& a, const IdleReason& b) { return a.time > b.time; });
    return result;
  }

 private:
  struct PerPool {
    TickSum busy = 0;
    TickSum held = 0;
    std::vector<Ticks> free_from;  ///< a server
    Reasons reasons;
  };
  static void tally(PerPool& use, const std::tuple<Wait, std::int64_t, bool>& key, Ticks time) {
    Tally& tally = use.reasons[key];
    tally.time += time;
    ++tally.gaps;
  }
  void gap(PerPool& use, std::size_t t, Ticks time) {
    const Cause& cause = s_.cause[t];
    const std::int64_t stage =
        cause.task == kNoTask ? -1 : static_cast<std::int64_t>(index_of(s_.stage_of(cause.task)));
    tally(use, {cause.wait, stage, false}, time);
  }
  /// A shared resource is busy while anything runs on it.
  void add_shared(TaskId task, PerPool& use) {
    const auto t = static_cast<std::size_t>(task);
    if (use.free_from.empty()) use.free_from.push_back(0);
    Ticks& free_from = use.free_from.front();
    if (s_.start[t] > free_from) gap(use, t, s_.start[t] - free_from);
    const Ticks from = std::max(free_from, s_.start[t]);
    if (s_.end[t] <= from) return;
    use.busy += s_.end[t] - from;
    free_from = s_.end[t];
  }

  const Pipeline& p_;
  const Schedule& s_;
  std::vector<PerPool> pools_;
};

}  // namespace

std::vector<ResourceUse> resource_use(const Pipeline& pipeline, const Schedule& schedule) {
  Use use(pipeline, schedule);
  for (const TaskId task : schedule.order) use.add(task);
  std::vector<ResourceUse> all;
  for (std::size_t r = 0; r < pipeline.pools.size(); ++r) all.push_back(use.result(r));
  return all;
}

}  // namespace floorline
