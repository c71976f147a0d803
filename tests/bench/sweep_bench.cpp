// SPDX-License-Identifier: Apache-2.0
// Full evaluations of a decode step (three graph floors, both residencies, binding), one core:
//   sweep/context, batch      one symbol moves from point to point
//   sweep/batch x context     both do
//   sweep/points              what `floorline sweep` evaluates: tp 4 and 8, 256 batches, 256
//                             contexts, as rows; the last axis moves from point to point
#include <benchmark/benchmark.h>

#include "model/device/device_file.hpp"
#include "model/evaluate.hpp"
#include "model/sweep/sweep.hpp"
#include "model/workload/architecture_file.hpp"
#include "model/workload/model_graph.hpp"

namespace {

using namespace floorline;

Evaluation decode_70b(const Machine& machine) {
  Scenario scenario;
  scenario.batch = 16;
  ParallelLayout layout;
  layout.tp = 8;
  const Architecture model = load_architecture("workloads/llama-3.1-70b.json");
  return evaluate(model_graph(model, scenario, layout), machine);
}

void symbols(benchmark::State& state, std::vector<const char*> names) {
  const Machine machine = machine_of(load_device("h100_sxm", DevicePath{{"devices"}}), {});
  Evaluation e = decode_70b(machine);
  std::vector<int> slots;
  for (const char* name : names) slots.push_back(e.graph.symbols.find(name).value());
  const Touched touched = touched_by(e.graph, e.bound, slots);
  std::vector<double> values = e.graph.symbol_values;
  double next = 1;
  for (auto _ : state) {
    for (const int slot : slots) values[static_cast<std::size_t>(slot)] = next;
    next = next < 4096 ? next + 1 : 1;
    benchmark::DoNotOptimize(reevaluate(machine, values, touched, e));
  }
  state.SetItemsProcessed(state.iterations());
  state.counters["operators redone"] = static_cast<double>(touched.demands.size());
}
BENCHMARK_CAPTURE(symbols, context, {"context"})->Name("sweep/context");
BENCHMARK_CAPTURE(symbols, batch, {"batch"})->Name("sweep/batch");
BENCHMARK_CAPTURE(symbols, both, {"batch", "context"})->Name("sweep/batch x context");

void points(benchmark::State& state, std::vector<const char*> texts) {
  std::vector<GridAxis> axes;
  for (const char* text : texts) axes.push_back(GridAxis::parse(text));
  const ModelWorkload model{load_architecture("workloads/llama-3.1-70b.json"), {}, {}, {}};
  Sweep sweep({{}, model}, {load_device("h100_sxm", DevicePath{{"devices"}})}, {},
              Grid(std::move(axes), 1));
  std::int64_t done = 0;
  for (auto _ : state) {
    sweep.run({0, sweep.grid().points()}, [&done](std::span<const SweepRow> rows) {
      done += static_cast<std::int64_t>(rows.size());
      benchmark::DoNotOptimize(rows.data());
      return true;
    });
  }
  state.SetItemsProcessed(done);
}
BENCHMARK_CAPTURE(points, context, {"tp=4,8", "batch=1..256:+1", "context=1024..17344:+64"})
    ->Name("sweep/points, context moves")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(points, batch, {"tp=4,8", "context=1024..17344:+64", "batch=1..256:+1"})
    ->Name("sweep/points, batch moves")
    ->Unit(benchmark::kMillisecond);

}  // namespace
