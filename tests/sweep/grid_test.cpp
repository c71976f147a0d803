// SPDX-License-Identifier: Apache-2.0
#include "model/sweep/grid.hpp"

#include <doctest/doctest.h>

#include "model/input/diagnostic.hpp"

using namespace floorline;

namespace {

std::vector<std::string> texts(const GridAxis& axis) {
  std::vector<std::string> all;
  for (std::uint64_t i = 0; i < axis.count(); ++i) all.push_back(axis.text(i));
  return all;
}

}  // namespace

TEST_SUITE("sweep") {
  TEST_CASE("lists, steps and factors") {
    CHECK(texts(GridAxis::parse("batch=1,2,4")) == std::vector<std::string>{"1", "2", "4"});
    CHECK(texts(GridAxis::parse("tp=1..8:+3")) == std::vector<std::string>{"1", "4", "7"});
    CHECK(texts(GridAxis::parse("context=1024..131072:*8")) ==
          std::vector<std::string>{"1024", "8192", "65536"});
    CHECK(texts(GridAxis::parse("x=0.1..0.3:+0.1")).size() == 3);
    CHECK_FALSE(GridAxis::parse("kv_dtype=bf16,fp8").numeric());
    CHECK(GridAxis::parse("memory.hbm.bandwidth*=0.5,2").scales());
    CHECK(GridAxis::parse("memory.hbm.bandwidth*=0.5,2").name() == "memory.hbm.bandwidth");
  }

  TEST_CASE("what is no grid") {
    for (const char* text :
         {"batch", "batch=", "batch=1,,2", "batch=1,", "batch=1..4", "batch=1..4:", "batch=1..4:2",
          "batch=4..1:+1", "batch=1..4:+0", "batch=1..4:+-1", "batch=1..4:*1", "batch=0..4:*2",
          "batch=nan..4:+1", "batch=1..nan:+1", "batch=1..4:+nan", "batch=1..inf:+1",
          "batch=1..1e30:+1", "batch=1..2:*1.0000000001", "batch=a..b:+1"}) {
      CAPTURE(text);
      CHECK_THROWS_AS(GridAxis::parse(text), InputError);
    }
  }

  TEST_CASE("the first variable moves slowest, devices slower still") {
    const Grid grid({GridAxis::parse("a=1,2"), GridAxis::parse("b=1,2,3")}, 2);
    REQUIRE(grid.points() == 12);
    std::vector<std::uint64_t> digits(2);
    CHECK(grid.place(0, digits) == 0);
    CHECK(digits == std::vector<std::uint64_t>{0, 0});
    CHECK(grid.place(4, digits) == 0);  // 4 = 1 x 3 + 1
    CHECK(digits == std::vector<std::uint64_t>{1, 1});
    CHECK(grid.place(11, digits) == 1);
    CHECK(digits == std::vector<std::uint64_t>{1, 2});
  }

  TEST_CASE("parts one after another are the whole") {
    const Grid grid({GridAxis::parse("a=1..10:+1")}, 1);
    std::uint64_t next = 0;
    for (std::uint64_t i = 1; i <= 4; ++i) {  // 3, 3, 2, 2
      const PointRange part = grid.part(i, 4);
      CHECK(part.first == next);
      next = part.last;
    }
    CHECK(next == 10);
    CHECK(grid.part(12, 12).first == grid.part(12, 12).last);  // more parts than points
  }

  TEST_CASE("10^12 points take no memory; more than 2^53 are refused; a variable is there once") {
    const Grid grid({GridAxis::parse("a=1..1e6:+1"), GridAxis::parse("b=1..1e6:+1")}, 1);
    CHECK(grid.points() == 1000000000000U);
    CHECK_THROWS_AS(Grid({GridAxis::parse("a=1..1e9:+1"), GridAxis::parse("b=1..1e9:+1")}, 1),
                    InputError);
    CHECK_THROWS_AS(Grid({GridAxis::parse("a=1,2"), GridAxis::parse("a=3")}, 1), InputError);
  }
}
