// SPDX-License-Identifier: Apache-2.0
// What must hold for every model's ledger: it grows with batch, context and layers; the largest
// line
// <= the peak <= the sum of lines; more ranks never need more weights or caches a rank where they
// divide; a stage never has more than the whole; what solve() finds fits, one more does not.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <random>

#include "model/ledger/ledger_solve.hpp"
#include "tests/ledger/served_model.hpp"

using namespace floorline;

namespace {

constexpr unsigned kSeeds = 60;
constexpr std::array kModels{"llama-3.1-8b", "gpt-oss-20b", "mixtral-8x7b", "deepseek-v3",
                             "llama-4-scout"};
constexpr std::array kEngines{"none", "vllm", "sglang", "tensorrt-llm", "llama.cpp"};

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  std::int64_t number(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine_);
  }
  template <class List>
  auto of(const List& list) {
    return list[static_cast<std::size_t>(number(0, static_cast<std::int64_t>(list.size()) - 1))];
  }

 private:
  std::mt19937 engine_;
};

void randomize(Random& random, ServedModel& m) {
  m.use_engine(random.of(kEngines));
  m.scenario.phase = random.of(std::array{Phase::decode, Phase::prefill, Phase::generate});
  m.scenario.batch = random.number(1, 64);
  m.scenario.context = random.number(0, 40000);
  m.scenario.prompt = random.number(1, 4000);
  m.layout.tp = random.of(std::array<std::int64_t, 4>{1, 2, 4, 8});
  m.layout.pp = random.number(1, 4);
  if (random.number(0, 1) == 1) m.scenario.kv_dtype = Precision::fp8_e4m3;
}

ByteCount need(const LedgerModel& model) { return worst_peak(model).bytes; }

}  // namespace

TEST_SUITE("property") {
  TEST_CASE("a ledger grows with batch, context and layers") {
    for (unsigned seed = 0; seed < kSeeds; ++seed) {
      CAPTURE(seed);
      Random random(seed);
      ServedModel m(std::string("workloads/") + random.of(kModels) + ".json");
      randomize(random, m);
      const LedgerModel before = m.model();
      LedgerModel more = before;
      more.scenario.batch += random.number(1, 100);
      CHECK(need(more) >= need(before));
      more = before;
      more.scenario.context = *more.scenario.context + random.number(1, 100000);
      CHECK(need(more) >= need(before));
      more = before;
      more.layers = m.architecture.layer_count() + random.number(1, 200);
      CHECK(need(more) >= need(before));
      more = before;
      more.settings.concurrency = m.scenario.batch + random.number(1, 100);
      CHECK(need(more) >= need(before));
    }
  }

  TEST_CASE("the largest line <= the peak <= the sum of all lines") {
    for (unsigned seed = 0; seed < kSeeds; ++seed) {
      CAPTURE(seed);
      Random random(seed + 1000);
      ServedModel m(std::string("workloads/") + random.of(kModels) + ".json");
      randomize(random, m);
      for (const RankLedger& rank : rank_ledgers(m.model())) {
        const Peak peak = peak_of(rank.ledger);
        ByteCount sum;
        for (const LedgerEntry& line : rank.ledger.lines) {
          CHECK(line.bytes <= peak.bytes);
          CHECK(line.bytes >= ByteCount(0));
          sum = sum + line.bytes;
        }
        CHECK(peak.bytes <= sum);
        CHECK(least_peak_of(rank.ledger).bytes <= peak.bytes);
      }
    }
  }

  TEST_CASE("more ranks never need more weights or caches a rank where they divide") {
    for (unsigned seed = 0; seed < kSeeds; ++seed) {
      CAPTURE(seed);
      Random random(seed + 2000);
      ServedModel m(std::string("workloads/") + random.of(kModels) + ".json");
      randomize(random, m);
      m.use_engine("none");
      m.layout.pp = 1;
      ByteCount weights = ByteCount::overflow();
      ByteCount caches = ByteCount::overflow();
      for (const std::int64_t tp : {1, 2, 4, 8}) {
        m.layout.tp = tp;
        CHECK(m.line("weights") <= weights);
        CHECK(m.line("kv_cache") <= caches);
        weights = m.line("weights");
        caches = m.line("kv_cache");
      }
    }
  }

  TEST_CASE("stages together hold the whole, a tied table and each rank's own things aside") {
    for (unsigned seed = 0; seed < kSeeds; ++seed) {
      CAPTURE(seed);
      Random random(seed + 3000);
      ServedModel m(std::string("workloads/") + random.of(kModels) + ".json");
      const ByteCount whole = m.line("weights");
      m.layout.pp = random.number(1, m.architecture.layer_count());
      ByteCount sum;
      for (const RankLedger& rank : rank_ledgers(m.model())) {
        sum = sum + rank.weights.bytes * rank.stages;
      }
      CHECK(sum == whole);
    }
  }

  TEST_CASE("what is found fits, one more does not") {
    for (unsigned seed = 0; seed < kSeeds; ++seed) {
      CAPTURE(seed);
      Random random(seed + 4000);
      ServedModel m(std::string("workloads/") + random.of(kModels) + ".json");
      randomize(random, m);
      const MemoryTotal total{ByteCount(random.number(1, 2000) * 1'000'000'000), {}, ""};
      const SolveFor what = random.of(
          std::array{SolveFor::batch, SolveFor::context, SolveFor::concurrency, SolveFor::layers});
      const LedgerSolution s = solve(m.model(), total, what);
      const Budget budget = budget_of(m.engine, total);
      CAPTURE(name_of(what));
      CHECK(headroom(s.need, budget).fits == s.value.has_value());
      if (s.next_need) CHECK_FALSE(headroom(*s.next_need, budget).fits);
    }
  }
}
