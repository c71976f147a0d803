// SPDX-License-Identifier: Apache-2.0
// Graphs as TOML read back as the same graphs.
#include "model/report/toml_writer.hpp"

#include <doctest/doctest.h>

#include "model/report/graph_document.hpp"
#include "model/whatif/fusion.hpp"
#include "tests/demand/one_op.hpp"
#include "tests/floor/test_machine.hpp"

using namespace floorline;
using namespace floorline::testing;

namespace {

std::string toml_of(const Evaluation& e) {
  GraphReport report;
  report.graph = &e.graph;
  report.bound = &e.bound;
  return write_toml(graph_document(report));
}

/// Written, read and evaluated again: the same floors, the same text.
void check_round(const Evaluation& e, const Machine& machine) {
  const std::string text = toml_of(e);
  const Evaluation again = evaluate(read_graph(parse_toml(text, "emitted.toml")), machine);
  CHECK(again.floors.serial.cold == e.floors.serial.cold);
  CHECK(again.floors.serial.any == e.floors.serial.any);
  CHECK(again.floors.critical_path.cold == e.floors.critical_path.cold);
  CHECK(again.floors.fused.cold == e.floors.fused.cold);
  CHECK(toml_of(again) == text);
}

}  // namespace

TEST_SUITE("report") {
  TEST_CASE("toml: keys, escapes, tables and what has no TOML") {
    Document document;
    document.json = Json::object();
    Json inner = Json::object();
    inner.set("a.b", 1).set("c", Json());
    Json rows = Json::array();
    rows.push(Json::object().set("x", 0.5).set("deep", Json::object().set("y", true)));
    document.json.set("list", Json::array().push(1).push("two"));
    document.json.set("table", std::move(inner)).set("rows", std::move(rows));
    document.json.set("absent", Json()).set("text", "\"q\"\n\x7f\\");
    CHECK(write_toml(document) ==
          "list = [1, \"two\"]\n"
          "text = \"\\\"q\\\"\\n\\u007F\\\\\"\n"
          "\n[table]\n\"a.b\" = 1\n"
          "\n[[rows]]\nx = 0.5\ndeep = { y = true }\n");
  }

  TEST_CASE("toml: emitted graphs read back to equal floors") {
    const Machine machine = machine_of(load_device("h100_sxm", DevicePath{{"devices"}}), {});
    for (const char* name : {"transformer_block", "attention_naive", "layernorm_three_kernels",
                             "lm_head_loss", "residual_norm_dropout_fused"}) {
      CAPTURE(name);
      const auto file = "workloads/" + std::string(name) + ".toml";
      check_round(evaluate(read_graph(read_document(file)), machine), machine);
    }
  }

  TEST_CASE("toml: fused parts, rows of tensors and repeat blocks read back") {
    const Machine machine = machine_of(load_device("h100_sxm", DevicePath{{"devices"}}), {});
    const FusionResult chunks =
        chunk_group(evaluate(read_graph(read_document("workloads/lm_head_loss.toml")), machine),
                    machine, {"lm_head", "cross_entropy", "d_hidden", "d_weight"}, 1000);
    REQUIRE(chunks.legal());
    check_round(*chunks.after, machine);
  }
}
