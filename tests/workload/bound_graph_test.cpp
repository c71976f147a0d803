// SPDX-License-Identifier: Apache-2.0
#include "model/workload/bound_graph.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/demand/one_op.hpp"

using namespace floorline;
using floorline::testing::graph_of_toml;

namespace {

std::string refused(const OperatorGraph& graph) {
  try {
    bind(graph);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

OperatorGraph product(const std::string& x, const std::string& w, const std::string& y,
                      const std::string& keys = "") {
  return graph_of_toml(
      "schema = 1\nkind = \"graph\"\nsymbols.n = 4\n[tensor]\nx = { shape = [" + x +
      "], dtype = \"bf16\", role = \"input\" }\nw = { shape = [" + w +
      "], dtype = \"bf16\", role = \"weight\" }\ny = { shape = [" + y +
      "], dtype = \"bf16\", role = \"output\" }\n[[op]]\nname = \"p\"\nkind = \"gemm\"\n"
      "inputs = [\"x\", \"w\"]\noutputs = [\"y\"]\n" +
      keys);
}

}  // namespace

TEST_SUITE("workload") {
  TEST_CASE("bind: elements, bytes and last dimension") {
    const BoundGraph bound = bind(product("3, \"n\"", "\"n\", 5", "3, 5"));
    CHECK(bound.tensors[0].elements == 12);
    CHECK(bound.tensors[0].last_dim == 4);
    CHECK(bound.tensors[0].bytes == Bytes(24));
    CHECK(bound.tensors[2].producer == 0);
    CHECK(bound.tensors[0].producer == -1);
    CHECK(bound.ops[0].times == 1);
  }

  TEST_CASE("bind: widths that are no whole bytes") {
    const BoundGraph bound = bind(graph_of_toml(R"(
schema = 1
kind = "graph"
[tensor]
a = { shape = [3], dtype = "int4", role = "input" }
b = { shape = [32], dtype = "mxfp4", role = "input" }
c = { shape = [], dtype = "fp64", role = "output" }
[[op]]
name = "o"
kind = "reduce"
inputs = ["a", "b"]
outputs = ["c"]
)"));
    CHECK(bound.tensors[0].bytes == Bytes(1.5));
    CHECK(bound.tensors[1].bytes == Bytes(17));  // 32 x 4.25 / 8
    CHECK(bound.tensors[2].bytes == Bytes(8));   // a scalar
  }

  TEST_CASE("bind: sizes that cannot be") {
    const auto refused_size = [](const std::string& size) {
      return refused(product(size + ", 4", "4, 5", "1, 5"));
    };
    for (const std::string size : {"n - 5", "n / 8", "n / (n - 4)"}) {
      CAPTURE(size);
      const std::string error = refused_size("\"" + size + "\"");
      CHECK(error.find("graph.toml:5:5: error: tensor.x.shape: \"" + size + "\" is ") == 0);
      CHECK(error.find(" here; expected a whole number from 0 to 2^53") != std::string::npos);
    }
    CHECK(refused_size("4503599627370496") ==
          "graph.toml:5:5: error: tensor.x.shape: more than 2^53 elements; expected a tensor that "
          "could exist");
  }

  TEST_CASE("bind: a product whose tensors do not agree with its k") {
    CHECK(refused(product("3, 4", "4, 5", "3, 5")) == "accepted");
    CHECK(refused(product("2, 3, 4", "4, 5", "2, 3, 5")) == "accepted");  // shared weight
    CHECK(refused(product("2, 3, 4", "2, 4, 5", "2, 3, 5", "batch = 2\n")) ==
          "accepted");  // one each
    CHECK(refused(product("3, 4", "4, 5", "3, 6")) ==
          "graph.toml:8:1: error: op.p: the tensors do not agree with k = 4: expected (first input "
          "/ k) x "
          "(second input / k) elements in the output, times batch if the second input has one "
          "matrix for each product");
    CHECK(refused(product("3, 4", "4, 5", "3, 5", "k = 2\n")) != "accepted");
    CHECK(refused(product("2, 3, 4", "2, 4, 5", "2, 3, 5", "batch = 3\n")) != "accepted");
  }

  TEST_CASE("bind: keys and counts that cannot be") {
    OperatorGraph graph = product("3, 4", "4, 5", "3, 5", "batch = \"n - 5\"\n");
    CHECK(
        refused(graph).find("op.p: a key is negative or not finite; expected numbers from 0 up") !=
        std::string::npos);
    graph = product("3, 4", "4, 5", "3, 5",
                    "[[repeat]]\nname = \"r\"\ntimes = \"n / 8\"\nops = [\"p\"]\n");
    CHECK(
        refused(graph).find("repeat.r.times: \"n / 8\" is not a count; expected a whole number") !=
        std::string::npos);
  }

  TEST_CASE("bind: tensors that are one an iteration, and those that are not") {
    const BoundGraph bound = bind(graph_of_toml(R"(
schema = 1
kind = "graph"
[tensor]
x = { shape = [4], dtype = "bf16", role = "input" }
w = { shape = [4], dtype = "bf16", role = "weight" }
s = { shape = [4], dtype = "bf16", role = "weight", shared = true }
kv = { shape = [4], dtype = "bf16", role = "state" }
y = { shape = [4], dtype = "bf16", role = "output" }
[[op]]
name = "o"
kind = "elementwise"
inputs = ["x", "w", "s", "kv", "w"]
outputs = ["y"]
[[repeat]]
name = "r"
times = 3
ops = ["o"]
)"));
    CHECK(bound.tensors[0].copies == 1);
    CHECK(bound.tensors[1].copies == 3);
    CHECK(bound.tensors[2].copies == 1);
    CHECK(bound.tensors[3].copies == 3);
    CHECK(bound.tensors[4].copies == 1);
    CHECK(bound.ops[0].times == 3);
    CHECK_FALSE(bound.inputs(bound.ops[0])[1].again);
    CHECK(bound.inputs(bound.ops[0])[4].again);
  }

  TEST_CASE("rebind: the same arrays with other numbers, or false") {
    const OperatorGraph graph = product("3, \"n\"", "\"n\", 5", "3, 5");
    BoundGraph bound = bind(graph);
    std::vector<double> values = graph.symbol_values;
    values[0] = 8;
    CHECK(rebind(graph, values, bound));
    CHECK(bound.tensors[0].elements == 24);
    values[0] = 0.5;
    CHECK_FALSE(rebind(graph, values, bound));
    values[0] = -1;
    CHECK_FALSE(rebind(graph, values, bound));
    values[0] = 4;
    CHECK(rebind(graph, values, bound));
    CHECK(bound.tensors[0].elements == 12);
  }
}
