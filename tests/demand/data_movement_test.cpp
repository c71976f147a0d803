// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "tests/demand/one_op.hpp"

using namespace floorline;
using namespace floorline::testing;

TEST_SUITE("demand") {
  TEST_CASE("embedding: one distinct row at least (naive inputs + outputs reads the whole table)") {
    const Demand d = demand_of_op("embedding tokens=8 rows=1000 cols=64");
    CHECK(work(d) == 0);
    CHECK(read(d) == doctest::Approx(160.0).epsilon(1e-12));  // ids 8 x 4 B, one row 64 x 2 B
    CHECK(written(d) == 1024.0);                              // 8 x 64 x 2 B
  }

  TEST_CASE("embedding: a stated number of distinct rows, no more than tokens or rows") {
    const auto table = [](const char* op) {
      return read(demand_of_op(op)) - 32;  // less the ids
    };
    CHECK(table("embedding tokens=8 rows=1000 cols=64 distinct=5") ==
          doctest::Approx(640.0).epsilon(1e-12));
    CHECK(table("embedding tokens=8 rows=1000 cols=64 distinct=100") ==
          doctest::Approx(1024.0).epsilon(1e-12));
    CHECK(table("embedding tokens=8 rows=4 cols=64 distinct=100") ==
          doctest::Approx(512.0).epsilon(1e-12));
    CHECK(read(demand_of_op("embedding tokens=0 rows=1000 cols=64")) == 0);
  }

  TEST_CASE("transpose: every byte once each way") {
    const Demand d = demand_of_op("transpose rows=3 cols=5");
    CHECK(work(d) == 0);
    CHECK(read(d) == 30.0);
    CHECK(written(d) == 30.0);
    CHECK(asked(d, "l1_port") == 30.0);
    CHECK(read(demand_of_op("transpose rows=1024 cols=1024 in=fp32")) == 4194304.0);
  }

  TEST_CASE("copy: towards the device nothing is read from HBM (naive inputs + outputs does)") {
    const Demand d = demand_of_op("copy bytes=1MB path=h2d");
    CHECK(asked(d, "h2d") == 1e6);
    CHECK(read(d) == 0);
    CHECK(written(d) == 1e6);
  }

  TEST_CASE("copy: from the device nothing is written to HBM") {
    const Demand d = demand_of_op("copy bytes=64MiB path=d2h count=3");
    CHECK(asked(d, "d2h") == 201326592.0);  // 3 x 67,108,864
    CHECK(read(d) == 201326592.0);
    CHECK(written(d) == 0);
  }

  TEST_CASE("copy: on the device both, and no unit need touch it") {
    const Demand d = demand_of_op("copy bytes=1KiB path=d2d count=2");
    CHECK(read(d) == 2048.0);
    CHECK(written(d) == 2048.0);
    CHECK(d.count == 0);  // a copy engine passes neither the units nor their ports
  }

  TEST_CASE("copy: bytes and count of a graph file") {
    const OperatorGraph graph = graph_of_toml(R"(
schema = 1
kind = "graph"
[[op]]
name = "load"
kind = "copy"
path = "h2d"
bytes = "1 KiB"
count = 3
)");
    CHECK(asked(demand_in(graph, "load"), "h2d") == 3072.0);
    CHECK(written(demand_in(graph, "load")) == 3072.0);
  }

  TEST_CASE("copy: a graph file that names the output does not write it twice") {
    const OperatorGraph graph = graph_of_toml(R"(
schema = 1
kind = "graph"
[tensor.y]
shape = [1024]
dtype = "int8"
role = "output"
[[op]]
name = "load"
kind = "copy"
path = "h2d"
bytes = "1 KiB"
outputs = ["y"]
)");
    CHECK(written(demand_in(graph, "load")) == 1024.0);
  }
}
