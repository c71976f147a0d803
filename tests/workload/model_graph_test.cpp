// SPDX-License-Identifier: Apache-2.0
#include "model/workload/model_graph.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "model/demand/demand.hpp"
#include "model/workload/architecture_file.hpp"
#include "model/workload/bound_graph.hpp"

using namespace floorline;

namespace {

struct Asked {
  Scenario scenario;
  ParallelLayout layout;
};

Asked ask(const std::vector<std::pair<std::string, std::string>>& symbols) {
  Asked asked;
  for (const auto& [name, value] : symbols) {
    const SymbolResult result = apply_symbol(name, value, asked.scenario, asked.layout);
    CAPTURE(name);
    CHECK(result.known);
    CHECK(result.error == "");
  }
  return asked;
}

OperatorGraph graph_of(const Architecture& a, const Asked& asked, std::int64_t stage = 0) {
  OperatorGraph graph = model_graph(a, asked.scenario, asked.layout, stage);
  Diagnostics diagnostics;
  check_graph(graph, diagnostics);
  diagnostics.throw_if_any();
  return graph;
}

double elements_of(const BoundGraph& bound, TensorRole role) {
  double sum = 0;
  for (const BoundTensor& tensor : bound.tensors) {
    if (tensor.role == role) sum += tensor.elements * tensor.copies;
  }
  return sum;
}

double flops_of(const BoundGraph& bound, OperatorKind kind) {
  double sum = 0;
  for (const BoundOperator& op : bound.ops) {
    if (op.kind == kind) sum += demand_of(bound, op, OnChip{}).flops.in_base_units() * op.times;
  }
  return sum;
}

Demand demand_of_op(const OperatorGraph& graph, const BoundGraph& bound, const char* name) {
  const std::optional<OperatorId> id = graph.find_op(name);
  REQUIRE(id);
  return demand_of(bound, bound.ops[index(*id)], OnChip{});
}

const Operator& op_of(const OperatorGraph& graph, const char* name) {
  const std::optional<OperatorId> id = graph.find_op(name);
  REQUIRE(id);
  return graph.ops[index(*id)];
}

std::string names_of(const OperatorGraph& graph) {
  std::string all;
  for (const Operator& op : graph.ops) all += (all.empty() ? "" : " ") + op.name;
  return all;
}

bool has_line(const std::vector<std::string>& lines, const std::string& line) {
  return std::find(lines.begin(), lines.end(), line) != lines.end();
}

std::string error_of(const Architecture& a, const Asked& asked) {
  try {
    model_graph(a, asked.scenario, asked.layout);
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

const Architecture& llama() {
  static const Architecture a = load_architecture("workloads/llama-3.1-8b.json");
  return a;
}

Architecture mistral(std::int64_t window) {
  Architecture a = load_architecture("workloads/mistral-7b-v0.3.json");
  a.layers[0].attention.window = window;
  return a;
}

}  // namespace

TEST_SUITE("workload") {
  TEST_CASE("a decode step of Llama-3.1-8B, by hand") {
    const OperatorGraph graph = graph_of(llama(), ask({}));
    CHECK(names_of(graph) ==
          "embed input_norm qkv_proj rope attention o_proj post_attn_norm gate_up_proj activation "
          "down_proj next_norm lm_head");
    const BoundGraph bound = bind(graph);
    CHECK(elements_of(bound, TensorRole::weight) == 8'030'261'248.0);
    // Every matrix but the embedding: 8,030,261,248 − 525,336,576 − 65 norms of 4096 =
    // 7,504,658,432 weights, 2 FLOPs each.
    CHECK(flops_of(bound, OperatorKind::gemm) == 15'009'316'864.0);
    // 32 layers · 32 heads · 1025 keys · 4·128 FLOPs.
    CHECK(flops_of(bound, OperatorKind::attention) == 537'395'200.0);
    // q and k: 40 heads of 128, 3 FLOPs, 32 layers.
    CHECK(flops_of(bound, OperatorKind::rope) == 491'520.0);
    // Cached keys and values 1024 · 65,536, and those of the new token.
    CHECK(elements_of(bound, TensorRole::state) == 1025.0 * 65'536.0);
    // attention reads q, and 1025 keys and values of 8 heads; it writes one row.
    const Demand attention = demand_of_op(graph, bound, "attention");
    CHECK(attention.hbm_read == Bytes(4096 * 2 + 1025 * 2048 * 2));
    CHECK(attention.hbm_write == Bytes(4096 * 2));
    // next_norm: x, residual and the scale in; normed and residual out.
    const Demand norm = demand_of_op(graph, bound, "next_norm");
    CHECK(norm.hbm_read == Bytes(3 * 8192));
    CHECK(norm.hbm_write == Bytes(2 * 8192));
    CHECK(norm.flops == Flops(5 * 4096));
    const Demand first = demand_of_op(graph, bound, "input_norm");
    CHECK(first.hbm_read == Bytes(2 * 8192));
    CHECK(first.hbm_write == Bytes(8192));
  }

  TEST_CASE("context, batch and new are symbols: rebind follows a decode") {
    const OperatorGraph graph = graph_of(llama(), ask({{"batch", "4"}}));
    BoundGraph bound = bind(graph);
    std::vector<double> values = graph.symbol_values;
    values[static_cast<std::size_t>(*graph.symbols.find("context"))] = 2000;
    REQUIRE(rebind(graph, values, bound));
    const BoundGraph fresh = bind(graph_of(llama(), ask({{"batch", "4"}, {"context", "2000"}})));
    CHECK(flops_of(bound, OperatorKind::attention) == flops_of(fresh, OperatorKind::attention));
    CHECK(elements_of(bound, TensorRole::state) == 4 * 2001.0 * 65'536.0);
    values[static_cast<std::size_t>(*graph.symbols.find("batch"))] = 1;
    REQUIRE(rebind(graph, values, bound));
    CHECK(flops_of(bound, OperatorKind::gemm) == 15'009'316'864.0);
  }

  TEST_CASE("prefill: causal pairs, logits of the last token, cached context") {
    const OperatorGraph graph = graph_of(llama(), ask({{"phase", "prefill"}, {"batch", "2"}}));
    CHECK(names_of(graph).ends_with("next_norm last_token lm_head"));
    const BoundGraph bound = bind(graph);
    // 2 sequences · 1024·1025/2 pairs · 32 heads · 512 FLOPs · 32 layers.
    CHECK(flops_of(bound, OperatorKind::attention) == 2 * 524'800.0 * 32 * 512 * 32);
    // The layers' matrices for 2048 tokens, lm_head for 2 rows.
    const double layers = 2 * (7'504'658'432.0 - 525'336'576.0);
    CHECK(flops_of(bound, OperatorKind::gemm) == 2048 * layers + 2 * 2 * 525'336'576.0);
    // last_token reads two ids and two rows.
    CHECK(demand_of_op(graph, bound, "last_token").hbm_read == Bytes(2 * 4 + 2 * 8192));
    CHECK(elements_of(bound, TensorRole::output) == 2 * 128'256.0);
    CHECK(elements_of(bind(graph_of(llama(), ask({{"phase", "prefill"}, {"logits", "all"}}))),
                      TensorRole::output) == 1024 * 128'256.0);
    CHECK(names_of(graph_of(llama(), ask({{"phase", "prefill"}, {"logits", "none"}})))
              .ends_with("next_norm"));
    // 100 new tokens after 50 cached: 100·50 + 100·101/2 = 10,050 pairs.
    const BoundGraph after =
        bind(graph_of(llama(), ask({{"phase", "prefill"}, {"prompt", "100"}, {"context", "50"}})));
    CHECK(flops_of(after, OperatorKind::attention) == 10'050.0 * 32 * 512 * 32);
  }

  TEST_CASE("a histogram of contexts is one attention kernel over sequences") {
    const OperatorGraph graph = graph_of(llama(), ask({{"context", "4096*16,128*48"}}));
    CHECK_FALSE(graph.symbols.find("context"));
    const BoundGraph bound = bind(graph);
    // Keys: 16·4097 + 48·129 = 71,744; 64 tokens pass through the matrices.
    CHECK(flops_of(bound, OperatorKind::attention) == 71'744.0 * 32 * 512 * 32);
    CHECK(elements_of(bound, TensorRole::state) == 71'744.0 * 65'536.0);
    CHECK(flops_of(bound, OperatorKind::gemm) == 64 * 15'009'316'864.0);
  }

  TEST_CASE("a sliding window keeps only what some query sees of the cache") {
    const Architecture a = mistral(1024);
    // Decode at 4096: 1023 cached tokens and the new one, of 32 · 2048 elements.
    const BoundGraph decode = bind(graph_of(a, ask({{"context", "4096"}})));
    CHECK(elements_of(decode, TensorRole::state) == 1024 * 65'536.0);
    CHECK(flops_of(decode, OperatorKind::attention) == 1024.0 * 32 * 512 * 32);
    const OperatorGraph graph = graph_of(a, ask({{"context", "4096"}}));
    CHECK(demand_of_op(graph, decode, "attention").hbm_read == Bytes(8192 + 1024 * 2048 * 2));
    // Below the window nothing changes.
    const BoundGraph early = bind(graph_of(a, ask({{"context", "100"}})));
    CHECK(elements_of(early, TensorRole::state) == 101 * 65'536.0);
    // 2048 new tokens, window 1024: 1024·1025/2 + 1024·1024 = 1,573,376 pairs.
    const BoundGraph prefill = bind(graph_of(a, ask({{"phase", "prefill"}, {"prompt", "2048"}})));
    CHECK(flops_of(prefill, OperatorKind::attention) == 1'573'376.0 * 32 * 512 * 32);
    // A histogram: 1023 + 1 and 100 + 1 keys.
    const BoundGraph both = bind(graph_of(a, ask({{"context", "4096*1,100*1"}})));
    CHECK(flops_of(both, OperatorKind::attention) == 1125.0 * 32 * 512 * 32);
  }

  TEST_CASE("layers of two kinds are two blocks that feed each other") {
    Architecture a = mistral(0);
    a = parse_architecture(
        R"({"architectures":["Qwen3ForCausalLM"],"vocab_size":100,"hidden_size":8,
            "intermediate_size":16,"num_hidden_layers":5,"num_attention_heads":2,"head_dim":4,
            "num_key_value_heads":1,"use_sliding_window":true,"sliding_window":64,
            "max_window_layers":2})",
        "m.json");
    const OperatorGraph graph = graph_of(a, ask({}));
    REQUIRE(graph.repeats.size() == 2);
    CHECK(graph.repeats[0].name == "full.layer");
    CHECK(graph.repeats[1].times.constant() == 3.0);
    CHECK(graph.find_op("sliding.q_norm"));
    const BoundGraph bound = bind(graph);
    CHECK(elements_of(bound, TensorRole::weight) == static_cast<double>(a.parameter_count().total));
    // Full layers hold 1025 keys and values of 4, sliding ones 64.
    CHECK(elements_of(bound, TensorRole::state) == (2 * 1025 + 3 * 64) * 8.0);
  }

  TEST_CASE("tensor parallel ranks together are the whole model") {
    const OperatorGraph graph = graph_of(llama(), ask({{"tp", "4"}}));
    CHECK(names_of(graph) ==
          "embed embed_all_reduce input_norm qkv_proj rope attention o_proj attn_all_reduce "
          "post_attn_norm gate_up_proj activation down_proj mlp_all_reduce next_norm lm_head");
    const BoundGraph bound = bind(graph);
    const double norms = 65 * 4096.0;
    CHECK((elements_of(bound, TensorRole::weight) - norms) * 4 == 8'030'261'248.0 - norms);
    CHECK(flops_of(bound, OperatorKind::gemm) * 4 == 15'009'316'864.0);
    CHECK(flops_of(bound, OperatorKind::attention) * 4 == 537'395'200.0);
    CHECK(elements_of(bound, TensorRole::state) * 4 == 1025 * 65'536.0);
    // One message is a row of 4096: in a network without help 2·(3/4)·8192 bytes leave a rank.
    OnChip chip;
    chip.in_network_reduction_possible = chip.multicast_possible = false;
    const auto op = graph.find_op("mlp_all_reduce");
    const Demand demand = demand_of(bound, bound.ops[index(*op)], chip);
    bool found = false;
    for (const DemandEntry& entry : demand.list()) {
      if (entry.resource.unit != Unit::peer_out) continue;
      found = true;
      CHECK(entry.amount == Amount(Bytes(12'288)));
    }
    CHECK(found);
    // 16 ranks for 8 KV heads: each rank has a whole one, twice what the model holds.
    const BoundGraph wide = bind(graph_of(llama(), ask({{"tp", "16"}})));
    CHECK(elements_of(wide, TensorRole::state) * 16 == 2 * 1025 * 65'536.0);
  }

  TEST_CASE("pipeline stages together are the whole model") {
    const Asked asked = ask({{"pp", "3"}});
    double weights = 0;
    double flops = 0;
    for (std::int64_t stage = 0; stage < 3; ++stage) {
      const BoundGraph bound = bind(graph_of(llama(), asked, stage));
      weights += elements_of(bound, TensorRole::weight);
      flops += flops_of(bound, OperatorKind::gemm);
    }
    CHECK(weights == 8'030'261'248.0);
    CHECK(flops == 15'009'316'864.0);
    CHECK(names_of(graph_of(llama(), asked, 1)) ==
          "qkv_proj rope attention o_proj post_attn_norm gate_up_proj activation down_proj "
          "next_norm send");
    // 32 = 11 + 11 + 10.
    CHECK(stage_layers(32, asked.layout, 0).count == 11);
    CHECK(stage_layers(32, asked.layout, 2).first == 22);
    CHECK(stage_layers(32, asked.layout, 2).count == 10);
    CHECK(distinct_stages(llama(), asked.layout).size() == 3);
    const auto eight = distinct_stages(llama(), ParallelLayout{.pp = 8});
    REQUIRE(eight.size() == 3);
    CHECK(eight[1].stage == 1);
    CHECK(eight[1].count == 6);
    CHECK(distinct_stages(llama(), ParallelLayout{}).size() == 1);
  }

  TEST_CASE("a tied table is one tensor, read by the embedding and by lm_head") {
    const Architecture a = load_architecture("workloads/qwen3-0.6b.json");
    const OperatorGraph graph = graph_of(a, ask({}));
    CHECK(op_of(graph, "embed").inputs[1] == op_of(graph, "lm_head").inputs[1]);
    CHECK(elements_of(bind(graph), TensorRole::weight) == 596'049'920.0);
    CHECK(graph.find_op("q_norm"));
    // 1025 keys, 28 layers, 8 heads of 128 for keys and for values.
    CHECK(elements_of(bind(graph), TensorRole::state) == 1025.0 * 57'344);
  }

  TEST_CASE("storage, compute and accumulate are chosen apart") {
    const auto op = [](const std::vector<std::pair<std::string, std::string>>& symbols,
                       const char* name) { return op_of(graph_of(llama(), ask(symbols)), name); };
    CHECK(op({}, "qkv_proj").compute == Precision::bf16);
    CHECK(op({}, "qkv_proj").accumulate == Precision::fp32);
    CHECK(op({}, "rope").compute == Precision::any);
    CHECK(op({{"weight_dtype", "int4"}}, "down_proj").compute == Precision::bf16);
    CHECK(op({{"weight_dtype", "fp8"}, {"activation_dtype", "fp8"}}, "down_proj").compute ==
          Precision::fp8_e4m3);
    CHECK(op({{"weight_dtype", "fp8"}, {"activation_dtype", "fp8"}}, "lm_head").compute ==
          Precision::bf16);
    CHECK(op({{"weight_dtype", "int8"}, {"activation_dtype", "int8"}}, "o_proj").accumulate ==
          Precision::int32);
    CHECK(op({{"kv_dtype", "fp8"}}, "attention").compute == Precision::bf16);
    CHECK(op({{"compute_dtype", "fp8"}}, "attention").compute == Precision::fp8_e4m3);
    CHECK(op({{"compute_dtype", "fp8"}}, "input_norm").compute == Precision::any);
    CHECK(op({{"compute_dtype", "fp32"}}, "input_norm").compute == Precision::fp32);
    CHECK(op({{"accumulate_dtype", "fp16"}}, "o_proj").accumulate == Precision::fp16);
    // weight_dtype is for the layers' matrices; a glob names others, the last one counts.
    const OperatorGraph graph = graph_of(llama(), ask({{"weight_dtype", "int4"},
                                                       {"weight_dtype.lm_head", "fp8"},
                                                       {"weight_dtype.*mlp*", "int8"},
                                                       {"weight_dtype.*.up_proj", "fp4"}}));
    const auto stored = [&](const char* name) {
      return graph.tensors[index(*graph.find_tensor(name))].dtype;
    };
    CHECK(stored("layers.self_attn.q_proj.weight") == Precision::int4);
    CHECK(stored("layers.input_layernorm.weight") == Precision::bf16);
    CHECK(stored("embed_tokens.weight") == Precision::bf16);
    CHECK(stored("lm_head.weight") == Precision::fp8_e4m3);
    CHECK(stored("layers.mlp.gate_proj.weight") == Precision::int8);
    CHECK(stored("layers.mlp.up_proj.weight") == Precision::fp4);
  }

  TEST_CASE("what a graph rests on is said") {
    const OperatorGraph graph =
        graph_of(llama(), ask({{"batch", "8"}, {"tp", "2"}, {"pp", "3"}, {"dp", "2"}}));
    const std::vector<std::string>& lines = graph.assumptions;
    CHECK(has_line(lines, "phase = decode (default)"));
    CHECK(has_line(lines, "context = 1024 (default)"));
    CHECK_FALSE(has_line(lines, "batch = 8 (default)"));
    CHECK(has_line(lines, "stored: layers' matrices bf16, activations bf16, KV cache bf16"));
    CHECK(has_line(lines,
                   "products of bf16 x bf16: compute bf16 (the wider operand), accumulate fp32 "
                   "(default)"));
    CHECK(has_line(lines, "dp: batch is that of one of 2 replicas"));
    CHECK(has_line(lines,
                   "pp: layers of the stages: 11, 11, 10 (divided evenly, the first stages take "
                   "what is left over)"));
    const OperatorGraph longer = graph_of(llama(), ask({{"context", "200000"}}));
    CHECK(has_line(longer.notes,
                   "sequences of 200001 tokens; the model is made for 131072 "
                   "(max_position_embeddings)"));
  }

  TEST_CASE("generate is a prefill and decode steps that grow from its prompt") {
    const Asked asked = ask({{"phase", "generate"}, {"prompt", "100"}, {"output", "5"}});
    const GenerateParts parts = generate_parts(asked.scenario);
    CHECK(parts.prefill.new_tokens() == 100);
    CHECK(parts.prefill.cached() == 0);
    CHECK(parts.decode.new_tokens() == 1);
    CHECK(parts.decode.cached() == 100);
    CHECK(parts.steps == 5);
  }

  TEST_CASE("layouts and scenarios that contradict the model") {
    CHECK(error_of(llama(), ask({{"tp", "3"}, {"pp", "40"}, {"ep", "2"}, {"cp", "2"}})) ==
          "error: tp: 3 does not divide 32 query heads; expected a divisor (llama-3.1-8b)\n"
          "error: tp: 3 and 8 KV heads do not divide each other; expected a divisor or a multiple "
          "(llama-3.1-8b)\n"
          "error: pp: 40 stages for 32 layers; expected at least one layer a stage (llama-3.1-8b)\n"
          "error: ep: this model has no experts to divide; expected 1 (llama-3.1-8b)");
    CHECK(error_of(llama(), ask({{"batch", "2"}, {"context", "1,2,3"}})) ==
          "error: batch: 2 contradicts context, which lists 3 sequences; expected one of the two");
    CHECK(error_of(llama(), ask({{"phase", "generate"}, {"context", "1,2"}})) ==
          "error: context: a list does not go with phase = generate; expected one length");
    CHECK(error_of(llama(), ask({{"weight_dtype.moe*", "fp8"}})) ==
          "error: weight_dtype.moe*: no weight of llama-3.1-8b has such a name; expected one like "
          "layers.mlp.down_proj.weight");
  }

  TEST_CASE("symbols: values that are refused, and names that are none") {
    const auto refused = [](const char* name, const char* value) {
      Asked asked;
      return apply_symbol(name, value, asked.scenario, asked.layout).error;
    };
    CHECK(refused("batch", "0") == "\"0\" is not a whole number from 1 to 1073741824");
    CHECK(refused("batch", "1.5") == "\"1.5\" is not a whole number from 1 to 1073741824");
    CHECK(refused("batch", "99999999999999999999") ==
          "\"99999999999999999999\" is not a whole number from 1 to 1073741824");
    CHECK(refused("context", "4k") == "\"4k\" is not a whole number from 0 to 1073741824");
    CHECK(refused("context", "-1") == "\"-1\" is not a whole number from 0 to 1073741824");
    CHECK(refused("context", "4096*0") ==
          "\"0\" is not a whole number from 1 to 1073741824; expected a length, or "
          "LENGTH*COUNT,LENGTH*COUNT…");
    CHECK(refused("context", "1,") == "\"1,\" ends in a comma; expected one more length");
    CHECK(refused("phase", "learn") == "\"learn\" is not one of decode, prefill, generate, train");
    CHECK(refused("logits", "some") == "\"some\" is not one of last, all, none");
    CHECK(refused("kv_dtype", "any") ==
          "\"any\" is not a precision; there are fp8, fp64, fp32, tf32, bf16, fp16, fp8_e4m3, "
          "fp8_e5m2, fp6, fp4, mxfp4, nvfp4, int8, int4, int32");
    CHECK(refused("tp", "") == "\"\" is not a whole number from 1 to 32768");
    Asked asked;
    CHECK_FALSE(apply_symbol("batches", "1", asked.scenario, asked.layout).known);
    CHECK_FALSE(apply_symbol("weight_dtype.", "fp8", asked.scenario, asked.layout).known);
    CHECK(apply_symbol("context", "128Ki", asked.scenario, asked.layout).error == "");
    CHECK(asked.scenario.cached() == 131'072);
    for (const SymbolInfo& symbol : model_symbols()) {
      CAPTURE(symbol.name);
      CHECK(apply_symbol(symbol.name, "?", asked.scenario, asked.layout).known);
    }
  }
}
