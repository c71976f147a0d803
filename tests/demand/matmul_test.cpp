// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "tests/demand/one_op.hpp"

using namespace floorline;
using namespace floorline::testing;

TEST_SUITE("demand") {
  TEST_CASE("gemm: a square product in bf16") {
    const Demand d = demand_of_op("gemm m=8192 n=8192 k=8192");
    // 2 x 2^13 x 2^13 x 2^13 = 2^40
    CHECK(work(d) == 1099511627776.0);
    CHECK(asked(d, "tensor.bf16.fp32") == 1099511627776.0);
    // A matrix is 2^26 elements of 2 bytes: 134,217,728 bytes; two are read, one is written.
    CHECK(read(d) == 268435456.0);
    CHECK(written(d) == 134217728.0);
    CHECK(asked(d, "l1_port") == 268435456.0);
    CHECK(d.count == 2);
  }

  TEST_CASE("gemm: a small batch with a precision for each tensor") {
    const Demand d = demand_of_op("gemm m=3 n=5 k=7 batch=2 in=fp8 weight=int4 out=fp32");
    // 2 x 3 x 5 x 7 x 2 = 420
    CHECK(work(d) == 420.0);
    // The wider operand (8 bits) computes; accumulation is fp32.
    CHECK(asked(d, "tensor.fp8_e4m3.fp32") == 420.0);
    // in: 2 x 3 x 7 x 1 B = 42; weight: 2 x 7 x 5 x 1/2 B = 35; out: 2 x 3 x 5 x 4 B = 120
    CHECK(read(d) == 77.0);
    CHECK(written(d) == 120.0);
  }

  TEST_CASE("gemm: matrix times vector, 8192 x 8192 in bf16") {
    const Demand d = demand_of_op("gemm m=8192 n=1 k=8192");
    CHECK(work(d) == 134217728.0);  // 2 x 2^26
    // matrix 2^26 x 2 B = 134,217,728, vector 8192 x 2 B = 16,384
    CHECK(read(d) == 134234112.0);
    CHECK(written(d) == 16384.0);
    CHECK(read(d) + written(d) == 134250496.0);
  }

  TEST_CASE("gemm: an operand named twice is read once (naive inputs + outputs counts it twice)") {
    const OperatorGraph graph = graph_of_toml(R"(
schema = 1
kind = "graph"
[tensor.a]
shape = [1000, 64]
dtype = "fp16"
role = "input"
[tensor.gram]
shape = [1000, 1000]
dtype = "fp16"
role = "output"
[[op]]
name = "gram"
kind = "gemm"
inputs = ["a", "a"]
outputs = ["gram"]
)");
    const Demand d = demand_in(graph, "gram");
    CHECK(work(d) == 128000000.0);  // 2 x 1000 x 1000 x 64
    CHECK(read(d) == 128000.0);     // 1000 x 64 x 2 B, not 256,000
    CHECK(written(d) == 2000000.0);
    CHECK(asked(d, "tensor.fp16.fp32") == 128000000.0);
  }

  TEST_CASE("gemm: a weight that all products share is read once") {
    const OperatorGraph graph = graph_of_toml(R"(
schema = 1
kind = "graph"
[tensor.x]
shape = [4, 16, 32]
dtype = "bf16"
role = "input"
[tensor.w]
shape = [32, 8]
dtype = "bf16"
role = "weight"
[tensor.y]
shape = [4, 16, 8]
dtype = "bf16"
role = "output"
[[op]]
name = "product"
kind = "gemm"
inputs = ["x", "w"]
outputs = ["y"]
)");
    const Demand d = demand_in(graph, "product");
    CHECK(work(d) == 32768.0);    // 2 x (4 x 16) x 8 x 32
    CHECK(read(d) == 4608.0);     // x 4 x 16 x 32 x 2 B = 4096, w 32 x 8 x 2 B = 512 (not 2048)
    CHECK(written(d) == 1024.0);  // 4 x 16 x 8 x 2 B
  }

  TEST_CASE("gemm: weights side by side are one product that reads its input once") {
    const OperatorGraph graph = graph_of_toml(R"(
schema = 1
kind = "graph"
[tensor]
x = { shape = [10, 64], dtype = "bf16", role = "input" }
wq = { shape = [64, 96], dtype = "bf16", role = "weight" }
wk = { shape = [64, 16], dtype = "bf16", role = "weight" }
wv = { shape = [64, 16], dtype = "bf16", role = "weight" }
q = { shape = [10, 96], dtype = "bf16", role = "output" }
k = { shape = [10, 16], dtype = "bf16", role = "output" }
v = { shape = [10, 16], dtype = "bf16", role = "output" }
[[op]]
name = "qkv"
kind = "gemm"
inputs = ["x", "wq", "wk", "wv"]
outputs = ["q", "k", "v"]
)");
    const Demand d = demand_in(graph, "qkv");
    CHECK(work(d) == 163840.0);   // 2 x 10 x (96 + 16 + 16) x 64
    CHECK(read(d) == 17664.0);    // x 1280 B, weights 64 x 128 x 2 B = 16,384 B
    CHECK(written(d) == 2560.0);  // 10 x 128 x 2 B
  }

  TEST_CASE("gemm: compute precision moves the work, storage precision the bytes") {
    const Demand stored = demand_of_op("gemm m=16 n=16 k=16 in=fp8 out=bf16");
    const Demand computed = demand_of_op("gemm m=16 n=16 k=16 in=fp8 out=bf16 compute=bf16");
    CHECK(asked(stored, "tensor.fp8_e4m3.fp32") == 8192.0);  // 2 x 16^3
    CHECK(asked(computed, "tensor.bf16.fp32") == 8192.0);
    CHECK(read(stored) == 512.0);  // 2 x 256 x 1 B
    CHECK(read(computed) == 512.0);
  }

  TEST_CASE("gemm: the unit follows compute and accumulate precision") {
    CHECK(asked(demand_of_op("gemm m=2 n=2 k=2 in=fp32"), "product.fp32") == 16.0);
    CHECK(asked(demand_of_op("gemm m=2 n=2 k=2 in=fp64"), "product.fp64") == 16.0);
    CHECK(asked(demand_of_op("gemm m=2 n=2 k=2 in=fp32 compute=tf32"), "tensor.tf32.fp32") == 16.0);
    CHECK(asked(demand_of_op("gemm m=2 n=2 k=2 in=int8 out=int32"), "tensor.int8.int32") == 16.0);
    CHECK(asked(demand_of_op("gemm m=2 n=2 k=2 in=fp16 accumulate=fp16"), "tensor.fp16.fp16") ==
          16.0);
    CHECK(asked(demand_of_op("gemm m=2 n=2 k=2 sparse=true"), "tensor.bf16.fp32.sparse") == 16.0);
  }

  TEST_CASE("gemm: what a finite on-chip memory forces beyond the compulsory bytes") {
    OnChip chip;
    chip.all = MiB(1);  // 2^20 bytes
    chip.all_known = true;
    // fp32: sqrt(4 x 4 x 4 / 2^20) = 8 / 1024 = 2^-7; 2mnk = 2 x 2^36 = 2^37; 2^37 x 2^-7 = 2^30;
    // less 2 x 2^20: 1,073,741,824 - 2,097,152
    CHECK(demand_of_op("gemm m=4096 n=4096 k=4096 in=fp32", chip).hbm_least_total ==
          Bytes(1071644672.0));
    // Widths 4, 1, 4: sqrt(16 / 2^20) = 2^-8; 2^29 - 2^21 = 536,870,912 - 2,097,152
    CHECK(demand_of_op("gemm m=4096 n=4096 k=4096 in=fp32 weight=int8 out=fp32", chip)
              .hbm_least_total == Bytes(534773760.0));
    // Two products: twice 1,071,644,672
    CHECK(demand_of_op("gemm m=4096 n=4096 k=4096 batch=2 in=fp32", chip).hbm_least_total ==
          Bytes(2143289344.0));
    // 2 x 64^3 x 2^-7 = 4096 is less than 2 x 2^20: it does not bind.
    CHECK(demand_of_op("gemm m=64 n=64 k=64 in=fp32", chip).hbm_least_total == Bytes(0));
    // Sparse operands need fewer products than F says, and an unknown memory forces nothing.
    CHECK(demand_of_op("gemm m=4096 n=4096 k=4096 in=bf16 sparse=true", chip).hbm_least_total ==
          Bytes(0));
    CHECK(demand_of_op("gemm m=4096 n=4096 k=4096 in=fp32").hbm_least_total == Bytes(0));
  }

  TEST_CASE("custom: F and D as stated") {
    const Demand one = demand_of_op("custom flops=2e12 bytes=100GB");
    CHECK(work(one) == 2e12);
    CHECK(asked(one, "linear.any") == 2e12);
    CHECK(read(one) == 1e11);
    CHECK(written(one) == 0);
    const Demand two = demand_of_op("custom flops=5 bytes=3KiB written_bytes=8B compute=fp32");
    CHECK(asked(two, "product.fp32") == 5.0);
    CHECK(read(two) == 3072.0);
    CHECK(written(two) == 8.0);
    // No work: no compute entry, only bytes.
    CHECK(asked(demand_of_op("custom flops=0 bytes=1KiB"), "tensor.any.any") == 0);
  }

  TEST_CASE("stated work and bytes replace what the shapes say") {
    OperatorGraph graph = parse_op_text("gemm m=16 n=16 k=16");
    // F 2 x 4096 = 8192; reads 2 x 512, writes 512: 1536 bytes in all
    graph.ops[0].work_scale = 0.5;
    graph.ops[0].stated_traffic = Expression(3072);
    const Demand d = demand_in(graph, "gemm");
    CHECK(work(d) == 4096.0);
    CHECK(asked(d, "tensor.bf16.fp32") == 4096.0);
    CHECK(read(d) == 2048.0);  // in proportion: 2/3
    CHECK(written(d) == 1024.0);
  }

  TEST_CASE("stated work of a kind without arithmetic is not lost") {
    OperatorGraph graph = parse_op_text("transpose rows=3 cols=5");
    graph.ops[0].stated_work = Expression(700);
    const Demand d = demand_in(graph, "transpose");
    CHECK(work(d) == 700.0);
    CHECK(asked(d, "tensor.any.any") == 700.0);
  }

  TEST_CASE("by numbers: one compute and one memory entry") {
    const Demand d = demand_by_numbers(Flops(2e12), GB(100));
    CHECK(asked(d, "compute") == 2e12);
    CHECK(asked(d, "memory") == 1e11);
    CHECK(d.hbm_read == Bytes(0));
    CHECK(demand_by_numbers(Flops(0), GB(1)).count == 1);
  }

  TEST_CASE("a demand keeps one entry for each resource and leaves zero out") {
    Demand d;
    d.add({Unit::hbm}, Amount(Bytes(3)));
    d.add({Unit::hbm}, Amount(Bytes(4)));
    d.add({Unit::l2}, Amount(Bytes(0)));
    CHECK(d.count == 1);
    CHECK(asked(d, "hbm") == 7.0);
  }
}
