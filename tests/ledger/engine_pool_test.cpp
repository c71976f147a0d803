// SPDX-License-Identifier: Apache-2.0
#include "model/ledger/engine_pool.hpp"

#include <doctest/doctest.h>

#include <string>

#include "model/input/diagnostic.hpp"
#include "tests/ledger/served_model.hpp"

using namespace floorline;

namespace {

LedgerEntry stated(const char* name, std::int64_t bytes) {
  LedgerEntry entry;
  entry.name = name;
  entry.bytes = ByteCount(bytes);
  return entry;
}

constexpr std::int64_t kGiB = 1073741824;
// Llama-3.1-8B with a rotary table of 131,072 x 128 x 2 B; 128,256 rows are a multiple of 64, and
// all fused matrices of 2 MiB.
constexpr std::int64_t kWeights8B = 16060522496 + 33554432;

LedgerModel measured(const ServedModel& m) {
  LedgerModel model = m.model();
  model.given = {stated("activations", kGiB), stated("runtime", 0), stated("workspace", 0),
                 stated("graphs", kGiB)};
  return model;
}

EnginePool pool_of(const LedgerModel& model, std::int64_t total) {
  const auto pool = engine_pool(model, rank_ledgers(model), MemoryTotal{ByteCount(total), {}, ""});
  REQUIRE(pool);
  return *pool;
}

std::string engine_errors(const std::string& text, const char* version = "") {
  try {
    parse_engine(text, "e.toml", version);
  } catch (const InputError& e) {
    std::string all;
    for (const Diagnostic& d : e.diagnostics()) all += to_text(d) + "\n";
    return all;
  }
  return "";
}

}  // namespace

TEST_SUITE("ledger") {
  TEST_CASE("vLLM before 0.21: what remains of 0.9 of the total, in blocks of 16") {
    ServedModel m("workloads/llama-3.1-8b.json");
    m.use_engine("vllm", "0.10.2");
    const EnginePool pool = pool_of(measured(m), 80'000'000'000);
    // 72e9 - 16,094,076,928 - 1 GiB = 54,832,181,248; / (16 x 131,072) = 26,146.02
    CHECK(pool.low.available == ByteCount(72'000'000'000 - kWeights8B - kGiB));
    CHECK(pool.high.available == pool.low.available);
    CHECK(pool.low.blocks == 26146);
    CHECK(pool.low.tokens == 418336);
    CHECK(pool.low.concurrency == doctest::Approx(26146.0 / 8192));  // 131,072 / 16 blocks each
    CHECK(pool.low.longest == 131072);
    CHECK(pool.low.longest_any == 418336);
    CHECK(pool.weights.high == ByteCount(kWeights8B));
  }

  TEST_CASE("vLLM from 0.21: graphs come off first, tokens are concurrency x length") {
    ServedModel m("workloads/llama-3.1-8b.json");
    m.use_engine("vllm", "0.21");
    const EnginePool pool = pool_of(measured(m), 80'000'000'000);
    // 53,758,439,424 / 2,097,152 = 25,634.02
    CHECK(pool.low.available == ByteCount(72'000'000'000 - kWeights8B - 2 * kGiB));
    CHECK(pool.low.blocks == 25634);
    CHECK(pool.low.tokens == 410144);
    m.use_engine("vllm", "0.20.9");
    CHECK(pool_of(measured(m), 80'000'000'000).low.blocks == 26146);
    m.use_engine("vllm", "");
    CHECK(pool_of(measured(m), 80'000'000'000).low.blocks == 25634);
  }

  TEST_CASE("E09: gpt-oss-120b, 5.38 GiB, 78,384 tokens in the engine's log") {
    ServedModel m("workloads/gpt-oss-120b.json");
    m.use_engine("vllm", "0.10");
    const auto tokens = [&](double gib) {
      m.settings.available_kv = whole_budget(GiB(gib));
      return pool_of(m.model(), 0).low.tokens;
    };
    // Two groups of 18 layers, pages of 32,768 B: blocks = bytes / 589,824, tokens = blocks / 2
    // x 16.
    CHECK(tokens(5.38) == 9793 / 2 * 16);  // 78,336
    CHECK(tokens(5.375) <= 78384);         // what prints as 5.38
    CHECK(tokens(5.385) >= 78384);
    // Full pages for all 36 layers: 1,179,648 B a block. 5,776,731,013 / 1,179,648 = 4,896.99
    m.settings.windows_as_full = true;
    m.settings.available_kv = whole_budget(GiB(5.38));
    const EnginePool pool = pool_of(m.model(), 0);
    CHECK(pool.low.tokens == 78336);
    CHECK(pool.low.longest == 78336);  // 131,072 do not fit: the engine does not start
    // Ideal, one request of 131,072: 18 full layers and 18 windows of 128.
    CHECK(pool.ideal.sum() == ByteCount(18LL * 2048 * (131072 + 128)));
    CHECK(pool.engine.sum() == ByteCount(36LL * 2048 * 131072));
  }

  TEST_CASE("every rank takes the least of all stages") {
    ServedModel m("workloads/llama-3.1-8b.json");
    m.use_engine("vllm", "0.10");
    m.layout.pp = 3;  // 11, 11 and 10 layers; tables in the first and the last stage
    const LedgerModel model = measured(m);
    const std::vector<RankLedger> ranks = rank_ledgers(model);
    REQUIRE(ranks.size() == 3);
    const MemoryTotal total{ByteCount(40'000'000'000), {}, ""};
    const auto all = engine_pool(model, ranks, total);
    const auto first = engine_pool(model, {ranks[0]}, total);
    const auto second = engine_pool(model, {ranks[1]}, total);
    REQUIRE(all);
    CHECK(first->low.blocks < second->low.blocks);
    CHECK(all->low.blocks == first->low.blocks);
    CHECK(all->stage == 0);
  }

  TEST_CASE("SGLang: free after load less free before x (1 - fraction), the rest is its reserve") {
    ServedModel m("workloads/llama-3.1-8b.json");
    m.use_engine("sglang");
    const std::int64_t total = 80 * kGiB;
    // 512 + 1.5 x 8192 + 2 x 160 + 128 = 13,248 MiB kept back of 81,920 (above the 10 GiB least).
    const EnginePool pool = pool_of(measured(m), total);
    const std::int64_t available = total - 13248LL * 1048576 - kWeights8B;
    CHECK(pool.low.available >= ByteCount(available - 1));
    CHECK(pool.low.available <= ByteCount(available));
    CHECK(pool.low.tokens == available / 131072);
    // Small card: 512 + 12,288 + 320 + 128 MiB of 24 GiB too; a utilization replaces the rule.
    const MemoryTotal half{ByteCount(total), 0.5, ""};
    const auto given = engine_pool(measured(m), rank_ledgers(measured(m)), half);
    CHECK(given->low.available == ByteCount(40 * kGiB - kWeights8B));
  }

  TEST_CASE("what fits in a pool is what fits in memory: the reserve makes both one question") {
    for (const char* engine : {"sglang", "tensorrt-llm"}) {
      CAPTURE(engine);
      ServedModel m("workloads/llama-3.1-8b.json");
      m.use_engine(engine);
      const MemoryTotal total{ByteCount(40 * kGiB), {}, ""};
      for (const std::int64_t batch : {1, 20, 40, 60, 80, 100, 120, 140, 160}) {
        CAPTURE(batch);
        m.scenario.batch = batch;
        m.scenario.context = 1023;
        const LedgerModel model = measured(m);
        const std::vector<RankLedger> ranks = engine_ledgers(model, total);
        const auto pool = engine_pool(model, ranks, total);
        REQUIRE(pool);
        const bool in_pool = pool->need <= pool->low.available;
        CHECK(headroom(peak_of(ranks[0].ledger).bytes, budget_of(m.engine, total)).fits == in_pool);
      }
    }
  }

  TEST_CASE("TensorRT-LLM: 0.9 of what is free once all else is there") {
    ServedModel m("workloads/llama-3.1-8b.json");
    m.use_engine("tensorrt-llm");
    const EnginePool pool = pool_of(measured(m), 80'000'000'000);
    // Graphs are captured after the cache is allocated: the other tenth is theirs.
    const std::int64_t free = 80'000'000'000 - kWeights8B - kGiB;
    CHECK(pool.low.available >= ByteCount(free / 10 * 9));
    CHECK(pool.low.available <= ByteCount(free / 10 * 9 + 9));
    CHECK(pool.low.tokens == *pool.low.available.count() / (32 * 131072) * 32);
  }

  TEST_CASE("no pool: no engine, nothing cached, no budget") {
    ServedModel m("workloads/llama-3.1-8b.json");
    const MemoryTotal total{ByteCount(80'000'000'000), {}, ""};
    CHECK_FALSE(engine_pool(m.model(), rank_ledgers(m.model()), total));
    m.use_engine("llama.cpp");
    CHECK_FALSE(engine_pool(m.model(), rank_ledgers(m.model()), total));
    m.use_engine("vllm");
    CHECK_FALSE(engine_pool(m.model(), rank_ledgers(m.model()), std::nullopt));
    CHECK(pool_of(m.model(), 0).low.blocks == 0);
  }

  TEST_CASE("engine profiles: unknown keys, words, versions are errors") {
    const std::string head = "schema = 1\nkind = \"engine\"\nname = \"x\"\nsource = \"s\"\n";
    CHECK(engine_errors(head) == "");
    CHECK(engine_errors(head + "[cache]\nrule = \"pages\"\n").find("cache.rule") !=
          std::string::npos);
    CHECK(engine_errors(head + "[cache]\nblocks = 16\n").find("unknown key \"blocks\"") !=
          std::string::npos);
    CHECK(engine_errors(head + "[pool]\nfraction = 1.5\n").find("pool.fraction") !=
          std::string::npos);
    CHECK(engine_errors(head + "[runtime]\ngraphs = [\"2 GB\", \"1 GB\"]\n").find("above") !=
          std::string::npos);
    CHECK(engine_errors(head, "new").find("--engine-version") != std::string::npos);
    CHECK(engine_errors("schema = 1\nkind = \"ledger\"\nname = \"x\"\nsource = \"s\"\n") != "");
  }
}
