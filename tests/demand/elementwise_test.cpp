// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "tests/demand/one_op.hpp"

using namespace floorline;
using namespace floorline::testing;

TEST_SUITE("demand") {
  TEST_CASE("elementwise: vector add in fp32 is 12 bytes and 1 FLOP an element") {
    const Demand d = demand_of_op("elementwise n=1000 reads=2 in=fp32");
    CHECK(work(d) == 1000.0);
    CHECK(read(d) == 8000.0);
    CHECK(written(d) == 4000.0);
    CHECK(work(d) / (read(d) + written(d)) == doctest::Approx(1.0 / 12).epsilon(1e-15));
    CHECK(asked(d, "vector.any") == 1000.0);  // no compute precision given: the fastest
  }

  TEST_CASE("elementwise: several outputs, FLOPs and exponentials an element") {
    const Demand d = demand_of_op(
        "elementwise n=10 reads=3 writes=2 flops=5 exps=2 in=bf16 out=fp32 compute=fp32");
    CHECK(work(d) == 50.0);
    CHECK(asked(d, "vector.fp32") == 50.0);
    CHECK(asked(d, "sfu") == 20.0);
    CHECK(read(d) == 60.0);     // 3 x 10 x 2 B
    CHECK(written(d) == 80.0);  // 2 x 10 x 4 B
  }

  TEST_CASE("elementwise: x times x reads x once (naive inputs + outputs reads it twice)") {
    const OperatorGraph graph = graph_of_toml(R"(
schema = 1
kind = "graph"
[tensor]
x = { shape = [4, 25], dtype = "fp32", role = "input" }
y = { shape = [4, 25], dtype = "fp32", role = "output" }
[[op]]
name = "square"
kind = "elementwise"
inputs = ["x", "x"]
outputs = ["y"]
)");
    const Demand d = demand_in(graph, "square");
    CHECK(work(d) == 100.0);  // n from the output
    CHECK(read(d) == 400.0);  // 100 x 4 B, not 800
    CHECK(written(d) == 400.0);
  }

  TEST_CASE("elementwise: two outputs as two tensors are not taken for one stack") {
    const OperatorGraph graph = graph_of_toml(R"(
schema = 1
kind = "graph"
[tensor]
x = { shape = [30], dtype = "bf16", role = "input" }
a = { shape = [30], dtype = "bf16", role = "output" }
b = { shape = [30], dtype = "bf16", role = "output" }
[[op]]
name = "split"
kind = "elementwise"
inputs = ["x"]
outputs = ["a", "b"]
flops = 2
)");
    const Demand d = demand_in(graph, "split");
    CHECK(work(d) == 60.0);
    CHECK(written(d) == 120.0);
  }

  TEST_CASE("rope: six FLOPs for each pair of elements") {
    const Demand d = demand_of_op("rope tokens=3 heads=2 head_dim=4");
    CHECK(work(d) == 72.0);  // 24 elements = 12 pairs x (4 products + 2 sums)
    CHECK(read(d) == 48.0);
    CHECK(written(d) == 48.0);
    const Demand large =
        demand_of_op("rope tokens=4096 heads=40 head_dim=128 in=fp32 compute=fp32");
    CHECK(asked(large, "vector.fp32") == 62914560.0);  // 3 x 4096 x 40 x 128
    CHECK(read(large) == 83886080.0);                  // 20,971,520 x 4 B
  }

  TEST_CASE(
      "rope: a table of sines and cosines is read if the graph names it, once for all heads") {
    const OperatorGraph graph = graph_of_toml(R"(
schema = 1
kind = "graph"
[tensor]
q = { shape = [3, 2, 4], dtype = "bf16", role = "input" }
table = { shape = [3, 4], dtype = "fp32", role = "weight" }
out = { shape = [3, 2, 4], dtype = "bf16", role = "output" }
[[op]]
name = "rope"
kind = "rope"
inputs = ["q", "table"]
outputs = ["out"]
)");
    CHECK(read(demand_in(graph, "rope")) == 96.0);  // 48 + 3 x 4 x 4 B
  }

  TEST_CASE("quantize and dequantize: one scaling an element, each side at its own width") {
    const Demand narrow = demand_of_op("quantize rows=4 cols=8");
    CHECK(work(narrow) == 32.0);
    CHECK(read(narrow) == 64.0);     // bf16
    CHECK(written(narrow) == 32.0);  // fp8: inputs twice over, as a copy would be, is wrong
    // mxfp4 keeps one 8-bit scale for 32 elements, nvfp4 one for 16: 17 and 18 bytes for 32.
    CHECK(written(demand_of_op("quantize rows=4 cols=8 out=mxfp4")) == 17.0);
    CHECK(written(demand_of_op("quantize rows=4 cols=8 out=nvfp4")) == 18.0);
    const Demand wide = demand_of_op("dequantize rows=4 cols=8 in=int4 out=fp32");
    CHECK(work(wide) == 32.0);
    CHECK(read(wide) == 16.0);
    CHECK(written(wide) == 128.0);
  }
}
