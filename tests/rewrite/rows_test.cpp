// SPDX-License-Identifier: Apache-2.0
// Graphs that work on rows of tensors already: what fuses and splits further, and that no operator
// reads more of a tensor than there is.
#include <doctest/doctest.h>

#include <map>

#include "model/rewrite/assignment.hpp"
#include "model/rewrite/chunk.hpp"
#include "model/rewrite/fuse_rules.hpp"
#include "model/whatif/fusion.hpp"
#include "tests/demand/one_op.hpp"
#include "tests/floor/test_machine.hpp"
#include "tests/property/random_graph.hpp"

using namespace floorline;
using namespace floorline::testing;

namespace {

Machine h100() { return machine_of(load_device("h100_sxm", DevicePath{{"devices"}}), {}); }

/// 10 rows of 8 fp16: x, skip, sum, normal, y 160 bytes each, mean and variance 40 (fp32).
OperatorGraph small_norm() {
  OperatorGraph graph = read_graph(read_document("workloads/residual_norm_dropout.toml"));
  graph.set_symbol("rows", 10);
  graph.set_symbol("cols", 8);
  return graph;
}
OperatorGraph small_loss() {
  OperatorGraph graph = read_graph(read_document("workloads/lm_head_loss.toml"));
  graph.set_symbol("tokens", 12);
  graph.set_symbol("hidden", 4);
  graph.set_symbol("vocabulary", 6);
  return graph;
}

/// normalize and dropout in chunks of 4 rows: they read rows of sum, mean and variance.
OperatorGraph by_chunks() {
  const Machine machine = h100();
  const FusionResult r = chunk_group(evaluate(small_norm(), machine), machine,
                                     std::vector<std::string>{"normalize", "dropout"}, 4);
  REQUIRE(r.legal());
  return r.after->graph;
}

bool is_read(const OperatorGraph& graph) {
  Diagnostics diagnostics;
  check_graph(graph, diagnostics);
  return diagnostics.empty();
}

const std::vector<FusionRefusal>& refusals(const FusionResult& r) {
  return r.groups.front().refusals;
}

/// Whether some operator reads, or writes, more elements of a tensor than it has, over all its
/// iterations: rows each once, a whole once an iteration.
bool counts_twice(const BoundGraph& bound) {
  for (const BoundOperator& op : bound.ops) {
    if (!(op.times > 0)) continue;
    for (const auto& uses : {bound.inputs(op), bound.outputs(op)}) {
      std::map<std::size_t, double> elements;
      for (const TensorUse& use : uses) {
        const BoundTensor& tensor = bound.tensors[static_cast<std::size_t>(use.tensor)];
        const std::size_t lies = bound.storage(use.tensor);
        const bool all = tensor.elements == bound.tensors[lies].elements;
        if (use.again) continue;
        elements[lies] += tensor.elements * (all ? 1 : op.times);
        if (elements[lies] > bound.tensors[lies].elements) return true;
      }
    }
  }
  return false;
}

std::vector<std::string> some_neighbours(const OperatorGraph& graph, Dice& dice) {
  const int count = static_cast<int>(graph.ops.size());
  const int first = dice.whole(0, count - 2);
  const int last = dice.whole(first + 1, std::min(count - 1, first + 3));
  std::vector<std::string> group;
  for (int i = first; i <= last; ++i) group.push_back(graph.ops[static_cast<std::size_t>(i)].name);
  return group;
}

}  // namespace

TEST_SUITE("rewrite") {
  TEST_CASE("rows: operators on them fuse no more, by hand or by search") {
    const Machine machine = h100();
    const Evaluation chunks = evaluate(by_chunks(), machine);
    const FusionResult named = fuse_groups(chunks, machine, {{"variance", "normalize.first"}});
    REQUIRE_FALSE(named.legal());
    CHECK(refusals(named).front().rule == FusionRule::kind);
    CHECK(refusals(named).front().reason ==
          "\"normalize.first\" works on rows of a tensor already");
    const FusionResult best = fuse_best(chunks, machine);
    REQUIRE(best.legal());
    for (const GroupFusion& group : best.groups) {
      for (const std::string& op : group.operators) {
        CHECK_MESSAGE(op.find("normalize") == std::string::npos, op);
        CHECK_MESSAGE(op.find("dropout") == std::string::npos, op);
      }
    }
    CHECK(is_read(best.after->graph));
    CHECK(best.after->floors.fused_demand.hbm_read == chunks.floors.fused_demand.hbm_read);
  }

  TEST_CASE("rows: what others read by rows is written all the same") {
    const Machine machine = h100();
    const FusionResult r =
        fuse_groups(evaluate(by_chunks(), machine), machine, {{"residual", "mean", "variance"}});
    REQUIRE(r.legal());
    CHECK(is_read(r.after->graph));
    // Before: residual 3 x 160, mean 160 + 40, variance 160 + 40 + 40. As one: x and skip read,
    // sum, mean and variance written.
    CHECK(r.groups.front().before.hbm == Bytes(480 + 200 + 240));
    CHECK(r.groups.front().after->hbm == Bytes(320 + 160 + 40 + 40));
  }

  TEST_CASE("rows: what others read by rows is made by no chunks of other sizes") {
    const Machine machine = h100();
    const FusionResult r = chunk_group(evaluate(by_chunks(), machine), machine,
                                       std::vector<std::string>{"residual", "mean"}, 3);
    REQUIRE_FALSE(r.legal());
    CHECK(refusals(r).front().rule == FusionRule::grid);
    CHECK(refusals(r).front().reason ==
          "\"residual\" makes \"sum\", whose rows other chunks work on already");
  }

  TEST_CASE("rows: what others read by rows is read by no chunks of other sizes") {
    // x of 10 rows is read by p and by r. p, q by chunks of 4 leave x.first_rows (2) and x.rows
    // (8); those of r, s by 3 would be rows of x that overlap them, counted as different ones.
    const OperatorGraph graph = read_graph(parse_toml(R"(
schema = 1
kind = "graph"
name = "two readers"
[symbols]
r = 10
[tensor.x]
shape = ["r", 8]
dtype = "fp16"
role = "input"
[tensor.a]
shape = ["r", 8]
dtype = "fp16"
role = "intermediate"
[tensor.b]
shape = ["r", 8]
dtype = "fp16"
role = "output"
[tensor.c]
shape = ["r", 8]
dtype = "fp16"
role = "intermediate"
[tensor.d]
shape = ["r", 8]
dtype = "fp16"
role = "output"
[[op]]
name = "p"
kind = "elementwise"
inputs = ["x"]
outputs = ["a"]
[[op]]
name = "q"
kind = "elementwise"
inputs = ["a"]
outputs = ["b"]
[[op]]
name = "r"
kind = "elementwise"
inputs = ["x"]
outputs = ["c"]
[[op]]
name = "s"
kind = "elementwise"
inputs = ["c"]
outputs = ["d"]
)",
                                                      "two_readers.toml"));
    const Machine machine = h100();
    const FusionResult first =
        chunk_group(evaluate(graph, machine), machine, std::vector<std::string>{"p", "q"}, 4);
    REQUIRE(first.legal());
    const FusionResult second = chunk_group(evaluate(first.after->graph, machine), machine,
                                            std::vector<std::string>{"r", "s"}, 3);
    REQUIRE_FALSE(second.legal());
    CHECK(refusals(second).front().rule == FusionRule::grid);
    CHECK(refusals(second).front().reason ==
          "\"r\" reads \"x\", whose rows other chunks work on already");
  }

  TEST_CASE("rows: their precision is their tensor's") {
    OperatorGraph graph = by_chunks();
    CHECK_THROWS_AS(assign(graph, Assignment{"tensor.y.rows.dtype", "fp32", false}), InputError);
    assign(graph, Assignment{"tensor.y.dtype", "fp32", false});
    CHECK(graph.tensors[index(graph.find_tensor("y.rows").value())].dtype == Precision::fp32);
    CHECK(graph.tensors[index(graph.find_tensor("y.first_rows").value())].dtype == Precision::fp32);
  }

  TEST_CASE("rows: no chunks of any size read or write a row twice") {
    const Machine machine = h100();
    int legal = 0;
    int twice = 0;
    for (int seed = 1; seed <= 150; ++seed) {
      CAPTURE(seed);
      Dice dice(static_cast<std::uint64_t>(seed));
      OperatorGraph graph = dice.chance(50) ? small_norm() : small_loss();
      for (int round = 0; round < 3; ++round) {
        const FusionResult r = chunk_group(evaluate(graph, machine), machine,
                                           some_neighbours(graph, dice), dice.whole(1, 9));
        if (!r.legal()) continue;
        ++legal;
        twice += round > 0 ? 1 : 0;
        graph = r.after->graph;
        REQUIRE(is_read(graph));
        CHECK_FALSE(counts_twice(r.after->bound));
        for (const double rows : {1.0, 5.0, 12.0, 40.0}) {
          OperatorGraph other = graph;
          other.set_symbol(r.groups.front().chunk->symbol, rows);
          CHECK_FALSE(counts_twice(bind(other)));
        }
        const FusionResult best = fuse_best(evaluate(graph, machine), machine);
        if (!best.legal()) continue;
        REQUIRE(is_read(best.after->graph));
        CHECK_FALSE(counts_twice(best.after->bound));
      }
    }
    CHECK(legal > 60);
    CHECK(twice > 5);
  }
}
