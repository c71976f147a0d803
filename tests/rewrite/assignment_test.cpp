// SPDX-License-Identifier: Apache-2.0
#include "model/rewrite/assignment.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "tests/demand/one_op.hpp"
#include "tests/floor/test_machine.hpp"

using namespace floorline;
using namespace floorline::testing;

namespace {

template <class Action>
std::string refusal(Action action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}
std::string parse_refusal(std::string_view text) {
  return refusal([&] { parse_assignment(text); });
}

OperatorGraph with(OperatorGraph graph, std::string_view text) {
  assign(graph, parse_assignment(text));
  return graph;
}

}  // namespace

TEST_SUITE("rewrite") {
  TEST_CASE("assignment: = sets, *= scales") {
    const Assignment set = parse_assignment("memory.hbm.bandwidth=4 TB/s");
    CHECK(set.name == "memory.hbm.bandwidth");
    CHECK(set.value == "4 TB/s");
    CHECK_FALSE(set.scale);
    const Assignment scale = parse_assignment("batch*=2");
    CHECK(scale.name == "batch");
    CHECK(scale.value == "2");
    CHECK(scale.scale);
    CHECK(parse_assignment("a=b=c").value == "b=c");
  }

  TEST_CASE("assignment: what is none") {
    CHECK(parse_refusal("batch") ==
          "command line: error: batch: expected NAME=VALUE or NAME*=FACTOR");
    CHECK(parse_refusal("=2") == "command line: error: =2: expected NAME=VALUE or NAME*=FACTOR");
    CHECK(parse_refusal("*=2") == "command line: error: *=2: expected a name before the sign");
    CHECK(parse_refusal("batch=") ==
          "command line: error: batch: has no value; expected NAME=VALUE");
    CHECK(parse_refusal("") == "command line: error: expected NAME=VALUE or NAME*=FACTOR");
  }

  TEST_CASE("assignment: names of a device file are told from symbols") {
    for (const char* name : {"units", "memory.hbm.bandwidth", "rate.sfu", "link.peer.bandwidth",
                             "clock.tensor.highest", "topology.multicast", "power.limit"}) {
      CHECK(names_device_key(name));
    }
    for (const char* name : {"batch", "op.x.bytes", "memory", "rates", "m"}) {
      CHECK_FALSE(names_device_key(name));
    }
  }

  TEST_CASE("assignment: symbols of a graph") {
    const OperatorGraph graph = parse_op_text("gemm m=16 n=16 k=16");
    CHECK(with(graph, "m=32").symbol("m") == 32);
    CHECK(with(graph, "m*=3").symbol("m") == 48);
    CHECK(with(parse_op_text("copy bytes=1GB path=d2d"), "bytes=1MiB").symbol("bytes") == 1048576);
    CHECK(refusal([&] { with(graph, "q=1"); }) ==
          "command line: error: q: is not a symbol of this workload");
    CHECK(refusal([&] { with(graph, "bacth=1"); }) ==
          "command line: error: bacth: is not a symbol of this workload; did you mean \"batch\"?");
    CHECK(refusal([&] { with(graph, "m=big"); }) ==
          "command line: error: m: \"big\" is not a number; expected a number");
    CHECK(refusal([&] { bind(with(graph, "m=-1")); }) != "accepted");
    CHECK(refusal([&] { bind(with(graph, "m=1.5")); }) != "accepted");
  }

  TEST_CASE("assignment: bytes and work of an operator") {
    // F 8192; reads 1024 and writes 512 bytes
    const OperatorGraph graph = parse_op_text("gemm m=16 n=16 k=16");
    const auto after = [&](std::string_view text) { return demand_in(with(graph, text), "gemm"); };
    CHECK(read(after("op.gemm.bytes=3KiB")) == 2048.0);
    CHECK(written(after("op.gemm.bytes=3KiB")) == 1024.0);
    CHECK(read(after("op.gemm.bytes*=0.5")) == 512.0);
    CHECK(work(after("op.gemm.flops=1e6")) == 1e6);
    CHECK(work(after("op.gemm.flops=2 MFLOP")) == 2e6);
    CHECK(work(after("op.gemm.flops*=0.5")) == 4096.0);
    CHECK(asked(after("op.gemm.flops*=0.5"), "tensor.bf16.fp32") == 4096.0);
    // In the order they are given: a later value replaces an earlier factor, a later factor scales.
    CHECK(work(demand_in(with(with(graph, "op.gemm.flops*=10"), "op.gemm.flops=100"), "gemm")) ==
          100.0);
    CHECK(work(demand_in(with(with(graph, "op.gemm.flops=100"), "op.gemm.flops*=10"), "gemm")) ==
          1000.0);
    CHECK(read(demand_in(with(with(graph, "op.gemm.bytes*=10"), "op.gemm.bytes=3KiB"), "gemm")) ==
          2048.0);
  }

  TEST_CASE("assignment: operators and amounts that are not there") {
    const OperatorGraph graph = parse_op_text("gemm m=16 n=16 k=16");
    CHECK(refusal([&] { with(graph, "op.gem.bytes=1GB"); }) ==
          "command line: error: op.gem.bytes: is not an amount of this workload; did you mean "
          "\"op.gemm.bytes\"?");
    for (const char* text : {"op.gemm.time=1", "op.=1", "op.bytes=1GB", "op..bytes=1GB"}) {
      CAPTURE(text);
      CHECK(refusal([&] { with(graph, text); }).find("is not an amount of this workload") !=
            std::string::npos);
    }
    CHECK(refusal([&] {
            with(graph, "op.gemm=1");
          }).starts_with("op.gemm:1:1: error: \"1\" is not an operator kind"));
    CHECK(refusal([&] { with(graph, "op.gemm.bytes*=-1"); }) ==
          "command line: error: op.gemm.bytes: a factor cannot be negative");
    CHECK(refusal([&] { with(graph, "op.gemm.bytes=12"); }) != "accepted");  // no unit
    CHECK(refusal([&] { with(graph, "op.gemm.flops*=much"); }) ==
          "command line: error: op.gemm.flops: \"much\" is not a number; expected a factor");
  }

  TEST_CASE("assignment: device keys") {
    DeviceSpec device = parse_device(kRoundDevice, "round.toml", {});
    assign(device, parse_assignment("memory.hbm.bandwidth=2 TB/s"));
    assign(device, parse_assignment("memory.hbm.bandwidth*=1.5"));
    CHECK(device.hbm.bandwidth->value.in_base_units() == doctest::Approx(3e12).epsilon(1e-15));
    assign(device, parse_assignment("rate.tensor.bf16.fp32*=2"));
    const Machine machine = machine_of(device, {});
    CHECK(machine.rates[{Unit::tensor, Precision::bf16, Precision::fp32}].ceiling.in_base_units() ==
          doctest::Approx(250e12).epsilon(1e-15));
    CHECK(refusal([&] { assign(device, parse_assignment("units*=0")); }) ==
          "command line: error: units: a factor must be above 0");
    CHECK(refusal([&] { assign(device, parse_assignment("units*=half")); }) ==
          "command line: error: units: \"half\" is not a number; expected a factor");
    CHECK(device.overrides.size() == 3);
    CHECK(device.overrides[0].before == "1.0000 TB/s");
    CHECK(device.overrides[0].after == "2.0000 TB/s");
  }
}
