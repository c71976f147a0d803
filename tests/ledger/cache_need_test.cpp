// SPDX-License-Identifier: Apache-2.0
#include "model/ledger/cache_need.hpp"

#include <doctest/doctest.h>

#include <filesystem>

#include "tests/ledger/served_model.hpp"

using namespace floorline;

namespace {

/// Caches of one prompt of `tokens`.
CacheBytes prompt(ServedModel& m, const char* tokens) {
  m.scenario.phase = Phase::prefill;
  REQUIRE(m.set("prompt", tokens));
  return {m.line("kv_cache"), m.line("state")};
}

}  // namespace

TEST_SUITE("ledger") {
  TEST_CASE("bytes of KV a token: shipped models") {
    const std::pair<const char*, std::int64_t> known[] = {
        {"llama-3.1-8b", 131072},   // 32 x 8 x 2 x 128 x 2
        {"qwen2.5-7b", 57344},      // 28 x 4 x 2 x 128 x 2
        {"qwen3-32b", 262144},      // 64 x 8 x 2 x 128 x 2
        {"deepseek-v3", 70272},     // 61 x 576 x 2
        {"gpt-oss-120b", 73728},    // 36 x 8 x 2 x 64 x 2
        {"llama-4-scout", 196608},  // 48 x 8 x 2 x 128 x 2
    };
    for (const auto& [name, bytes] : known) {
      CAPTURE(name);
      const ServedModel m(std::string("workloads/") + name + ".json");
      CHECK(bytes_per_token(m.rank().plan) == ByteCount(bytes));
    }
  }

  TEST_CASE("gpt-oss-120b at 65,536 tokens: sliding layers hold their window") {
    ServedModel m("workloads/gpt-oss-120b.json");
    // 18 x 65,536 x 2,048 B + 18 x 128 x 2,048 B, not 36 x 65,536 x 2,048 B.
    CHECK(prompt(m, "65536").kv == ByteCount(2415919104 + 4718592));
    m.settings.windows_as_full = true;
    CHECK(prompt(m, "65536").kv == ByteCount(4831838208));
  }

  TEST_CASE("a window is continuous where it fills, a chunk too") {
    ServedModel m("workloads/gpt-oss-20b.json");  // 12 + 12 layers of 2,048 B, window 128
    CHECK(prompt(m, "127").kv == ByteCount(24LL * 127 * 2048));
    CHECK(prompt(m, "128").kv == ByteCount(24LL * 128 * 2048));
    CHECK(prompt(m, "129").kv == ByteCount((12LL * 129 + 12LL * 128) * 2048));
    ServedModel scout("workloads/llama-4-scout.json");  // 12 full, 36 chunks of 8192; 4,096 B
    CHECK(prompt(scout, "8193").kv == ByteCount((12LL * 8193 + 36LL * 8192) * 4096));
  }

  TEST_CASE("decode holds the tokens before the step and those of the step") {
    ServedModel m("workloads/qwen2.5-7b.json");
    m.scenario.batch = 4;
    m.scenario.context = 3071;
    CHECK(m.line("kv_cache") == ByteCount(4LL * 3072 * 57344));  // E04: 0.164 GiB a request
    REQUIRE(m.set("context", "4095*2,127*8"));
    CHECK(m.line("kv_cache") == ByteCount((2LL * 4096 + 8LL * 128) * 57344));
  }

  TEST_CASE("MLA is whole on every rank, heads are divided, context parallelism divides both") {
    ServedModel m("workloads/deepseek-v3.json");
    CHECK(prompt(m, "1000").kv == ByteCount(70272000));
    m.layout.tp = 8;
    CHECK(prompt(m, "1000").kv == ByteCount(70272000));
    m.layout.cp = 4;
    CHECK(prompt(m, "1002").kv == ByteCount(70272LL * 251));  // ceil(1002 / 4)
    ServedModel q("workloads/qwen2.5-7b.json");
    q.layout.tp = 4;
    CHECK(prompt(q, "1000").kv == ByteCount(14336000));
  }

  TEST_CASE("layers of multi-token prediction share the cache where they are loaded") {
    ServedModel m("workloads/deepseek-v3.json");
    const ByteCount without = m.line("weights");
    REQUIRE(m.set("draft", "true"));
    CHECK(prompt(m, "1000").kv == ByteCount(70272000 + 1152000));  // one layer more
    CHECK(m.line("weights") > without);
  }

  TEST_CASE("pages: vLLM's blocks of 16, a window's one more") {
    ServedModel m("workloads/gpt-oss-120b.json");
    m.use_engine("vllm");
    const CachePlan plan = m.rank().plan;
    CHECK(plan.group_count == 2);
    CHECK(plan.block_bytes == ByteCount(16LL * 2048 * 18));
    // Full: ceil(1000 / 16) = 63. Window: ceil(min(127 + 8192, 1000) / 16) + 1 = 64.
    CHECK(request_blocks(plan, 1000) == 63 + 64);
    // 131,072 tokens: 8192 and ceil(8319 / 16) + 1 = 521.
    CHECK(request_blocks(plan, 131072) == 8192 + 521);
  }

  TEST_CASE("hybrid: the attention page grows to a state's size") {
    if (!std::filesystem::exists("../shared/model-configs")) {
      MESSAGE("skipped: no ../shared/model-configs beside this repository");
      return;
    }
    // Qwen3.5-27B: state 3,207,168 B, attention 4 x 2 x 256 x 2 = 4,096 B a token and layer:
    // 16 x ceil(3,207,168 / 65,536) = 16 x 49 = 784 tokens. 16 full and 48 state layers: groups of
    // 16, one and three. A request of 784 x 10 tokens: 10 blocks, and a page in each state group.
    ServedModel m("../shared/model-configs/Qwen--Qwen3.5-27B.json");
    m.use_engine("vllm");
    CachePlan plan = m.rank().plan;
    CHECK(plan.block == 784);
    CHECK(plan.group_count == 4);
    CHECK(plan.block_bytes == ByteCount(784LL * 4096 * 16));
    CHECK(request_blocks(plan, 7840) == 13);
    m.settings.prefix_caching = true;
    plan = m.rank().plan;
    CHECK(request_blocks(plan, 7840) == 16);
  }

  TEST_CASE("llama.cpp: cells of all sequences together, in steps of 256") {
    ServedModel m("workloads/gpt-oss-20b.json");
    m.use_engine("llama.cpp");
    m.scenario.batch = 3;
    m.scenario.context = 9999;
    // Full: 30,000 → 30,208 cells; window: 128 x 3 + 512 = 896 → 1,024 cells. 12 layers x 2,048 B.
    CHECK(m.line("kv_cache") == ByteCount(12LL * 2048 * (30208 + 1024)));
  }

  TEST_CASE("families of published configurations, by hand") {
    struct Row {
      const char* file;
      const char* tokens;
      std::int64_t kv;
      std::int64_t state;
    };
    const Row rows[] = {
        // layers x KV heads x (head + head) x 2 B x tokens
        {"meta-llama--Meta-Llama-3.1-8B", "1000", 131072000, 0},
        {"meta-llama--Meta-Llama-3.1-70B", "1000", 327680000, 0},
        {"meta-llama--Meta-Llama-3.1-405B", "1000", 516096000, 0},
        {"Qwen--Qwen3-0.6B", "1000", 114688000, 0},       // 28 x 8 x 256 x 2
        {"Qwen--Qwen3-8B", "1000", 147456000, 0},         // 36 x 8 x 256 x 2
        {"Qwen--Qwen3-32B-FP8", "1000", 262144000, 0},    // 64 x 8 x 256 x 2
        {"Qwen--Qwen3-30B-A3B", "1000", 98304000, 0},     // 48 x 4 x 256 x 2
        {"Qwen--Qwen3-235B-A22B", "1000", 192512000, 0},  // 94 x 4 x 256 x 2
        {"Qwen--Qwen3-VL-8B-Instruct", "1000", 147456000, 0},
        {"XiaomiMiMo--MiMo-7B-Base", "1000", 147456000, 0},  // 36 x 8 x 256 x 2
        {"MiniMaxAI--MiniMax-M2.5", "1000", 253952000, 0},   // 62 x 8 x 256 x 2
        {"mistralai--Mixtral-8x7B-v0.1", "1000", 131072000, 0},
        {"mistralai--Mixtral-8x22B-v0.1", "1000", 229376000, 0},  // 56 x 8 x 256 x 2
        {"openai--gpt-oss-20b", "1000", 27721728, 0},             // 12 x 2,048 x (1000 + 128)
        // latent: 61 x 576 x 2, and 61 x 132 of the index
        {"deepseek-ai--DeepSeek-V3", "1000", 70272000, 0},
        {"deepseek-ai--DeepSeek-R1", "1000", 70272000, 0},
        {"moonshotai--Kimi-K2-Instruct", "1000", 70272000, 0},
        {"deepseek-ai--DeepSeek-V3.2", "1000", 78324000, 0},
        // 12 full and 36 chunks of 8192, 4,096 B: (12 x 16384 + 36 x 8192) x 4096
        {"meta-llama--Llama-4-Scout-17B-16E-Instruct", "16384", 2013265920, 0},
        // 5 full of 2 heads of 512 (4,096 B), 25 of 8 heads of 256 (8,192 B) with window 1024:
        // 5 x 4096 x 4096 + 25 x 8192 x 1024
        {"google--gemma-4-26B-A4B", "4096", 293601280, 0},
        // 16 x 4 x 512 x 2; state 48 x (61,440 + 3,145,728)
        {"Qwen--Qwen3.5-27B", "1000", 65536000, 153944064},
        // 10 x 2 x 512 x 2; state 30 x (3 x 8192 x 2 + 32 x 128 x 128 x 4)
        {"Qwen--Qwen3.5-35B-A3B", "1000", 20480000, 64389120},
        // 6 x 2 x 256 x 2; state 23 x (3 x 6144 x 2 + 64 x 64 x 128 x 4)
        {"nvidia--NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", "1000", 6144000, 49082368},
        // 10 x 8 x 256 x 2; state 54 x (3 x 20480 x 2 + 256 x 64 x 256 x 4)
        {"nvidia--Nemotron-H-56B-Base-8K", "1000", 40960000, 912605184},
    };
    for (const Row& row : rows) {
      CAPTURE(row.file);
      const std::string path = std::string("../shared/model-configs/") + row.file + ".json";
      if (!std::filesystem::exists(path)) {
        MESSAGE("skipped: no " << path << " beside this repository");
        continue;
      }
      ServedModel m(path);
      const CacheBytes bytes = prompt(m, row.tokens);
      CHECK(bytes.kv == ByteCount(row.kv));
      CHECK(bytes.state == ByteCount(row.state));
    }
  }
}
