// SPDX-License-Identifier: Apache-2.0
#include "model/ledger/rank_weights.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "model/device/device_file.hpp"
#include "model/evaluate_model.hpp"
#include "tests/ledger/served_model.hpp"

using namespace floorline;

namespace {

constexpr std::int64_t kMiB = 1048576;

Architecture tiny(const char* more) {
  return parse_architecture(std::string(R"({"architectures": ["LlamaForCausalLM"],
    "vocab_size": 1000, "hidden_size": 64, "intermediate_size": 256, "num_hidden_layers": 3,
    "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "hidden_act": "silu",
    "max_position_embeddings": 512, "torch_dtype": "bfloat16")") +
                                more + "}",
                            "tiny.json");
}

RankWeights weights_of(const Architecture& a, const EngineProfile& engine,
                       const ParallelLayout& layout = {}, std::int64_t stage = 0) {
  return rank_weights(a, Scenario{}, layout, stage_content(a, layout, stage, a.layer_count()),
                      engine, {});
}

/// Vectors that no operator of a graph reads: biases of products and routers, attention sinks.
double biases_of(const ServedModel& m) {
  Architecture a = m.architecture;
  std::erase_if(a.weights, [](const NamedWeight& w) {
    const bool vector = w.name.ends_with("bias") || w.name.ends_with("sinks");
    return !vector || w.name.ends_with("layernorm.bias");
  });
  const StageContent all = stage_content(a, m.layout, 0, a.layer_count());
  return rank_weights(a, m.scenario, m.layout, all, {}, {}).bytes.to_bytes().in_base_units();
}

// Of a layer: q 64 x 64, k and v 32 x 64 each, o 64 x 64, gate, up, down 3 x 64 x 256, norms 2
// x 64.
constexpr std::int64_t kLayer = 64 * 64 + 2 * 32 * 64 + 64 * 64 + 3 * 64 * 256 + 2 * 64;
constexpr std::int64_t kTable = 1000 * 64;

}  // namespace

TEST_SUITE("ledger") {
  TEST_CASE("Llama-3.1-8B in bf16: 8,030,261,248 parameters x 2 bytes") {
    CHECK(ServedModel("workloads/llama-3.1-8b.json").line("weights") == ByteCount(16060522496));
  }

  TEST_CASE("a tied table counts once on one rank, and once a stage that needs it") {
    const Architecture tied = tiny(R"(, "tie_word_embeddings": true)");
    const Architecture untied = tiny(R"(, "tie_word_embeddings": false)");
    const std::int64_t layers = 3 * kLayer;
    CHECK(weights_of(tied, {}).bytes == ByteCount(2 * (kTable + layers + 64)));
    CHECK(weights_of(untied, {}).bytes == ByteCount(2 * (2 * kTable + layers + 64)));
    // Three layers in two stages: two with the table, one with final norm and lm_head.
    const ParallelLayout two{.pp = 2};
    for (const Architecture& a : {tied, untied}) {
      CHECK(weights_of(a, {}, two, 0).bytes == ByteCount(2 * (kTable + 2 * kLayer)));
      CHECK(weights_of(a, {}, two, 1).bytes == ByteCount(2 * (kTable + kLayer + 64)));
    }
  }

  TEST_CASE("norms are on every rank, KV heads never less than one") {
    const Architecture a = tiny(R"(, "tie_word_embeddings": true)");
    // tp 4: q, o, MLP and table a quarter, k and v one of two heads (16 rows), norms whole.
    const std::int64_t layer = (2 * 64 * 64 + 3 * 64 * 256) / 4 + 2 * 16 * 64 + 2 * 64;
    CHECK(weights_of(a, {}, {.tp = 4}).bytes == ByteCount(2 * (kTable / 4 + 3 * layer + 64)));
  }

  TEST_CASE("vocabulary padding, then division; the rotary table is whole") {
    const Architecture a = tiny(R"(, "tie_word_embeddings": true)");
    EngineProfile engine;
    engine.vocab_multiple = 64;
    engine.rotary_table = true;
    const RankWeights w = weights_of(a, engine, {.tp = 2});
    CHECK(w.padding == ByteCount(2 * (512 - 500) * 64));  // 1000 rows → 1024 → 512 a rank
    CHECK(w.rotary == ByteCount(512 * 16 * 2));           // positions x head_dim x 2 B
    const RankWeights plain = weights_of(a, {}, {.tp = 2});
    CHECK(w.bytes == plain.bytes + w.padding + w.rotary);
  }

  TEST_CASE("each tensor has its own precision: an FP8 405B keeps 16-bit tensors") {
    ServedModel m("workloads/llama-3.1-405b.json");
    REQUIRE(m.set("tp", "8"));
    REQUIRE(m.set("weight_dtype.layers.mlp.*", "fp8"));
    // MLP 126 x 3 x 53,248 x 16,384 fp8 bytes / 8 ranks.
    const std::int64_t mlp = std::int64_t{126} * 3 * 53248 * 16384 / 8;
    // Attention 126 x (2 x 16,384^2 + 2 x 1,024 x 16,384), table and lm_head, each / 8; norms
    // whole.
    const std::int64_t attention =
        std::int64_t{126} * (2LL * 16384 * 16384 + 2LL * 1024 * 16384) / 8;
    const std::int64_t tables = 2LL * 128256 * 16384 / 8;
    const std::int64_t norms = 253LL * 16384;
    CHECK(m.line("weights") == ByteCount(mlp + 2 * (attention + tables + norms)));
    CHECK(m.line("weights") > ByteCount(405853388800 / 8));  // what "FP8 is a byte each" would say
  }

  TEST_CASE("scales of a checkpoint go with its storage") {
    const Architecture a = load_architecture("workloads/deepseek-v3.json");
    Scenario scenario;
    const StageContent all = stage_content(a, {}, 0, a.layer_count());
    CHECK(rank_weights(a, scenario, {}, all, {}, {}).scales > ByteCount(0));
    scenario.weight_dtype = Precision::bf16;
    CHECK(rank_weights(a, scenario, {}, all, {}, {}).scales == ByteCount(0));
  }

  TEST_CASE("the ledger's weights and cache are those that bound finds resident") {
    // Two ways to the same bytes: tensors of the step's graph, and named weights.
    const Machine machine = machine_of(load_device("h100_sxm", DevicePath{{"devices"}}), {});
    struct Asked {
      const char* file;
      std::int64_t tp;
      std::vector<std::pair<std::string, std::string>> set;
    };
    // DeepSeek-V3: fp8 with scales of 128 x 128 blocks; gpt-oss: mxfp4. Graphs leave out biases.
    const std::vector<Asked> all{
        {"llama-3.1-8b", 4, {}},
        {"qwen3-0.6b", 1, {}},
        {"qwen3-30b-a3b", 4, {}},
        {"mixtral-8x7b", 4, {}},
        {"deepseek-v3", 1, {}},
        {"deepseek-v3", 8, {}},
        {"gpt-oss-20b", 1, {}},
        {"gpt-oss-120b", 2, {}},
        {"qwen2.5-7b", 1, {}},
        {"llama-3.1-70b",
         2,
         {{"weight_dtype", "int4"}, {"weight_group_size", "16"}, {"weight_scale_dtype", "fp32"}}},
        {"llama-3.1-8b",
         1,
         {{"weight_dtype", "int4"}, {"weight_group_size", "128"}, {"weight_zero_dtype", "int4"}}},
    };
    for (const Asked& asked : all) {
      for (const char* context : {"0", "1000"}) {
        CAPTURE(asked.file);
        CAPTURE(asked.tp);
        CAPTURE(context);
        ServedModel m(std::string("workloads/") + asked.file + ".json");
        m.layout.tp = asked.tp;
        for (const auto& [name, value] : asked.set) REQUIRE(m.set(name, value));
        REQUIRE(m.set("context", context));
        const ModelEvaluation e =
            evaluate_model({m.architecture, m.scenario, m.layout, {}}, machine);
        const ByteCount held = m.line("weights") + m.line("kv_cache");
        CHECK(e.floors.resident.in_base_units() + biases_of(m) == held.to_bytes().in_base_units());
      }
    }
  }

  TEST_CASE("scales that are asked for are resident") {
    // Llama-3.1-70B, each of 80 layers: q, o 8192 x 8192, k, v 1024 x 8192, gate, up, down 28672 x
    // 8192: 855,638,016 elements. In int4 half a byte each, and one fp32 scale for 16: 4/16 = 1/4.
    // The rest in bf16: table and lm_head 128,256 x 8,192 each, 161 norms of 8,192. The cache: one
    // token, 80 x 2 x 8 x 128 x 2 B.
    const Machine machine = machine_of(load_device("a40", DevicePath{{"devices"}}), {});
    ServedModel m("workloads/llama-3.1-70b.json");
    REQUIRE(m.set("weight_dtype", "int4"));
    REQUIRE(m.set("weight_group_size", "16"));
    REQUIRE(m.set("weight_scale_dtype", "fp32"));
    m.scenario.context = 0;
    const double layers = 80.0 * (2.0 * 8192 * 8192 + 2.0 * 1024 * 8192 + 3.0 * 28672 * 8192);
    const double rest = 2 * (2.0 * 128256 * 8192 + 161.0 * 8192) + 80.0 * 2 * 8 * 128 * 2;
    const ModelEvaluation e = evaluate_model({m.architecture, m.scenario, m.layout, {}}, machine);
    CHECK(e.floors.resident.in_base_units() == layers * 0.75 + rest);
  }

  TEST_CASE("the allocator's rounding depends on the shapes of tensors from 10 MiB on") {
    EngineProfile engine;
    engine.pytorch_allocator = true;
    const auto rounding = [&](std::int64_t rows) {
      Architecture a;
      NamedWeight w;
      w.name = "embed_tokens.weight";
      w.rows = rows;
      w.cols = 1;
      w.storage = Precision::int8;
      a.weights = {w};
      StageContent stage;
      return rank_weights(a, Scenario{}, {}, stage, engine, {}).rounding;
    };
    // 11.5 MiB in a segment of 12: the rest of 0.5 MiB is counted.
    CHECK(rounding(11 * kMiB + kMiB / 2).low == ByteCount(kMiB / 2));
    CHECK(rounding(11 * kMiB + kMiB / 2).high == ByteCount(kMiB / 2));
    CHECK(rounding(12 * kMiB).high == ByteCount(0));
    // 10.5 MiB: the rest of 1.5 MiB is given back.
    CHECK(rounding(10 * kMiB + kMiB / 2).high == ByteCount(0));
    // 5 MiB shares a segment: up to 1 MiB more. 100 bytes take 512.
    CHECK(rounding(5 * kMiB).low == ByteCount(0));
    CHECK(rounding(5 * kMiB).high == ByteCount(kMiB));
    CHECK(rounding(100).low == ByteCount(412));
    CHECK(rounding(100).high == ByteCount(412));
  }

  TEST_CASE("projections that an engine fuses are one tensor to its allocator") {
    EngineProfile engine;
    engine.pytorch_allocator = true;
    // Llama-3.1-8B: q 32 MiB, k and v 8 MiB each. Apart, k and v share segments (a range); fused,
    // 48 MiB is exact. All other matrices are multiples of 2 MiB, norms 8 KiB.
    ServedModel m("workloads/llama-3.1-8b.json");
    const auto rounding = [&] { return weights_of(m.architecture, engine).rounding; };
    CHECK(rounding().high == ByteCount(2 * 32 * kMiB));
    engine.fused = {{"q_proj", "k_proj", "v_proj"}};
    CHECK(rounding().low == ByteCount(0));
    CHECK(rounding().high == ByteCount(0));
  }

  TEST_CASE("layers of a stage, also of a longer and a shorter model") {
    const Architecture a = load_architecture("workloads/gpt-oss-20b.json");  // 24, by turns
    const StageContent half = stage_content(a, {.pp = 2}, 1, 24);
    CHECK(half.layers == std::vector<std::int64_t>{6, 6});
    CHECK_FALSE(half.first);
    CHECK(half.last);
    CHECK(stage_content(a, {}, 0, 5).layers == std::vector<std::int64_t>{3, 2});
    CHECK(stage_content(a, {}, 0, 49).layers == std::vector<std::int64_t>{25, 24});
  }
}
