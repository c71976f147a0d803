// SPDX-License-Identifier: Apache-2.0
// How long the search for fusions takes:
//   fusion/exact N     the slowest of 50 random graphs of N operators, searched exactly
//   fusion/star        one producer, 19 readers
//   fusion/runs 1000   1,000 operators that hang together
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>

#include "model/device/device_file.hpp"
#include "model/whatif/fusion_search.hpp"
#include "tests/whatif/random_fusable.hpp"

namespace {

using namespace floorline;
using namespace floorline::testing;

Machine l40s() { return machine_of(load_device("l40s", DevicePath{{"devices"}}), {}); }

FusionPlan search(const Evaluation& e, const Machine& machine) {
  const UnitMemory memory = unit_memory(machine.device);
  const FusionRules rules(e.graph, e.bound, memory);
  return search_fusions(e, machine, rules);
}

void exact(benchmark::State& state) {
  const Machine machine = l40s();
  std::vector<Evaluation> graphs;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Dice dice(seed);
    graphs.push_back(evaluate(
        random_fusable(dice, static_cast<int>(state.range(0)), dice.chance(50) ? 4096 : 32768),
        machine));
  }
  double slowest = 0;
  for (auto _ : state) {
    for (const Evaluation& e : graphs) {
      const auto start = std::chrono::steady_clock::now();
      benchmark::DoNotOptimize(search(e, machine).cold_after);
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      slowest = std::max(slowest, took.count());
    }
  }
  state.counters["slowest_ms"] = slowest * 1e3;
}
BENCHMARK(exact)->Name("fusion/exact")->Arg(8)->Arg(20)->Unit(benchmark::kMillisecond);

void star(benchmark::State& state) {
  const Machine machine = l40s();
  OperatorGraph graph;
  graph.name = "star";
  add_tensor(graph, "x", 1 << 20, TensorRole::input);
  add_tensor(graph, "m", 1 << 20, TensorRole::intermediate);
  for (int i = 0; i < 20; ++i) {
    Operator op;
    op.name = "op" + std::to_string(i);
    op.kind = OperatorKind::elementwise;
    op.attributes.push_back({Key::flops, Expression(40.0 * (i % 7))});
    op.inputs = {static_cast<TensorId>(i == 0 ? 0 : 1)};
    op.outputs = {i == 0 ? TensorId{1}
                         : add_tensor(graph, "y" + std::to_string(i), 1 << 20, TensorRole::output)};
    graph.ops.push_back(std::move(op));
  }
  const Evaluation e = evaluate(graph, machine);
  for (auto _ : state) benchmark::DoNotOptimize(search(e, machine).cold_after);
}
BENCHMARK(star)->Name("fusion/star")->Unit(benchmark::kMillisecond);

void runs(benchmark::State& state) {
  const Machine machine = l40s();
  Dice dice(3);
  const Evaluation e = evaluate(random_fusable(dice, 1000, 4096), machine);
  for (auto _ : state) benchmark::DoNotOptimize(search(e, machine).cold_after);
}
BENCHMARK(runs)->Name("fusion/runs 1000")->Unit(benchmark::kMillisecond);

}  // namespace
