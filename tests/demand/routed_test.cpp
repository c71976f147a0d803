// SPDX-License-Identifier: Apache-2.0
#include "model/demand/routed.hpp"

#include <doctest/doctest.h>

#include "tests/demand/one_op.hpp"
#include "tests/floor/test_machine.hpp"

using namespace floorline;
using namespace floorline::testing;

namespace {

Demand routed_demand(std::string_view text, Routing routing, const OnChip& chip = {}) {
  OperatorGraph graph = parse_op_text(text);
  graph.routing = routing;
  const BoundGraph bound = bind(graph);
  return demand_of(bound, bound.ops.front(), chip);
}

ExpertCounts counts_of(const std::string& text) {
  const BoundGraph bound = bind(parse_op_text(text));
  return expert_counts(bound, bound.ops.front()).value();
}

OnChip plain_fabric() {
  OnChip chip;
  chip.multicast_possible = chip.in_network_reduction_possible = false;
  return chip;
}

doctest::Approx close_to(double x) { return doctest::Approx(x).epsilon(1e-12); }

}  // namespace

TEST_SUITE("demand") {
  TEST_CASE("grouped gemm: experts of 256 with 8 a token, known values") {
    const auto uniform = [](int tokens) {
      return counts_of("grouped_gemm n=1 k=1 top_k=8 experts=256 tokens=" + std::to_string(tokens))
          .uniform;
    };
    CHECK(uniform(8) == doctest::Approx(57.4).epsilon(5e-4));
    CHECK(uniform(16) == doctest::Approx(102.0).epsilon(5e-4));
    CHECK(uniform(32) == doctest::Approx(163.3).epsilon(5e-4));
    CHECK(uniform(64) == doctest::Approx(222.4).epsilon(5e-4));
    CHECK(uniform(1) == close_to(8.0));
    CHECK(uniform(0) == 0);
  }

  TEST_CASE("grouped gemm: least and most experts of the busiest rank") {
    const ExpertCounts one = counts_of("grouped_gemm n=1 k=1 tokens=2 top_k=2 experts=8");
    CHECK(one.least == 2);
    CHECK(one.all == 4);
    CHECK(one.uniform == close_to(3.5));  // 8 (1 - (3/4)^2) = 8 x 7/16
    // Eight experts of a token on five ranks: some rank has two of them.
    const ExpertCounts five = counts_of("grouped_gemm n=1 k=1 tokens=100 top_k=8 experts=320 ep=5");
    CHECK(five.least == 2);
    CHECK(five.all == 64);
    // One expert of one token on four ranks: some rank has it although the mean is a quarter.
    const ExpertCounts four = counts_of("grouped_gemm n=1 k=1 tokens=1 top_k=1 experts=8 ep=4");
    CHECK(four.least == 1);
    CHECK(four.uniform == 1);
    CHECK(counts_of("grouped_gemm n=1 k=1 tokens=0 top_k=2 experts=8").least == 0);
  }

  TEST_CASE(
      "grouped gemm: compute follows top_k, memory the distinct experts (naive reads all of "
      "them)") {
    // Mixtral up projection, 8 tokens, 2 of 8 experts, 4096 x 14336 in bf16.
    const char* text = "grouped_gemm n=14336 k=4096 tokens=8 top_k=2 experts=8";
    const double weight = 2.0 * 4096 * 14336;  // one expert: 117,440,512 B
    const double rows = 16.0 * 4096 * 2;       // 131,072 B
    const Demand least = routed_demand(text, Routing::least);
    CHECK(work(least) == 2.0 * 16 * 4096 * 14336);  // 1,879,048,192: 16 rows, not 8 x 8
    CHECK(read(least) == close_to(2 * weight + rows));
    CHECK(written(least) == 16.0 * 14336 * 2);
    // 8 (1 - 0.75^8) = 8 (1 - 6561/65536) = 7.19909667968750
    CHECK(read(routed_demand(text, Routing::uniform)) == close_to(7.1990966796875 * weight + rows));
    CHECK(read(routed_demand(text, Routing::all)) == close_to(8 * weight + rows));
    CHECK(work(routed_demand(text, Routing::all)) == work(least));
  }

  TEST_CASE("grouped gemm: a stated number of experts replaces least and uniform") {
    const std::string text = "grouped_gemm n=4 k=8 tokens=8 top_k=2 experts=8 distinct=5";
    const double expected = 5.0 * 64 + 256;  // 5 x 32 weights x 2 B, 16 x 8 x 2 B
    CHECK(read(routed_demand(text, Routing::least)) == close_to(expected));
    CHECK(read(routed_demand(text, Routing::uniform)) == close_to(expected));
    const BoundGraph bound = bind(parse_op_text(text));
    CHECK_FALSE(is_routed(bound));
    CHECK_FALSE(expert_counts(bound, bound.ops.front()).has_value());
  }

  TEST_CASE("grouped gemm: FLOPs are the mean of the ranks, shapes the next whole row") {
    // 3 tokens x 2 on 4 ranks: 1.5 rows; the shape has 2.
    const Demand d = demand_of_op("grouped_gemm n=10 k=10 tokens=3 top_k=2 experts=8 ep=4");
    CHECK(work(d) == close_to(2 * 1.5 * 100));
    CHECK(written(d) == 40.0);  // 2 rows x 10 x 2 B
    CHECK(work(demand_of_op("grouped_gemm n=10 k=10 tokens=3 top_k=2 experts=8 ep=4 rows=3")) ==
          600.0);
  }

  TEST_CASE("dispatch: nothing at least, expected bytes by uniform routing") {
    const char* text = "dispatch tokens=8 hidden=100 top_k=1 experts=4 ep=2";
    const Demand least = demand_of_op(text, plain_fabric());
    CHECK(least.count == 0);
    CHECK(read(least) + written(least) == 0);
    // 4 own tokens x 200 B; the one expert of a token is on the other rank half of the time.
    const Demand uniform = routed_demand(text, Routing::uniform, plain_fabric());
    CHECK(asked(uniform, "peer_out") == close_to(400.0));
    CHECK(asked(uniform, "peer_in") == close_to(400.0));
    CHECK(read(uniform) == close_to(400.0));
    CHECK(written(uniform) == close_to(400.0));
    CHECK(asked(routed_demand(text, Routing::all, plain_fabric()), "peer_out") == close_to(800.0));
    CHECK(demand_of_op("dispatch tokens=8 hidden=100 top_k=1 experts=4").count == 0);
  }

  TEST_CASE(
      "dispatch: a token goes once to a rank that holds two of its experts (naive: top_k times)") {
    // 4 ranks of 2 experts, 2 a token. A given rank has none with C(6,2)/C(8,2) = 15/28, so a token
    // visits 3 x 13/28 = 39/28 others; all at home with C(2,2)/C(8,2) = 1/28.
    const char* text =
        "dispatch tokens=28 hidden=50 top_k=2 experts=8 ep=4";  // 7 own tokens x 100 B
    const Demand d = routed_demand(text, Routing::uniform, plain_fabric());
    CHECK(asked(d, "peer_out") == close_to(975.0));
    CHECK(read(d) == close_to(675.0));  // 7 x 27/28 tokens leave
    CHECK(written(d) == close_to(975.0));
    // With multicast a token leaves once.
    const Demand m = routed_demand(text, Routing::uniform, OnChip{});
    CHECK(asked(m, "peer_out") == close_to(675.0));
    CHECK(asked(m, "peer_in") == close_to(975.0));
    // A stated mean of 2 other ranks.
    const Demand given =
        routed_demand(std::string(text) + " distinct=2", Routing::least, plain_fabric());
    CHECK(asked(given, "peer_out") == close_to(1400.0));
  }

  TEST_CASE("dispatch: across nodes only the cut between nodes is counted") {
    OnChip chip = plain_fabric();
    chip.devices_per_node = 2;
    // 2 nodes of 4 experts, 1 a token: half of a rank's 2 tokens x 100 B leave the node.
    const Demand d =
        routed_demand("dispatch tokens=8 hidden=50 top_k=1 experts=8 ep=4", Routing::uniform, chip);
    CHECK(asked(d, "net_out") == close_to(100.0));
    CHECK(asked(d, "net_in") == close_to(100.0));
    CHECK(asked(d, "peer_out") == 0);
  }

  TEST_CASE("combine: reads top_k rows a token, writes one, sends partial sums back") {
    const Demand one = demand_of_op("combine tokens=4 hidden=10 top_k=2 experts=8");
    CHECK(read(one) == 160.0);  // 8 rows x 20 B
    CHECK(written(one) == 80.0);
    CHECK(work(one) == 120.0);  // 80 products, 40 sums
    const char* text = "combine tokens=28 hidden=50 top_k=2 experts=8 ep=4";
    CHECK(asked(demand_of_op(text, plain_fabric()), "peer_out") == 0);
    const Demand d = routed_demand(text, Routing::uniform, plain_fabric());
    CHECK(asked(d, "peer_out") == close_to(975.0));
    CHECK(asked(d, "peer_in") == close_to(975.0));
    CHECK(asked(routed_demand(text, Routing::uniform, OnChip{}), "peer_in") == close_to(675.0));
  }

  TEST_CASE("moe: one name for the whole layer") {
    const OperatorGraph graph =
        parse_op_text("moe tokens=8 hidden=64 inter=32 top_k=2 experts=8 ep=2 tp=2");
    std::vector<std::string> names;
    for (const Operator& op : graph.ops) names.push_back(op.name);
    CHECK(names == std::vector<std::string>{"router", "dispatch", "gate_up", "activation", "down",
                                            "combine", "all_reduce"});
    const Demand up = demand_in(graph, "gate_up");
    CHECK(work(up) == 2.0 * 8 * 64 * 32);  // 8 rows x two products of 64 x 16
    // One expert (2 x 64 x 16 x 2 B), 4 tokens that 8 rows come from, 4 x 8 scores.
    CHECK(read(up) == close_to(4096.0 + 512 + 64));
    CHECK(parse_op_text("moe tokens=8 hidden=64 inter=32 top_k=2 experts=8 gated=0").ops.size() ==
          5);
  }

  TEST_CASE("uniform routing stands beside the floor and is never below it") {
    const Machine machine = round_machine();
    Evaluation e = evaluate(
        parse_op_text("moe tokens=16 hidden=512 inter=256 top_k=2 experts=64 ep=4"), machine);
    REQUIRE(e.uniform.has_value());
    CHECK(e.uniform->serial.cold > e.floors.serial.cold);
    CHECK(e.uniform->critical_path.cold > e.floors.critical_path.cold);
    CHECK(e.uniform->fused.cold > e.floors.fused.cold);
    CHECK(e.bound.routing == Routing::least);
    const Seconds before = e.uniform->serial.cold;
    e.graph.set_symbol("tokens", 64);
    CHECK(reevaluate(machine, e.graph.symbol_values, e));
    CHECK(e.uniform->serial.cold > before);
    OperatorGraph uniform =
        parse_op_text("moe tokens=16 hidden=512 inter=256 top_k=2 experts=64 ep=4");
    uniform.routing = Routing::uniform;
    const Evaluation chosen = evaluate(uniform, machine);
    CHECK_FALSE(chosen.uniform.has_value());
    CHECK(chosen.floors.serial.cold == before);
    CHECK_FALSE(evaluate(parse_op_text("gemm m=8 n=8 k=8"), machine).uniform.has_value());
  }

  TEST_CASE("the fused floor takes the mean rank: no rank need be the busiest of every layer") {
    // 4 experts of 2 x 8 x 4 B, one a token, 4 ranks: some rank reads one, the mean is a quarter.
    const OperatorGraph graph =
        parse_op_text("grouped_gemm n=4 k=8 tokens=1 top_k=1 experts=4 ep=4");
    const Evaluation e = evaluate(graph, round_machine());
    CHECK(e.floors.sum.hbm_read.in_base_units() == close_to(64.0 + 16));
    CHECK(e.floors.fused_demand.hbm_read.in_base_units() == close_to(16.0 + 16));
  }

  TEST_CASE("routed kinds: keys that contradict") {
    const auto refused = [](const char* text) {
      try {
        bind(parse_op_text(text));
      } catch (const InputError& e) {
        return e.diagnostics().front().message;
      }
      return std::string();
    };
    CHECK(refused("grouped_gemm n=1 k=1 tokens=1 top_k=9 experts=8") ==
          "top_k is above experts; expected distinct experts a token");
    CHECK(refused("combine hidden=1 tokens=4 top_k=2 experts=8 ep=8").empty());
    CHECK(refused("grouped_gemm n=1 k=1 tokens=1 top_k=1 experts=2000000")
              .starts_with("experts is out of range"));
  }
}
