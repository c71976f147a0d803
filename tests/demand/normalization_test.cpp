// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "tests/demand/one_op.hpp"

using namespace floorline;
using namespace floorline::testing;

TEST_SUITE("demand") {
  TEST_CASE("reduce: n - 1 sums a row") {
    const Demand d = demand_of_op("reduce rows=4 cols=8");
    CHECK(work(d) == 28.0);  // 4 x 7
    CHECK(asked(d, "linear.any") == 28.0);
    CHECK(read(d) == 64.0);
    CHECK(written(d) == 8.0);
    const Demand large = demand_of_op("reduce rows=16384 cols=1024 in=fp16 out=fp32 compute=fp32");
    CHECK(asked(large, "linear.fp32") == 16760832.0);  // 16384 x 1023
    CHECK(read(large) == 33554432.0);
    CHECK(written(large) == 65536.0);
  }

  TEST_CASE("softmax: four FLOPs and one exponential an element") {
    const Demand d = demand_of_op("softmax rows=3 cols=5 in=fp16 out=fp32");
    CHECK(work(d) == 60.0);
    CHECK(asked(d, "sfu") == 15.0);
    CHECK(read(d) == 30.0);
    CHECK(written(d) == 60.0);
    const Demand large = demand_of_op("softmax rows=8192 cols=8192");
    CHECK(work(large) == 268435456.0);         // 4 x 2^26
    CHECK(asked(large, "sfu") == 67108864.0);  // 2^26
    CHECK(read(large) == 134217728.0);
  }

  TEST_CASE("layernorm: scale and shift are read once, not once a row") {
    const Demand d = demand_of_op("layernorm rows=16384 cols=4096 in=fp16");
    CHECK(work(d) == 469762048.0);  // 7 x 67,108,864
    // 67,108,864 x 2 B = 134,217,728, and 2 x 4096 x 2 B = 16,384 (once a row: 268 MB)
    CHECK(read(d) == 134234112.0);
    CHECK(written(d) == 134217728.0);
    const Demand small = demand_of_op("layernorm rows=2 cols=3 in=fp32 weight=bf16 out=bf16");
    CHECK(work(small) == 42.0);
    CHECK(read(small) == 36.0);  // 6 x 4 B + 2 x 3 x 2 B
    CHECK(written(small) == 12.0);
  }

  TEST_CASE(
      "layernorm 8192 x 4096, scale and shift in fp32: storage halves the bytes, compute none") {
    const auto bytes = [](const char* op) {
      const Demand d = demand_of_op(op);
      return read(d) + written(d);
    };
    // 2 x 33,554,432 x 4 B + 2 x 4096 x 4 B
    CHECK(bytes("layernorm rows=8192 cols=4096 in=fp32 out=fp32 weight=fp32 compute=fp32") ==
          268468224.0);
    CHECK(bytes("layernorm rows=8192 cols=4096 in=fp32 out=fp32 weight=fp32 compute=fp16") ==
          268468224.0);
    // 2 x 33,554,432 x 2 B + 32,768
    CHECK(bytes("layernorm rows=8192 cols=4096 in=fp16 out=fp16 weight=fp32 compute=fp32") ==
          134250496.0);
    // Work goes to the precision asked for.
    CHECK(asked(demand_of_op("layernorm rows=2 cols=2 in=fp32 compute=fp16"), "linear.fp16") ==
          28.0);
  }

  TEST_CASE("rmsnorm: four FLOPs an element, one more for a residual that is added first") {
    const Demand d = demand_of_op("rmsnorm rows=16384 cols=4096");
    CHECK(work(d) == 268435456.0);  // 4 x 67,108,864
    CHECK(read(d) == 134225920.0);  // 134,217,728 + 4096 x 2 B
    CHECK(written(d) == 134217728.0);
    const OperatorGraph graph = graph_of_toml(R"(
schema = 1
kind = "graph"
[tensor]
x = { shape = [6, 4], dtype = "bf16", role = "input" }
residual = { shape = [6, 4], dtype = "bf16", role = "input" }
scale = { shape = [4], dtype = "bf16", role = "weight" }
y = { shape = [6, 4], dtype = "bf16", role = "output" }
sum = { shape = [6, 4], dtype = "bf16", role = "output" }
[[op]]
name = "norm"
kind = "rmsnorm"
inputs = ["x", "residual", "scale"]
outputs = ["y", "sum"]
)");
    const Demand with_residual = demand_in(graph, "norm");
    CHECK(work(with_residual) == 120.0);  // (4 + 1) x 24
    CHECK(read(with_residual) == 104.0);  // 2 x 48 + 8
    CHECK(written(with_residual) == 96.0);
  }
}
