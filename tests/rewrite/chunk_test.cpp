// SPDX-License-Identifier: Apache-2.0
// Groups by chunks of rows: traffic, work and memory by hand, and what refuses them.
#include "model/rewrite/chunk.hpp"

#include <doctest/doctest.h>

#include "model/ledger/liveness.hpp"
#include "model/rewrite/assignment.hpp"
#include "model/rewrite/splice.hpp"
#include "model/whatif/fusion.hpp"
#include "tests/demand/one_op.hpp"
#include "tests/floor/test_machine.hpp"

using namespace floorline;
using namespace floorline::testing;

namespace {

/// 10 tokens, 4 wide, 6 words, 16 bits: x and dx 80 bytes, w and dw 48, logits and gradient 120.
OperatorGraph small_loss() {
  OperatorGraph graph = read_graph(read_document("workloads/lm_head_loss.toml"));
  graph.set_symbol("tokens", 10);
  graph.set_symbol("hidden", 4);
  graph.set_symbol("vocabulary", 6);
  return graph;
}
Machine h100() { return machine_of(load_device("h100_sxm", DevicePath{{"devices"}}), {}); }

constexpr std::string_view kOtherRows = R"(
schema = 1
kind = "graph"
[tensor]
x = { shape = [64, 256], dtype = "bf16", role = "input" }
s = { shape = [4, 16, 256], dtype = "bf16", role = "input" }
a = { shape = [64, 256], dtype = "bf16", role = "intermediate" }
y = { shape = [64, 256], dtype = "bf16", role = "output" }
[[op]]
name = "double"
kind = "elementwise"
inputs = ["x"]
outputs = ["a"]
[[op]]
name = "add"
kind = "elementwise"
inputs = ["a", "s"]
outputs = ["y"]
)";

const std::vector<std::string> kAll{"lm_head", "cross_entropy", "d_hidden", "d_weight"};

FusionResult chunked(std::vector<std::string> group, double rows,
                     OperatorGraph graph = small_loss()) {
  const Machine machine = h100();
  return chunk_group(evaluate(std::move(graph), machine), machine, group, rows);
}
const TensorTraffic& row(const FusionResult& r, const std::string& name) {
  for (const TensorTraffic& t : r.groups.front().tensors) {
    if (t.name == name) return t;
  }
  FAIL("no tensor ", name);
  return r.groups.front().tensors.front();
}
std::string refused_by(const FusionResult& r) {
  const auto& all = r.groups.front().refusals;
  return all.empty() ? "" : std::string(name_of(all.front().rule));
}

}  // namespace

TEST_SUITE("rewrite") {
  TEST_CASE("chunk: rows once, weights a chunk, sums in place") {
    // Chunks of 4 of 10 rows: ceil(10 / 4) = 3, the first of 10 - 2 x 4 = 2 rows.
    const FusionResult r = chunked(kAll, 4);
    REQUIRE(r.legal());
    const Chunking& chunk = r.groups.front().chunk.value();
    CHECK(chunk.chunks == 3);
    CHECK(chunk.all_rows == 10);
    // x: read by lm_head and d_weight, each row once: 2 x 80, as before.
    CHECK(row(r, "x").read_before == Bytes(160));
    CHECK(row(r, "x").read_after == Bytes(160));
    // weight: by lm_head and d_hidden, 2 x 48 before, 3 times as much after.
    CHECK(row(r, "weight").read_before == Bytes(96));
    CHECK(row(r, "weight").read_after == Bytes(288));
    // d_w: written 3 times, read 2 times.
    CHECK(row(r, "d_w").written_after == Bytes(144));
    CHECK(row(r, "d_w").read_after == Bytes(96));
    CHECK(row(r, "logits").written_after == Bytes(120));
    CHECK(row(r, "d_logits").read_after == Bytes(240));
    CHECK(row(r, "d_x").written_after == Bytes(80));
    // Of the weight 288 - 96; of the sums 144 + 96 - 48.
    CHECK(chunk.more == Bytes(192 + 192));
    // Three products of 2 x 10 x 4 x 6 = 480, and the softmax: no work more.
    CHECK(r.after->floors.sum.flops == r.before.floors.sum.flops);
  }

  TEST_CASE("chunk: only a chunk of the intermediates is alive") {
    const FusionResult r = chunked(kAll, 4);
    REQUIRE(r.legal());
    CHECK(r.peak_before == ByteCount(240));
    CHECK(r.peak_after == ByteCount(96));  // logits and gradient of 4 rows: 2 x 4 x 6 x 2
    // w 48, x 80, labels 40, d_x 80, d_w 48: 296 all the time.
    CHECK(r.memory_before == ByteCount(296 + 240));
    CHECK(r.memory_after == ByteCount(296 + 96));
    CHECK(r.launches.before == 4);
    CHECK(r.launches.after == 12);
  }

  TEST_CASE("chunk: the fused floor counts each tensor once, as before") {
    const FusionResult r = chunked(kAll, 4);
    REQUIRE(r.legal());
    // x 80 + labels 40 + w 48 read; d_x 80 + d_w 48 written.
    CHECK(r.before.floors.fused_demand.hbm_read == Bytes(168));
    CHECK(r.after->floors.fused_demand.hbm_read == Bytes(168));
    CHECK(r.before.floors.fused_demand.hbm_write == Bytes(128));
    CHECK(r.after->floors.fused_demand.hbm_write == Bytes(128));
    CHECK(r.after->floors.fused.cold <= r.after->floors.critical_path.cold);
    CHECK(r.after->floors.critical_path.cold <= r.after->floors.serial.cold);
  }

  TEST_CASE("chunk: what somebody else reads is written whole") {
    // d_weight stays outside and reads all of d_logits: 120 bytes of it stay, of logits 48.
    const FusionResult r = chunked({"lm_head", "cross_entropy", "d_hidden"}, 4);
    REQUIRE(r.legal());
    CHECK(row(r, "d_logits").written_after == Bytes(120));
    CHECK(r.peak_after == ByteCount(48 + 120));
  }

  TEST_CASE("chunk: another number of rows by its symbol, all of them included") {
    const FusionResult r = chunked(kAll, 4);
    REQUIRE(r.legal());
    OperatorGraph graph = r.after->graph;
    const std::string symbol = r.groups.front().chunk->symbol;
    for (const double rows : {10.0, 64.0}) {
      CAPTURE(rows);
      graph.set_symbol(symbol, rows);
      const Evaluation one = evaluate(graph, h100());
      CHECK(one.floors.serial.cold.in_base_units() ==
            doctest::Approx(r.before.floors.serial.cold.in_base_units()));
      CHECK(memory_of(one.bound).peak() == r.memory_before);
    }
    graph.set_symbol(symbol, 1);
    // 10 chunks: weight 20 times, sums 10 written and 9 read.
    const Evaluation ten = evaluate(graph, h100());
    CHECK(ten.floors.sum.hbm_read - r.before.floors.sum.hbm_read == Bytes(18 * 48 + 9 * 48));
    CHECK(ten.floors.sum.hbm_write - r.before.floors.sum.hbm_write == Bytes(9 * 48));
  }

  TEST_CASE("chunk: refusals") {
    CHECK(refused_by(chunked({"cross_entropy", "d_weight"}, 4)).empty());
    OperatorGraph naive = read_graph(read_document("workloads/attention_naive.toml"));
    // Rows of q are those of k and v too: a chunk has not all keys.
    CHECK(refused_by(chunked({"scores", "softmax"}, 4, naive)) == "grid");
    // What is in chunks already.
    const FusionResult once = chunked(kAll, 4);
    CHECK(refused_by(chunked({"lm_head.first", "cross_entropy.first"}, 1, once.after->graph)) ==
          "kind");
    // [64, 256] rows beside [4, 16, 256]: which of them a chunk needs is not said.
    CHECK(refused_by(chunked({"double", "add"}, 8, graph_of_toml(kOtherRows))) == "grid");
    OperatorGraph norms = read_graph(read_document("workloads/lm_head_loss.toml"));
    CHECK_THROWS_AS(chunked(kAll, 32768, norms), InputError);
    CHECK_THROWS_AS(chunked({"lm_head"}, 4), InputError);
  }

  TEST_CASE("chunk: each operator of graphs with parts and rows goes, or is refused") {
    const Machine machine = h100();
    const FusionResult fused = fuse_best(
        evaluate(read_graph(read_document("workloads/transformer_block.toml")), machine), machine);
    const FusionResult chunks = chunked(kAll, 4);
    REQUIRE(fused.legal());
    REQUIRE(chunks.legal());
    int removed = 0;
    for (const FusionResult* r : {&fused, &chunks}) {
      for (std::size_t i = 0; i < r->after->graph.ops.size(); ++i) {
        CAPTURE(r->after->graph.ops[i].name);
        OperatorGraph graph = r->after->graph;
        try {
          remove_operator(graph, static_cast<OperatorId>(i));
          CHECK(evaluate(graph, machine).floors.serial.cold > Seconds(0));
          ++removed;
        } catch (const InputError&) {
          CHECK(r == &chunks);  // sums that nobody starts
        }
      }
    }
    CHECK(removed > 8);
    // The loss of the block: its gradient is the logits themselves, 3 products stay.
    OperatorGraph graph = chunks.after->graph;
    remove_operator(graph, graph.find_op("cross_entropy").value());
    CHECK(graph.find_tensor("d_logits") == std::nullopt);
    CHECK(evaluate(graph, machine).graph.ops.size() == 7);
  }
}
