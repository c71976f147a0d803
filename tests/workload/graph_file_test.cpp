// SPDX-License-Identifier: Apache-2.0
#include "model/workload/graph_file.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "tests/demand/one_op.hpp"

using namespace floorline;
using floorline::testing::graph_of_toml;

namespace {

const std::string kHead = "schema = 1\nkind = \"graph\"\n";  // two lines

const std::string kTensors = R"([tensor]
x = { shape = [8], dtype = "bf16", role = "input" }
m = { shape = [8], dtype = "bf16", role = "intermediate" }
y = { shape = [8], dtype = "bf16", role = "output" }
)";

std::string op(const std::string& name, const std::string& in, const std::string& out,
               const std::string& more = "") {
  return "[[op]]\nname = \"" + name + "\"\nkind = \"elementwise\"\ninputs = [\"" + in +
         "\"]\noutputs = [\"" + out + "\"]\n" + more;
}

std::string refused(const std::string& text) {
  try {
    graph_of_toml(kHead + text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}
bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}
/// How many diagnostics.
int count(const std::string& error) {
  return 1 + static_cast<int>(std::count(error.begin(), error.end(), '\n'));
}

}  // namespace

TEST_SUITE("workload") {
  TEST_CASE("graph file: the example of the format") {
    const OperatorGraph graph = graph_of_toml(kHead + R"(
[symbols]
rows = 16384
layers = 32
double = "2 * rows"
[tensor.x]
shape = ["rows", "1024"]
dtype = "fp16"
role = "input"
[tensor.mu]
shape = ["rows"]
dtype = "fp32"
role = "intermediate"
[[op]]
name = "mean"
kind = "reduce"
inputs = ["x"]
outputs = ["mu"]
compute = "fp32"
[[repeat]]
name = "layer"
times = "layers"
ops = ["mean"]
)");
    CHECK(graph.symbol("double") == 32768);
    REQUIRE(graph.tensors.size() == 2);
    CHECK(graph.tensors[0].shape.size() == 2);
    CHECK(graph.tensors[0].shape[1].constant() == 1024);
    CHECK(graph.tensors[1].dtype == Precision::fp32);
    REQUIRE(graph.ops.size() == 1);
    CHECK(graph.ops[0].compute == Precision::fp32);
    CHECK(graph.ops[0].accumulate == Precision::fp32);
    REQUIRE(graph.repeats.size() == 1);
    CHECK(graph.repeats[0].times.evaluate(graph.symbol_values) == 32);
    CHECK(is_graph_document(parse_toml(kHead, "g")));
    CHECK_FALSE(is_graph_document(parse_toml("schema = 1\nkind = \"ledger\"\n", "g")));
  }

  TEST_CASE("graph file: JSON, with the plural names that are printed") {
    const Node document = parse_json(R"({"schema": 1, "kind": "graph", "symbols": {"n": 4},
      "tensors": [{"name": "x", "shape": ["n"], "dtype": "bf16", "role": "input", "bytes": 8},
                  {"name": "y", "shape": [4], "dtype": "bf16", "role": "output"}],
      "ops": [{"name": "copy", "kind": "elementwise", "inputs": ["x"], "outputs": ["y"], "times": 1}],
      "repeats": [{"name": "r", "times": 2, "ops": ["copy"]}]})",
                                     "g.json");
    const OperatorGraph graph = read_graph(document);
    CHECK(graph.tensors.size() == 2);
    CHECK(graph.ops.size() == 1);
    CHECK(graph.repeats.size() == 1);
  }

  TEST_CASE("graph file: a product computes at the wider operand and says so") {
    const OperatorGraph graph = graph_of_toml(kHead + R"([tensor]
x = { shape = [2, 4], dtype = "fp16", role = "input" }
w = { shape = [4, 3], dtype = "int4", role = "weight" }
y = { shape = [2, 3], dtype = "fp16", role = "output" }
[[op]]
name = "p"
kind = "gemm"
inputs = ["x", "w"]
outputs = ["y"]
)");
    CHECK(graph.ops[0].compute == Precision::fp16);
    REQUIRE(graph.assumptions.size() == 1);
    CHECK(graph.assumptions[0] ==
          "p: compute = fp16, accumulate = fp32 (default: the wider operand)");
  }

  TEST_CASE("graph file: head, symbols") {
    CHECK_THROWS_WITH_AS(graph_of_toml("kind = \"graph\"\n"),
                         "graph.toml:1:1: error: schema: missing; expected schema = 1", InputError);
    CHECK(contains(refused("schema = 2"), "schema"));  // duplicate key
    CHECK_THROWS_WITH_AS(
        graph_of_toml("schema = 9\nkind = \"graph\"\n"),
        "graph.toml:1:10: error: schema: version 9 is not known; this program reads schema = 1",
        InputError);
    CHECK(refused("symbols = 3") ==
          "graph.toml:3:11: error: symbols: is an integer, expected a table");
    CHECK(refused("symbols.n = true") ==
          "graph.toml:3:13: error: symbols.n: expected a number up to 2^53, or an expression of "
          "symbols above");
    CHECK(refused("symbols.n = 1e17") == refused("symbols.n = true"));
    CHECK(contains(
        refused("[symbols]\nrows = 1\na = \"2 * rowz\""),
        "symbols.a: \"2 * rowz\": \"rowz\" is not a known symbol; did you mean \"rows\"?"));
    CHECK(contains(refused("tensr = 1"), "unknown key \"tensr\"; did you mean \"tensor\"?"));
    CHECK(refused("tensor = 1") ==
          "graph.toml:3:10: error: tensor: is an integer, expected tables");
  }

  TEST_CASE("graph file: tensors") {
    const auto tensor = [](const std::string& body) { return refused("[tensor.x]\n" + body); };
    CHECK(contains(tensor("dtype = \"bf16\"\nrole = \"input\""),
                   "tensor.x.shape: missing; expected a list"));
    CHECK(contains(tensor("shape = 8\ndtype = \"bf16\"\nrole = \"input\""),
                   "tensor.x.shape: is an integer, expected a list"));
    CHECK(contains(tensor("shape = [[8]]\ndtype = \"bf16\"\nrole = \"input\""),
                   "tensor.x.shape: is an array, expected a number or an expression"));
    CHECK(contains(tensor("shape = [8]\nrole = \"input\""),
                   "tensor.x.dtype: missing; expected a storage precision such as \"bf16\""));
    CHECK(contains(tensor("shape = [8]\ndtype = \"bf61\"\nrole = \"input\""),
                   "did you mean \"bf16\"?"));
    CHECK(tensor("shape = [8]\ndtype = \"any\"\nrole = \"input\"") ==
          "graph.toml:5:9: error: tensor.x.dtype: storage cannot be \"any\"");
    CHECK(contains(tensor("shape = [8]\ndtype = \"bf16\"\nrole = \"inptu\""),
                   "tensor.x.role: \"inptu\" is not a role; did you mean \"input\"?"));
    CHECK(contains(tensor("shape = [8]\ndtype = \"bf16\""), "tensor.x.role"));
    CHECK(contains(
        refused("[[tensor]]\nname = \"x\"\nshape = [8]\ndtype = \"bf16\"\nrole = \"input\"\n"
                "[[tensor]]\nname = \"x\"\nshape = [8]\ndtype = \"bf16\"\nrole = \"input\"\n"),
        "tensor \"x\" is there already"));
  }

  TEST_CASE("graph file: operators") {
    CHECK(refused(kTensors + op("a", "x", "y")) == "accepted");
    CHECK(contains(refused(kTensors + "[[op]]\nname = \"a\"\nkind = \"elemntwise\"\n"),
                   "\"elemntwise\" is not an operator kind; did you mean \"elementwise\"?"));
    CHECK(contains(refused(kTensors + op("a", "z", "y")), "there is no tensor \"z\""));
    CHECK(contains(refused(kTensors + op("a", "x", "y") + op("a", "x", "m")),
                   "operator \"a\" is there already"));
    CHECK(contains(refused(kTensors + op("a", "x", "y", "rowz = 3\n")), "unknown key \"rowz\""));
    CHECK(contains(refused(kTensors + op("a", "x", "y", "rows = 3\n")),
                   "unknown key \"rows\""));  // not of this kind
    CHECK(contains(refused(kTensors + op("a", "x", "y", "path = \"h2d\"\n")),
                   "is a key of copy only"));
    CHECK(contains(refused(kTensors + op("a", "x", "y", "sequences = []\n")),
                   "expected a list of tables {count, q_len, kv_len}, for attention"));
    CHECK(contains(refused(kTensors + op("a", "x", "y", "flops = []\n")),
                   "is an array, expected a number or an expression"));
    CHECK(contains(
        refused(kTensors +
                "[[op]]\nname = \"a\"\nkind = \"copy\"\ninputs = [\"x\"]\noutputs = [\"y\"]\n"),
        "path: missing; expected h2d, d2h or d2d"));
    CHECK(contains(refused(kTensors + "[[op]]\nname = \"a\"\nkind = \"copy\"\npath = \"up\"\n"
                                      "inputs = [\"x\"]\noutputs = [\"y\"]\n"),
                   "path: \"up\" is not a path; expected h2d, d2h or d2d"));
    const std::string bare = refused(kTensors + "[[op]]\nname = \"a\"\nkind = \"softmax\"\n");
    CHECK(contains(bare, "op[0].inputs: missing; expected the tensors it reads"));
    CHECK(contains(bare, "op[0].outputs: missing; expected the tensors it writes"));
  }

  TEST_CASE("graph file: a tensor that is not there is one mistake, not two") {
    CHECK(count(refused(kTensors + op("a", "z", "y"))) == 1);
    CHECK(count(refused(kTensors + op("a", "x", "z"))) == 1);
  }

  TEST_CASE("graph file: keys that the tensors do not say must be there") {
    const auto attention = [](const std::string& keys) {
      return refused(kTensors +
                     "[[op]]\nname = \"a\"\nkind = \"attention\"\ninputs = [\"x\"]\n"
                     "outputs = [\"y\"]\n" +
                     keys);
    };
    CHECK(attention("q_heads = 1\nhead_dim = 8\nq_len = 1\nkv_len = 1\n") == "accepted");
    CHECK(contains(attention("q_heads = 1\nq_len = 1\nkv_len = 1\n"),
                   "head_dim is missing; attention needs it"));
    CHECK(contains(attention("q_heads = 1\nhead_dim = 8\nsequences = [{ count = 2, q_len = 1 }]\n"),
                   "kv_len: missing; expected the keys of a sequence"));
    CHECK(contains(
        refused(kTensors + "[[op]]\nname = \"a\"\nkind = \"all_reduce\"\ninputs = [\"x\"]\n"
                           "outputs = [\"y\"]\n"),
        "ranks is missing; all_reduce needs it"));
  }

  TEST_CASE("graph file: stated bytes take a unit, stated work may be bare") {
    const OperatorGraph graph = graph_of_toml(kHead + R"(
[[op]]
name = "kernel"
kind = "custom"
flops = "2 TFLOP"
bytes = "100 GB"
written_bytes = "1 KiB"
)");
    const Demand d = floorline::testing::demand_in(graph, "kernel");
    CHECK(d.flops == Flops(2e12));
    CHECK(d.hbm_read == Bytes(1e11));
    CHECK(d.hbm_write == Bytes(1024));
    CHECK(contains(refused("[[op]]\nname = \"k\"\nkind = \"custom\"\nflops = \"2 PB\"\n"),
                   "op[0].flops"));
  }

  TEST_CASE("graph file: the order of operators and who writes what") {
    CHECK(refused(kTensors + op("a", "x", "m") + op("b", "m", "y")) == "accepted");
    CHECK(
        contains(refused(kTensors + op("b", "m", "y") + op("a", "x", "m")),
                 "op.b: reads \"m\" before it is written; expected operators in execution order"));
    CHECK(contains(refused(kTensors + op("b", "m", "y")),
                   "op.b: reads intermediate \"m\", which no operator writes; expected role input, "
                   "weight or state"));
    CHECK(contains(refused(kTensors + op("a", "x", "y") + op("b", "x", "y")),
                   "op.b: tensor \"y\" is written by \"a\" too; expected one writer a tensor"));
  }

  TEST_CASE("graph file: repeat blocks") {
    const std::string ops = kTensors + op("a", "x", "m") + op("b", "m", "y");
    const auto repeat = [&](const std::string& body) {
      return refused(ops + "[[repeat]]\nname = \"r\"\n" + body);
    };
    CHECK(repeat("times = 2\nops = [\"a\", \"b\"]\n") == "accepted");
    CHECK(repeat("times = 2\nops = [\"a\"]\ncarry = [[\"m\", \"x\"]]\n") == "accepted");
    CHECK(contains(repeat("ops = [\"a\"]\n"), "times: missing; expected a count or an expression"));
    CHECK(contains(repeat("times = 2\n"), "ops: expected the operators that repeat"));
    CHECK(contains(repeat("times = 2\nops = [\"aa\"]\n"),
                   "there is no operator \"aa\"; did you mean \"a\"?"));
    CHECK(contains(repeat("times = 2\nops = [\"b\", \"a\"]\n"),
                   "operators must stand next to each other, in the order of the graph; \"a\" does "
                   "not follow \"b\""));
    CHECK(contains(repeat("times = 2\nops = [\"a\"]\ncarry = 3\n"),
                   "expected pairs [[made, read next], …]"));
    CHECK(contains(repeat("times = 2\nops = [\"a\"]\ncarry = [[\"m\"]]\n"),
                   "expected pairs of two tensor names, made and read next"));
    CHECK(contains(repeat("times = 2\nops = [\"a\"]\ncarry = [[\"y\", \"x\"]]\n"),
                   "repeat.r: carries \"y\", which no operator of the block writes"));
    CHECK(contains(refused(ops + "[[repeat]]\nname = \"r\"\ntimes = 2\nops = [\"a\"]\n"
                                 "[[repeat]]\nname = \"s\"\ntimes = 2\nops = [\"a\"]\n"),
                   "operator \"a\" is in another repeat block too"));
  }

  TEST_CASE("graph file: a repeat block may not carry without bound") {
    std::string text = kTensors + op("a", "x", "m") + op("b", "m", "y") +
                       "[[repeat]]\nname = \"r\"\ntimes = 2\nops = [\"a\"]\ncarry = [";
    for (int i = 0; i < 65; ++i) text += "[\"m\", \"x\"],";
    CHECK(contains(refused(text + "]\n"), "repeat.r: carries more than 64 tensors"));
  }
}
