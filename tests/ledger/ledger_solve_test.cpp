// SPDX-License-Identifier: Apache-2.0
// Llama-3.1-8B, 131,072 B of KV a token, 16,060,522,496 B of weights. A decode row of logits takes
// 128,256 x 6 = 769,536 B, more than the row's activations.
#include "model/ledger/ledger_solve.hpp"

#include <doctest/doctest.h>

#include "tests/ledger/served_model.hpp"

using namespace floorline;

namespace {

MemoryTotal gigabytes(std::int64_t n) { return {ByteCount(n * 1'000'000'000), {}, ""}; }

}  // namespace

TEST_SUITE("ledger") {
  TEST_CASE("largest batch, context, concurrency and layers, by hand") {
    ServedModel m("workloads/llama-3.1-8b.json");
    const LedgerModel model = m.model();
    // (80e9 - W) / (131,072 x 1025 + 769,536) = 473.3
    CHECK(solve(model, gigabytes(80), SolveFor::batch).value == 473);
    // (80e9 - W - 769,536) / (131,072 x 1025) = 475.9: the step stays that of one sequence
    CHECK(solve(model, gigabytes(80), SolveFor::concurrency).value == 475);
    // (80e9 - W - 769,536) / 131,072 - 1 = 487,812.7: the step's own token is held too
    CHECK(solve(model, gigabytes(80), SolveFor::context).value == 487812);
    // tables 2,101,354,496 (with the final norm); a layer 436,224,000 + 4,096 x 1025:
    // (40e9 - 2,101,354,496 - 769,536) / 440,422,400 = 86.05
    CHECK(solve(model, gigabytes(40), SolveFor::layers).value == 86);
  }

  TEST_CASE("one more does not fit, and the need of both is told") {
    ServedModel m("workloads/llama-3.1-8b.json");
    const LedgerSolution s = solve(m.model(), gigabytes(80), SolveFor::batch);
    CHECK(s.need <= gigabytes(80).bytes);
    REQUIRE(s.next_need);
    CHECK(*s.next_need > gigabytes(80).bytes);
    CHECK(*s.next_need - s.need == ByteCount(131072LL * 1025 + 769536));
  }

  TEST_CASE("the smallest tp that fits, among those that divide the heads") {
    ServedModel m("workloads/llama-3.1-70b.json");  // 141.1 GB
    const LedgerSolution s = solve(m.model(), gigabytes(80), SolveFor::tp);
    CHECK(s.value == 2);
    CHECK(*s.next_need > gigabytes(80).bytes);
    // 28 query heads, 4 KV heads: 3, 5, 6 are no answers; 15.2 GB in 3 GB needs 7 ranks, which do
    // not go with 4 KV heads: neither divides the other. 14 neither; 28 does.
    ServedModel q("workloads/qwen2.5-7b.json");
    CHECK(solve(q.model(), gigabytes(3), SolveFor::tp).value == 28);
    CHECK_FALSE(solve(q.model(), gigabytes(0), SolveFor::tp).value);
  }

  TEST_CASE("nothing fits in nothing, and a cache that does not grow has no limit") {
    ServedModel m("workloads/llama-3.1-8b.json");
    for (const SolveFor what : {SolveFor::batch, SolveFor::context, SolveFor::concurrency,
                                SolveFor::layers, SolveFor::tp}) {
      CAPTURE(name_of(what));
      CHECK_FALSE(solve(m.model(), gigabytes(0), what).value);
    }
    // With every layer's window set, the cache stops growing.
    ServedModel w("workloads/mistral-7b-v0.3.json");
    w.architecture.layers[0].attention.window = 4096;
    CHECK(solve(w.model(), gigabytes(80), SolveFor::context).unlimited);
  }

  TEST_CASE("with pages the answer moves by whole blocks") {
    ServedModel m("workloads/llama-3.1-8b.json");
    m.use_engine("vllm", "0.10");
    const LedgerSolution s = solve(m.model(), gigabytes(80), SolveFor::context);
    REQUIRE(s.value);
    CHECK((*s.value + 1) % 16 == 0);  // the step's token is the last of a page
    CHECK(*s.next_need - s.need == ByteCount(16LL * 131072));
  }
}
