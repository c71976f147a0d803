// SPDX-License-Identifier: Apache-2.0
#include "model/floor/graph_floor.hpp"

#include <doctest/doctest.h>

#include <string>

#include "model/input/diagnostic.hpp"
#include "tests/demand/one_op.hpp"
#include "tests/floor/test_machine.hpp"

using namespace floorline;
using namespace floorline::testing;

namespace {

double us(Seconds time) { return time.in_base_units() * 1e6; }
double total(const GraphDemand& d) { return (d.hbm_read + d.hbm_write).in_base_units(); }

/// 3352 GB/s and compute that never binds.
Machine fast_machine() {
  return machine_from(R"(
schema = 1
units = 132
rate.tensor.fp16.fp32 = "100000 TFLOP/s"
rate.vector.fp32 = "100000 TFLOP/s"
[memory]
hbm = { bandwidth = "3352 GB/s" }
l2 = { capacity = "50 MiB" }
shared = { capacity_per_unit = "256 KiB" }
registers = { capacity_per_unit = "256 KiB" }
)");
}

const std::string kLarge = R"(shape = [16384, 4096]
dtype = "fp16"
)";

std::string tensor(const std::string& name, const std::string& body, const std::string& role) {
  return "[tensor." + name + "]\n" + body + "role = \"" + role + "\"\n";
}
const std::string kStatistic = "shape = [16384]\ndtype = \"fp32\"\n";
const std::string kVector = "shape = [4096]\ndtype = \"fp16\"\n";

const std::string kHead = "schema = 1\nkind = \"graph\"\n";

const std::string kThreeNorms = R"(
[[op]]
name = "mean"
kind = "reduce"
inputs = ["s"]
outputs = ["mu"]
[[op]]
name = "variance"
kind = "reduce"
inputs = ["s", "mu"]
outputs = ["var"]
[[op]]
name = "normalize"
kind = "elementwise"
flops = 4
inputs = ["s", "mu", "var", "scale", "shift"]
outputs = ["n"]
)";
const std::string kOneNorm = R"(
[[op]]
name = "norm"
kind = "layernorm"
inputs = ["s", "scale", "shift"]
outputs = ["n"]
)";
const std::string kAdd = R"(
[[op]]
name = "add"
kind = "elementwise"
inputs = ["x", "r"]
outputs = ["s"]
)";
const std::string kDropout = R"(
[[op]]
name = "dropout"
kind = "elementwise"
inputs = ["n"]
outputs = ["y"]
)";

/// Residual, LayerNorm (three kernels or one), dropout; the sum stays inside or is kept.
OperatorGraph norm_chain(bool three, const char* sum_role) {
  const std::string tensors =
      tensor("x", kLarge, "input") + tensor("r", kLarge, "input") + tensor("s", kLarge, sum_role) +
      tensor("n", kLarge, "intermediate") + tensor("y", kLarge, "output") +
      tensor("mu", kStatistic, "intermediate") + tensor("var", kStatistic, "intermediate") +
      tensor("scale", kVector, "weight") + tensor("shift", kVector, "weight");
  return graph_of_toml(kHead + tensors + kAdd + (three ? kThreeNorms : kOneNorm) + kDropout);
}

}  // namespace

TEST_SUITE("floor") {
  TEST_CASE("LayerNorm as three kernels moves the large tensor four times, as one twice") {
    const std::string tensors =
        tensor("s", kLarge, "input") + tensor("n", kLarge, "output") +
        tensor("mu", kStatistic, "intermediate") + tensor("var", kStatistic, "intermediate") +
        tensor("scale", kVector, "weight") + tensor("shift", kVector, "weight");
    const Machine machine = fast_machine();
    const Evaluation three = evaluate(graph_of_toml(kHead + tensors + kThreeNorms), machine);
    const Evaluation one = evaluate(graph_of_toml(kHead + tensors + kOneNorm), machine);
    // T = 16,384 x 4,096 x 2 B = 134,217,728. Statistics of 65,536 B are written twice and read
    // three times; scale and shift are 16,384 B together.
    CHECK(total(three.floors.sum) == 4 * 134217728.0 + 5 * 65536.0 + 16384.0);
    CHECK(total(one.floors.sum) == 2 * 134217728.0 + 16384.0);
    // Fused, both are the one kernel.
    CHECK(total(three.floors.fused_demand) == 268451840.0);
    CHECK(total(one.floors.fused_demand) == 268451840.0);
    // Serial is the sum over the kernels: 537,214,976 B / 3352e9 = 160.267 us
    CHECK(us(three.floors.serial.cold) == doctest::Approx(160.267).epsilon(1e-5));
    CHECK(us(three.floors.fused.cold) == doctest::Approx(80.0871).epsilon(1e-5));
  }

  TEST_CASE(
      "residual, three-kernel LayerNorm and dropout: 1,208,303,616 bytes, fused 402,669,568") {
    const Machine machine = fast_machine();
    // Nine crossings of T: add 2 + 1, mean 1, variance 1, normalize 1 + 1, dropout 1 + 1;
    // five of a statistic, one of scale and shift: 1,207,959,552 + 327,680 + 16,384.
    const Evaluation three = evaluate(norm_chain(true, "intermediate"), machine);
    CHECK(total(three.floors.sum) == 1208303616.0);
    CHECK(total(three.floors.fused_demand) == 402669568.0);  // 3 T + 16,384
    CHECK(three.floors.fused.cold / three.floors.serial.cold ==
          doctest::Approx(0.333252).epsilon(1e-5));
    // With the sum kept: 4 T + 16,384 = 536,887,296; / 1,208,303,616 = 0.444331
    const Evaluation kept = evaluate(norm_chain(true, "output"), machine);
    CHECK(total(kept.floors.sum) == 1208303616.0);
    CHECK(total(kept.floors.fused_demand) == 536887296.0);
    CHECK(kept.floors.fused.cold / kept.floors.serial.cold ==
          doctest::Approx(0.444331).epsilon(1e-5));
    // LayerNorm already one kernel: 7 T + 16,384 = 939,540,480; 402,669,568 / that = 0.428581
    const Evaluation one = evaluate(norm_chain(false, "intermediate"), machine);
    CHECK(total(one.floors.sum) == 939540480.0);
    CHECK(one.floors.fused.cold / one.floors.serial.cold ==
          doctest::Approx(0.428581).epsilon(1e-5));
  }

  TEST_CASE("RMSNorm then FP8 quantize: 7 bytes an element, 3 fused") {
    const auto graph =
        graph_of_toml(kHead + tensor("x", kLarge, "input") + tensor("n", kLarge, "intermediate") +
                      tensor("q", "shape = [16384, 4096]\ndtype = \"fp8\"\n", "output") +
                      R"(
[[op]]
name = "norm"
kind = "rmsnorm"
inputs = ["x"]
outputs = ["n"]
[[op]]
name = "quantize"
kind = "quantize"
inputs = ["n"]
outputs = ["q"]
)");
    const Evaluation e = evaluate(graph, fast_machine());
    // 67,108,864 elements x 7 and x 3
    CHECK(total(e.floors.sum) == 469762048.0);
    CHECK(total(e.floors.fused_demand) == 201326592.0);
    CHECK(us(e.floors.fused.cold) == doctest::Approx(60.0616).epsilon(1e-5));  // / 3352e9
    CHECK(e.floors.serial.cold / e.floors.fused.cold == doctest::Approx(7.0 / 3).epsilon(1e-12));
    CHECK(name_of(e.floors.fused_binding) == "hbm");
    // At any residency S_all = 52,428,800 + 132 x 524,288 = 121,634,816 is subtracted once from
    // each side: (134,217,728 - 121,634,816) + 0 = 12,582,912 / 3352e9 = 3.75385 us
    CHECK(us(e.floors.fused.any) == doctest::Approx(3.75385).epsilon(1e-5));
    // Each kernel by itself, S_keep: norm 2 x (134,217,728 - 52,428,800) = 163,577,856, quantize
    // 81,788,928 + 14,680,064 = 96,468,992: together 260,046,848 / 3352e9 = 77.5796 us
    CHECK(us(e.floors.serial.any) == doctest::Approx(77.5796).epsilon(1e-5));
  }

  // 1,000,000-byte steps on 1 TB/s: a microsecond for each MB.
  const std::string repeat_graph = R"(
schema = 1
kind = "graph"
symbols.layers = 4
[tensor]
x = { shape = [1000000], dtype = "int8", role = "input" }
y = { shape = [1000000], dtype = "int8", role = "intermediate" }
w = { shape = [2000000], dtype = "int8", role = "weight" }
out = { shape = [1000000], dtype = "int8", role = "output" }
[[op]]
name = "layer"
kind = "elementwise"
compute = "fp32"
inputs = ["x", "w"]
outputs = ["y"]
[[op]]
name = "head"
kind = "elementwise"
compute = "fp32"
inputs = ["y"]
outputs = ["out"]
[[repeat]]
name = "layers"
times = "layers"
ops = ["layer"]
carry = [["y", "x"]]
)";

  TEST_CASE("a repeat block has a weight for each iteration") {
    const Evaluation e = evaluate(graph_of_toml(repeat_graph), round_machine());
    // layer: 1 + 2 read, 1 written: 4 us, four times; head 2 us
    CHECK(us(e.floors.serial.cold) == doctest::Approx(18).epsilon(1e-12));
    CHECK(us(e.floors.critical_path.cold) == doctest::Approx(18).epsilon(1e-12));
    // x 1, w 4 x 2, out 1
    CHECK(us(e.floors.fused.cold) == doctest::Approx(10).epsilon(1e-12));
    CHECK(e.floors.ops[0].times == 4);
  }

  TEST_CASE("a shared weight is one for all iterations, where all is fused") {
    std::string text = repeat_graph;
    text.replace(text.find("role = \"weight\""), 15, "role = \"weight\", shared = true");
    const Evaluation e = evaluate(graph_of_toml(text), round_machine());
    CHECK(us(e.floors.serial.cold) == doctest::Approx(18).epsilon(1e-12));
    CHECK(us(e.floors.fused.cold) == doctest::Approx(4).epsilon(1e-12));
  }

  TEST_CASE("times = 0: the block is not there") {
    std::string text = repeat_graph;
    text.replace(text.find("layers = 4"), 10, "layers = 0");
    const Evaluation e = evaluate(graph_of_toml(text), round_machine());
    CHECK(us(e.floors.serial.cold) == doctest::Approx(2).epsilon(1e-12));
    CHECK(us(e.floors.critical_path.cold) == doctest::Approx(2).epsilon(1e-12));
    CHECK(us(e.floors.fused.cold) == doctest::Approx(1).epsilon(1e-12));  // out alone
  }

  TEST_CASE("a state written once outside a repeat block is not written once an iteration") {
    const auto graph = graph_of_toml(R"(
schema = 1
kind = "graph"
[tensor]
x = { shape = [1000000], dtype = "int8", role = "input" }
kv = { shape = [3000000], dtype = "int8", role = "state" }
y = { shape = [1000000], dtype = "int8", role = "output" }
[[op]]
name = "project"
kind = "elementwise"
compute = "fp32"
inputs = ["x"]
outputs = ["kv"]
[[op]]
name = "use"
kind = "elementwise"
flops = 0
compute = "fp32"
inputs = ["kv"]
outputs = ["y"]
[[repeat]]
name = "layers"
times = 80
ops = ["use"]
)");
    const Evaluation e = evaluate(graph, round_machine());
    // x 1 read, kv 3 and y 1 written
    CHECK(us(e.floors.fused.cold) == doctest::Approx(5).epsilon(1e-12));
    CHECK(us(e.floors.serial.cold) == doctest::Approx(4 + 80 * 4).epsilon(1e-12));
  }

  TEST_CASE("fused reads a tensor once, the largest part that any reader needs") {
    const auto graph = graph_of_toml(R"(
schema = 1
kind = "graph"
[tensor]
ids = { shape = [10], dtype = "int32", role = "input" }
table = { shape = [1000, 1000], dtype = "int8", role = "weight" }
rows = { shape = [10, 1000], dtype = "int8", role = "output" }
y = { shape = [1000, 1000], dtype = "int8", role = "output" }
[[op]]
name = "embed"
kind = "embedding"
inputs = ["ids", "table"]
outputs = ["rows"]
[[op]]
name = "use"
kind = "elementwise"
compute = "fp32"
inputs = ["table"]
outputs = ["y"]
)");
    const Evaluation e = evaluate(graph, round_machine());
    CHECK(e.floors.fused_demand.hbm_read.in_base_units() ==
          doctest::Approx(1000040).epsilon(1e-12));
    CHECK(e.floors.fused_demand.hbm_write == Bytes(1010000));
    // The kernels each read what they need: 40 + 1000, and 1,000,000.
    CHECK(e.floors.sum.hbm_read.in_base_units() == doctest::Approx(1001040).epsilon(1e-12));
  }

  TEST_CASE("stated bytes of an operator change the fused floor in proportion") {
    OperatorGraph graph = graph_of_toml(repeat_graph);
    graph.ops[0].stated_traffic = Expression(8e6);  // twice what its shapes say
    const Evaluation e = evaluate(graph, round_machine());
    CHECK(us(e.floors.serial.cold) == doctest::Approx(34).epsilon(1e-12));  // 4 x 8 + 2
    CHECK(us(e.floors.fused.cold) == doctest::Approx(19).epsilon(1e-12));   // 2 x (1 + 8) + 1
  }

  TEST_CASE("a graph where kernels fit on chip one by one still has a floor as a whole") {
    const auto graph = graph_of_toml(R"(
schema = 1
kind = "graph"
[tensor]
w = { shape = [900000], dtype = "int8", role = "weight" }
y = { shape = [1], dtype = "int8", role = "output" }
[[op]]
name = "use"
kind = "reduce"
compute = "fp32"
inputs = ["w"]
outputs = ["y"]
[[repeat]]
name = "layers"
times = 10
ops = ["use"]
)");
    const Evaluation e = evaluate(graph, round_machine());
    // Each reads 0.9 MB < S_keep = 1 MB; ten read 9 MB, of which S_all = 2 MB may be there: 7 us.
    CHECK(us(e.floors.fused.any) == doctest::Approx(7).epsilon(1e-12));
    CHECK(us(e.floors.critical_path.any) == doctest::Approx(7).epsilon(1e-12));
    CHECK(us(e.floors.serial.any) == doctest::Approx(7).epsilon(1e-12));
  }

  TEST_CASE("more resources than the sums have room for leave a weaker floor, no error of ours") {
    std::string text = kHead +
                       "[tensor]\nx = { shape = [8], dtype = \"bf16\", role = \"input\" }\n" +
                       "y = { shape = [8], dtype = \"bf16\", role = \"output\" }\n";
    int made = 0;
    for (const char* in : {"bf16", "fp16", "fp8", "fp6", "fp4", "int8"}) {
      for (const char* acc : {"fp32", "fp16", "bf16", "int32", "fp64"}) {
        text += "[[op]]\nname = \"o" + std::to_string(made) +
                "\"\nkind = \"custom\"\nflops = 10\n" + "compute = \"" + in +
                "\"\naccumulate = \"" + acc + "\"\nbytes = 10\n";
        ++made;
      }
    }
    CHECK(made == 30);
    const BoundGraph bound = bind(graph_of_toml(text));
    GraphFloors floors;
    prepare(bound, floors);
    const Machine machine = round_machine();
    graph_floors(bound, machine.rates, machine.chip, floors);
    CHECK(floors.sum.flops == Flops(300));
    CHECK(floors.fused.cold <= floors.serial.cold);
  }

  TEST_CASE("shares of the serial floor, largest first") {
    const Evaluation e = evaluate(graph_of_toml(repeat_graph + R"(
[tensor.a]
shape = [2000, 1000]
dtype = "bf16"
role = "input"
[tensor.b]
shape = [1000, 2000]
dtype = "bf16"
role = "weight"
[tensor.c]
shape = [2000, 2000]
dtype = "bf16"
role = "output"
[[op]]
name = "product"
kind = "gemm"
inputs = ["a", "b"]
outputs = ["c"]
)"),
                                  round_machine());
    // product: 8e9 / 125e12 = 64 us of the tensor unit (16 MB: 16 us); the rest 18 us of HBM
    const std::vector<Share> shares = serial_shares(e.floors);
    REQUIRE(shares.size() == 2);
    CHECK(name_of(shares[0].resource) == "tensor.bf16.fp32");
    CHECK(shares[0].fraction == doctest::Approx(64.0 / 82).epsilon(1e-12));
    CHECK(name_of(shares[1].resource) == "hbm");
    CHECK(shares[0].fraction + shares[1].fraction == doctest::Approx(1).epsilon(1e-12));
    CHECK(name_of(e.floors.serial_binding) == "tensor.bf16.fp32");
    // The two chains are independent: the per-resource sums hold the critical path.
    CHECK(us(e.floors.critical_path.cold) == doctest::Approx(64).epsilon(1e-12));
  }

  TEST_CASE("a device that lacks a rate: who needs it, device and key") {
    const Machine machine =
        machine_from("schema = 1\nname = \"partial\"\nmemory.hbm.bandwidth = \"1 TB/s\"\n");
    try {
      evaluate(parse_op_text("gemm m=2 n=2 k=2"), machine);
      FAIL("accepted");
    } catch (const InputError& error) {
      REQUIRE(error.diagnostics().size() == 1);
      CHECK(to_text(error.diagnostics()[0]) ==
            "test.toml: error: rate.tensor.bf16.fp32: device partial does not state it, and "
            "operator \"gemm\" (gemm) needs it");
    }
    CHECK_NOTHROW(evaluate(parse_op_text("transpose rows=2 cols=2"), machine));
    try {
      evaluate(parse_op_text("copy bytes=1GB path=h2d"), machine);
      FAIL("accepted");
    } catch (const InputError& error) {
      CHECK(std::string(error.what()).find("link.h2d.bandwidth") != std::string::npos);
    }
  }

  TEST_CASE("evaluating again with other symbol values") {
    const Machine machine = round_machine();
    Evaluation e = evaluate(parse_op_text("gemm m=1000 n=1000 k=1000"), machine);
    const double before = us(e.floors.serial.cold);  // 2e9 / 125e12 = 16 us
    CHECK(before == doctest::Approx(16).epsilon(1e-12));
    std::vector<double> values = e.graph.symbol_values;
    values[static_cast<std::size_t>(e.graph.symbols.find("m").value())] = 3000;
    REQUIRE(reevaluate(machine, values, e));
    CHECK(us(e.floors.serial.cold) == doctest::Approx(48).epsilon(1e-12));
    values[0] = 0.5;
    CHECK_FALSE(reevaluate(machine, values, e));
  }
}
