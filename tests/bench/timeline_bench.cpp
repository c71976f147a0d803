// SPDX-License-Identifier: Apache-2.0
// How fast schedules are made. Items counted are stage-items.
//   timeline/schedule/*   the event loop alone, everything recorded
//   timeline/analyse/*    with period, use of resources, critical path, slack; no what-ifs
//   timeline/tasks        100,000 single stages with explicit dependencies on 8 ordered resources
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <string>

#include "model/timeline/analysis.hpp"

namespace {

using namespace floorline;

Pipeline loader(std::int64_t items, std::int64_t workers, std::int64_t capacity) {
  Pipeline p;
  p.items = items;
  const double ms[] = {80, 10, 12, 5};
  for (std::uint32_t s = 0; s < 4; ++s) {
    Pool pool;
    pool.name = "r" + std::to_string(s);
    if (s == 0) pool.servers = workers;
    Stage stage;
    stage.name = "s" + std::to_string(s);
    stage.pool = p.add(pool);
    stage.time.constant = milliseconds(ms[s]);
    if (s > 0) stage.after.push_back({StageId{s - 1}});
    p.add(stage);
    if (s > 0 && capacity >= 0) p.buffers.push_back({StageId{s - 1}, StageId{s}, capacity});
  }
  return p;
}

double peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void schedule(benchmark::State& state, std::int64_t workers, std::int64_t capacity) {
  const Pipeline p = loader(1'000'000, workers, capacity);
  for (auto _ : state) benchmark::DoNotOptimize(make_schedule(p));
  state.SetItemsProcessed(state.iterations() * 4'000'000);
  state.counters["peak_MiB"] = peak_mib();
}
BENCHMARK_CAPTURE(schedule, loader, 1, 2)
    ->Name("timeline/schedule/1e6 items x 4, buffers of 2")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(schedule, workers, 8, 16)
    ->Name("timeline/schedule/1e6 items x 4, 8 workers")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(schedule, unbounded, 64, -1)
    ->Name("timeline/schedule/1e6 items x 4, no buffers: a queue of a million")
    ->Unit(benchmark::kMillisecond);

void analysis(benchmark::State& state) {
  const Pipeline p = loader(1'000'000, 8, 16);
  TimelineOptions options;
  options.speed_ups = false;
  for (auto _ : state) benchmark::DoNotOptimize(analyse(p, make_schedule(p), options));
  state.SetItemsProcessed(state.iterations() * 4'000'000);
  state.counters["peak_MiB"] = peak_mib();
}
BENCHMARK(analysis)
    ->Name("timeline/analyse/1e6 items x 4, 8 workers")
    ->Unit(benchmark::kMillisecond);

void tasks(benchmark::State& state) {
  Pipeline p;
  for (int r = 0; r < 8; ++r) {
    Pool pool;
    pool.name = "r" + std::to_string(r);
    pool.queue = Queue::in_order;
    p.add(pool);
  }
  for (std::uint32_t t = 0; t < 100'000; ++t) {
    Stage stage;
    stage.name = "t" + std::to_string(t);
    stage.pool = PoolId{t % 8};
    stage.sequence = t;
    stage.time.constant = microseconds(1 + t % 7);
    if (t >= 8) stage.after.push_back({StageId{t - 8 + t % 5}});
    p.add(stage);
  }
  for (auto _ : state) benchmark::DoNotOptimize(make_schedule(p));
  state.SetItemsProcessed(state.iterations() * 100'000);
}
BENCHMARK(tasks)->Name("timeline/tasks/1e5")->Unit(benchmark::kMillisecond);

}  // namespace
