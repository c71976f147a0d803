// SPDX-License-Identifier: Apache-2.0
// Graphs and demands of model families: experts, latent attention, windows, chunks, state layers,
// layouts.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "model/demand/demand.hpp"
#include "model/input/diagnostic.hpp"
#include "model/workload/architecture_file.hpp"
#include "model/workload/bound_graph.hpp"
#include "model/workload/model_graph.hpp"

using namespace floorline;

namespace {

using Symbols = std::vector<std::pair<std::string, std::string>>;

struct Asked {
  Scenario scenario;
  ParallelLayout layout;
};

Asked ask(const Symbols& symbols) {
  Asked asked;
  for (const auto& [name, value] : symbols) {
    const SymbolResult result = apply_symbol(name, value, asked.scenario, asked.layout);
    CAPTURE(name);
    CHECK(result.known);
    CHECK(result.error == "");
  }
  return asked;
}

OperatorGraph graph_of(const Architecture& a, const Symbols& symbols, std::int64_t stage = 0) {
  const Asked asked = ask(symbols);
  OperatorGraph graph = model_graph(a, asked.scenario, asked.layout, stage);
  Diagnostics diagnostics;
  check_graph(graph, diagnostics);
  diagnostics.throw_if_any();
  return graph;
}

std::string error_of(const Architecture& a, const Symbols& symbols) {
  try {
    graph_of(a, symbols);
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

struct Sum {
  double flops = 0;
  double read = 0;
};
/// Over all operators whose name has `part`.
Sum sum_of(const OperatorGraph& graph, const std::string& part) {
  const BoundGraph bound = bind(graph);
  Sum sum;
  for (std::size_t i = 0; i < bound.ops.size(); ++i) {
    if (graph.ops[i].name.find(part) == std::string::npos) continue;
    const Demand demand = demand_of(bound, bound.ops[i], OnChip{});
    sum.flops += demand.flops.in_base_units() * bound.ops[i].times;
    sum.read += demand.hbm_read.in_base_units() * bound.ops[i].times;
  }
  return sum;
}

double elements_of(const OperatorGraph& graph, TensorRole role) {
  const BoundGraph bound = bind(graph);
  double sum = 0;
  for (const BoundTensor& tensor : bound.tensors) {
    if (tensor.role == role) sum += tensor.elements * tensor.copies;
  }
  return sum;
}

Architecture shipped(const char* name) {
  return load_architecture("workloads/" + std::string(name) + ".json");
}

}  // namespace

TEST_SUITE("workload") {
  TEST_CASE("E03: work counts top_k experts, bytes the distinct ones") {
    const Architecture a = shipped("mixtral-8x7b");
    constexpr double kExpert = 3.0 * 4096 * 14336;  // 176,160,768
    for (const double batch : {1.0, 8.0, 64.0}) {
      CAPTURE(batch);
      const std::string b = std::to_string(static_cast<int>(batch));
      const Sum least = sum_of(graph_of(a, {{"batch", b}}), "expert_");
      // Two experts a token, 32 layers; the activation adds 4 an element.
      CHECK(least.flops == batch * 2 * 32 * (2 * kExpert + 4 * 14336));
      const double rows = batch * 2 * 32 * 2;  // bytes of one column of all rows
      CHECK(least.read - 32 * 2 * 2 * kExpert <= rows * (4096 + 3 * 14336));
      CHECK(least.read >= 32 * 2 * 2 * kExpert);
      const Sum all = sum_of(graph_of(a, {{"batch", b}, {"routing", "all"}}), "expert_");
      CHECK(all.flops == least.flops);
      CHECK(all.read - least.read == 32 * (std::min(8.0, 2 * batch) - 2) * 2 * kExpert);
    }
  }

  TEST_CASE("weights of a step are the parameters") {
    for (const char* name : {"mixtral-8x7b", "qwen3-30b-a3b", "deepseek-v3", "llama-4-scout"}) {
      CAPTURE(name);
      const Architecture a = shipped(name);
      double expected = static_cast<double>(a.parameter_count().total);
      for (const NamedWeight& w : a.weights) {
        if (!w.draft && w.name.find("correction_bias") != std::string::npos) {
          expected -= static_cast<double>(w.rows * w.count);
        }
      }
      CHECK(elements_of(graph_of(a, {}), TensorRole::weight) == expected);
    }
  }

  TEST_CASE("ranks together hold all experts, and do all the work") {
    const Architecture a = shipped("qwen3-30b-a3b");
    const double whole = sum_of(graph_of(a, {{"batch", "64"}}), "expert_down_proj").flops;
    const auto experts = [&](const Symbols& symbols) {
      const OperatorGraph graph = graph_of(a, symbols);
      double elements = 0;
      const BoundGraph bound = bind(graph);
      for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
        if (graph.tensors[t].name.find("experts.") == std::string::npos) continue;
        elements += bound.tensors[t].elements * bound.tensors[t].copies;
      }
      return elements;
    };
    const double all = 48 * 128 * 3.0 * 2048 * 768;
    CHECK(experts({}) == all);
    CHECK(experts({{"tp", "4"}}) * 4 == all);
    CHECK(experts({{"tp", "4"}, {"ep", "4"}}) * 4 == all);
    CHECK(experts({{"tp", "4"}, {"ep", "2"}}) * 4 == all);
    CHECK(experts({{"ep", "8"}, {"dp", "8"}}) * 8 == all);
    const auto work = [&](const Symbols& symbols) {
      return sum_of(graph_of(a, symbols), "expert_down_proj").flops;
    };
    CHECK(work({{"batch", "64"}, {"tp", "4"}, {"ep", "4"}}) * 4 == whole);
    CHECK(work({{"batch", "64"}, {"tp", "4"}, {"ep", "2"}}) * 4 == whole);
    // Eight replicas of 8 sequences: as much as one of 64, on 8 ranks.
    CHECK(work({{"batch", "8"}, {"ep", "8"}, {"dp", "8"}}) * 8 == whole);
    const OperatorGraph spread = graph_of(a, {{"batch", "8"}, {"ep", "8"}, {"dp", "8"}});
    CHECK(spread.find_op("dispatch"));
    CHECK_FALSE(spread.find_op("mlp_all_reduce"));
    const OperatorGraph both = graph_of(a, {{"batch", "8"}, {"tp", "2"}, {"ep", "8"}, {"dp", "4"}});
    CHECK(both.find_op("expert_gather"));
    CHECK_FALSE(graph_of(a, {{"tp", "4"}, {"ep", "4"}}).find_op("dispatch"));
    CHECK(error_of(a, {{"ep", "3"}}).find("error: ep: 3 is neither a divisor of tp = 1") == 0);
    CHECK(error_of(a, {{"ep", "256"}, {"dp", "256"}}).find("256 does not divide 128 experts") !=
          std::string::npos);
  }

  TEST_CASE("latent attention: the smaller form, the cache once, whatever tp") {
    const Architecture a = shipped("deepseek-v3");
    // Decode, one sequence of 4096: absorbed, 61 layers, 128 heads, 4097 keys of 2·(576 + 512)
    // FLOPs; the projections' 2·512·128·256 count half, as fp8 to bf16.
    const double pairs = 4097.0 * 128 * 2 * (576 + 512);
    const double up = 2.0 * 512 * 128 * 256 / 2;
    const auto flops = [&](Symbols symbols) {
      return sum_of(graph_of(a, symbols), ".attention").flops;
    };
    CHECK(flops({{"context", "4096"}}) == 61 * (pairs + up));
    CHECK(flops({{"context", "4096"}, {"mla", "absorbed"}}) == 61 * (pairs + up));
    CHECK(flops({{"context", "4096"}, {"mla", "expanded"}}) ==
          61 * (4097.0 * 128 * 2 * (192 + 128) + 4097 * up));
    // Prefill of 4096: expanded.
    const double causal = 4096.0 * 4097 / 2 * 128 * 2 * (192 + 128);
    CHECK(flops({{"phase", "prefill"}, {"prompt", "4096"}}) == 61 * (causal + 4096 * up));
    CHECK(flops({{"context", "4096*1"}}) == flops({{"context", "4096"}}));
    CHECK(flops({{"context", "4096"}, {"tp", "8"}}) * 8 == flops({{"context", "4096"}}));
    for (const char* tp : {"1", "8"}) {
      const OperatorGraph graph = graph_of(a, {{"context", "4096"}, {"tp", tp}});
      CHECK(elements_of(graph, TensorRole::state) == 4097 * 35'136.0);
    }
    const OperatorGraph graph = graph_of(a, {});
    CHECK(graph.ops[index(*graph.find_op("moe.qkv_a_proj"))].compute == Precision::fp8_e4m3);
    CHECK(graph.ops[index(*graph.find_op("moe.router"))].compute == Precision::bf16);
    CHECK(graph.ops[index(*graph.find_op("moe.attention"))].compute == Precision::bf16);
    CHECK(elements_of(graph, TensorRole::scale) > 0);
    const OperatorGraph wide = graph_of(a, {{"weight_dtype", "bf16"}});
    CHECK(wide.ops[index(*wide.find_op("moe.qkv_a_proj"))].compute == Precision::bf16);
    CHECK(elements_of(wide, TensorRole::scale) == 0);
  }

  TEST_CASE("alternating windows are one block of two layers") {
    const Architecture a = shipped("gpt-oss-120b");
    const OperatorGraph graph = graph_of(a, {{"context", "8192"}});
    REQUIRE(graph.repeats.size() == 1);
    CHECK(graph.repeats[0].name == "sliding+full.layer");
    CHECK(graph.repeats[0].times.constant() == 18.0);
    // 18 layers see 8193 keys, 18 see 128; 8 heads of 64, keys and values.
    CHECK(elements_of(graph, TensorRole::state) == 18 * (8193 + 128) * 1024.0);
    double weights = 0;
    for (std::int64_t stage = 0; stage < 4; ++stage) {
      weights += elements_of(graph_of(a, {{"pp", "4"}}, stage), TensorRole::weight);
    }
    CHECK(weights == elements_of(graph, TensorRole::weight));
  }

  TEST_CASE("a chunk ends what a query sees") {
    const Architecture a = shipped("llama-4-scout");
    // 36 layers of chunks of 8192: after 8192 tokens a new chunk begins; 12 layers see all.
    const auto keys = [&](const char* context) {
      return elements_of(graph_of(a, {{"context", context}}), TensorRole::state) / 2048;
    };
    CHECK(keys("8191") == 48 * 8192);
    CHECK(keys("8192") == 12 * 8193 + 36 * 1);
    CHECK(keys("20000") == 12 * 20001 + 36 * (20000 - 16384 + 1));
    CHECK(keys("20000*1") == keys("20000"));
    // A prefill of 16,384 is two chunks: 2·8192·8193/2 pairs, 40 heads, 512 FLOPs.
    const Sum prefill =
        sum_of(graph_of(a, {{"phase", "prefill"}, {"prompt", "16384"}}), "chunked_moe.attention");
    CHECK(prefill.flops > 0);
  }

  TEST_CASE("context parallel ranks divide a sequence's cache, or its new tokens") {
    const Architecture a = shipped("llama-3.1-8b");
    const OperatorGraph decode = graph_of(a, {{"context", "4095"}, {"cp", "4"}});
    CHECK(elements_of(decode, TensorRole::state) == 1024 * 65'536.0);
    CHECK(decode.find_op("q_gather"));
    CHECK(decode.find_op("attn_scatter"));
    const auto work = [&](const char* cp) {
      return sum_of(graph_of(a, {{"phase", "prefill"}, {"prompt", "4096"}, {"cp", cp}}),
                    "attention")
          .flops;
    };
    CHECK(work("4") * 4 <= work("1"));
    CHECK(work("4") * 4 >= work("1") * 0.999);
    const Architecture chunks = shipped("llama-4-scout");
    CHECK(error_of(chunks, {{"cp", "2"}}).find("layers with chunked attention") !=
          std::string::npos);
  }

  TEST_CASE("every published configuration gives a graph with a demand") {
    const std::filesystem::path folder = "../shared/model-configs";
    if (!std::filesystem::is_directory(folder)) {
      MESSAGE("skipped: no ../shared/model-configs beside this repository");
      return;
    }
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() != ".json") continue;
      ++files;
      CAPTURE(entry.path().string());
      const Architecture a = load_architecture(entry.path().string());
      const Symbols decode{{"batch", "4"}, {"context", "9000"}};
      for (const Symbols& symbols :
           {decode, Symbols{{"phase", "prefill"}, {"prompt", "9000"}},
            Symbols{{"context", "9000*2,100*3"}}, Symbols{{"tp", "2"}, {"batch", "3"}}}) {
        const Sum sum = sum_of(graph_of(a, symbols), "");
        CHECK(sum.flops > 0);
        CHECK(sum.read > 0);
      }
      // A step of one token does at least two FLOPs for every weight that it uses, tables aside.
      const Sum one = sum_of(graph_of(a, {{"context", "0"}}), "");
      const ParameterCount count = a.parameter_count();
      const double table = static_cast<double>(a.vocab * a.hidden);
      CHECK(one.flops >= 1.9 * (static_cast<double>(count.active) - 2 * table));
    }
    CHECK(files >= 26);
  }

  TEST_CASE("state layers read and write a state that the context does not change") {
    const std::filesystem::path file =
        "../shared/model-configs/nvidia--Nemotron-H-56B-Base-8K.json";
    if (!std::filesystem::exists(file)) {
      MESSAGE("skipped: no ../shared/model-configs beside this repository");
      return;
    }
    const Architecture a = load_architecture(file.string());
    const StateElements state = state_elements(a);
    // 54 layers: 3 taps · (16384 + 2·8·256) channels; 256 heads · 64 · 256.
    CHECK(state.conv == 54 * 3 * 20'480);
    CHECK(state.recurrent == 54 * 256 * 64 * 256);
    const double kept = static_cast<double>(state.conv + state.recurrent);
    const double kv = static_cast<double>(kv_elements_per_token(a));
    CHECK(elements_of(graph_of(a, {{"context", "100"}}), TensorRole::state) == 2 * kept + 101 * kv);
    CHECK(elements_of(graph_of(a, {{"context", "7000"}}), TensorRole::state) ==
          2 * kept + 7001 * kv);
    CHECK(error_of(a, {{"cp", "2"}}).find("layers with mamba2") != std::string::npos);
  }
}
