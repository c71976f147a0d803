// SPDX-License-Identifier: Apache-2.0
#include "model/timeline/analysis.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "model/quantity/expect.hpp"

namespace floorline {

namespace {

struct Interval {
  Ticks from = 0;
  Ticks to = 0;
};

/// Intervals that do not touch, in time. `order` gives starts in time.
template <class Counts>
std::vector<Interval> union_of(const Pipeline& p, const Schedule& s, const Counts& counts) {
  std::vector<Interval> all;
  for (const TaskId task : s.order) {
    const auto t = static_cast<std::size_t>(task);
    if (s.end[t] == s.start[t] || !counts(p.stages[index_of(s.stage_of(task))])) continue;
    if (!all.empty() && s.start[t] <= all.back().to) {
      all.back().to = std::max(all.back().to, s.end[t]);
    } else {
      all.push_back({s.start[t], s.end[t]});
    }
  }
  return all;
}

Ticks length_of(const std::vector<Interval>& all) {
  Ticks sum = 0;
  for (const Interval& i : all) sum += i.to - i.from;
  return sum;
}

Ticks overlap_of(const std::vector<Interval>& a, const std::vector<Interval>& b) {
  Ticks sum = 0;
  std::size_t j = 0;
  for (const Interval& x : a) {
    while (j < b.size() && b[j].to <= x.from) ++j;
    for (std::size_t k = j; k < b.size() && b[k].from < x.to; ++k)
      sum += std::min(x.to, b[k].to) - std::max(x.from, b[k].from);
  }
  return sum;
}

bool on_gpu(const Pipeline& p, const Stage& stage) {
  return p.pools[index_of(stage.pool)].kind == PoolKind::gpu;
}

void add_unions(const Pipeline& p, Timeline& timeline) {
  const Schedule& s = timeline.schedule;
  const auto has = [&](auto counts) {
    return std::any_of(p.stages.begin(), p.stages.end(), counts);
  };
  const auto kernel = [&p](const Stage& stage) { return on_gpu(p, stage); };
  const auto compute = [&p](const Stage& stage) { return on_gpu(p, stage) && !stage.collective; };
  const auto collective = [](const Stage& stage) { return stage.collective; };
  if (has(kernel) && s.makespan_ticks > 0)
    timeline.gpu_util = static_cast<double>(length_of(union_of(p, s, kernel))) /
                        static_cast<double>(s.makespan_ticks);
  if (!has(collective)) return;
  const std::vector<Interval> communication = union_of(p, s, collective);
  const Ticks all = length_of(communication);
  timeline.communication = s.time_of(all);
  timeline.exposed_communication =
      s.time_of(all - overlap_of(communication, union_of(p, s, compute)));
}

std::vector<GroupReport> groups_of(const Pipeline& p) {
  std::vector<GroupReport> groups;
  std::map<std::string, std::size_t> named;
  for (std::uint32_t s = 0; s < p.stages.size(); ++s) {
    const Stage& stage = p.stages[s];
    std::size_t at = groups.size();
    if (!stage.group.empty()) at = named.emplace(stage.group, at).first->second;
    if (at == groups.size()) {
      groups.emplace_back();
      groups.back().name = stage.group.empty() ? stage.name : stage.group;
    }
    groups[at].stages.push_back(StageId{s});
  }
  return groups;
}

void add_times(const Pipeline& p, Timeline& timeline) {
  const Schedule& s = timeline.schedule;
  std::vector<std::size_t> group_of(p.stages.size());
  std::vector<TickSum> busy(timeline.groups.size(), 0);
  std::vector<Ticks> path(timeline.groups.size(), 0);
  std::vector<Ticks> slack(timeline.groups.size(), s.makespan_ticks);
  for (std::size_t g = 0; g < timeline.groups.size(); ++g)
    for (const StageId id : timeline.groups[g].stages) group_of[index_of(id)] = g;
  const std::vector<Ticks> slacks = task_slack(p, s);
  for (std::size_t t = 0; t < s.end.size(); ++t) {
    const std::size_t g = group_of[t % s.stages];
    busy[g] += s.end[t] - s.start[t];
    slack[g] = std::min(slack[g], slacks[t]);
  }
  for (const PathStep& step : timeline.critical_path.steps)
    path[group_of[index_of(step.stage)]] += step.end - step.start;
  for (std::size_t g = 0; g < timeline.groups.size(); ++g) {
    timeline.groups[g].busy = s.time_of_sum(busy[g]);
    timeline.groups[g].on_path = s.time_of(path[g]);
    timeline.groups[g].slack = s.time_of(slack[g]);
  }
}

SpeedUp schedule_again(const Pipeline& p, const GroupReport& group, double factor, Ticks before) {
  ScheduleOptions options;
  options.record = false;
  options.factor.assign(p.stages.size(), 1);
  for (const StageId id : group.stages) options.factor[index_of(id)] = factor;
  const Schedule s = make_schedule(p, options);
  if (s.deadlock) return {Seconds(0), true, true};
  return {s.makespan(), s.makespan_ticks > before, false};
}

/// Those that fill the critical path first, as far as the budget goes.
void add_speed_ups(const Pipeline& p, const TimelineOptions& options, Timeline& timeline) {
  std::vector<GroupReport*> ranked;
  for (GroupReport& group : timeline.groups) ranked.push_back(&group);
  std::stable_sort(ranked.begin(), ranked.end(), [](const GroupReport* a, const GroupReport* b) {
    return a->on_path > b->on_path;
  });
  std::int64_t tasks = 0;  // what one schedule costs: its tasks and their dependencies
  for (const Stage& stage : p.stages)
    tasks += p.items * static_cast<std::int64_t>(1 + stage.after.size() / 4);
  std::int64_t budget = options.speed_up_tasks;
  for (GroupReport* group : ranked) {
    budget -= 2 * tasks;
    if (budget < 0) return;
    const Ticks before = timeline.schedule.makespan_ticks;
    group->twice_as_fast = schedule_again(p, *group, 0.5, before);
    group->free = schedule_again(p, *group, 0, before);
  }
}

}  // namespace

Timeline analyse(const Pipeline& pipeline, Schedule schedule, const TimelineOptions& options) {
  FLOORLINE_EXPECT(!schedule.deadlock);
  FLOORLINE_EXPECT(schedule.order.size() == schedule.end.size());
  Timeline timeline;
  timeline.schedule = std::move(schedule);
  timeline.first_item = timeline.schedule.time_of(timeline.schedule.completion.front());
  timeline.period = steady_period(pipeline, timeline.schedule);
  timeline.resources = resource_use(pipeline, timeline.schedule);
  timeline.critical_path = critical_chain(timeline.schedule);
  timeline.groups = groups_of(pipeline);
  add_times(pipeline, timeline);
  add_unions(pipeline, timeline);
  if (options.speed_ups) add_speed_ups(pipeline, options, timeline);
  return timeline;
}

}  // namespace floorline
