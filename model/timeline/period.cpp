// SPDX-License-Identifier: Apache-2.0
#include "model/timeline/period.hpp"

#include <algorithm>

namespace floorline {

namespace {

constexpr std::int64_t kLongestRepeat = 1000;  // items after which a schedule may repeat
constexpr std::int64_t kProbeItems = 1000;     // of a run made to find the period
constexpr std::int64_t kProbeTasks = 1'000'000;

bool same_for_all_items(const Pipeline& p) {
  return p.arrivals.empty() && std::all_of(p.stages.begin(), p.stages.end(),
                                           [](const Stage& s) { return s.time.is_constant(); });
}

Seconds time_per_item(const Pipeline& p, StageId stage) {
  if (p.stages[index_of(stage)].time.is_constant()) return p.time_of(stage, 0);
  Seconds sum{0};
  for (std::int64_t i = 0; i < p.items; ++i) sum += p.time_of(stage, i);
  return sum / static_cast<double>(p.items);
}

void busiest_resource(const Pipeline& p, Period& period) {
  std::vector<Seconds> load(p.pools.size());
  for (std::uint32_t s = 0; s < p.stages.size(); ++s) {
    const std::size_t pool = index_of(p.stages[s].pool);
    load[pool] += time_per_item(p, StageId{s}) / static_cast<double>(p.pools[pool].servers);
  }
  for (std::uint32_t r = 0; r < load.size(); ++r) {
    if (period.busiest && load[r] <= period.at_least) continue;
    period.at_least = load[r];
    period.busiest = PoolId{r};
  }
}

/// The mean time an item over the second half of all ends.
Seconds second_half(const Schedule& s) {
  std::vector<Ticks> ends = s.completion;
  std::sort(ends.begin(), ends.end());
  const std::size_t half = ends.size() / 2 == ends.size() - 1 ? 0 : ends.size() / 2;
  return s.time_of(ends.back() - ends[half]) / static_cast<double>(ends.size() - 1 - half);
}

/// More items of the same pipeline, so that it has time to settle.
Schedule longer_run(Pipeline p) {
  const auto stages = static_cast<std::int64_t>(p.stages.size());
  p.items =
      std::max(p.items, std::min(kProbeItems, kProbeTasks / std::max<std::int64_t>(stages, 1)));
  ScheduleOptions options;
  options.record = false;
  return make_schedule(p, options);
}

}  // namespace

std::optional<Seconds> repeating_period(const Schedule& schedule) {
  std::vector<Ticks> ends = schedule.completion;
  std::sort(ends.begin(), ends.end());
  const auto n = static_cast<std::int64_t>(ends.size());
  const auto at = [&ends](std::int64_t i) { return ends[static_cast<std::size_t>(i)]; };
  for (std::int64_t k = 1; k <= std::min(kLongestRepeat, n / 4); ++k) {
    const Ticks step = at(n - 1) - at(n - 1 - k);
    std::int64_t i = n - 2;
    while (i >= n / 2 && at(i) - at(i - k) == step) --i;
    if (i < n / 2) return schedule.time_of(step) / static_cast<double>(k);
  }
  return std::nullopt;
}

std::optional<Period> steady_period(const Pipeline& pipeline, const Schedule& schedule) {
  if (pipeline.items < 2 || pipeline.stages.empty()) return std::nullopt;
  Period period;
  busiest_resource(pipeline, period);
  const bool lengthened = same_for_all_items(pipeline) && pipeline.items < kProbeItems;
  const Schedule longer = lengthened ? longer_run(pipeline) : Schedule{};
  const Schedule& run = lengthened && !longer.deadlock ? longer : schedule;
  period.simulated_items = run.items;
  if (same_for_all_items(pipeline)) period.repeats = repeating_period(run);
  if (std::optional<CycleMean> mean = largest_cycle_mean(pipeline)) {
    period.kind = PeriodKind::cycle_mean;
    period.time = mean->time;
    period.cycle = std::move(mean->stages);
    return period;
  }
  const Seconds seen = period.repeats ? *period.repeats : second_half(run);
  period.time = std::max(seen, period.at_least);
  return period;
}

}  // namespace floorline
