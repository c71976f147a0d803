// SPDX-License-Identifier: Apache-2.0
// vLLM's own start-up logs, as people printed them in public. A log rounds the memory it has to
// 0.01 GiB, so the tokens it prints have to lie between those of both ends of the rounding.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "tests/ledger/served_model.hpp"

using namespace floorline;

namespace {

struct PoolLog {
  const char* source;
  const char* config;
  const char* version;
  std::int64_t tp;
  const char* kv_format;
  bool prefix_caching;
  std::int64_t max_len;
  double available_gib;
  std::int64_t tokens;
  double concurrency;  ///< 0: not printed
};

PoolEnd end_at(ServedModel& m, double gib) {
  m.settings.available_kv = whole_budget(GiB(gib));
  const LedgerModel model = m.model();
  const auto pool = engine_pool(model, rank_ledgers(model), std::nullopt);
  REQUIRE(pool);
  return pool->low;
}

bool missing(const std::string& path) {
  if (std::filesystem::exists(path)) return false;
  MESSAGE("skipped: no " << path << " beside this repository");
  return true;
}

double gib(ByteCount bytes) { return bytes.to_bytes().in_base_units() / GiB(1).in_base_units(); }

}  // namespace

TEST_SUITE("ledger") {
  TEST_CASE("KV tokens and concurrency of vLLM's logs, inside the rounding of what they print") {
    const std::string shared = "../shared/model-configs/";
    const std::string hybrid_35b = shared + "Qwen--Qwen3.5-35B-A3B.json";
    const std::string hybrid_27b = shared + "Qwen--Qwen3.5-27B.json";
    const PoolLog logs[] = {
        {"vllm#10517, Llama-3.1-8B, 1952 blocks", "workloads/llama-3.1-8b.json", "0.6", 1, "bf16",
         false, 20000, 3.81, 1952 * 16, 1.56},
        {"vllm#10517, Llama-3.1-8B, 1478 blocks", "workloads/llama-3.1-8b.json", "0.6", 1, "bf16",
         false, 29000, 2.89, 1478 * 16, 0.82},
        {"hf-mem#60, gpt-oss-120b", "workloads/gpt-oss-120b.json", "0.10", 1, "bf16", false, 131072,
         5.38, 78384, 0},
        // Qwen3.6-35B-A3B has the shapes of 3.5. Page: 16 x ceil(2,146,304 / 16,384) = 2,096
        // tokens.
        {"club-3090#612, fp8 cache, prefix caching", hybrid_35b.c_str(), "0.24.0", 1, "fp8", true,
         131072, 5.98, 567978, 4.33},
        {"club-3090#652, fp8 cache, prefix caching", hybrid_35b.c_str(), "0.24.0", 1, "fp8", true,
         131072, 6.01, 569878, 4.35},
        // Page of two ranks: 16 x ceil(1,603,584 / 16,384) = 1,568 tokens.
        {"talos-argocd-proxmox#1995, fp8 cache, prefix caching", hybrid_27b.c_str(), "0.21", 2,
         "fp8", true, 131072, 4.99, 302921, 2.31},
    };
    for (const PoolLog& log : logs) {
      CAPTURE(log.source);
      if (missing(log.config)) continue;
      ServedModel m(log.config);
      m.use_engine("vllm", log.version);
      m.layout.tp = log.tp;
      m.settings.kv_format = log.kv_format;
      m.settings.prefix_caching = log.prefix_caching;
      m.settings.max_len = log.max_len;
      const PoolEnd low = end_at(m, log.available_gib - 0.005);
      const PoolEnd high = end_at(m, log.available_gib + 0.005);
      CHECK(low.tokens <= log.tokens);
      CHECK(high.tokens >= log.tokens);
      if (log.concurrency == 0) continue;
      CHECK(low.concurrency <= log.concurrency + 0.005);
      CHECK(high.concurrency >= log.concurrency - 0.005);
    }
  }

  TEST_CASE("vllm#40691: a hybrid's tokens and concurrency tell the same number of blocks") {
    const std::string config = "../shared/model-configs/Qwen--Qwen3.5-27B.json";
    if (missing(config)) return;
    // 290,864 tokens = 371 x 784, of four groups: 1,484 to 1,487 blocks; a request of 32,768 takes
    // 42 + 3: 1,487 / 45 = 33.04, as the log says.
    ServedModel m(config);
    m.use_engine("vllm", "0.19.0");
    m.settings.max_len = 32768;
    const LedgerModel model = m.model();
    const CachePlan plan = rank_ledger(model, 0).plan;
    m.settings.available_kv = plan.block_bytes * 1487;
    const LedgerModel sized = m.model();
    const auto pool = engine_pool(sized, rank_ledgers(sized), std::nullopt);
    REQUIRE(pool);
    CHECK(pool->low.tokens == 290864);
    CHECK(pool->low.concurrency == doctest::Approx(33.04).epsilon(0.0002));
  }

  TEST_CASE("club-3090#1047, talos-argocd-proxmox#1995: attention pages of 1,568 tokens") {
    const std::string config = "../shared/model-configs/Qwen--Qwen3.5-27B.json";
    if (missing(config)) return;
    ServedModel m(config);
    m.use_engine("vllm", "0.21");
    m.settings.kv_format = "fp8";
    CHECK(m.rank().plan.block == 1568);
    m.layout.tp = 2;
    CHECK(m.rank().plan.block == 1568);
  }

  TEST_CASE("vllm#34076: the longest request that is suggested") {
    const std::string config = "../shared/model-configs/Qwen--Qwen3-30B-A3B.json";
    if (missing(config)) return;
    // 3.18 GiB at 98,304 B a token: 34,736 in the log, in pages of 16.
    ServedModel m(config);
    m.use_engine("vllm", "0.15");
    m.settings.max_len = 262144;
    CHECK(end_at(m, 3.175).longest <= 34736);
    CHECK(end_at(m, 3.185).longest >= 34736);
    // "24.0 GiB KV cache is needed" for 262,144 tokens.
    CHECK(request_bytes(m.rank().plan, 262144).sum() == ByteCount(24LL << 30U));
  }

  TEST_CASE("weights of vLLM's logs, to the digits they print") {
    struct WeightLog {
      const char* source;
      std::string config;
      std::int64_t tp;
      std::int64_t positions;  ///< of the rotary table; 0: as configured
      double printed;
      double rounding;
    };
    const std::string shared = "../shared/model-configs/";
    const WeightLog logs[] = {
        {"vllm#10517, Llama-3.1-8B", "workloads/llama-3.1-8b.json", 1, 0, 14.9888, 0.00005},
        {"vllm#10511, Llama-3-8B", "workloads/llama-3.1-8b.json", 1, 8192, 14.96, 0.005},
        {"vllm#10511, Llama-3-8B, two ranks", "workloads/llama-3.1-8b.json", 2, 8192, 7.48, 0.005},
        {"vllm#17327, Qwen3-30B-A3B, four ranks", shared + "Qwen--Qwen3-30B-A3B.json", 4, 0,
         14.2474, 0.00005},
        {"vllm#23278, gpt-oss-120b, Marlin", "workloads/gpt-oss-120b.json", 1, 0, 65.9651, 0.00005},
    };
    for (const WeightLog& log : logs) {
      CAPTURE(log.source);
      if (missing(log.config)) continue;
      ServedModel m(log.config);
      if (log.positions > 0) m.architecture.max_positions = log.positions;
      m.use_engine("vllm");
      m.layout.tp = log.tp;
      m.settings.available_kv = ByteCount(1);
      const LedgerModel model = m.model();
      const auto pool = engine_pool(model, rank_ledgers(model), std::nullopt);
      REQUIRE(pool);
      CHECK(gib(pool->weights.low) <= log.printed + log.rounding);
      CHECK(gib(pool->weights.high) >= log.printed - log.rounding);
    }
  }

  TEST_CASE("vllm#10511: the peak of 256 sequences is in the sampler's range") {
    ServedModel m("workloads/llama-3.1-8b.json");
    m.use_engine("vllm", "0.6");
    const RankLedger rank = m.rank();
    const LedgerEntry* logits = find_line(rank.ledger, "logits");
    REQUIRE(logits != nullptr);
    CHECK(gib(logits->interval->low) < 1.26);  // "PyTorch activation peak memory 1.26GiB"
    CHECK(gib(logits->interval->high) > 1.26);
  }

  TEST_CASE("vllm#21348: SGLang's 367,404 tokens are 8.23 GiB of keys, as much of values") {
    const std::string config = "../shared/model-configs/Qwen--Qwen3-235B-A22B.json";
    if (missing(config)) return;
    ServedModel m(config);
    m.use_engine("sglang");
    m.layout.tp = 4;
    const double bytes = gib(bytes_per_token(m.rank().plan) * 367404);
    CHECK(bytes == doctest::Approx(2 * 8.23).epsilon(0.001));
  }
}
