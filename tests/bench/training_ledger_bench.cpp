// SPDX-License-Identifier: Apache-2.0
//   training_ledger/*  lines of the stage that needs most, from a loaded model
//   liveness/*         peak of a graph's intermediates, from a bound graph
#include <benchmark/benchmark.h>

#include "model/ledger/liveness.hpp"
#include "model/ledger/training_ledger.hpp"
#include "model/workload/architecture_file.hpp"
#include "model/workload/model_graph.hpp"

namespace {

using namespace floorline;

Scenario train() {
  Scenario scenario;
  scenario.phase = Phase::train;
  return scenario;
}

void training_ledger_of(benchmark::State& state, const char* file, std::int64_t stages) {
  const Architecture model = load_architecture(file);
  const Scenario scenario = train();
  ParallelLayout layout;
  layout.pp = stages;
  layout.dp = 8;
  for (auto _ : state) benchmark::DoNotOptimize(training_ledger(model, scenario, layout).stage);
}
BENCHMARK_CAPTURE(training_ledger_of, llama_8b, "workloads/llama-3.1-8b.json", 1);
BENCHMARK_CAPTURE(training_ledger_of, llama_405b_8_stages, "workloads/llama-3.1-405b.json", 8);

void liveness_of(benchmark::State& state, Phase phase) {
  Scenario scenario;
  scenario.phase = phase;
  const BoundGraph graph =
      bind(model_graph(load_architecture("workloads/llama-3.1-8b.json"), scenario, {}));
  LivenessScratch scratch;
  for (auto _ : state) benchmark::DoNotOptimize(memory_of(graph, scratch).at);
}
BENCHMARK_CAPTURE(liveness_of, decode, Phase::decode);
BENCHMARK_CAPTURE(liveness_of, train, Phase::train);

}  // namespace
