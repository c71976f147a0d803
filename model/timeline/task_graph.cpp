// SPDX-License-Identifier: Apache-2.0
#include "model/timeline/task_graph.hpp"

#include <algorithm>
#include <cmath>

#include "model/input/diagnostic.hpp"
#include "model/quantity/expect.hpp"

namespace floorline {

namespace {

constexpr double kMostTicks = 4e18;        // below 2^62: sums of two do not overflow
constexpr double kFinestPerSecond = 1e15;  // 1 fs

[[noreturn]] void refuse(const Pipeline& pipeline, const char* key, const std::string& why) {
  const std::string name = pipeline.name.empty() ? "pipeline" : pipeline.name;
  throw InputError(Diagnostic{position_in(name), key, why});
}

bool waits_for_result(const Stage& consumer, StageId producer) {
  return std::any_of(consumer.after.begin(), consumer.after.end(), [&](const Dependency& d) {
    return d.stage == producer && d.distance == 0 && d.event == Event::finish;
  });
}

/// What the builder of a pipeline promised; readers have checked their files before.
void check(const Pipeline& p) {
  FLOORLINE_EXPECT(p.items >= 1);
  FLOORLINE_EXPECT(p.arrivals.empty() || p.arrivals.size() == static_cast<std::size_t>(p.items));
  for (const Pool& pool : p.pools) {
    FLOORLINE_EXPECT(pool.servers >= 1);
    FLOORLINE_EXPECT(pool.scaling_efficiency > 0);
  }
  for (const Stage& stage : p.stages) {
    FLOORLINE_EXPECT(index_of(stage.pool) < p.pools.size());
    FLOORLINE_EXPECT(stage.time.is_constant() ||
                     stage.time.per_item.size() == static_cast<std::size_t>(p.items));
    for (const Dependency& d : stage.after) {
      FLOORLINE_EXPECT(index_of(d.stage) < p.stages.size());
      FLOORLINE_EXPECT(d.distance >= 0);
    }
  }
  for (const Buffer& b : p.buffers) {
    FLOORLINE_EXPECT(b.capacity >= 0);
    FLOORLINE_EXPECT(waits_for_result(p.stages[index_of(b.consumer)], b.producer));
  }
}

void check_size(const Pipeline& p) {
  const double tasks = static_cast<double>(p.items) * static_cast<double>(p.stages.size());
  if (tasks <= static_cast<double>(kMostTasks)) return;
  refuse(
      p, "items",
      std::to_string(p.items) + " items of " + std::to_string(p.stages.size()) +
          " stages are more than " + std::to_string(kMostTasks) +
          " steps to place one by one; expected fewer items (the period of many is that of few)");
}

template <class T, class Count, class Fill>
Rows<T> rows_of(std::size_t count, const Count& count_into, const Fill& fill) {
  Rows<T> rows;
  rows.begin.assign(count + 1, 0);
  count_into(rows.begin);
  for (std::size_t i = 1; i <= count; ++i) rows.begin[i] += rows.begin[i - 1];
  rows.all.resize(rows.begin[count]);
  std::vector<std::uint32_t> next(rows.begin.begin(), rows.begin.end() - 1);
  fill(rows.all, next);
  return rows;
}

bool through_buffer(const Pipeline& p, std::size_t consumer, const Dependency& d,
                    const Rows<std::uint32_t>& buffers_in) {
  if (d.distance != 0 || d.event != Event::finish) return false;
  for (const std::uint32_t b : buffers_in.of(consumer))
    if (p.buffers[b].producer == d.stage) return true;
  return false;
}

Wait wait_of(DependencyKind kind) {
  switch (kind) {
    case DependencyKind::data:
      return Wait::data;
    case DependencyKind::synchronous:
      return Wait::synchronous;
    case DependencyKind::stream:
      return Wait::stream;
    case DependencyKind::program:
      return Wait::program;
    case DependencyKind::credit:
      return Wait::credit;
  }
  return Wait::data;
}

Rows<Successor> successors(const Pipeline& p, Event event, const Rows<std::uint32_t>& buffers_in) {
  const auto count = [&](std::vector<std::uint32_t>& begin) {
    for (const Stage& stage : p.stages)
      for (const Dependency& d : stage.after)
        if (d.event == event) ++begin[index_of(d.stage) + 1];
  };
  const auto fill = [&](std::vector<Successor>& all, std::vector<std::uint32_t>& next) {
    for (std::size_t s = 0; s < p.stages.size(); ++s) {
      for (const Dependency& d : p.stages[s].after) {
        if (d.event != event) continue;
        const Wait wait =
            through_buffer(p, s, d, buffers_in) ? Wait::buffer_empty : wait_of(d.kind);
        all[next[index_of(d.stage)]++] = {static_cast<std::uint32_t>(s), wait, d.distance};
      }
    }
  };
  return rows_of<Successor>(p.stages.size(), count, fill);
}

Rows<std::uint32_t> buffers_by(const Pipeline& p, StageId Buffer::*side) {
  const auto count = [&](std::vector<std::uint32_t>& begin) {
    for (const Buffer& b : p.buffers) ++begin[index_of(b.*side) + 1];
  };
  const auto fill = [&](std::vector<std::uint32_t>& all, std::vector<std::uint32_t>& next) {
    for (std::size_t i = 0; i < p.buffers.size(); ++i)
      all[next[index_of(p.buffers[i].*side)]++] = static_cast<std::uint32_t>(i);
  };
  return rows_of<std::uint32_t>(p.stages.size(), count, fill);
}

/// The longest the run could take: everything one after another, after the last arrival.
double serial_seconds(const Pipeline& p, const std::vector<double>& factor) {
  double sum = 0;
  double latest = 0;
  for (std::size_t s = 0; s < p.stages.size(); ++s) {
    const StageId id{static_cast<std::uint32_t>(s)};
    const double scale = factor.empty() ? 1 : factor[s];
    latest = std::max(latest, p.stages[s].not_before.in_base_units());
    const bool constant = p.stages[s].time.is_constant();
    const std::int64_t distinct = constant ? 1 : p.items;
    for (std::int64_t i = 0; i < distinct; ++i)
      sum += p.time_of(id, i).in_base_units() * scale *
             (constant ? static_cast<double>(p.items) : 1.0);
  }
  for (const Seconds a : p.arrivals) latest = std::max(latest, a.in_base_units());
  return sum + latest;
}

double finest_tick(const Pipeline& p, double longest) {
  double per_second = kFinestPerSecond;
  while (longest * per_second > kMostTicks && per_second > 1) per_second /= 10;
  if (!(longest * per_second <= kMostTicks)) refuse(p, "time", "the run takes more than 4e18 s");
  return per_second;
}

Ticks ticks(Seconds time, double scale, double per_second) {
  FLOORLINE_EXPECT(time >= Seconds(0));
  return std::llround(time.in_base_units() * scale * per_second);
}

void fill_times(const Pipeline& p, const std::vector<double>& factor, TaskGraph& g) {
  for (std::size_t s = 0; s < g.stages; ++s) {
    const StageId id{static_cast<std::uint32_t>(s)};
    const double scale = factor.empty() ? 1 : factor[s];
    g.not_before.push_back(ticks(p.stages[s].not_before, 1, g.ticks_per_second));
    const bool constant = p.stages[s].time.is_constant();
    g.constant.push_back(constant ? ticks(p.time_of(id, 0), scale, g.ticks_per_second) : 0);
    std::vector<Ticks>& varied = g.per_item.emplace_back();
    if (constant) continue;
    varied.reserve(static_cast<std::size_t>(p.items));
    for (std::int64_t i = 0; i < p.items; ++i)
      varied.push_back(ticks(p.time_of(id, i), scale, g.ticks_per_second));
  }
  for (const Seconds a : p.arrivals) g.arrivals.push_back(ticks(a, 1, g.ticks_per_second));
  g.arrivals_sorted = std::is_sorted(g.arrivals.begin(), g.arrivals.end());
}

void add_distances(const Pipeline& p, TaskGraph& g) {
  g.distances.begin.push_back(0);
  for (const Stage& stage : p.stages) {
    const auto first = static_cast<std::ptrdiff_t>(g.distances.all.size());
    for (const Dependency& d : stage.after) g.distances.all.push_back(d.distance);
    std::sort(g.distances.all.begin() + first, g.distances.all.end());
    g.distances.begin.push_back(static_cast<std::uint32_t>(g.distances.all.size()));
    g.max_distance.push_back(stage.after.empty() ? -1 : g.distances.all.back());
  }
}

}  // namespace

std::uint32_t TaskGraph::needs(std::size_t stage, std::int64_t item) const {
  const std::span<const std::int64_t> all = distances.of(stage);
  if (item >= max_distance[stage]) return static_cast<std::uint32_t>(all.size());
  return static_cast<std::uint32_t>(std::upper_bound(all.begin(), all.end(), item) - all.begin());
}

TaskGraph task_graph_of(const Pipeline& pipeline, const std::vector<double>& factor) {
  check(pipeline);
  check_size(pipeline);
  TaskGraph g;
  g.stages = pipeline.stages.size();
  g.items = pipeline.items;
  g.buffers_out = buffers_by(pipeline, &Buffer::producer);
  g.buffers_in = buffers_by(pipeline, &Buffer::consumer);
  g.on_finish = successors(pipeline, Event::finish, g.buffers_in);
  g.on_start = successors(pipeline, Event::start, g.buffers_in);
  add_distances(pipeline, g);
  // The tick of the unscaled run: what-ifs are then counted in the same ticks.
  g.ticks_per_second = finest_tick(pipeline, serial_seconds(pipeline, {}));
  FLOORLINE_EXPECT(factor.empty() || factor.size() == g.stages);
  fill_times(pipeline, factor, g);
  return g;
}

}  // namespace floorline
