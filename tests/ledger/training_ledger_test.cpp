// SPDX-License-Identifier: Apache-2.0
// Training memory worked by hand: GPT-3 (h 12288, 96 heads of 128, s 2048, b 1) by the formulas of
// Korthikanti et al., and Llama-3.1-8B (8,030,261,248 parameters; 32 layers of 218,112,000;
// 525,336,576 in each of embedding and lm_head; 4096 in the final norm).
#include "model/ledger/training_ledger.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "model/input/diagnostic.hpp"
#include "model/ledger/liveness.hpp"
#include "model/ledger/size_ledger.hpp"
#include "model/ledger/training_activations.hpp"
#include "model/workload/architecture_file.hpp"
#include "model/workload/model_graph.hpp"

using namespace floorline;

namespace {

constexpr std::int64_t kParameters = 8'030'261'248;

Architecture gpt3() {
  Architecture model;
  model.name = "gpt-3";
  model.hidden = 12'288;
  LayerGroup layer;
  layer.count = 96;
  layer.attention.q_heads = 96;
  layer.attention.kv_heads = 96;
  layer.attention.head_dim = 128;
  layer.attention.v_dim = 128;
  layer.mlp.intermediate = 4 * 12'288;
  layer.mlp.gated = false;
  layer.mlp.activation = Activation::gelu;
  layer.norm = NormKind::layernorm;
  model.layers.push_back(layer);
  return model;
}

Scenario train() {
  Scenario scenario;
  scenario.phase = Phase::train;
  return scenario;
}

/// One layer, one micro-batch of one sequence of 2048 tokens, with dropout and kept scores.
ByteCount gpt3_layer(Recompute recompute, std::int64_t tp, bool sequence_parallel) {
  Scenario scenario = train();
  scenario.training.recompute = recompute;
  scenario.training.memory.dropout = true;
  scenario.training.memory.attention_scores = AttentionScores::eager;
  scenario.training.memory.sequence_parallel = sequence_parallel;
  ParallelLayout layout;
  layout.tp = tp;
  const Architecture model = gpt3();
  return layer_activations(model, model.layers.front(), scenario, layout).kept;
}

const Architecture& llama() {
  static const Architecture model = load_architecture("workloads/llama-3.1-8b.json");
  return model;
}

ByteCount bytes_of(const MemoryLedger& ledger, std::string_view name) {
  for (const LedgerEntry& line : ledger.lines) {
    if (line.name == name) return line.bytes;
  }
  return ByteCount(-1);
}
MemoryLedger llama_ledger(const Scenario& scenario, const ParallelLayout& layout = {}) {
  return training_ledger(llama(), scenario, layout).ledger;
}
ParallelLayout data_parallel(std::int64_t ranks) {
  ParallelLayout layout;
  layout.dp = ranks;
  return layout;
}

}  // namespace

TEST_SUITE("ledger") {
  TEST_CASE("activations of a GPT layer are those of Korthikanti et al.") {
    // s b h = 2048 x 12288 = 25,165,824; 5 a s / h = 5 x 96 x 2048 / 12288 = 80.
    constexpr std::int64_t kSbh = 25'165'824;
    CHECK(gpt3_layer(Recompute::none, 1, false) == ByteCount(kSbh * 114));    // 34 + 80
    CHECK(gpt3_layer(Recompute::none, 8, false) == ByteCount(kSbh * 23));     // 10 + 3 + 10
    CHECK(gpt3_layer(Recompute::none, 8, true) == ByteCount(kSbh * 57 / 4));  // 114 / 8
    CHECK(gpt3_layer(Recompute::selective, 1, false) == ByteCount(kSbh * 34));
    CHECK(gpt3_layer(Recompute::selective, 8, false) == ByteCount(kSbh * 13));     // 10 + 24 / 8
    CHECK(gpt3_layer(Recompute::selective, 8, true) == ByteCount(kSbh * 17 / 4));  // 34 / 8
    CHECK(gpt3_layer(Recompute::full, 8, false) == ByteCount(kSbh * 2));
    CHECK(gpt3_layer(Recompute::full, 8, true) == ByteCount(kSbh / 4));
  }

  TEST_CASE("activations of a gated layer with grouped queries, flash attention, no dropout") {
    // 8 x 4096 + 2 (32 + 16) 128 + 2 x 32 x 128 + 4 x 32 + 6 x 14336 = 139,392 bytes a token.
    Scenario scenario = train();
    const LayerGroup& layer = llama().layers.front();
    CHECK(layer_activations(llama(), layer, scenario, {}).kept == ByteCount(139'392LL * 2048));
    // Two ranks: 8 h stays, the rest is halved: 32,768 + 53,312.
    ParallelLayout two;
    two.tp = 2;
    CHECK(layer_activations(llama(), layer, scenario, two).kept == ByteCount(86'080LL * 2048));
    // Sixteen ranks, eight KV heads: q 2, k and v one head each; 8 h of 4096 / 16 rows.
    // 2048 + 2 (2 + 1 + 1) 128 + 2 x 2 x 128 + 4 x 2 + 6 x 896 = 8,968.
    ParallelLayout sixteen;
    sixteen.tp = 16;
    scenario.training.memory.sequence_parallel = true;
    CHECK(layer_activations(llama(), layer, scenario, sixteen).kept == ByteCount(8'968LL * 2048));
    // Selective keeps no normalizer of the scores: 4 x 2 less.
    scenario.training.recompute = Recompute::selective;
    CHECK(layer_activations(llama(), layer, scenario, sixteen).kept == ByteCount(8'960LL * 2048));
  }

  TEST_CASE("micro-batches in flight by schedule") {
    TrainingPlan plan;
    plan.accumulation = 8;
    const auto parts = [&](std::int64_t stages, std::int64_t stage) {
      return in_flight(plan, stages, stage).parts;
    };
    CHECK(parts(1, 0) == 1);
    CHECK(parts(4, 0) == 4);
    CHECK(parts(4, 3) == 1);
    plan.memory.schedule = PipelineSchedule::gpipe;
    CHECK(parts(4, 3) == 8);
    // First stage: pp (1 + (pp - 1) / (pp v)) = 4 (1 + 3/8) = 5.5 micro-batches = 11 halves.
    plan.memory.schedule = PipelineSchedule::interleaved;
    plan.memory.interleave = 2;
    CHECK(parts(4, 0) == 11);
    CHECK(in_flight(plan, 4, 0).per_stage == 2);
    plan.accumulation = 2;
    CHECK(parts(4, 0) == 4);  // no more than there are
    plan.memory.schedule = PipelineSchedule::one_forward_one_backward;
    CHECK(parts(4, 0) == 2);
  }

  TEST_CASE("Llama-3.1-8B on one rank") {
    const MemoryLedger ledger = llama_ledger(train());
    CHECK(bytes_of(ledger, "weights") == ByteCount(2 * kParameters));
    CHECK(bytes_of(ledger, "gradients") == ByteCount(2 * kParameters));
    CHECK(bytes_of(ledger, "optimizer") == ByteCount(12 * kParameters));
    // 32 layers of 139,392 x 2048, and 2 x 4096 x 2 x 2048 before the final norm and lm_head.
    CHECK(bytes_of(ledger, "activations") == ByteCount(9'135'194'112 + 33'554'432));
    // 2048 x 128,256 x (2 + 4) before the loss, the same of gradients behind it.
    CHECK(bytes_of(ledger, "logits") == ByteCount(1'576'009'728));
    CHECK(bytes_of(ledger, "logits_gradients") == ByteCount(1'576'009'728));
    const Peak peak = peak_of(ledger);
    CHECK(ledger.instants[peak.at] == "backward");
    CHECK(peak.bytes == ByteCount(16 * kParameters + 9'168'748'544 + 2 * 1'576'009'728LL));
    CHECK(alive_at(ledger, 2) == ByteCount(16 * kParameters));
    // One pass: no gradients before the backward pass begins.
    CHECK(alive_at(ledger, 0) == ByteCount(14 * kParameters + 9'168'748'544 + 1'576'009'728));
  }

  TEST_CASE("bytes a parameter of each optimizer") {
    const auto state = [](OptimizerKind kind, Precision weights) {
      Scenario scenario = train();
      scenario.training.optimizer = kind;
      scenario.weight_dtypes.push_back({"*", weights});
      return bytes_of(llama_ledger(scenario), "optimizer");
    };
    CHECK(state(OptimizerKind::adamw, Precision::bf16) == ByteCount(12 * kParameters));
    CHECK(state(OptimizerKind::adamw, Precision::fp32) == ByteCount(8 * kParameters));
    CHECK(state(OptimizerKind::sgd, Precision::bf16) == ByteCount(8 * kParameters));
    CHECK(state(OptimizerKind::sgd, Precision::fp32) == ByteCount(4 * kParameters));
    CHECK(state(OptimizerKind::adamw_bf16, Precision::bf16) == ByteCount(4 * kParameters));
    // 8,030,261,248 / 256 = 31,368,208 blocks, a scale of 4 bytes for each of two moments.
    CHECK(state(OptimizerKind::adamw8bit, Precision::bf16) ==
          ByteCount(2 * kParameters + 8 * 31'368'208LL));
    // Megatron keeps gradients in fp32: 2 + 4 + 12 = 18 bytes.
    Scenario megatron = train();
    megatron.training.grad_dtype = Precision::fp32;
    CHECK(alive_at(llama_ledger(megatron), 2) == ByteCount(18 * kParameters));
  }

  TEST_CASE("ZeRO on 8 ranks: 4 + 12/8, 2 + 14/8, 16/8 bytes a parameter") {
    const std::int64_t part = kParameters / 8;  // 1,003,782,656 exactly
    const auto lines = [&](std::int64_t zero) {
      Scenario scenario = train();
      scenario.training.zero = zero;
      return llama_ledger(scenario, data_parallel(8));
    };
    for (const std::int64_t zero : {0, 1, 2, 3}) {
      CAPTURE(zero);
      const MemoryLedger ledger = lines(zero);
      CHECK(bytes_of(ledger, "weights") == ByteCount(2 * (zero == 3 ? part : kParameters)));
      CHECK(bytes_of(ledger, "gradients") == ByteCount(2 * (zero >= 2 ? part : kParameters)));
      CHECK(bytes_of(ledger, "optimizer") == ByteCount(12 * (zero >= 1 ? part : kParameters)));
    }
    // Two layers of 218,112,000 and 2 x 525,336,576 + 4096 outside them, 2 bytes each.
    CHECK(bytes_of(lines(3), "gathered_weights") == ByteCount(872'448'000LL + 2'101'354'496));
    CHECK(bytes_of(lines(2), "gathered_weights") == ByteCount(-1));
    // Buckets of 5e8 elements: 2 + 2 bytes; FSDP holds one layer's gradients.
    const auto& buckets = lines(3).lines;
    const auto found = std::find_if(buckets.begin(), buckets.end(), [](const LedgerEntry& line) {
      return line.name == "comm_buffers";
    });
    REQUIRE(found != buckets.end());
    CHECK(found->interval->low == ByteCount(436'224'000));
    CHECK(found->interval->high == ByteCount(2'000'000'000));
  }

  TEST_CASE("the worst pipeline stage: the first for activations, the last for the vocabulary") {
    Scenario scenario = train();
    ParallelLayout two;
    two.pp = 2;
    // One micro-batch: the last stage has logits besides.
    CHECK(training_ledger(llama(), scenario, two).stage == 1);
    scenario.training.accumulation = 8;
    const TrainingLedger first = training_ledger(llama(), scenario, two);
    CHECK(first.stage == 0);
    // 16 layers and the embedding; two micro-batches in flight: 2 x 16 layers x 139,392 x 2048.
    CHECK(bytes_of(first.ledger, "weights") == ByteCount(2 * (16 * 218'112'000LL + 525'336'576)));
    CHECK(bytes_of(first.ledger, "activations") == ByteCount(9'135'194'112));
    CHECK(bytes_of(first.ledger, "logits") == ByteCount(-1));
    const MemoryLedger last = training_ledger_of_stage(llama(), scenario, two, 1);
    CHECK(bytes_of(last, "weights") == ByteCount(2 * (16 * 218'112'000LL + 525'336'576 + 4096)));
    scenario.training.memory.schedule = PipelineSchedule::gpipe;
    CHECK(bytes_of(training_ledger_of_stage(llama(), scenario, two, 0), "activations") ==
          ByteCount(4 * 9'135'194'112));
  }

  TEST_CASE("a tied table is on the first and the last stage") {
    const Architecture qwen = load_architecture("workloads/qwen3-0.6b.json");
    ParallelLayout two;
    two.pp = 2;
    const std::int64_t both = trained_parameters(qwen, train(), two, 0).count() +
                              trained_parameters(qwen, train(), two, 1).count();
    CHECK(both == 596'049'920 + 151'936LL * 1024);
    CHECK(trained_parameters(qwen, train(), {}, 0).count() == 596'049'920);
  }

  TEST_CASE("full recomputation keeps layers' inputs and one layer that is computed again") {
    Scenario scenario = train();
    scenario.training.recompute = Recompute::full;
    const MemoryLedger ledger = llama_ledger(scenario);
    // 32 x 2 x 4096 x 2048, and before the final norm and lm_head 33,554,432.
    CHECK(bytes_of(ledger, "activations") == ByteCount(536'870'912 + 33'554'432));
    CHECK(bytes_of(ledger, "recomputed") == ByteCount((139'392LL - 8192) * 2048));
  }

  TEST_CASE("a model known by its size alone") {
    // 6.7e9 parameters, Adam, mixed precision: 13.4 + 13.4 + 80.4 = 107.2 GB.
    Scenario scenario = train();
    const TrainingLedger known = size_ledger({6'700'000'000, {}}, scenario, {});
    CHECK(bytes_of(known.ledger, "weights") == ByteCount(13'400'000'000));
    CHECK(bytes_of(known.ledger, "gradients") == ByteCount(13'400'000'000));
    CHECK(bytes_of(known.ledger, "optimizer") == ByteCount(80'400'000'000));
    CHECK(peak_of(known.ledger).bytes == ByteCount(107'200'000'000));
    CHECK(known.notes.front().find("unknown") != std::string::npos);
    scenario.phase = Phase::decode;
    const TrainingLedger served = size_ledger({7'000'000'000, {}}, scenario, {});
    REQUIRE(served.ledger.lines.size() == 1);
    CHECK(served.ledger.lines.front().bytes == ByteCount(14'000'000'000));
    // More than 64 bits hold: a value, not a wrap.
    CHECK(peak_of(size_ledger({1'000'000'000'000'000'000, {}}, train(), {}).ledger)
              .bytes.overflowed());
  }

  TEST_CASE("the table of the ZeRO paper: 7.5e9 parameters on 64 ranks") {
    // Rajbhandari et al., figure 1: 120 GB, 31.4 GB, 16.6 GB, 1.9 GB.
    const auto need = [](std::int64_t zero) {
      Scenario scenario = train();
      scenario.training.zero = zero;
      const MemoryLedger ledger =
          size_ledger({7'500'000'000, {}}, scenario, data_parallel(64)).ledger;
      return peak_of(ledger).bytes.to_bytes() / Bytes(1e9);
    };
    CHECK(need(0) == 120);
    CHECK(need(1) == doctest::Approx(31.4).epsilon(0.001));
    CHECK(need(2) == doctest::Approx(16.6).epsilon(0.003));
    CHECK(need(3) == doctest::Approx(1.9).epsilon(0.02));
  }

  TEST_CASE("the graph of a step agrees with the formula, tensor by tensor") {
    // Liveness counts the same tensors but for the normalizer of the scores (4 x 32 bytes). With
    // 4096 tokens most is alive at the gradient of lm_head: all activations, the logits' gradient,
    // lm_head's own, and its input's. With 2048 the gradients at the end outweigh that.
    Scenario scenario = train();
    scenario.training.sequence = 4096;
    const OperatorGraph graph = model_graph(llama(), scenario, {});
    const GraphMemory memory = memory_of(bind(graph));
    CHECK(graph.ops[static_cast<std::size_t>(memory.at)].name == "lm_head.dw");
    const std::int64_t layers = 32LL * 4096 * (139'392 - 128);
    const std::int64_t logits = 4096LL * 128'256 * 2;
    const std::int64_t row = 4096LL * 4096 * 2;
    const std::int64_t head_gradient = 525'336'576LL * 2;
    CHECK(memory.peak_intermediates == ByteCount(layers + 2 * row + logits + head_gradient + row));
    CHECK(memory.weights == ByteCount(2 * kParameters));
    CHECK(memory.state == ByteCount(12 * kParameters));
  }

  TEST_CASE("schedules that contradict their layout") {
    const auto wrong = [](const Scenario& scenario, const ParallelLayout& layout) {
      Diagnostics diagnostics;
      check_training_memory(llama(), scenario, layout, diagnostics);
      return diagnostics.size();
    };
    Scenario scenario = train();
    ParallelLayout four;
    four.pp = 4;
    CHECK(wrong(scenario, four) == 0);
    scenario.training.memory.interleave = 2;
    CHECK(wrong(scenario, four) == 1);  // without the schedule
    scenario.training.memory.schedule = PipelineSchedule::interleaved;
    CHECK(wrong(scenario, four) == 0);  // 32 layers: 4 stages of 2 x 4
    CHECK(wrong(scenario, {}) == 1);
    scenario.training.memory.interleave = 3;
    CHECK(wrong(scenario, four) == 1);
    scenario.training.memory.interleave = 1;
    CHECK(wrong(scenario, four) == 1);
  }
}

TEST_SUITE("property") {
  TEST_CASE("training memory: largest line <= peak <= sum; more dp under ZeRO never needs more") {
    for (const char* file : {"workloads/llama-3.1-8b.json", "workloads/qwen3-0.6b.json",
                             "workloads/qwen3-32b.json", "workloads/llama-3.1-405b.json"}) {
      const Architecture model = load_architecture(file);
      std::mt19937_64 dice(7);
      for (int i = 0; i < 60; ++i) {
        CAPTURE(file);
        CAPTURE(i);
        Scenario scenario = train();
        TrainingPlan& plan = scenario.training;
        const auto roll = [&dice](std::uint64_t n) {
          return static_cast<std::int64_t>(dice() % n);
        };
        plan.sequence = 1 + roll(9000);
        plan.micro_batch = 1 + roll(5);
        plan.accumulation = 1 + roll(9);
        plan.zero = 1 + roll(3);
        plan.recompute = static_cast<Recompute>(roll(3));
        plan.optimizer = static_cast<OptimizerKind>(roll(4));
        plan.memory.sequence_parallel = roll(2) == 0;
        plan.memory.schedule =
            roll(2) == 0 ? PipelineSchedule::gpipe : PipelineSchedule::one_forward_one_backward;
        ParallelLayout layout;
        layout.tp = std::int64_t{1} << static_cast<unsigned>(roll(4));
        layout.pp = 1 + roll(4);
        layout.dp = 2 + roll(30);
        const auto peak = [&] {
          return peak_of(training_ledger(model, scenario, layout).ledger).bytes;
        };
        const MemoryLedger ledger = training_ledger(model, scenario, layout).ledger;
        ByteCount largest;
        ByteCount sum;
        for (const LedgerEntry& line : ledger.lines) {
          largest = std::max(largest, line.bytes);
          sum = sum + line.bytes;
        }
        const ByteCount before = peak();
        CHECK(largest <= before);
        CHECK(before <= sum);
        layout.dp += 1 + roll(30);
        CHECK(peak() <= before);
        ++plan.micro_batch;
        const ByteCount more = peak();
        // Dividing at all brings buckets and gathered layers; what is divided never grows.
        const auto divided_lines = [&] {
          const MemoryLedger l = training_ledger_of_stage(model, scenario, layout, 0);
          return bytes_of(l, "weights") + bytes_of(l, "gradients") + bytes_of(l, "optimizer");
        };
        const ByteCount part = divided_lines();
        const std::int64_t ranks = layout.dp;
        layout.dp = 1;
        CHECK(part <= divided_lines());
        layout.dp = ranks;
        ++plan.sequence;
        CHECK(peak() >= more);
      }
    }
  }
}
