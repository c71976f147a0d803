// SPDX-License-Identifier: Apache-2.0
// Training steps of Llama-3.1-8B, counted by hand: 7,504,658,432 weights in matrices without the
// embedding (525,336,576 of them lm_head), 65 norms of 4096, 32 layers of 218,112,000 parameters.
#include "model/workload/training_graph.hpp"

#include <doctest/doctest.h>

#include "model/demand/demand.hpp"
#include "model/workload/architecture_file.hpp"
#include "model/workload/bound_graph.hpp"
#include "model/workload/model_graph.hpp"

using namespace floorline;

namespace {

constexpr double kMatrices = 7'504'658'432.0;
constexpr double kHead = 525'336'576.0;
constexpr double kAll = 8'030'261'248.0;
constexpr double kLayer = 218'112'000.0;
constexpr double kTokens = 2048;
/// 32 layers · 32 heads · 2048·2049/2 pairs · 4·128 FLOPs.
constexpr double kAttention = 32.0 * 32 * 2'098'176 * 512;

using Symbols = std::vector<std::pair<std::string, std::string>>;

struct Step {
  OperatorGraph graph;
  BoundGraph bound;

  [[nodiscard]] bool has(const std::string& op) const { return graph.find_op(op).has_value(); }
  [[nodiscard]] Demand demand(const char* name, const OnChip& chip = {}) const {
    const std::optional<OperatorId> id = graph.find_op(name);
    REQUIRE_MESSAGE(id, name);
    return demand_of(bound, bound.ops[index(*id)], chip);
  }
  [[nodiscard]] double flops(OperatorKind kind) const {
    double sum = 0;
    for (const BoundOperator& op : bound.ops) {
      if (op.kind == kind) sum += demand_of(bound, op, OnChip{}).flops.in_base_units() * op.times;
    }
    return sum;
  }
  [[nodiscard]] double count(OperatorKind kind) const {
    double sum = 0;
    for (const BoundOperator& op : bound.ops) sum += op.kind == kind ? op.times : 0;
    return sum;
  }
  /// Parameters that optimizers of this rank update.
  [[nodiscard]] double updated() const {
    double sum = 0;
    for (const BoundOperator& op : bound.ops) {
      if (op.kind == OperatorKind::optimizer) {
        sum += op.attributes[static_cast<std::size_t>(Key::n)] * op.times;
      }
    }
    return sum;
  }
  /// Bytes of weights or state that are there before the step.
  [[nodiscard]] double kept(TensorRole role) const {
    double sum = 0;
    for (const BoundTensor& t : bound.tensors) {
      if (t.role == role && t.producer < 0) sum += t.bytes.in_base_units() * t.copies;
    }
    return sum;
  }
};

struct Asked {
  Scenario scenario;
  ParallelLayout layout;
};

Asked ask(const Symbols& symbols) {
  Asked asked;
  asked.scenario.phase = Phase::train;
  for (const auto& [name, value] : symbols) {
    const SymbolResult result = apply_symbol(name, value, asked.scenario, asked.layout);
    CAPTURE(name);
    CHECK(result.known);
    CHECK(result.error == "");
  }
  return asked;
}

Step step_of(const Architecture& a, const Symbols& symbols, std::int64_t stage = 0) {
  const Asked asked = ask(symbols);
  Step step;
  step.graph = model_graph(a, asked.scenario, asked.layout, stage);
  Diagnostics diagnostics;
  check_graph(step.graph, diagnostics);
  diagnostics.throw_if_any();
  step.bound = bind(step.graph);
  return step;
}

const Architecture& llama() {
  static const Architecture a = load_architecture("workloads/llama-3.1-8b.json");
  return a;
}
Step llama_step(const Symbols& symbols, std::int64_t stage = 0) {
  return step_of(llama(), symbols, stage);
}

std::string error_of(const Architecture& a, const Symbols& symbols) {
  const Asked asked = ask(symbols);
  try {
    model_graph(a, asked.scenario, asked.layout);
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

double asked_of(const Demand& demand, Unit unit) {
  for (const DemandEntry& entry : demand.list()) {
    if (entry.resource.unit == unit) return entry.amount.in_base_units();
  }
  return 0;
}

std::string names_of(const OperatorGraph& graph) {
  std::string all;
  for (const Operator& op : graph.ops) all += (all.empty() ? "" : " ") + op.name;
  return all;
}

}  // namespace

TEST_SUITE("workload") {
  TEST_CASE("a dense training step is 6 N FLOPs a token and attention") {
    const Step step = llama_step({});
    CHECK(
        names_of(step.graph) ==
        "embed input_norm qkv_proj rope attention o_proj post_attn_norm gate_up_proj activation "
        "down_proj next_norm lm_head loss lm_head.dx lm_head.dw final_norm.backward down_proj.dx "
        "down_proj.dw activation.backward gate_up_proj.dx gate_up_proj.dw post_attn_norm.backward "
        "o_proj.dx o_proj.dw attention.backward rope.backward qkv_proj.dx qkv_proj.dw "
        "next_norm.backward embed.backward optimizer outer.optimizer");
    // 6 · 7,504,658,432 · 2048 = 92,217,242,812,416.
    CHECK(step.flops(OperatorKind::gemm) == 92'217'242'812'416.0);
    CHECK(step.flops(OperatorKind::attention) == kAttention);
    CHECK(step.flops(OperatorKind::attention_backward) == 2 * kAttention);
    // 12·L·h·s for half of the pairs: 3,298,534,883,328; the diagonal is 0.05 % of it.
    const double convention = 6 * kMatrices * kTokens + 3'298'534'883'328.0;
    CHECK(step.flops(OperatorKind::gemm) + 3 * kAttention ==
          doctest::Approx(convention).epsilon(0.001));
    // 65 norms forward, 65 backward.
    CHECK(step.count(OperatorKind::rmsnorm) == 65);
    CHECK(step.count(OperatorKind::norm_backward) == 65);
    // Two sequences a pass, three passes.
    const Step more = llama_step({{"micro_batch", "2"}, {"gradient_accumulation", "3"}});
    CHECK(more.flops(OperatorKind::gemm) == 6 * 92'217'242'812'416.0);
    CHECK(more.flops(OperatorKind::attention) == 6 * kAttention);
  }

  TEST_CASE("what backward products read and write") {
    const Step step = llama_step({});
    // dX of gate and up: their gradients 2·2048·14336, weights 2·4096·14336; out 2048·4096.
    const Demand dx = step.demand("gate_up_proj.dx");
    CHECK(dx.hbm_read == Bytes(2 * (2 * 2048.0 * 14336 + 2 * 4096.0 * 14336)));
    CHECK(dx.hbm_write == Bytes(2 * 2048.0 * 4096));
    CHECK(dx.flops == Flops(2 * 2048.0 * 4096 * 28672));
    // dW of q, k, v: rows of 4096, gradients of 6144; out 6144·4096.
    const Demand dw = step.demand("qkv_proj.dw");
    CHECK(dw.hbm_read == Bytes(2 * 2048.0 * (4096 + 6144)));
    CHECK(dw.hbm_write == Bytes(2 * 4096.0 * 6144));
    CHECK(dw.flops == Flops(2 * 2048.0 * 4096 * 6144));
    CHECK(llama_step({{"grad_dtype", "fp32"}}).demand("qkv_proj.dw").hbm_write ==
          Bytes(4 * 4096.0 * 6144));
    // The residual's gradient is added in the norm: four tensors of 2048·4096, two scales.
    const Demand norm = step.demand("post_attn_norm.backward");
    CHECK(norm.hbm_read == Bytes(2 * (3 * 2048.0 * 4096 + 4096)));
    CHECK(norm.hbm_write == Bytes(2 * (2048.0 * 4096 + 4096)));
    CHECK(norm.flops == Flops(10 * 2048.0 * 4096));
    // No cache: nothing but weights and optimizer state is kept.
    CHECK(step.kept(TensorRole::weight) == 2 * kAll);
    CHECK(step.kept(TensorRole::state) == 12 * kAll);
  }

  TEST_CASE("bytes of an optimizer's step, one by one") {
    const auto update = [](const char* kind) {
      return llama_step({{"optimizer", kind}}).demand("optimizer");
    };
    CHECK(update("adamw").hbm_read == Bytes(14 * kLayer));
    CHECK(update("adamw").hbm_write == Bytes(14 * kLayer));
    CHECK(update("sgd").hbm_read == Bytes(10 * kLayer));
    CHECK(update("sgd").hbm_write == Bytes(10 * kLayer));
    // 852,000 blocks of 256, two moments with a scale of 4 bytes each.
    CHECK(update("adamw8bit").hbm_read == Bytes(6 * kLayer + 8 * 852'000.0));
    CHECK(update("adamw8bit").hbm_write == Bytes(4 * kLayer + 8 * 852'000.0));
    // Gradient 2, weight 2, moments 2 + 2 read; all but the gradient written; 4 bytes of state
    // kept.
    CHECK(update("adamw_bf16").hbm_read == Bytes(8 * kLayer));
    CHECK(update("adamw_bf16").hbm_write == Bytes(6 * kLayer));
    CHECK(llama_step({{"optimizer", "adamw_bf16"}}).kept(TensorRole::state) == 4 * kAll);
    CHECK(llama_step({{"optimizer", "adamw8bit"}}).kept(TensorRole::state) ==
          doctest::Approx(2.03 * kAll).epsilon(0.001));
    // fp32 weights are their own master: 2 + 4 + 4 + 4 read; 4 + 4 + 4 written.
    const Step wide = llama_step({{"weight_dtype.*", "fp32"}});
    CHECK(wide.demand("optimizer").hbm_read == Bytes(14 * kLayer));
    CHECK(wide.demand("optimizer").hbm_write == Bytes(12 * kLayer));
    CHECK(wide.kept(TensorRole::state) == 8 * kAll);
  }

  TEST_CASE("zero divides state over dp ranks") {
    const Step first = llama_step({{"zero", "1"}, {"dp", "4"}});
    CHECK(first.updated() * 4 == kAll);
    CHECK(first.kept(TensorRole::state) == 12 * kAll / 4);
    CHECK(first.kept(TensorRole::weight) == 2 * kAll);
    CHECK(first.demand("optimizer").hbm_read == Bytes(14 * kLayer / 4));
    CHECK(llama_step({{"dp", "4"}}).updated() == kAll);
    // 16 bytes over N, gradients aside: 14/N of weights and state.
    const Step third = llama_step({{"zero", "3"}, {"dp", "4"}});
    CHECK(third.kept(TensorRole::weight) == 2 * kAll / 4);
    CHECK(third.kept(TensorRole::state) == 12 * kAll / 4);
    CHECK(third.flops(OperatorKind::gemm) == 92'217'242'812'416.0);
  }

  TEST_CASE("what dp ranks exchange") {
    OnChip chip;
    chip.in_network_reduction_possible = chip.multicast_possible = false;
    const double message = 2 * kLayer;
    const auto out = [&](const Step& step, const char* op) {
      return asked_of(step.demand(op, chip), Unit::peer_out);
    };
    const Step plain = llama_step({{"dp", "8"}});
    CHECK(out(plain, "grad_all_reduce") == 2 * 7.0 / 8 * message);
    CHECK(out(plain, "outer.grad_all_reduce") == 2 * 7.0 / 8 * 2 * (kAll - 32 * kLayer));
    CHECK_FALSE(plain.has("params_gather"));
    for (const char* zero : {"1", "2"}) {
      const Step step = llama_step({{"dp", "8"}, {"zero", zero}});
      CHECK(out(step, "grad_reduce_scatter") == 7.0 / 8 * message);
      CHECK(out(step, "params_gather") == 7.0 / 8 * message);
      CHECK_FALSE(step.has("params_gather_again"));
    }
    const Step fsdp = llama_step({{"dp", "8"}, {"zero", "3"}});
    for (const char* op : {"params_gather", "params_gather_again", "grad_reduce_scatter"}) {
      CHECK(out(fsdp, op) == 7.0 / 8 * message);
    }
    CHECK(fsdp.count(OperatorKind::all_gather) == 2 * 32 + 1);  // the outer ones stay
    CHECK(out(llama_step({{"dp", "8"}, {"grad_dtype", "fp32"}}), "grad_all_reduce") ==
          2 * 7.0 / 8 * 2 * message);
  }

  TEST_CASE("what is computed again is forward work once more") {
    const Step full = llama_step({{"recompute", "full"}});
    CHECK(full.flops(OperatorKind::gemm) ==
          6 * kMatrices * kTokens + 2 * (kMatrices - kHead) * kTokens);
    CHECK(full.flops(OperatorKind::attention) == 2 * kAttention);
    CHECK(full.flops(OperatorKind::attention_backward) == 2 * kAttention);
    const Step selective = llama_step({{"recompute", "selective"}});
    CHECK(selective.flops(OperatorKind::gemm) == 6 * kMatrices * kTokens);
    CHECK(selective.flops(OperatorKind::attention) == 2 * kAttention);
    CHECK(selective.has("recompute.attention"));
    CHECK_FALSE(selective.has("recompute.o_proj"));
  }

  TEST_CASE("tensor parallel ranks together are the whole step") {
    const Step step = llama_step({{"tp", "4"}});
    CHECK(step.flops(OperatorKind::gemm) * 4 == 92'217'242'812'416.0);
    CHECK(step.flops(OperatorKind::attention_backward) * 4 == 2 * kAttention);
    // Two a layer each way, one after the embedding, one for the gradient of the last norm.
    CHECK(step.count(OperatorKind::all_reduce) == 4 * 32 + 2);
    const double norms = 65 * 4096.0;
    CHECK((step.updated() - norms) * 4 == kAll - norms);
  }

  TEST_CASE("pipeline stages together are the whole step") {
    double flops = 0;
    double updated = 0;
    double norms = 0;
    for (std::int64_t stage = 0; stage < 3; ++stage) {
      const Step step = llama_step({{"pp", "3"}}, stage);
      flops += step.flops(OperatorKind::gemm);
      updated += step.updated();
      norms += step.count(OperatorKind::norm_backward);
      CHECK(step.has("send") == (stage < 2));
      CHECK(step.has("send_grad") == (stage > 0));
      if (stage > 0) {
        CHECK(asked_of(step.demand("send_grad"), Unit::peer_out) == 2 * 2048.0 * 4096);
      }
    }
    CHECK(flops == 92'217'242'812'416.0);
    CHECK(updated == kAll);
    CHECK(norms == 65);
  }

  TEST_CASE("a tied table has one gradient and one update") {
    const Architecture a = load_architecture("workloads/qwen3-0.6b.json");
    const Step step = step_of(a, {});
    CHECK(step.updated() == 596'049'920.0);
    CHECK(step.has("q_norm.backward"));
    // Logits included: 6 · (596,049,920 − norms: 28·(2·1024 + 2·128) + 1024) a token.
    CHECK(step.flops(OperatorKind::gemm) == 6 * (596'049'920.0 - 28 * 2304 - 1024) * kTokens);
  }

  TEST_CASE("layers of two kinds go backward in reverse") {
    const Architecture a = parse_architecture(
        R"({"architectures":["Qwen3ForCausalLM"],"vocab_size":100,"hidden_size":8,
            "intermediate_size":16,"num_hidden_layers":5,"num_attention_heads":2,"head_dim":4,
            "num_key_value_heads":1,"use_sliding_window":true,"sliding_window":64,
            "max_window_layers":2})",
        "m.json");
    const Step step = step_of(a, {{"recompute", "full"}, {"dp", "2"}, {"zero", "3"}});
    CHECK(step.updated() * 2 ==
          doctest::Approx(static_cast<double>(a.parameter_count().total)).epsilon(0.01));
    REQUIRE(step.graph.repeats.size() == 6);
    CHECK(step.graph.repeats[2].name == "sliding.layer.backward");
    CHECK(step.graph.repeats[3].name == "full.layer.backward");
    // 2048 tokens: all pairs in 2 layers; 64·65/2 + 1984·64 in 3. 2 heads, 8·4 FLOPs backward.
    CHECK(step.flops(OperatorKind::attention_backward) ==
          (2 * 2'098'176.0 + 3 * 129'056.0) * 2 * 32);
  }

  TEST_CASE("tables of model FLOPs utilization follow a convention") {
    // MPT-7B (llm-foundry, scripts/train/benchmarking): 6,658,859,008 parameters, sequences of
    // 2048. Sizes of a gated MLP with as many weights: 12·4096² a layer with its norms.
    Architecture a = parse_architecture(
        R"({"architectures":["LlamaForCausalLM"],"vocab_size":50432,"hidden_size":4096,
            "intermediate_size":10922,"num_hidden_layers":32,"num_attention_heads":32,
            "tie_word_embeddings":true})",
        "mpt.json");
    NamedWeight rest;  // 6,649,024,512 so far
    rest.name = "positions.weight";
    rest.rows = 2401;
    rest.cols = 4096;
    a.weights.push_back(rest);
    REQUIRE(a.parameter_count().total == 6'658'859'008);
    TrainingPlan plan;
    // 6 · 6,658,859,008 + 12 · 32 · 4096 · 2048.
    CHECK(conventional_flops_per_token(a, plan).model == Flops(43'174'379'520.0));
    // 10643 tokens a second on each H100 of 989.4 TFLOP/s: 459.5 TFLOP/s, 46.44 %.
    const double rate = 10643 * conventional_flops_per_token(a, plan).model.in_base_units();
    CHECK(rate == doctest::Approx(459.5e12).epsilon(0.0001));
    CHECK(rate / 989.4e12 == doctest::Approx(0.4644).epsilon(0.0002));
    CHECK(conventional_flops_per_token(a, plan).hardware == Flops(43'174'379'520.0));
    // MPT-70B: 42.57 % and 56.76 % with checkpointing: 4/3.
    plan.recompute = Recompute::full;
    CHECK(conventional_flops_per_token(a, plan).hardware == Flops(57'565'839'360.0));
    plan.recompute = Recompute::selective;
    CHECK(conventional_flops_per_token(a, plan).hardware ==
          Flops(43'174'379'520.0 + 1'073'741'824.0));
  }

  TEST_CASE("what training does not cover is an error that names it") {
    CHECK(error_of(llama(), {{"cp", "2"}}).find("cp: context parallelism") != std::string::npos);
    CHECK(error_of(llama(), {{"batch", "2"}}).find("batch: has no meaning in training") !=
          std::string::npos);
    CHECK(error_of(llama(), {{"weight_dtype", "fp8"}}).find("stored as fp8_e4m3") !=
          std::string::npos);
    Architecture a = llama();
    a.layers[0].feed_forward = FeedForward::experts;
    CHECK(error_of(a, {}).find("layers with experts") != std::string::npos);
    a.layers[0].feed_forward = FeedForward::dense;
    a.layers[0].mixer = Mixer::mamba2;
    CHECK(error_of(a, {}).find("layers with mamba2") != std::string::npos);
    Scenario scenario;
    ParallelLayout layout;
    CHECK(apply_symbol("zero", "4", scenario, layout).error != "");
    CHECK(apply_symbol("optimizer", "adam", scenario, layout).error ==
          "\"adam\" is not one of adamw, adamw8bit, adamw_bf16, sgd");
    CHECK(apply_symbol("recompute", "half", scenario, layout).error != "");
    CHECK(apply_symbol("grad_dtype", "fp8", scenario, layout).error != "");
  }
}
