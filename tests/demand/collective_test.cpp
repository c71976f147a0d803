// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include "tests/demand/one_op.hpp"

using namespace floorline;
using namespace floorline::testing;

namespace {

OnChip fabric(bool reduces, bool multicast, int devices_per_node = 0) {
  OnChip chip;
  chip.in_network_reduction_possible = reduces;
  chip.multicast_possible = multicast;
  chip.devices_per_node = devices_per_node;
  return chip;
}
const OnChip kPlain = fabric(false, false);

struct Links {
  double out;
  double in;
  bool operator==(const Links&) const = default;
};
Links peer(const std::string& op, const OnChip& chip) {
  const Demand d = demand_of_op(op, chip);
  CHECK(asked(d, "net_out") + asked(d, "net_in") == 0);
  return {asked(d, "peer_out"), asked(d, "peer_in")};
}
Links net(const std::string& op, const OnChip& chip) {
  const Demand d = demand_of_op(op, chip);
  CHECK(asked(d, "peer_out") + asked(d, "peer_in") == 0);
  return {asked(d, "net_out"), asked(d, "net_in")};
}

}  // namespace

TEST_SUITE("demand") {
  // 64 MiB = 67,108,864 bytes; an eighth is 8,388,608, seven eighths 58,720,256.
  TEST_CASE("all_reduce: twice seven eighths at endpoints, once the message in the fabric") {
    const std::string op = "all_reduce bytes=64MiB ranks=8";
    CHECK(peer(op, kPlain) == Links{117440512, 117440512});
    CHECK(peer(op, fabric(true, true)) == Links{67108864, 67108864});
    CHECK(peer(op, fabric(true, false)) == Links{67108864, 67108864});
    // Endpoints reduce, the fabric copies: 7/8 S to those who sum, 1/8 S for all.
    CHECK(peer(op, fabric(false, true)) == Links{67108864, 117440512});
    const Demand d = demand_of_op(op, kPlain);
    CHECK(read(d) == 67108864.0);
    CHECK(written(d) == 67108864.0);
    CHECK(work(d) == 0);
    CHECK(asked(d, "l1_port") == 0);
  }

  TEST_CASE("all_reduce: with two ranks the fabric cannot help") {
    CHECK(peer("all_reduce bytes=1000B ranks=2", kPlain) == Links{1000, 1000});
    CHECK(peer("all_reduce bytes=1000B ranks=2", fabric(true, true)) == Links{1000, 1000});
  }

  TEST_CASE("all_gather: a rank's own part does not cross (naive inputs + outputs sends it)") {
    const std::string op = "all_gather bytes=64MiB ranks=8";
    CHECK(peer(op, kPlain) == Links{58720256, 58720256});
    CHECK(peer(op, fabric(false, true)) == Links{8388608, 58720256});
    const Demand d = demand_of_op(op, kPlain);
    CHECK(read(d) == 8388608.0);
    CHECK(written(d) == 58720256.0);  // the eighth it has is in its place
    CHECK(peer("all_gather bytes=90B ranks=3", kPlain) == Links{60, 60});
  }

  TEST_CASE("reduce_scatter: the mirror of all_gather") {
    const std::string op = "reduce_scatter bytes=64MiB ranks=8";
    CHECK(peer(op, kPlain) == Links{58720256, 58720256});
    CHECK(peer(op, fabric(true, false)) == Links{58720256, 8388608});
    CHECK(read(demand_of_op(op, kPlain)) == 67108864.0);
    CHECK(written(demand_of_op(op, kPlain)) == 8388608.0);
    CHECK(peer("reduce_scatter bytes=90B ranks=3", kPlain) == Links{60, 60});
  }

  TEST_CASE("all_to_all: what stays on a rank moves nowhere") {
    CHECK(peer("all_to_all bytes=64MiB ranks=8", fabric(true, true)) == Links{58720256, 58720256});
    const Demand d = demand_of_op("all_to_all bytes=120B ranks=4", kPlain);
    CHECK(asked(d, "peer_out") == 90.0);
    CHECK(read(d) == 90.0);
    CHECK(written(d) == 90.0);
  }

  TEST_CASE("broadcast and send_recv: one rank reads, another writes") {
    CHECK(peer("broadcast bytes=64MiB ranks=8", kPlain) == Links{67108864, 67108864});
    CHECK(peer("send_recv bytes=1000B", kPlain) == Links{1000, 1000});
    for (const char* op : {"broadcast bytes=1000B ranks=4", "send_recv bytes=1000B"}) {
      CHECK(read(demand_of_op(op, kPlain)) + written(demand_of_op(op, kPlain)) == 1000.0);
    }
  }

  TEST_CASE("one rank alone moves nothing") {
    for (const char* kind :
         {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast"}) {
      CAPTURE(kind);
      const Demand d = demand_of_op(std::string(kind) + " bytes=1GB ranks=1", kPlain);
      CHECK(d.count == 0);
      CHECK(read(d) + written(d) == 0);
    }
  }

  TEST_CASE("ranks beyond a node: the cut between nodes, given for each device") {
    const OnChip node = fabric(false, false, 8);
    CHECK(peer("all_reduce bytes=800B ranks=8", node) == Links{1400, 1400});
    // Two nodes, 8 devices each share what a node sends. The network may reduce and multicast.
    CHECK(net("all_reduce bytes=800B ranks=16", node) == Links{100, 100});   // S = 800 by 8 links
    CHECK(net("all_gather bytes=1600B ranks=16", node) == Links{100, 100});  // S/2 = 800 each way
    CHECK(net("reduce_scatter bytes=3200B ranks=32", node) ==
          Links{300, 100});                                               // 3/4 S out, S/4 in
    CHECK(net("all_to_all bytes=160B ranks=16", node) == Links{80, 80});  // half of each buffer
    CHECK(net("broadcast bytes=800B ranks=16", node) == Links{100, 100});
  }

  TEST_CASE("collective of a graph file: S from the tensors") {
    const auto graph = [](const char* kind, const char* out) {
      return graph_of_toml(std::string(R"(
schema = 1
kind = "graph"
[tensor]
x = { shape = [100], dtype = "bf16", role = "input" }
y = { shape = [)") + out + R"(], dtype = "bf16", role = "output" }
[[op]]
name = "c"
kind = ")" + kind + R"("
inputs = ["x"]
outputs = ["y"]
ranks = 4
)");
    };
    CHECK(asked(demand_in(graph("all_reduce", "100"), "c", kPlain), "peer_out") == 300.0);
    CHECK(asked(demand_in(graph("all_gather", "400"), "c", kPlain), "peer_out") == 600.0);
    CHECK(asked(demand_in(graph("reduce_scatter", "25"), "c", kPlain), "peer_out") == 150.0);
  }
}
