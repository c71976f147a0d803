// SPDX-License-Identifier: Apache-2.0
// Scales of matrices that the scenario stores narrower than their checkpoint.
#include <doctest/doctest.h>

#include "model/workload/architecture_file.hpp"
#include "model/workload/scenario.hpp"

using namespace floorline;

namespace {

NamedWeight matrix(std::int64_t rows, std::int64_t cols) {
  NamedWeight w;
  w.name = "layers.mlp.down_proj.weight";
  w.group = 0;
  w.rows = rows;
  w.cols = cols;
  return w;
}

Scenario asked(const std::vector<std::pair<const char*, const char*>>& symbols) {
  Scenario scenario;
  ParallelLayout layout;
  for (const auto& [name, value] : symbols) {
    const SymbolResult r = apply_symbol(name, value, scenario, layout);
    CHECK(r.known);
    CHECK(r.error.empty());
  }
  return scenario;
}

std::string refused(const char* name, const char* value) {
  Scenario scenario;
  ParallelLayout layout;
  return apply_symbol(name, value, scenario, layout).error;
}

}  // namespace

TEST_SUITE("workload") {
  TEST_CASE("asked scales: one a group of a row, a zero point beside it") {
    const Scenario s = asked(
        {{"weight_dtype", "int4"}, {"weight_group_size", "128"}, {"weight_zero_dtype", "int4"}});
    const auto scales = scales_asked_for(matrix(4096, 11008), s);
    REQUIRE(scales.size() == 2);
    CHECK(scales[0].name == "layers.mlp.down_proj.weight_scale");
    CHECK(scales[0].rows == 4096);
    CHECK(scales[0].cols == 86);  // 11008 / 128
    CHECK(scales[0].storage == Precision::bf16);
    CHECK(scales[1].cols == 86);
    CHECK(scales[1].storage == Precision::int4);
    // The last group may be short: ceil(100 / 32) = 4.
    const Scenario by_32 = asked({{"weight_dtype", "int8"}, {"weight_group_size", "32"}});
    CHECK(scales_asked_for(matrix(7, 100), by_32).front().cols == 4);
  }

  TEST_CASE("asked scales: none where storage stays, is wide, or has them in its bits") {
    const NamedWeight w = matrix(64, 64);
    CHECK(scales_asked_for(w, asked({{"weight_group_size", "32"}})).empty());
    CHECK(scales_asked_for(w, asked({{"weight_dtype", "int4"}})).empty());
    for (const char* dtype : {"fp16", "fp32", "mxfp4", "nvfp4"}) {
      CAPTURE(dtype);
      const Scenario s = asked({{"weight_dtype", dtype}, {"weight_group_size", "32"}});
      CHECK(scales_asked_for(w, s).empty());
    }
    NamedWeight norm = matrix(64, 1);
    const Scenario s = asked({{"weight_dtype", "int4"}, {"weight_group_size", "32"}});
    CHECK(scales_asked_for(norm, s).empty());
  }

  TEST_CASE("asked scales: a matrix divided along its rows divides them too") {
    NamedWeight w = matrix(4096, 4096);
    w.sharding = Sharding::row;
    w.unit = 128;
    Scenario s = asked({{"weight_dtype", "int4"}, {"weight_group_size", "32"}});
    const NamedWeight scale = scales_asked_for(w, s).front();
    // 128 groups over 8 ranks, in units of 128 / 32 = 4: 16 each.
    CHECK(rank_shape(scale, 8).cols == 16);
    s = asked({{"weight_dtype", "int8"}, {"weight_group_size", "4096"}});
    CHECK(scales_asked_for(w, s).front().sharding == Sharding::replicated);
  }

  TEST_CASE("asked scales: what is no size and no storage") {
    CHECK(refused("weight_group_size", "-1").find("is not a whole number") != std::string::npos);
    CHECK(refused("weight_group_size", "nan").find("is not a whole number") != std::string::npos);
    CHECK(refused("weight_scale_dtype", "none").find("is not a precision") != std::string::npos);
    CHECK(refused("weight_zero_dtype", "any").find("or none") != std::string::npos);
  }
}
