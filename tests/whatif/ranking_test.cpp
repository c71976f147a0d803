// SPDX-License-Identifier: Apache-2.0
#include "model/whatif/ranking.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "model/input/document_node.hpp"
#include "model/report/graph_document.hpp"
#include "tests/whatif/situations.hpp"

using namespace floorline;
using namespace floorline::testing;

namespace {

Ranking ranking_of(const Situation& s, const RankingOptions& options = {}) {
  return rank_changes(s, evaluate(s), options);
}

const RankedChange* find(const Ranking& ranking, std::string_view name) {
  for (const RankedChange& r : ranking.changes) {
    if (r.name == name) return &r;
  }
  return nullptr;
}

/// A large copy and a small one: 0.97 and 0.03 of 1 MB + 1 MB.
constexpr std::string_view kTwoCopies = R"(
schema = 1
kind = "graph"
[[op]]
name = "large"
kind = "custom"
bytes = "97 MB"
flops = 0
[[op]]
name = "small"
kind = "custom"
bytes = "3 MB"
flops = 0
)";

}  // namespace

TEST_SUITE("whatif") {
  TEST_CASE("ranking: an operator that is 3 % of the step cannot buy more than 3 %") {
    const Ranking r = ranking_of(of_graph(graph_of_toml(kTwoCopies)));
    const RankedChange& small = *find(r, "half the traffic of small");
    CHECK(small.share == doctest::Approx(0.03));
    CHECK(*small.ceiling == doctest::Approx(1 / 0.97));
    CHECK(*small.gain.cold == doctest::Approx(1 / 0.985));
    CHECK(*small.elasticity == doctest::Approx(0.03).epsilon(1e-3));
    const RankedChange& large = *find(r, "half the traffic of large");
    CHECK(*large.gain.cold == doctest::Approx(1 / 0.515));
    CHECK(*large.ceiling == doctest::Approx(1 / 0.03));
    const RankedChange& hbm = *find(r, "hbm twice as fast");
    CHECK(*hbm.gain.cold == doctest::Approx(2));
    CHECK(*hbm.elasticity == doctest::Approx(1).epsilon(1e-3));
    CHECK_FALSE(hbm.ceiling);  // it touches everything
    CHECK(r.changes.front().name == "hbm twice as fast");
    CHECK_FALSE(small.share_measured);
  }

  TEST_CASE("ranking: shares of measured times where the operators were measured") {
    // Measured, the small copy is 40 % of 100 us, whatever its floor says.
    MeasuredTimes m = read_measured({"100us", "op.small=40us"});
    m.whole = microseconds(100);
    RankingOptions options;
    options.measured = &m;
    const Ranking r = ranking_of(of_graph(graph_of_toml(kTwoCopies)), options);
    const RankedChange& small = *find(r, "half the traffic of small");
    CHECK(small.share_measured);
    CHECK(small.share == doctest::Approx(0.4));
    CHECK(*small.ceiling == doctest::Approx(1 / 0.6));
    CHECK_FALSE(find(r, "half the traffic of large")->share_measured);
  }

  TEST_CASE("ranking: storage of weights, cache and activations apart, with their memory") {
    // m = 50, n = k = 1000: weights 2 MB, activations 0.1 + 0.1 MB of 2.2 MB; compute 0.8 us
    const Ranking r = ranking_of(of_op("gemm m=50 n=1000 k=1000"));
    const RankedChange& weights = *find(r, "weights stored in fp8_e4m3");
    CHECK(*weights.gain.cold == doctest::Approx(2.2 / 1.2));
    CHECK(weights.memory->in_base_units() == -1e6);
    const RankedChange& activations = *find(r, "activations stored in fp8_e4m3");
    CHECK(*activations.gain.cold == doctest::Approx(2.2 / 2.1));
    CHECK(activations.memory->in_base_units() == -1e5);
    CHECK(find(r, "KV cache stored in fp8_e4m3") == nullptr);
    const Ranking attention = ranking_of(
        of_op("attention batch=1 q_heads=8 kv_heads=8 q_len=1 kv_len=1000 head_dim=64 causal=0",
              machine_from(std::string(kRoundDevice) +
                           "[rate.sfu]\nper_clock_per_unit = 1000000\nclock = \"sm\"\n"
                           "[rate.vector.bf16]\nper_clock_per_unit = 1000000\nclock = \"sm\"\n")));
    // K and V 2 x 1000 x 512 x 2 = 2,048,000 bytes; Q and output 2 x 1024 bytes
    CHECK(*find(attention, "KV cache stored in fp8_e4m3")->gain.cold ==
          doctest::Approx(2050048.0 / 1026048));
  }

  TEST_CASE("ranking: the tensor unit instead of the vector unit, where the device has it") {
    // fp32 product on the vector unit: 2e9 / 12.5e12 = 160 us; tf32 here 1000 a clock: 16 us, and
    // 12 MB of fp32 take 12 us.
    const std::string tf32 = "[rate.tensor.tf32.fp32]\nper_clock_per_unit = 1000\nclock = \"sm\"\n";
    const Ranking r = ranking_of(of_op("gemm m=1000 n=1000 k=1000 in=fp32", round_machine(tf32)));
    const RankedChange& tensor = *find(r, "products of fp32 on the tensor unit as tf32");
    CHECK(*tensor.gain.cold == doctest::Approx(10));
    CHECK(tensor.memory->in_base_units() == 0);
    // Without tf32, through bf16.
    const Ranking other = ranking_of(of_op("gemm m=1000 n=1000 k=1000 in=fp32"));
    CHECK(find(other, "products of fp32 on the tensor unit as tf32") == nullptr);
    CHECK(find(other, "products of fp32 on the tensor unit as bf16") != nullptr);
  }

  TEST_CASE("ranking: fewer launches are an expectation, in no floor") {
    const std::string launch = "[overhead.kernel_launch]\ntime = \"3 us\"\n";
    const Ranking r = ranking_of(of_graph(graph_of_toml(kTwoCopies), round_machine(launch)));
    const RankedChange& launches = *find(r, "fewer launches (2 kernels)");
    CHECK(launches.saving->in_base_units() == doctest::Approx(3e-6));  // one of two
    CHECK(*launches.gain.cold == 1);
    CHECK(find(ranking_of(of_graph(graph_of_toml(kTwoCopies))), "fewer launches (2 kernels)") ==
          nullptr);
  }

  TEST_CASE("ranking: overlapped communication gains what is not in one chain") {
    // all_reduce of what nothing else needs, 8 ranks: beside a copy of the same length
    const Ranking r = ranking_of(of_graph(graph_of_toml(R"(
schema = 1
kind = "graph"
[tensor.g]
shape = [1000000]
dtype = "int8"
role = "input"
[tensor.sum]
shape = [1000000]
dtype = "int8"
role = "output"
[[op]]
name = "reduce"
kind = "all_reduce"
ranks = 8
inputs = ["g"]
outputs = ["sum"]
[[op]]
name = "work"
kind = "custom"
flops = 125e6
bytes = "0 B"
compute = "bf16"
)")));
    // in-network reduction possible: 1 MB out at 450 GB/s = 2.222 us; HBM 2 us; work 1 us
    const RankedChange& overlap = *find(r, "communication and copies overlapped");
    CHECK(*overlap.gain.cold == doctest::Approx((2.0 / 0.9 + 1) / (2.0 / 0.9)).epsilon(1e-3));
  }

  TEST_CASE("ranking: a fusion search is plugged in") {
    RankingOptions options;
    options.fusion = [](const OperatorGraph& graph, const Machine&) {
      FusionOffer offer{"large + small", graph};
      offer.after.ops.pop_back();
      return std::vector<FusionOffer>{offer};
    };
    const Ranking r = ranking_of(of_graph(graph_of_toml(kTwoCopies)), options);
    CHECK(*find(r, "fuse large + small")->gain.cold == doctest::Approx(1 / 0.97));
    CHECK(find(r, "all fusion together, at most") != nullptr);
  }

  TEST_CASE("the changed graph reads back: the same floors") {
    const Situation s = of_op("moe tokens=64 hidden=512 inter=256 top_k=2 experts=16 ep=4 tp=2",
                              machine_from(std::string(kRoundDevice) +
                                           "[rate.vector.bf16]\nper_clock_per_unit = 100\n"
                                           "clock = \"sm\"\n[rate.sfu]\nper_clock_per_unit = 16\n"
                                           "clock = \"sm\"\n[topology]\ndevices_per_node = 8\n"));
    const std::string op = s.graph->ops[1].name;
    for (const std::string& change :
         {std::string("tokens=32"), "op." + op + ".bytes*=0.5", "op." + op + ".flops=3e9",
          std::string("activation_dtype=fp8"), "op." + s.graph->ops.back().name + "=remove",
          "op." + s.graph->ops.back().name + "=copy bytes=1MB path=d2d"}) {
      CAPTURE(change);
      const Outcome after = testing::ask(s, {change}).after;
      GraphReport report;
      report.graph = &after.evaluation.graph;
      report.bound = &after.evaluation.bound;
      const std::string text = write_json(graph_document(report));
      const Outcome back =
          evaluate(of_graph(read_graph(parse_document(text, "changed.json")), *after.machine));
      CHECK(back.whole.serial.cold == after.whole.serial.cold);
      CHECK(back.whole.serial.any == after.whole.serial.any);
      CHECK(back.whole.critical_path.cold == after.whole.critical_path.cold);
      CHECK(back.whole.fused.cold == after.whole.fused.cold);
      CHECK(back.whole.fused.any == after.whole.fused.any);
    }
  }
}
