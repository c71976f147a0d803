// SPDX-License-Identifier: Apache-2.0
// Memory ledgers from a loaded model: ledger/* one rank's lines with their formulas (under 50 us),
// solve/* a search over them (under 5 ms).
#include <benchmark/benchmark.h>

#include <string>

#include "model/ledger/engine_file.hpp"
#include "model/ledger/ledger_solve.hpp"
#include "model/workload/architecture_file.hpp"

namespace {

using namespace floorline;

struct Served {
  Served(const char* name, const char* engine_name, std::int64_t tp)
      : architecture(load_architecture(std::string("workloads/") + name + ".json")),
        engine(load_engine(std::string("workloads/engines/") + engine_name + ".toml", "")) {
    model.architecture = &architecture;
    model.engine = &engine;
    model.layout.tp = tp;
    model.scenario.batch = 16;
  }
  Architecture architecture;
  EngineProfile engine;
  LedgerModel model;
};

void ledger(benchmark::State& state, const char* name, const char* engine, std::int64_t tp) {
  const Served served(name, engine, tp);
  for (auto _ : state) benchmark::DoNotOptimize(rank_ledger(served.model, 0));
}
BENCHMARK_CAPTURE(ledger, llama_8b, "llama-3.1-8b", "none", 1);
BENCHMARK_CAPTURE(ledger, gpt_oss_120b_vllm, "gpt-oss-120b", "vllm", 2);
BENCHMARK_CAPTURE(ledger, deepseek_v3_vllm, "deepseek-v3", "vllm", 16);

void solve_for(benchmark::State& state, SolveFor what, std::int64_t pp) {
  Served served("deepseek-v3", "vllm", 8);
  served.model.layout.pp = pp;
  const MemoryTotal total{ByteCount(200'000'000'000), {}, ""};
  for (auto _ : state) benchmark::DoNotOptimize(solve(served.model, total, what));
}
BENCHMARK_CAPTURE(solve_for, batch, SolveFor::batch, 1);
BENCHMARK_CAPTURE(solve_for, context, SolveFor::context, 1);
BENCHMARK_CAPTURE(solve_for, concurrency, SolveFor::concurrency, 1);
BENCHMARK_CAPTURE(solve_for, layers, SolveFor::layers, 1);
BENCHMARK_CAPTURE(solve_for, layers_in_8_stages, SolveFor::layers, 8);
BENCHMARK_CAPTURE(solve_for, tp, SolveFor::tp, 1);

void pool(benchmark::State& state) {
  const Served served("gpt-oss-120b", "vllm", 2);
  const MemoryTotal total{ByteCount(80'000'000'000), {}, ""};
  const std::vector<RankLedger> ranks = rank_ledgers(served.model);
  for (auto _ : state) benchmark::DoNotOptimize(engine_pool(served.model, ranks, total));
}
BENCHMARK(pool);

}  // namespace
