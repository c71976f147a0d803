// SPDX-License-Identifier: Apache-2.0
#include "model/rewrite/splice.hpp"

#include <doctest/doctest.h>

#include "model/evaluate.hpp"
#include "model/rewrite/assignment.hpp"
#include "tests/demand/one_op.hpp"
#include "tests/floor/test_machine.hpp"

using namespace floorline;
using namespace floorline::testing;

namespace {

/// x (fp16) -> norm -> y (fp16) -> cast -> z (fp32) -> sum -> s (fp32), rows x 100.
constexpr std::string_view kChain = R"(
schema = 1
kind = "graph"
[symbols]
rows = 1000
[tensor.x]
shape = ["rows", 100]
dtype = "fp16"
role = "input"
[tensor.y]
shape = ["rows", 100]
dtype = "fp16"
role = "intermediate"
[tensor.z]
shape = ["rows", 100]
dtype = "fp32"
role = "intermediate"
[tensor.s]
shape = ["rows"]
dtype = "fp32"
role = "output"
[[op]]
name = "norm"
kind = "rmsnorm"
inputs = ["x"]
outputs = ["y"]
[[op]]
name = "cast"
kind = "dequantize"
inputs = ["y"]
outputs = ["z"]
[[op]]
name = "sum"
kind = "reduce"
inputs = ["z"]
outputs = ["s"]
)";

/// Two layers of a chain: what one makes the next one reads.
constexpr std::string_view kLayers = R"(
schema = 1
kind = "graph"
[tensor.x]
shape = [1000]
dtype = "fp16"
role = "input"
[tensor.h]
shape = [1000]
dtype = "fp16"
role = "intermediate"
[tensor.y]
shape = [1000]
dtype = "fp16"
role = "output"
[[op]]
name = "up"
kind = "elementwise"
inputs = ["x"]
outputs = ["h"]
[[op]]
name = "down"
kind = "elementwise"
inputs = ["h"]
outputs = ["y"]
[[repeat]]
name = "layer"
times = 5
ops = ["up", "down"]
carry = [["y", "x"]]
)";

double bytes_of(const OperatorGraph& graph) {
  const Evaluation e = evaluate(graph, round_machine());
  return (e.floors.sum.hbm_read + e.floors.sum.hbm_write).in_base_units();
}

OperatorGraph with(std::string_view text, std::string_view change) {
  OperatorGraph graph = graph_of_toml(text);
  assign(graph, parse_assignment(change));
  return graph;
}

}  // namespace

TEST_SUITE("rewrite") {
  TEST_CASE("removal: what the operator made is read from what it read") {
    // norm 200 + 200 kB, cast 200 + 400, sum 400 + 4
    CHECK(bytes_of(graph_of_toml(kChain)) == 1404000);
    // Without the cast the sum reads the 200 kB of y: 400 + 204.
    const OperatorGraph graph = with(kChain, "op.cast=remove");
    CHECK(bytes_of(graph) == 604000);
    CHECK(graph.ops.size() == 2);
    CHECK_FALSE(graph.find_tensor("z"));
    CHECK(graph.notes.front() == "operator \"cast\" removed");
    // Without the norm the cast reads x: 600 + 404.
    CHECK(bytes_of(with(kChain, "op.norm=remove")) == 1004000);
  }

  TEST_CASE("removal: an output of another size leaves with its operator") {
    // The sum made s of another size, nobody reads it: 400 + 600.
    const OperatorGraph graph = with(kChain, "op.sum=remove");
    CHECK(bytes_of(graph) == 1000000);
    CHECK_FALSE(graph.find_tensor("s"));
  }

  TEST_CASE("removal: a reader of a tensor of another size gets it from outside") {
    OperatorGraph graph = graph_of_toml(kChain);
    // A further reader of the row sums.
    const TensorId s = *graph.find_tensor("s");
    graph.tensors[index(s)].role = TensorRole::intermediate;
    Tensor last = graph.tensors[index(s)];
    last.name = "last";
    last.role = TensorRole::output;
    graph.tensors.push_back(last);
    Operator scale;
    scale.name = "scale";
    scale.kind = OperatorKind::elementwise;
    scale.inputs = {s};
    scale.outputs = {static_cast<TensorId>(graph.tensors.size() - 1)};
    graph.ops.push_back(scale);
    remove_operator(graph, *graph.find_op("sum"));
    CHECK(graph.tensors[index(*graph.find_tensor("s"))].role == TensorRole::input);
    CHECK(graph.notes.back() == "\"s\" counts as an input from outside");
    CHECK(bytes_of(graph) == 1000000 + 4000 + 4000);
  }

  TEST_CASE("removal inside a repeat block: the carried tensor follows") {
    // 5 x (2 + 2 + 2 + 2 kB)
    CHECK(bytes_of(graph_of_toml(kLayers)) == 40000);
    const OperatorGraph graph = with(kLayers, "op.down=remove");
    CHECK(bytes_of(graph) == 20000);
    CHECK(graph.repeats.front().ops.size() == 1);
    CHECK(graph.tensors[index(graph.repeats.front().carry.front().first)].name == "h");
    CHECK(graph.tensors[index(*graph.find_tensor("h"))].role == TensorRole::output);
    CHECK(bytes_of(with(kLayers, "op.up=remove")) == 20000);
  }

  TEST_CASE("removal of the last operator is refused") {
    OperatorGraph one = parse_op_text("gemm m=16 n=16 k=16");
    CHECK_THROWS_WITH_AS(remove_operator(one, static_cast<OperatorId>(0)),
                         "command line: error: op.gemm: is the only operator; without it nothing "
                         "is left",
                         InputError);
  }

  TEST_CASE("replacement: tensors of the same size and storage keep their places") {
    // layernorm reads scale and shift of 2 x 100 x 2 bytes beside the 200 kB
    const OperatorGraph graph = with(kChain, "op.norm=layernorm rows=1000 cols=100 in=fp16");
    CHECK(graph.ops.front().kind == OperatorKind::layernorm);
    CHECK(graph.ops.front().name == "norm");
    CHECK(graph.tensors[index(graph.ops.front().inputs.front())].name == "x");
    CHECK(graph.tensors[index(graph.ops.front().outputs.front())].name == "y");
    CHECK(bytes_of(graph) == 1404000 + 400);
  }

  TEST_CASE("replacement by other sizes: inputs and outputs of its own") {
    // copy of 1 MB: reads and writes it; y comes from outside now
    const OperatorGraph graph = with(kChain, "op.norm=copy bytes=1MB path=d2d");
    CHECK(bytes_of(graph) == 2000000 + 600000 + 404000);
    CHECK(graph.tensors[index(*graph.find_tensor("y"))].role == TensorRole::input);
    CHECK_FALSE(graph.find_tensor("x"));
  }

  TEST_CASE("replacement by several operators") {
    const OperatorGraph graph =
        with(kLayers,
             "op.up=attention batch=1 q_heads=1 kv_heads=1 q_len=10 kv_len=10 head_dim=100 "
             "form=naive in=fp16 causal=0");
    CHECK(graph.repeats.front().ops.size() == 4);
    CHECK(graph.find_op("up.softmax"));
    CHECK(graph.tensors[index(graph.ops[0].inputs[0])].name == "x");
    bind(graph);
  }

  TEST_CASE("replacement by what is no operator: told where") {
    CHECK_THROWS_WITH_AS(with(kChain, "op.norm=gem m=1"),
                         "op.norm:1:1: error: \"gem\" is not an operator kind; did you mean "
                         "\"gemm\"? (op.norm=remove, or an operator as for --op)",
                         InputError);
  }

  TEST_CASE("assignment: precisions, each by itself") {
    const OperatorGraph graph = graph_of_toml(kChain);
    OperatorGraph changed = graph;
    assign(changed, parse_assignment("tensor.y.dtype=fp32"));
    CHECK(bytes_of(changed) == 1404000 + 400000);  // written and read at twice the size
    assign(changed, parse_assignment("op.sum.compute=fp32"));
    CHECK(changed.ops[2].compute == Precision::fp32);
    CHECK(bytes_of(changed) == 1804000);
    assign(changed, parse_assignment("op.*.accumulate=fp32"));
    for (const Operator& op : changed.ops) CHECK(op.accumulate == Precision::fp32);
    assign(changed, parse_assignment("tensor.?.dtype=fp16"));
    CHECK(bytes_of(changed) == 400000 + 400000 + 200000 + 2000);
    OperatorGraph product = parse_op_text("gemm m=16 n=16 k=16");
    assign(product, parse_assignment("weight_dtype=fp8"));
    CHECK(product.tensors[1].dtype == Precision::fp8_e4m3);
    CHECK(product.ops[0].compute == Precision::bf16);
    assign(product, parse_assignment("compute_dtype=fp8"));
    CHECK(product.ops[0].compute == Precision::fp8_e4m3);
    assign(product, parse_assignment("activation_dtype=fp32"));
    CHECK(product.tensors[0].dtype == Precision::fp32);
    CHECK(product.tensors[2].dtype == Precision::fp32);
    CHECK_THROWS_AS(assign(product, parse_assignment("kv_dtype=fp8")), InputError);
    OperatorGraph attention =
        parse_op_text("attention batch=1 q_heads=2 kv_heads=2 q_len=4 kv_len=8 head_dim=16");
    assign(attention, parse_assignment("kv_dtype=fp8"));
    CHECK(attention.tensors[0].dtype == Precision::bf16);
    CHECK(attention.tensors[1].dtype == Precision::fp8_e4m3);
    CHECK(attention.tensors[2].dtype == Precision::fp8_e4m3);
  }

  TEST_CASE("assignment: precisions of a fused operator are those of its products") {
    OperatorGraph graph = graph_of_toml(R"(
schema = 1
kind = "graph"
[tensor.x]
shape = [4, 8]
dtype = "bf16"
role = "input"
[tensor.w]
shape = [8, 2]
dtype = "bf16"
role = "weight"
[tensor.h]
shape = [4, 2]
dtype = "bf16"
role = "intermediate"
[tensor.y]
shape = [4, 2]
dtype = "bf16"
role = "output"
[[op]]
name = "both"
kind = "fused"
inputs = ["x", "w"]
outputs = ["y"]
parts = [
  { name = "product", kind = "gemm", inputs = ["x", "w"], outputs = ["h"] },
  { name = "act", kind = "elementwise", inputs = ["h"], outputs = ["y"], compute = "fp32" },
]
)");
    assign(graph, parse_assignment("compute_dtype=fp8"));
    CHECK(graph.ops[0].parts[0].compute == Precision::fp8_e4m3);
    CHECK(graph.ops[0].parts[1].compute == Precision::fp32);
    assign(graph, parse_assignment("op.both.compute=bf16"));
    assign(graph, parse_assignment("op.*.accumulate=fp16"));
    CHECK(graph.ops[0].parts[0].compute == Precision::bf16);
    CHECK(graph.ops[0].parts[0].accumulate == Precision::fp16);
    // Without products: of all its parts.
    graph.ops[0].parts.erase(graph.ops[0].parts.begin());
    assign(graph, parse_assignment("op.both.compute=fp16"));
    CHECK(graph.ops[0].parts[0].compute == Precision::fp16);
  }

  TEST_CASE("assignment: clocks") {
    ClockChoice clocks;
    assign(clocks, parse_assignment("sm_clock=1410MHz"));
    assign(clocks, parse_assignment("sm_clock*=0.5"));
    assign(clocks, parse_assignment("mem_clock_scale=0.8"));
    assign(clocks, parse_assignment("mem_clock_scale*=0.5"));
    CHECK(clocks.sm_clock->in_base_units() == doctest::Approx(705e6));
    CHECK(clocks.memory_scale == doctest::Approx(0.4));
    ClockChoice fresh;
    for (const char* text : {"sm_clock*=2", "sm_clock=0Hz", "sm_clock=5GB", "mem_clock_scale=0",
                             "mem_clock_scale=nan", "mem_clock_scale=-1"}) {
      CAPTURE(text);
      CHECK_THROWS_AS(assign(fresh, parse_assignment(text)), InputError);
    }
  }
}
