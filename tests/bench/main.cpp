// SPDX-License-Identifier: Apache-2.0
// How fast the engine is. Run from the repository root: build/release/bench
//   operator/*   one operator's demand and cold floor
//   step/*       a whole decode step from a loaded graph: demand, three floors an operator, graph
//   floors rebind/*     the same with new numbers for the symbols first process/*    `floorline
//   bound` on a model as a whole process, reading included (wall time)
#include <benchmark/benchmark.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "model/device/device_file.hpp"
#include "model/evaluate.hpp"
#include "model/workload/architecture_file.hpp"
#include "model/workload/model_graph.hpp"
#include "model/workload/op_text.hpp"

namespace {

using namespace floorline;

Machine h100() { return machine_of(load_device("h100_sxm", DevicePath{{"devices"}}), {}); }

void one_operator(benchmark::State& state, const char* text) {
  const Machine machine = h100();
  const OperatorGraph graph = parse_op_text(text);
  const BoundGraph bound = bind(graph);
  for (auto _ : state) {
    const Demand demand = demand_of(bound, bound.ops.front(), machine.chip);
    benchmark::DoNotOptimize(floor_of(demand, machine.rates, machine.chip, Residency::cold));
  }
}
BENCHMARK_CAPTURE(one_operator, gemm, "gemm m=4096 n=4096 k=4096");
BENCHMARK_CAPTURE(
    one_operator, attention,
    "attention batch=8 q_heads=32 kv_heads=8 q_len=1 kv_len=8192 head_dim=128 window=4096");
BENCHMARK_CAPTURE(one_operator, rmsnorm, "rmsnorm rows=4096 cols=4096");
BENCHMARK_CAPTURE(one_operator, grouped_gemm,
                  "grouped_gemm n=4096 k=7168 tokens=64 top_k=8 experts=256 ep=8 in=fp8");
BENCHMARK_CAPTURE(one_operator, dispatch,
                  "dispatch tokens=64 hidden=7168 top_k=8 experts=256 ep=8");
BENCHMARK_CAPTURE(one_operator, conv, "conv n=8 c=64 h=56 w=56 k=128 r=3 s=3 pad=1");
BENCHMARK_CAPTURE(one_operator, ssm_scan,
                  "ssm_scan batch=8 q_len=1 heads=64 head_dim=64 state=128");
BENCHMARK_CAPTURE(one_operator, all_reduce, "all_reduce bytes=64MiB ranks=8");

Evaluation decode_step(const char* model, const Machine& machine) {
  Scenario scenario;
  scenario.batch = 16;
  ParallelLayout layout;
  layout.tp = 8;
  return evaluate(model_graph(load_architecture(model), scenario, layout), machine);
}

Evaluation decode_70b(const Machine& machine) {
  return decode_step("workloads/llama-3.1-70b.json", machine);
}

void step(benchmark::State& state) {
  const Machine machine = h100();
  Evaluation e = decode_70b(machine);
  for (auto _ : state) {
    graph_floors(e.bound, machine.rates, machine.chip, e.floors);
    benchmark::DoNotOptimize(e.floors.fused);
  }
  state.counters["operators"] = static_cast<double>(e.bound.ops.size());
}
BENCHMARK(step)->Name("step/llama-3.1-70b");

/// Least routing and, beside it, uniform routing: what `bound` evaluates.
void routed_step(benchmark::State& state) {
  const Machine machine = h100();
  Evaluation e = decode_step("workloads/deepseek-v3.json", machine);
  for (auto _ : state) {
    benchmark::DoNotOptimize(reevaluate(machine, e.graph.symbol_values, e));
  }
  state.counters["operators"] = static_cast<double>(e.bound.ops.size());
}
BENCHMARK(routed_step)->Name("step/deepseek-v3 (671B)");

void rebind_step(benchmark::State& state) {
  const Machine machine = h100();
  Evaluation e = decode_70b(machine);
  double context = 1024;
  for (auto _ : state) {
    e.graph.set_symbol("context", context);
    context = context < 131072 ? context + 1 : 1024;
    benchmark::DoNotOptimize(reevaluate(machine, e.graph.symbol_values, e));
  }
}
BENCHMARK(rebind_step)->Name("rebind/llama-3.1-70b");

/// Wall time and peak memory of the program beside this one.
void process(benchmark::State& state) {
  const std::string program =
      (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "floorline").string();
  double peak_kib = 0;
  for (auto _ : state) {
    const pid_t child = fork();
    if (child == 0) {
      if (freopen("/dev/null", "w", stdout) == nullptr) _exit(1);
      execl(program.c_str(), "floorline", "bound", "workloads/llama-3.1-70b.json", "--device",
            "h100_sxm", "--set", "tp=8", static_cast<char*>(nullptr));
      _exit(1);
    }
    int status = 0;
    rusage usage{};
    wait4(child, &status, 0, &usage);
    if (status != 0) state.SkipWithError("floorline bound failed; is it built beside bench?");
    peak_kib = std::max(peak_kib, static_cast<double>(usage.ru_maxrss));
  }
  state.counters["peak_MiB"] = peak_kib / 1024;
}
BENCHMARK(process)
    ->Name("process/bound llama-3.1-70b")
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
