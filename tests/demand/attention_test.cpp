// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "model/input/diagnostic.hpp"
#include "tests/demand/one_op.hpp"

using namespace floorline;
using namespace floorline::testing;

namespace {

/// One sequence, one head of one element: the exponentials are the pairs.
double pairs(const std::string& keys) {
  return asked(demand_of_op("attention batch=1 q_heads=1 kv_heads=1 head_dim=1 " + keys), "sfu");
}

}  // namespace

TEST_SUITE("demand") {
  TEST_CASE("attention: not causal, grouped heads, values narrower than keys") {
    const Demand d = demand_of_op(
        "attention batch=2 q_heads=4 kv_heads=2 q_len=3 kv_len=5 head_dim=8 v_dim=6 causal=0");
    // Pairs 3 x 5 = 15 a sequence and head, 2 x 4 x 15 = 120 in all; each 2 x 8 + 2 x 6 = 28 FLOP.
    CHECK(work(d) == 3360.0);
    CHECK(asked(d, "tensor.bf16.fp32") == 3360.0);
    CHECK(asked(d, "sfu") == 120.0);
    // Q 2 x 3 x 4 x 8 x 2 B = 384; K 2 x 5 x 2 x 8 x 2 B = 320; V 2 x 5 x 2 x 6 x 2 B = 240.
    // One K for each of the four query heads would be 640: GQA reads a KV head once.
    CHECK(read(d) == 944.0);
    CHECK(written(d) == 288.0);  // O 2 x 3 x 4 x 6 x 2 B
  }

  TEST_CASE("attention: causal prefill of 4096 tokens") {
    const Demand d =
        demand_of_op("attention batch=1 q_heads=32 kv_heads=8 q_len=4096 kv_len=4096 head_dim=128");
    // Pairs 4096 x 4097 / 2 = 8,390,656 a head, 32 heads: 268,500,992; x (256 + 256) FLOP
    CHECK(asked(d, "sfu") == 268500992.0);
    CHECK(work(d) == 137472507904.0);
    // Q 4096 x 32 x 128 x 2 B = 33,554,432; K and V 4096 x 8 x 128 x 2 B = 8,388,608 each
    CHECK(read(d) == 50331648.0);
    CHECK(written(d) == 33554432.0);
  }

  TEST_CASE("attention: pairs under a causal mask") {
    CHECK(pairs("q_len=4 kv_len=4") == 10);   // 1 + 2 + 3 + 4
    CHECK(pairs("q_len=4 kv_len=10") == 34);  // 7 + 8 + 9 + 10
    CHECK(pairs("q_len=1 kv_len=4096") == 4096);
    CHECK(pairs("q_len=4 kv_len=10 causal=0") == 40);
  }

  TEST_CASE("attention: pairs in a window, continuous where it stops to bind") {
    CHECK(pairs("q_len=5 kv_len=5 window=3") == 12);  // 1 + 2 + 3 + 3 + 3 = 3 x 4/2 + 2 x 3
    CHECK(pairs("q_len=3 kv_len=3 window=3") == 6);   // 1 + 2 + 3
    CHECK(pairs("q_len=3 kv_len=3 window=2") == 5);   // 1 + 2 + 2
    CHECK(pairs("q_len=3 kv_len=3 window=4") == 6);
    CHECK(pairs("q_len=4 kv_len=6 window=4") == 15);   // 3 + 4 + 4 + 4
    CHECK(pairs("q_len=3 kv_len=13 window=4") == 12);  // the window is full from the start
    CHECK(pairs("q_len=5 kv_len=5 window=1") == 5);    // each query sees itself
  }

  TEST_CASE("attention: pairs and visible keys against counting them one by one") {
    for (int q = 1; q <= 6; ++q) {
      for (int before = 0; before <= 6; ++before) {
        for (int window = 0; window <= 13; ++window) {
          CAPTURE(q);
          CAPTURE(before);
          CAPTURE(window);
          const int kv = before + q;
          int seen = 0;
          int visible = 0;
          for (int key = 0; key < kv; ++key) {
            bool by_any = false;
            for (int query = before; query < kv; ++query) {
              const bool in_window = window == 0 || query - key < window;
              if (key > query || !in_window) continue;
              ++seen;
              by_any = true;
            }
            visible += by_any ? 1 : 0;
          }
          const std::string keys =
              "batch=1 q_heads=1 kv_heads=1 head_dim=8 q_len=" + std::to_string(q) +
              " kv_len=" + std::to_string(kv) + " window=" + std::to_string(window);
          const Demand fused = demand_of_op("attention " + keys);
          CHECK(asked(fused, "sfu") == seen);
          CHECK(read(fused) == doctest::Approx(16 * q + 32 * visible).epsilon(1e-12));
          // As parts: the softmax sees the same scores, the last product reads visible values.
          const OperatorGraph naive = parse_op_text("attention form=naive " + keys);
          CHECK(asked(demand_in(naive, "softmax"), "sfu") == seen);
          CHECK(read(demand_in(naive, "values")) == 2 * seen + 16 * visible);
        }
      }
    }
  }

  TEST_CASE(
      "attention: a window reads only visible keys (naive inputs + outputs: the whole cache)") {
    const Demand d = demand_of_op(
        "attention batch=1 q_heads=1 kv_heads=1 q_len=1 kv_len=1000 head_dim=64 window=128");
    // Q 128 B; K and V 128 keys x 64 x 2 B = 16,384 each, not 1000 x 128 = 128,000 each
    CHECK(read(d) == doctest::Approx(32896.0).epsilon(1e-12));
    CHECK(work(d) == 32768.0);  // 128 pairs x (128 + 128)
  }

  TEST_CASE("attention: the cache has a precision of its own") {
    const Demand d = demand_of_op(
        "attention batch=3 q_heads=2 kv_heads=1 q_len=1 kv_len=100 head_dim=16 kv=fp8");
    // Q 3 x 2 x 16 x 2 B = 192; K and V 3 x 100 x 16 x 1 B = 4800 each
    CHECK(read(d) == 9792.0);
    // The wider operand computes.
    CHECK(asked(d, "tensor.bf16.fp32") == 38400.0);  // 3 x 2 x 100 x 64
  }

  TEST_CASE("attention: sequences of unequal length in one kernel") {
    const OperatorGraph graph = graph_of_toml(R"(
schema = 1
kind = "graph"
[tensor]
q = { shape = [64, 2, 8], dtype = "bf16", role = "input" }
k = { shape = [71680, 1, 8], dtype = "bf16", role = "state" }
v = { shape = [71680, 1, 8], dtype = "bf16", role = "state" }
out = { shape = [64, 2, 8], dtype = "bf16", role = "output" }
[[op]]
name = "decode"
kind = "attention"
inputs = ["q", "k", "v"]
outputs = ["out"]
q_heads = 2
kv_heads = 1
head_dim = 8
sequences = [{ count = 16, q_len = 1, kv_len = 4096 }, { count = 48, q_len = 1, kv_len = 128 }]
)");
    const Demand d = demand_in(graph, "decode");
    // Pairs 16 x 4096 + 48 x 128 = 71,680 a head; two heads; each 2 x 8 + 2 x 8 = 32 FLOP
    CHECK(asked(d, "sfu") == 143360.0);
    CHECK(work(d) == 4587520.0);
    CHECK(read(d) == 2295808.0);  // Q 64 x 16 x 2 B = 2048; K, V 71,680 x 8 x 2 B = 1,146,880 each
  }

  TEST_CASE("attention as parts: scores and probabilities cross the memory") {
    const std::string keys = "batch=1 q_heads=2 kv_heads=1 q_len=4 kv_len=4 head_dim=8";
    const OperatorGraph graph = parse_op_text("attention form=naive " + keys);
    REQUIRE(graph.ops.size() == 3);
    const Demand scores = demand_in(graph, "scores");
    const Demand softmax = demand_in(graph, "softmax");
    const Demand values = demand_in(graph, "values");
    // 10 pairs a head, 2 heads: 20 scores of 2 bytes.
    CHECK(work(scores) == 320.0);  // 2 x 8 x 20
    CHECK(read(scores) == 192.0);  // Q 4 x 2 x 8 x 2 B = 128, K 4 x 8 x 2 B = 64
    CHECK(written(scores) == 40.0);
    CHECK(work(softmax) == 80.0);  // 4 x 20
    CHECK(asked(softmax, "sfu") == 20.0);
    CHECK(read(softmax) == 40.0);
    CHECK(written(softmax) == 40.0);
    CHECK(work(values) == 320.0);
    CHECK(read(values) == 104.0);  // probabilities 40, V 64
    CHECK(written(values) == 128.0);
    // Fused: the same products, and 4 x 40 bytes less: 544 - 160 = 384.
    const Demand fused = demand_of_op("attention " + keys);
    CHECK(work(fused) == 640.0);
    CHECK(read(fused) + written(fused) == 384.0);
  }

  TEST_CASE("attention: masks that contradict are refused") {
    const auto refused = [](const std::string& keys) {
      try {
        bind(parse_op_text("attention batch=1 q_heads=1 kv_heads=1 head_dim=8 " + keys));
      } catch (const InputError& error) {
        return std::string(error.what());
      }
      return std::string("accepted");
    };
    CHECK(refused("q_len=8 kv_len=4") ==
          "--op:1:1: error: op.attention: q_len is above kv_len; expected the new keys to be "
          "included");
    CHECK(refused("q_len=4 kv_len=8 window=2 causal=0") ==
          "--op:1:1: error: op.attention: window is counted under a causal mask only; expected "
          "causal = 1");
    CHECK(refused("q_len=8 kv_len=4 causal=0") == "accepted");  // cross attention
  }
}
