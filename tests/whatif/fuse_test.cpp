// SPDX-License-Identifier: Apache-2.0
// Fusion of named groups: traffic by hand, and each rule's refusal.
#include <doctest/doctest.h>

#include <algorithm>

#include "model/report/fuse_document.hpp"
#include "model/report/graph_document.hpp"
#include "model/rewrite/assignment.hpp"
#include "model/whatif/fusion.hpp"
#include "model/whatif/ratios.hpp"
#include "tests/demand/one_op.hpp"
#include "tests/floor/test_machine.hpp"

using namespace floorline;
using namespace floorline::testing;

namespace {

OperatorGraph shipped(const std::string& name) {
  return read_graph(read_document("workloads/" + name + ".toml"));
}
Machine h100() { return machine_of(load_device("h100_sxm", DevicePath{{"devices"}}), {}); }

FusionResult fuse(OperatorGraph graph, const Machine& machine, std::vector<std::string> group) {
  return fuse_groups(evaluate(std::move(graph), machine), machine, {std::move(group)});
}
double bytes_after(const FusionResult& r) { return r.groups.front().after->hbm.in_base_units(); }
double bytes_before(const FusionResult& r) { return r.groups.front().before.hbm.in_base_units(); }

/// The rule that stands against the group; "" when it is legal.
std::string refused_by(const FusionResult& r) {
  const auto& all = r.groups.front().refusals;
  return all.empty() ? "" : std::string(name_of(all.front().rule));
}

/// x → a → b → y with a second reader of a's result, and more, on 64 x 256 elements of 2 bytes.
constexpr const char* kDiamond = R"(
schema = 1
kind = "graph"
[tensor]
x = { shape = [64, 256], dtype = "bf16", role = "input" }
s = { shape = [256], dtype = "bf16", role = "weight" }
w = { shape = [256, 256], dtype = "bf16", role = "weight" }
a = { shape = [64, 256], dtype = "bf16", role = "intermediate" }
b = { shape = [64, 256], dtype = "bf16", role = "intermediate" }
r = { shape = [64, 256], dtype = "bf16", role = "intermediate" }
c = { shape = [64, 256], dtype = "bf16", role = "intermediate" }
g = { shape = [256, 256], dtype = "bf16", role = "output" }
y = { shape = [64, 256], dtype = "bf16", role = "output" }
[[op]]
name = "norm"
kind = "rmsnorm"
inputs = ["x", "s"]
outputs = ["a"]
[[op]]
name = "silu"
kind = "elementwise"
inputs = ["a"]
outputs = ["b"]
[[op]]
name = "reduce_over_ranks"
kind = "all_reduce"
ranks = 4
inputs = ["a"]
outputs = ["r"]
[[op]]
name = "add"
kind = "elementwise"
inputs = ["b", "r"]
outputs = ["c"]
[[op]]
name = "project"
kind = "gemm"
inputs = ["c", "w"]
outputs = ["y"]
[[op]]
name = "gradient"
kind = "gemm"
inputs = ["c", "x"]
outputs = ["g"]
k = 64
)";

}  // namespace

TEST_SUITE("whatif") {
  TEST_CASE("residual, three-kernel LayerNorm and dropout become one kernel") {
    // T = 16384 x 4096 x 2 = 134,217,728. Before 9 T + 5 x 65,536 + 16,384 (head of the file).
    // After x, skip read, y written, scale and shift: 3 T + 16,384 = 402,669,568: 0.333.
    const std::vector<std::string> group{"residual", "mean", "variance", "normalize", "dropout"};
    const FusionResult r = fuse(shipped("residual_norm_dropout"), h100(), group);
    REQUIRE(r.legal());
    CHECK(bytes_before(r) == 1208303616);
    CHECK(bytes_after(r) == 402669568);
    CHECK(bytes_after(r) / bytes_before(r) == doctest::Approx(0.3333).epsilon(0.001));
    // 9 FLOP an element: residual 1, mean 1 (less one a row), variance 3, normalize 4, dropout 1
    // are kept: 10 x 67,108,864 - 16,384.
    const OperatorFloors& one = r.after->floors.ops.front();
    CHECK(one.demand.flops.in_base_units() == 10.0 * 67108864 - 16384);
    CHECK(r.launches.before == 5);
    CHECK(r.launches.after == 1);
    // sum and normal T each, mean and variance 65,536 each: 268,566,528.
    CHECK(r.groups.front().inside.in_base_units() == 2 * 134217728.0 + 2 * 65536);
  }

  TEST_CASE("the sum kept for the next layer is written all the same") {
    // 4 T + 16,384 = 536,887,296 of 1,208,303,616: 0.444.
    OperatorGraph graph = shipped("residual_norm_dropout");
    graph.tensors[index(graph.find_tensor("sum").value())].role = TensorRole::output;
    const FusionResult r =
        fuse(graph, h100(), {"residual", "mean", "variance", "normalize", "dropout"});
    CHECK(bytes_after(r) == 4 * 134217728.0 + 16384);
    CHECK(bytes_after(r) / bytes_before(r) == doctest::Approx(0.444).epsilon(0.001));
  }

  TEST_CASE("LayerNorm that is one kernel already leaves 7 T to 3 T") {
    // residual 3 T, layernorm 2 T + 16,384, dropout 2 T; after 3 T + 16,384: 0.429.
    const OperatorGraph graph = graph_of_toml(R"(
schema = 1
kind = "graph"
[tensor]
x = { shape = [16384, 4096], dtype = "fp16", role = "input" }
skip = { shape = [16384, 4096], dtype = "fp16", role = "input" }
scale = { shape = [4096], dtype = "fp16", role = "weight" }
shift = { shape = [4096], dtype = "fp16", role = "weight" }
sum = { shape = [16384, 4096], dtype = "fp16", role = "intermediate" }
normal = { shape = [16384, 4096], dtype = "fp16", role = "intermediate" }
y = { shape = [16384, 4096], dtype = "fp16", role = "output" }
[[op]]
name = "residual"
kind = "elementwise"
inputs = ["x", "skip"]
outputs = ["sum"]
[[op]]
name = "norm"
kind = "layernorm"
inputs = ["sum", "scale", "shift"]
outputs = ["normal"]
[[op]]
name = "dropout"
kind = "elementwise"
inputs = ["normal"]
outputs = ["y"]
)");
    const FusionResult r = fuse(graph, h100(), {"residual", "norm", "dropout"});
    CHECK(bytes_before(r) == 7 * 134217728.0 + 16384);
    CHECK(bytes_after(r) == 3 * 134217728.0 + 16384);
    CHECK(bytes_after(r) / bytes_before(r) == doctest::Approx(0.429).epsilon(0.001));
  }

  TEST_CASE("RMSNorm and a cast to fp8: 7 bytes an element become 3") {
    // 3 x 67,108,864 + 8,192 = 201,334,784 bytes at 3352.32 GB/s: 60.06 us; measured 2.31x (F01).
    const FusionResult r = fuse(shipped("rmsnorm_quantize"), h100(), {"rmsnorm", "quantize"});
    CHECK(bytes_before(r) == 469770240);
    CHECK(bytes_after(r) == 201334784);
    CHECK(r.groups.front().after->cold.in_base_units() == doctest::Approx(60.06e-6).epsilon(1e-3));
    CHECK(r.groups.front().before.cold / r.groups.front().after->cold ==
          doctest::Approx(2.333).epsilon(0.001));
  }

  TEST_CASE("attention in three kernels becomes one: scores vanish") {
    // N = 4096, d = 128, 16 bits, 8 heads. A head's scores and probabilities: 4096^2 x 2 =
    // 33,554,432 each, written and read: 134,217,728 bytes. Q, K, V, O: 4 x 4096 x 128 x 2 =
    // 4,194,304 stay.
    OperatorGraph graph = shipped("attention_naive");
    graph.set_symbol("batch", 1);
    graph.set_symbol("heads", 8);
    graph.set_symbol("seq", 4096);
    const FusionResult r = fuse(graph, h100(), {"scores", "softmax", "values"});
    REQUIRE(r.legal());
    CHECK(bytes_before(r) - bytes_after(r) == 8 * 134217728.0);
    CHECK(bytes_after(r) == 8 * 4194304.0);
    // Two products of 2 x 4096^2 x 128 a head, softmax 4 an element of 4096^2.
    const Demand& one = r.after->floors.ops.front().demand;
    CHECK(asked(one, "tensor.fp16.fp32") == 8 * 2 * 2.0 * 4096 * 4096 * 128);
    CHECK(asked(one, "sfu") == 8 * 4096.0 * 4096);
  }

  TEST_CASE("fused attention is refused where an SM cannot hold a tile") {
    // 16 rows of Q, 16 columns of K and V at 128 x 2 bytes: 3 x 4,096; 16 x 128 sums of 4 bytes:
    // 8,192; a 16 x 16 tile of scores: 1,024. 21,504 bytes; this SM has 6,000 + 4,000.
    const Machine small = round_machine(
        "[rate.sfu]\nper_clock_per_unit = 16\nclock = \"sm\"\n"
        "[rate.tensor.fp16.fp32]\nper_clock_per_unit = 1000\nclock = \"sm\"\n");
    OperatorGraph graph = shipped("attention_naive");
    const FusionResult r = fuse(graph, small, {"scores", "softmax", "values"});
    CHECK(refused_by(r) == "capacity");
    CHECK_FALSE(r.legal());
    const std::string& why = r.groups.front().refusals.front().reason;
    CHECK(why.find("21.50 kB and has 10.00 kB") != std::string::npos);
  }

  TEST_CASE("softmax over rows that its own kernel keeps needs them on chip") {
    // Without the second product nothing corrects the sums: 16 rows of 2048 fp32 sums do not fit.
    const Machine small = round_machine(
        "[rate.sfu]\nper_clock_per_unit = 16\nclock = \"sm\"\n"
        "[rate.tensor.fp16.fp32]\nper_clock_per_unit = 1000\nclock = \"sm\"\n");
    CHECK(refused_by(fuse(shipped("attention_naive"), small, {"scores", "softmax"})) == "capacity");
  }

  TEST_CASE("a row that one SM cannot hold, and what a second pass would cost") {
    // 4096 x 2 = 8,192 bytes fit into 10,000; 65,536 x 2 do not. x again: 16 x 65,536 x 2.
    OperatorGraph graph = shipped("rmsnorm_quantize");
    graph.set_symbol("rows", 16);
    CHECK(fuse(graph, round_machine(), {"rmsnorm", "quantize"}).legal());
    graph.set_symbol("cols", 65536);
    const FusionResult r = fuse(graph, round_machine(), {"rmsnorm", "quantize"});
    CHECK(refused_by(r) == "capacity");
    CHECK(r.groups.front().refusals.front().reason.find("would read \"x\" again: 2.097 MB") !=
          std::string::npos);
  }

  TEST_CASE("rules") {
    const Machine machine = round_machine();
    const OperatorGraph graph = graph_of_toml(kDiamond);
    const auto rule = [&](std::vector<std::string> group) {
      return refused_by(fuse(graph, machine, std::move(group)));
    };
    CHECK(rule({"norm", "silu"}).empty());
    CHECK(rule({"norm", "reduce_over_ranks"}) == "kind");
    CHECK(rule({"norm", "silu", "add"}) == "convex");  // over reduce_over_ranks
    CHECK(rule({"norm", "project"}) == "connected");
    CHECK(rule({"add", "project"}).empty());
    // Sums over the 64 rows of c: other SMs hold them.
    CHECK(rule({"add", "gradient"}) == "grid");
  }

  TEST_CASE("an intermediate with a reader outside is written") {
    // norm reads x 32,768 and s 512, writes a 32,768 (the all-reduce reads it), silu's b 32,768.
    const FusionResult r = fuse(graph_of_toml(kDiamond), round_machine(), {"norm", "silu"});
    CHECK(bytes_before(r) == 32768 + 512 + 32768 + 32768 + 32768);
    CHECK(bytes_after(r) == 32768 + 512 + 32768 + 32768);
    CHECK(std::any_of(r.groups.front().conditions.begin(), r.groups.front().conditions.end(),
                      [](const std::string& line) {
                        return line.find("\"a\" is written all the same") != std::string::npos;
                      }));
  }

  TEST_CASE("a second factor made inside is another SM's unless it is element-wise") {
    const char* text = R"(
schema = 1
kind = "graph"
[tensor]
x = { shape = [64, 256], dtype = "bf16", role = "input" }
q = { shape = [256, 256], dtype = "fp8", role = "weight" }
h = { shape = [256, 256], dtype = "bf16", role = "intermediate" }
n = { shape = [256, 256], dtype = "bf16", role = "intermediate" }
y = { shape = [64, 256], dtype = "bf16", role = "output" }
z = { shape = [64, 256], dtype = "bf16", role = "output" }
[[op]]
name = "dequantize"
kind = "dequantize"
inputs = ["q"]
outputs = ["h"]
[[op]]
name = "norm"
kind = "rmsnorm"
inputs = ["h"]
outputs = ["n"]
[[op]]
name = "plain"
kind = "gemm"
inputs = ["x", "h"]
outputs = ["y"]
[[op]]
name = "normed"
kind = "gemm"
inputs = ["x", "n"]
outputs = ["z"]
)";
    const Machine machine = round_machine();
    CHECK(fuse(graph_of_toml(text), machine, {"dequantize", "plain"}).legal());
    CHECK(refused_by(fuse(graph_of_toml(text), machine, {"norm", "normed"})) == "grid");
  }

  TEST_CASE("custom operators, stated bytes and repeat blocks") {
    OperatorGraph graph = graph_of_toml(kDiamond);
    assign(graph, {"op.silu.bytes", "2", true});
    CHECK(refused_by(fuse(graph, round_machine(), {"norm", "silu"})) == "stated_bytes");
    graph = graph_of_toml(kDiamond);
    Repeat block;
    block.name = "block";
    block.times = Expression(3.0);
    block.ops = {graph.find_op("silu").value()};
    graph.repeats.push_back(block);
    CHECK(refused_by(fuse(graph, round_machine(), {"norm", "silu"})) == "repeat");
  }

  TEST_CASE("at any residency a fusion has no ratio where its own floor is only the higher one") {
    // Each tensor 1.1 MB of 550,000 elements, S_keep 1 MB, 1 TB/s. Cold: 4 tensors, 4.4 us; as one
    // kernel 3 (the first result is kept for others), 3.3 us. Any residency: each kernel
    // 0.1 MB read and 0.1 MB written, 0.4 us in all; the one kernel reads 0.1 and writes
    // 2.2 - 1 = 1.2 MB, 1.3 us. It does nothing that the two do not.
    const OperatorGraph graph = graph_of_toml(R"(
schema = 1
kind = "graph"
[tensor]
x = { shape = [550000], dtype = "bf16", role = "input" }
a = { shape = [550000], dtype = "bf16", role = "output" }
y = { shape = [550000], dtype = "bf16", role = "output" }
[[op]]
name = "first"
kind = "elementwise"
compute = "fp32"
inputs = ["x"]
outputs = ["a"]
[[op]]
name = "second"
kind = "elementwise"
compute = "fp32"
inputs = ["a"]
outputs = ["y"]
)");
    const Machine machine = round_machine();
    const FusionResult r = fuse(graph, machine, {"first", "second"});
    REQUIRE(r.legal());
    const GroupFusion& group = r.groups.front();
    CHECK(group.before.cold.in_base_units() == doctest::Approx(4.4e-6));
    CHECK(group.after->cold.in_base_units() == doctest::Approx(3.3e-6));
    CHECK(group.before.any.in_base_units() == doctest::Approx(0.4e-6));
    CHECK(group.before.any.in_base_units() ==
          doctest::Approx(r.before.floors.serial.any.in_base_units()));
    CHECK(group.after->any.in_base_units() == doctest::Approx(1.3e-6));
    CHECK_FALSE(fusion_ratio_any(group.before.any, group.after->any));
    CHECK(fusion_ratio_any(Seconds(2), Seconds(1)) == 2);
    CHECK(fusion_ratio_any(Seconds(1), Seconds(1)) == 1);
    FuseReport report;
    report.machine = &machine;
    report.result = &r;
    const Document document = fuse_document(report);
    std::ptrdiff_t told = 0;  // in both tables
    for (const Section& section : document.sections) {
      for (const Table& table : section.tables) {
        for (const auto& row : table.rows) {
          if (row.front().find("any residency") == std::string::npos) continue;
          CHECK(row.back() == "-");
          told += std::count_if(
              table.footnotes.begin(), table.footnotes.end(),
              [](const std::string& line) { return line.starts_with("any residency:"); });
        }
      }
    }
    CHECK(told == 2);
  }

  TEST_CASE("a fused graph that is read with larger sizes is asked again what fits on chip") {
    // One row of 256 bf16 elements is 512 B of an SM's 10,000; of 8,192 it is 16,384 B.
    OperatorGraph graph = graph_of_toml(R"(
schema = 1
kind = "graph"
[symbols]
cols = 256
[tensor]
x = { shape = [64, "cols"], dtype = "bf16", role = "input" }
s = { shape = ["cols"], dtype = "bf16", role = "weight" }
a = { shape = [64, "cols"], dtype = "bf16", role = "intermediate" }
y = { shape = [64, "cols"], dtype = "fp8_e4m3", role = "output" }
[[op]]
name = "norm"
kind = "rmsnorm"
inputs = ["x", "s"]
outputs = ["a"]
compute = "fp32"
[[op]]
name = "cast"
kind = "quantize"
inputs = ["a"]
outputs = ["y"]
compute = "fp32"
)");
    const Machine machine = round_machine();
    const UnitMemory memory = unit_memory(machine.device);
    CHECK(fused_on_chip(graph, memory).empty());
    const FusionResult r = fuse(std::move(graph), machine, {"norm", "cast"});
    REQUIRE(r.legal());
    OperatorGraph fused = r.after->graph;
    const auto misfit = [](const std::vector<std::string>& lines) {
      return std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
        return line.starts_with("DOES NOT FIT ON CHIP: norm+cast") &&
               line.find("16.38 kB") != std::string::npos;
      });
    };
    const std::vector<std::string> now = fused_on_chip(fused, memory);
    REQUIRE(now.size() == 2);
    CHECK(now[0].find("1 x 256 of \"x\"") != std::string::npos);
    CHECK_FALSE(misfit(now));
    for (const std::string& note : fused.notes) CHECK(note.find("256") == std::string::npos);
    fused.set_symbol("cols", 8192);
    CHECK(misfit(fused_on_chip(fused, memory)));
  }

  TEST_CASE("a search that finds nothing says what it does not understand") {
    const Machine machine = h100();
    const auto alone = [&machine](const char* op) {
      return fuse_best(evaluate(parse_op_text(op), machine), machine).plan->alone;
    };
    const std::string shape =
        "attention batch=1 q_heads=8 kv_heads=8 q_len=512 kv_len=512 head_dim=64 form=naive";
    const std::vector<std::string> masked = alone(shape.c_str());
    REQUIRE(masked.size() == 1);
    CHECK(masked.front().starts_with("\"scores\", \"values\": each is custom"));
    CHECK(masked.front().find("form=fused") != std::string::npos);
    CHECK(masked.front().find("causal=0") != std::string::npos);
    CHECK(alone((shape + " causal=0").c_str()).empty());
  }

  TEST_CASE("names that do not exist, too few of them, one twice") {
    const Machine machine = round_machine();
    CHECK_THROWS_AS(fuse(graph_of_toml(kDiamond), machine, {"norm", "siul"}), InputError);
    CHECK_THROWS_AS(fuse(graph_of_toml(kDiamond), machine, {"norm"}), InputError);
    CHECK_THROWS_AS(fuse(graph_of_toml(kDiamond), machine, {"norm", "norm"}), InputError);
  }

  TEST_CASE("the fused graph prints and reads back to the same floors") {
    const Machine machine = h100();
    OperatorGraph graph = shipped("transformer_block");
    const FusionResult r =
        fuse_groups(evaluate(graph, machine), machine, {{"input_norm", "qkv"}, {"silu", "down"}});
    REQUIRE(r.legal());
    GraphReport report;
    report.graph = &r.after->graph;
    report.bound = &r.after->bound;
    const std::string text = write_json(graph_document(report));
    const OperatorGraph again = read_graph(parse_json(text, "fused.json"));
    const Evaluation e = evaluate(again, machine);
    CHECK(e.graph.ops.size() == r.after->graph.ops.size());
    CHECK(e.floors.serial.cold.in_base_units() == r.after->floors.serial.cold.in_base_units());
    CHECK(e.floors.fused.any.in_base_units() == r.after->floors.fused.any.in_base_units());
    // The work moves with the symbols: half the sequence, less than before.
    Evaluation half = e;
    half.graph.set_symbol("seq", 1024);
    REQUIRE(reevaluate(machine, half.graph.symbol_values, half));
    CHECK(half.floors.sum.flops < e.floors.sum.flops * 0.51);
  }

  TEST_CASE("a fused operator that is fused again takes its parts along") {
    const Machine machine = h100();
    const FusionResult first =
        fuse(shipped("residual_norm_dropout"), machine, {"normalize", "dropout"});
    REQUIRE(first.legal());
    CHECK(first.after->graph.ops.back().parts.size() == 2);
  }
}
