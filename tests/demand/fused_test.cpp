// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "model/input/diagnostic.hpp"
#include "tests/demand/one_op.hpp"

using namespace floorline;
using namespace floorline::testing;

namespace {

/// Two parts on 8 x 64 elements of 2 bytes (1,024 bytes a tensor); more keys of the first or
/// second.
std::string fused(const std::string& first, const std::string& second,
                  const std::string& outputs = "\"y\"") {
  return R"(
schema = 1
kind = "graph"
[tensor]
x = { shape = [8, 64], dtype = "bf16", role = "input" }
w = { shape = [64, 64], dtype = "bf16", role = "weight" }
m = { shape = [8, 64], dtype = "bf16", role = "intermediate" }
y = { shape = [8, 64], dtype = "bf16", role = "output" }
[[op]]
name = "both"
kind = "fused"
inputs = ["x", "w"]
outputs = [)" +
         outputs + R"(]
parts = [
  { name = "a", kind = "gemm", inputs = ["x", "w"], outputs = ["m"])" +
         first + R"( },
  { name = "b", kind = "elementwise", flops = 3, inputs = ["m", "x"], outputs = ["y"])" +
         second + R"( },
]
)";
}

}  // namespace

TEST_SUITE("demand") {
  TEST_CASE("fused: borders once, work of the parts by unit") {
    // x 1,024 (read by both parts, once), w 64 x 64 x 2 = 8,192; y 1,024. m stays on chip.
    // gemm 2 x 8 x 64 x 64 = 65,536 on the tensor unit, 3 x 512 = 1,536 on the vector unit.
    const Demand d = demand_in(graph_of_toml(fused("", ", compute = \"fp32\"")), "both");
    CHECK(read(d) == 1024 + 8192);
    CHECK(written(d) == 1024);
    CHECK(asked(d, "tensor.bf16.fp32") == 65536);
    CHECK(asked(d, "vector.fp32") == 1536);
    CHECK(asked(d, "l1_port") == 1024 + 8192);
    CHECK(work(d) == 65536 + 1536);
  }
  TEST_CASE("fused: an output that another part reads is written once more and never read") {
    const Demand d = demand_in(graph_of_toml(fused("", "", "\"y\", \"m\"")), "both");
    CHECK(read(d) == 1024 + 8192);
    CHECK(written(d) == 2048);
  }
  TEST_CASE("fused: a sparse part reads half of its weight") {
    const Demand d = demand_in(graph_of_toml(fused(", sparse = true", "")), "both");
    CHECK(read(d) == 1024 + 4096);
  }
  TEST_CASE("fused: parts that contradict the whole are errors") {
    for (const std::string& text : {fused(", stated_bytes = 5", ""), fused(", bytes_scale = 2", ""),
                                    fused("", "", "\"m\""), fused("", "", "\"y\", \"w\"")}) {
      CHECK_THROWS_AS(graph_of_toml(text), InputError);
    }
    std::string text = fused("", "");
    text.replace(text.find("[\"x\", \"w\"]\noutputs"), 10,
                 "[\"x\"]");  // w is no input of the whole
    CHECK_THROWS_AS(graph_of_toml(text), InputError);
  }
}
