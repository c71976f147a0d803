// SPDX-License-Identifier: Apache-2.0
// Attention and norms backward, loss and optimizer, counted by hand.
#include <doctest/doctest.h>

#include "tests/demand/one_op.hpp"

using namespace floorline;
using namespace floorline::testing;

TEST_SUITE("demand") {
  TEST_CASE("attention backward is four products a pair") {
    // 3 queries, causal: 6 pairs; 2 heads; 4·8 + 4·4 FLOPs a pair: 576.
    const Demand d = demand_of_op(
        "attention_backward batch=1 q_heads=2 kv_heads=1 q_len=3 kv_len=3 head_dim=8 v_dim=4");
    CHECK(work(d) == 576);
    CHECK(asked(d, "tensor.bf16.fp32") == 576);
    CHECK(asked(d, "sfu") == 0);
    // q 48, k 24, v 12, o and do 24 each: 132 elements; dq 48, dk 24, dv 12: 84.
    CHECK(read(d) == 264);
    CHECK(written(d) == 168);
    // Window 2 of 4 queries: 2·3/2 + 2·2 = 7 pairs, 3 sequences, 8·16 FLOPs.
    CHECK(work(demand_of_op("attention_backward batch=3 q_heads=1 kv_heads=1 q_len=4 kv_len=4 "
                            "head_dim=16 window=2")) == 7 * 3 * 128);
    // Twice the forward pass, whatever the shape.
    const std::string shape = "batch=2 q_heads=8 kv_heads=2 q_len=100 kv_len=300 head_dim=64";
    CHECK(work(demand_of_op("attention_backward " + shape)) ==
          2 * work(demand_of_op("attention " + shape)));
  }

  TEST_CASE("norm backward reads gradient, source and scale") {
    // 4 rows of 8: 32 elements, 9 FLOPs; reads 2·32 + 8, writes 32 + 8.
    const Demand d = demand_of_op("norm_backward rows=4 cols=8");
    CHECK(work(d) == 288);
    CHECK(read(d) == 144);
    CHECK(written(d) == 80);
    // A gradient that is added: 1 FLOP and one tensor more.
    const OperatorGraph graph = graph_of_toml(R"(
schema = 1
kind = "graph"
[tensor.dy]
shape = [4, 8]
dtype = "bf16"
role = "input"
[tensor.x]
shape = [4, 8]
dtype = "bf16"
role = "input"
[tensor.dr]
shape = [4, 8]
dtype = "bf16"
role = "input"
[tensor.scale]
shape = [8]
dtype = "bf16"
role = "weight"
[tensor.dx]
shape = [4, 8]
dtype = "bf16"
role = "output"
[[op]]
name = "norm"
kind = "norm_backward"
inputs = ["dy", "x", "dr", "scale"]
outputs = ["dx"]
)");
    CHECK(work(demand_in(graph, "norm")) == 320);
    CHECK(read(demand_in(graph, "norm")) == 208);
  }

  TEST_CASE("the loss reads and writes the logits once") {
    // 10 tokens, 1000 words: 4 FLOPs and 1 exponential an element; labels of 4 bytes.
    const Demand d = demand_of_op("cross_entropy rows=10 cols=1000");
    CHECK(work(d) == 40'000);
    CHECK(asked(d, "sfu") == 10'000);
    CHECK(read(d) == 20'040);
    CHECK(written(d) == 20'000);
  }

  TEST_CASE("AdamW with fp32 state moves 28 bytes a parameter") {
    // 2 + 3·4 read, 3·4 + 2 written.
    const Demand d = demand_of_op("optimizer n=1000 kv=fp32");
    CHECK(read(d) == 14'000);
    CHECK(written(d) == 14'000);
    CHECK(work(d) == 12'000);
    // fp32 gradients: 4 + 12.
    CHECK(read(demand_of_op("optimizer n=1000 in=fp32 kv=fp32 out=bf16")) == 16'000);
    // Master weights and one moment: SGD.
    CHECK(read(demand_of_op("optimizer n=1000 reads=2 flops=4 kv=fp32")) == 10'000);
  }
}
