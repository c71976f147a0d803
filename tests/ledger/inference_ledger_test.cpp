// SPDX-License-Identifier: Apache-2.0
#include "model/ledger/inference_ledger.hpp"

#include <doctest/doctest.h>

#include "tests/ledger/served_model.hpp"

using namespace floorline;

TEST_SUITE("ledger") {
  TEST_CASE("three instants: weights, then a step, then the caches beside both") {
    ServedModel m("workloads/qwen2.5-7b.json");
    m.scenario.phase = Phase::prefill;
    m.scenario.prompt = 1000;
    const RankLedger r = m.rank();
    // 7,615,616,512 x 2; widest layer 3 x 18,944 + 3 x 3,584 elements; KV 57,344 B a token.
    const std::int64_t weights = 15231233024;
    const std::int64_t step = 1000LL * 2 * (3 * 18944 + 3 * 3584);
    CHECK(alive_at(r.ledger, kLoad) == ByteCount(weights));
    CHECK(alive_at(r.ledger, kProfile) == ByteCount(weights + step));
    CHECK(alive_at(r.ledger, kServe) == ByteCount(weights + step + 57344000));
    CHECK(find_line(r.ledger, "logits") == nullptr);  // one row: smaller than the layer
    CHECK(find_line(r.ledger, "graphs") == nullptr);  // no engine: the plain sum
  }

  TEST_CASE("logits take the place of activations where they are larger") {
    ServedModel m("workloads/qwen2.5-7b.json");
    m.scenario.phase = Phase::prefill;
    m.scenario.prompt = 1000;
    REQUIRE(m.set("logits", "all"));
    const RankLedger r = m.rank();
    REQUIRE(find_line(r.ledger, "logits") != nullptr);
    CHECK(m.line("logits") == ByteCount(1000LL * 152064 * (2 + 4)));
    CHECK(find_line(r.ledger, "activations") == nullptr);
  }

  TEST_CASE("activations of experts: top_k of them and a row each") {
    ServedModel m("workloads/mixtral-8x7b.json");
    m.scenario.phase = Phase::prefill;
    m.scenario.prompt = 100;
    m.layout.tp = 2;
    // 2 experts x (3 x 14,336 / 2 + 4,096) + 3 x 4,096
    CHECK(m.line("activations") == ByteCount(100LL * 2 * (2 * (3 * 14336 / 2 + 4096) + 3 * 4096)));
  }

  TEST_CASE("weights, caches and states are never ranges") {
    for (const char* engine : {"none", "vllm", "sglang", "tensorrt-llm", "llama.cpp"}) {
      CAPTURE(engine);
      ServedModel m("workloads/gpt-oss-120b.json");
      m.use_engine(engine);
      m.layout.tp = 2;
      for (const LedgerEntry& line : m.rank().ledger.lines) {
        CAPTURE(line.name);
        CHECK(line.interval.has_value() == (line.evidence == Evidence::interval));
        if (is_always_exact(line.name)) CHECK(line.evidence != Evidence::interval);
        if (line.interval) CHECK(line.bytes == line.interval->high);
      }
    }
  }

  TEST_CASE("one rank has no communication buffers; two have") {
    ServedModel m("workloads/llama-3.1-8b.json");
    m.use_engine("vllm");
    CHECK(m.line("comm_buffers") == ByteCount(0));
    m.layout.tp = 2;
    CHECK(m.line("comm_buffers") == ByteCount(3758096384));  // 3.5 GiB at most
  }

  TEST_CASE("the sampler's range: 8.5 to 10.5 x sequences x vocabulary x 4 B, not divided by tp") {
    ServedModel m("workloads/llama-3.1-8b.json");
    m.use_engine("vllm");
    m.layout.tp = 4;
    const RankLedger r = m.rank();
    const LedgerEntry* logits = find_line(r.ledger, "logits");
    REQUIRE(logits != nullptr);
    const std::int64_t each = 256LL * 128256 * 4;  // 131,334,144
    CHECK(logits->interval->low == ByteCount(each / 2 * 17));
    CHECK(logits->interval->high == ByteCount(each / 2 * 21));
  }

  TEST_CASE("stated lines replace theirs, activations replace logits, new ones are always alive") {
    ServedModel m("workloads/llama-3.1-8b.json");
    m.use_engine("vllm");
    LedgerModel model = m.model();
    LedgerEntry entry;
    entry.name = "activations";
    entry.bytes = ByteCount(1000);
    model.given.push_back(entry);
    entry.name = "other";
    model.given.push_back(entry);
    const RankLedger r = rank_ledger(model, 0);
    CHECK(find_line(r.ledger, "logits") == nullptr);
    REQUIRE(find_line(r.ledger, "activations") != nullptr);
    CHECK_FALSE(find_line(r.ledger, "activations")->alive.holds(kLoad));
    CHECK(find_line(r.ledger, "activations")->alive.holds(kServe));
    CHECK(find_line(r.ledger, "other")->alive == Lifetime::all(3));
  }

  TEST_CASE("every stage has a ledger; the one that needs most is named, none are added up") {
    ServedModel m("workloads/llama-3.1-70b.json");
    m.layout.pp = 4;
    const std::vector<RankLedger> ranks = rank_ledgers(m.model());
    REQUIRE(ranks.size() == 3);
    CHECK(ranks[1].stages == 2);
    // 20 layers each; a table of 128,256 x 8,192 x 2 B in the first and the last stage, in the last
    // also the final norm and the logits.
    CHECK(ranks[0].weights.bytes - ranks[1].weights.bytes == ByteCount(2101346304));
    CHECK(ranks[2].weights.bytes - ranks[0].weights.bytes == ByteCount(16384));
    CHECK(worst_rank(ranks).stage == 3);
    ByteCount all = ranks[0].weights.bytes + ranks[1].weights.bytes * 2 + ranks[2].weights.bytes;
    CHECK(all == ByteCount(141107412992));
  }

  TEST_CASE("absurd sizes are more than 9.2e18 bytes, which fit nowhere") {
    ServedModel m("workloads/llama-3.1-8b.json");
    m.scenario.context = 1'000'000'000'000;
    CHECK(m.line("kv_cache") == ByteCount(131072LL * 1'000'000'000'001));
    m.scenario.batch = 1'000'000'000'000'000;
    const Peak peak = worst_peak(m.model());
    CHECK(peak.bytes.overflowed());
    CHECK_FALSE(headroom(peak.bytes, {ByteCount(std::int64_t{1} << 62U), ""}).fits);
    for (const char* engine : {"vllm", "sglang", "tensorrt-llm", "llama.cpp"}) {
      CAPTURE(engine);
      m.use_engine(engine);
      CHECK(worst_peak(m.model()).bytes.overflowed());
    }
  }

  TEST_CASE("a format that cannot hold the cache is told") {
    ServedModel m("workloads/llama-3.1-8b.json");
    REQUIRE(m.set("kv_format", "fp8_ds_mla"));
    CHECK(model_errors(m.model()).size() == 1);
    CHECK_FALSE(m.set("kv_format", "fp7"));
    CHECK_FALSE(m.set("max_len", "0"));
    CHECK_FALSE(m.set("prefix_caching", "yes"));
  }
}
