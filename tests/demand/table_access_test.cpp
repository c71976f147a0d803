// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "model/demand/sectors.hpp"
#include "tests/demand/one_op.hpp"
#include "tests/floor/test_machine.hpp"

using namespace floorline;
using namespace floorline::testing;

namespace {

double sectors(double count, double each, double stride, double sector) {
  return bytes_of_sectors({count, Bytes(each), stride}, Bytes(sector)) / Bytes(sector);
}

doctest::Approx close_to(double x) { return doctest::Approx(x).epsilon(1e-12); }

}  // namespace

TEST_SUITE("demand") {
  TEST_CASE("sectors: next to each other, with small gaps, apart") {
    CHECK(sectors(0, 4, 1, 32) == 0);
    CHECK(sectors(1, 4, 1, 32) == 1);
    CHECK(sectors(8, 4, 1, 32) == 1);
    CHECK(sectors(9, 4, 1, 32) == 2);
    CHECK(sectors(100, 4, 2, 32) == 25);   // span 99 x 8 + 4 = 796 B
    CHECK(sectors(100, 4, 8, 32) == 100);  // one a sector
    CHECK(sectors(100, 4, 9, 32) == 100);
    CHECK(sectors(100, 4, 1000, 32) == 100);
    CHECK(sectors(10, 40, 1, 32) == 13);  // 400 B
    CHECK(sectors(10, 40, 2, 32) == 20);  // rows 80 B apart, gap of 40 B: two sectors each
    CHECK(sectors(100, 4, 2, 128) == 7);  // the same elements on a device with larger sectors
  }

  TEST_CASE("gather: the sectors of distinct rows (naive inputs + outputs reads the whole table)") {
    const Demand d = demand_of_op("gather rows=1000 cols=64 count=8");
    CHECK(work(d) == 0);
    CHECK(read(d) == close_to(32.0 + 128));  // 8 indices, one row
    CHECK(written(d) == 1024.0);
    CHECK(read(demand_of_op("gather rows=1000 cols=64 count=8 distinct=5")) ==
          close_to(32.0 + 640));
    CHECK(read(demand_of_op("gather rows=1000 cols=64 count=8 distinct=50")) ==
          close_to(32.0 + 1024));
    // Single fp32 elements, 8 apart: a sector each, 8 times their bytes.
    const char* text = "gather rows=80000 cols=1 count=1000 distinct=1000 stride=8 in=fp32";
    CHECK(read(demand_of_op(text)) == close_to(4000.0 + 32000));
    CHECK(read(demand_of_op("gather rows=1000 cols=64 count=0")) == 0);
  }

  TEST_CASE(
      "scatter: writes the distinct rows only (naive inputs + outputs writes the whole table)") {
    const Demand d = demand_of_op("scatter rows=1000 cols=64 count=8");
    CHECK(read(d) == close_to(32.0 + 128));  // what is overwritten need not be read
    CHECK(written(d) == close_to(128.0));
    const Demand all = demand_of_op("scatter rows=1000 cols=64 count=8 distinct=8");
    CHECK(read(all) == close_to(32.0 + 1024));
    CHECK(written(all) == close_to(1024.0));
  }

  TEST_CASE("scatter: adding reads every source and the touched rows") {
    const Demand d = demand_of_op("scatter rows=1000 cols=64 count=8 flops=1");
    CHECK(read(d) == close_to(32.0 + 1024 + 128));
    CHECK(written(d) == close_to(128.0));
    CHECK(work(d) == 512.0);
  }

  TEST_CASE("elementwise: strided and random reads move whole sectors") {
    CHECK(read(demand_of_op("elementwise n=1000 in=fp32 out=fp32")) == 4000.0);
    const Demand d = demand_of_op("elementwise n=1000 in=fp32 out=fp32 stride=32");
    CHECK(read(d) == 32000.0);
    CHECK(written(d) == 4000.0);
    CHECK(read(demand_of_op("elementwise n=1000 reads=2 in=fp32 stride=2")) == 2 * 8000.0);
    OnChip cpu;
    cpu.sector = Bytes(64);
    CHECK(read(demand_of_op("elementwise n=1000 in=fp32 stride=32", cpu)) == 64000.0);
    CHECK(read(demand_of_op("elementwise n=1000 in=fp32 access=random")) == 32.0);
    CHECK(read(demand_of_op("elementwise n=1000 in=fp32 access=random distinct=500")) == 2016.0);
  }

  TEST_CASE(
      "scan: once through, one sum less than elements in a row (naive re-reads for a second "
      "pass)") {
    const Demand d = demand_of_op("scan rows=1 cols=268435456 in=int8");
    CHECK(read(d) == 268435456.0);
    CHECK(written(d) == 268435456.0);
    CHECK(work(d) == 268435455.0);
    CHECK(work(demand_of_op("scan rows=3 cols=5")) == 12.0);
    CHECK(work(demand_of_op("scan rows=3 cols=0")) == 0);
  }

  TEST_CASE("custom: same-address transactions are asked of the atomic units, reduce has none") {
    CHECK(asked(demand_of_op("custom flops=1 bytes=4B serialized=1000"), "atomic") == 1000.0);
    CHECK(asked(demand_of_op("custom flops=1 bytes=4B"), "atomic") == 0);
    CHECK(asked(demand_of_op("reduce rows=1 cols=1000"), "atomic") == 0);
  }

  TEST_CASE("serialized transactions take one L2 clock each, where the device states it") {
    const OperatorGraph graph =
        parse_op_text("custom flops=1 bytes=4B serialized=1000000 compute=fp32");
    const Evaluation known = evaluate(graph, round_machine("[clock.l2]\nhighest = \"2000 MHz\"\n"));
    CHECK(known.floors.serial.cold.in_base_units() == close_to(5e-4));
    CHECK(known.floors.fused.any.in_base_units() == close_to(5e-4));
    CHECK(known.floors.serial_binding == ResourceId{Unit::atomic});
    const Evaluation unknown = evaluate(graph, round_machine());
    CHECK(unknown.floors.serial_binding == ResourceId{Unit::hbm});
  }

  TEST_CASE("host: operators of the host add up to a floor of their own") {
    const OperatorGraph graph = graph_of_toml(R"(
schema = 1
kind = "graph"
[[op]]
name = "tokenize"
kind = "host"
time = "2 ms"
[[op]]
name = "load"
kind = "copy"
path = "h2d"
bytes = "50 MB"
)");
    const Evaluation e = evaluate(graph, round_machine());
    CHECK(e.floors.serial.cold.in_base_units() == close_to(3e-3));  // 50 MB at 50 GB/s: 1 ms
    CHECK(e.floors.fused.cold.in_base_units() == close_to(2e-3));
    CHECK(e.floors.fused_binding == ResourceId{Unit::host});
  }

  TEST_CASE("host: the stated time, no bytes") {
    const Demand d = demand_of_op("host time=5ms");
    CHECK(asked(d, "host") == 5e-3);
    CHECK(read(d) + written(d) + work(d) == 0);
    const OperatorGraph graph = graph_of_toml(R"(
schema = 1
kind = "graph"
[[op]]
name = "sample"
kind = "host"
time = "20 us"
)");
    CHECK(asked(demand_in(graph, "sample"), "host") == doctest::Approx(20e-6));
  }
}
