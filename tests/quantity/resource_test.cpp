// SPDX-License-Identifier: Apache-2.0
#include "model/quantity/resource.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <type_traits>
#include <vector>

namespace floorline {
namespace {

static_assert(sizeof(ResourceId) <= 8);
static_assert(!std::is_convertible_v<double, Amount>);
static_assert(!std::is_convertible_v<Bytes, Amount>);

/// Every id that means something: a precision exactly where the unit has one.
std::vector<ResourceId> every_id() {
  std::vector<ResourceId> ids;
  for (int u = 0; u < kUnitCount; ++u) {
    const auto unit = static_cast<Unit>(u);
    if (unit == Unit::tensor) {
      for (const PrecisionInfo& in : kPrecisions) {
        for (const PrecisionInfo& acc : kPrecisions) {
          if (in.id == Precision::none || acc.id == Precision::none) continue;
          ids.push_back({unit, in.id, acc.id, false});
          ids.push_back({unit, in.id, acc.id, true});
        }
      }
    } else if (unit == Unit::product || unit == Unit::vector || unit == Unit::linear) {
      for (const PrecisionInfo& in : kPrecisions) {
        if (in.id != Precision::none) ids.push_back({unit, in.id, Precision::none, false});
      }
    } else {
      ids.push_back({unit, Precision::none, Precision::none, false});
    }
  }
  return ids;
}

TEST_SUITE("quantity") {
  TEST_CASE("resource names") {
    CHECK(name_of({Unit::tensor, Precision::bf16, Precision::fp32, false}) == "tensor.bf16.fp32");
    CHECK(name_of({Unit::tensor, Precision::bf16, Precision::fp32, true}) ==
          "tensor.bf16.fp32.sparse");
    CHECK(name_of({Unit::vector, Precision::fp32, Precision::none, false}) == "vector.fp32");
    CHECK(name_of({Unit::product, Precision::fp32, Precision::none, false}) == "product.fp32");
    CHECK(name_of({Unit::linear, Precision::fp32, Precision::none, false}) == "linear.fp32");

    const std::vector<std::string> plain{"compute",  "memory",  "sfu",     "hbm",    "l2",
                                         "l1_port",  "shared",  "atomic",  "h2d",    "d2h",
                                         "peer_out", "peer_in", "net_out", "net_in", "host"};
    for (const std::string& name : plain) {
      CAPTURE(name);
      const auto id = resource_from(name);
      REQUIRE(id);
      CHECK(name_of(id->unit) == name);
      CHECK(name_of(*id) == name);
    }
  }

  TEST_CASE("print then parse is identity for every resource") {
    const std::vector<ResourceId> ids = every_id();
    // 15 units without precision, 3 with one of 15, tensor with 15 × 15, dense and sparse
    CHECK(ids.size() == 15 + 3 * 15 + 15 * 15 * 2);
    std::set<std::string> names;
    std::set<std::size_t> indices;
    for (const ResourceId& id : ids) {
      const std::string name = name_of(id);
      CAPTURE(name);
      CHECK(resource_from(name) == id);
      CHECK(id.index() < kResourceIndexEnd);
      names.insert(name);
      indices.insert(id.index());
    }
    CHECK(names.size() == ids.size());
    CHECK(indices.size() == ids.size());
  }

  TEST_CASE("fp8 reads as fp8_e4m3") {
    const ResourceId e4m3{Unit::tensor, Precision::fp8_e4m3, Precision::fp32, false};
    CHECK(resource_from("tensor.fp8.fp32") == e4m3);
    CHECK(precision_from("fp8") == Precision::fp8_e4m3);
  }

  TEST_CASE("what is not a resource") {
    for (const char* name : {"",
                             ".",
                             "hbm.",
                             ".hbm",
                             "HBM",
                             "hbm.fp32",
                             "tensor",
                             "tensor.bf16",
                             "tensor.bf16.",
                             "tensor.none.fp32",
                             "tensor.bf16.none",
                             "tensor.bf16.fp32.",
                             "tensor.bf16.fp32.dense",
                             "tensor.bf16.fp32.sparse.",
                             "tensor.bf16.fp32.sparse.sparse",
                             "vector",
                             "vector.",
                             "vector.none",
                             "vector.fp32.fp32",
                             "vector.fp99",
                             "sfu.fp32",
                             "nvlink",
                             "tensor..fp32"}) {
      CAPTURE(name);
      CHECK_FALSE(resource_from(name));
    }
  }

  TEST_CASE("precisions by name and width") {
    for (std::size_t i = 0; i < kPrecisions.size(); ++i) {
      CHECK(static_cast<std::size_t>(kPrecisions[i].id) == i);
    }
    for (const PrecisionInfo& p : kPrecisions) {
      CAPTURE(p.name);
      if (p.id != Precision::none) CHECK(precision_from(p.name) == p.id);
    }
    CHECK_FALSE(precision_from("none"));
    CHECK_FALSE(precision_from("FP16"));
    CHECK_FALSE(precision_from("float16"));
    CHECK(storage_bits(Precision::bf16) == 16);
    // 4 bits and an 8-bit scale for 32 or for 16 elements
    CHECK(storage_bits(Precision::mxfp4) == 4.25);
    CHECK(storage_bits(Precision::nvfp4) == 4.5);
    CHECK(storage_bits(Precision::any) == 0);
  }

  TEST_CASE("amounts over rates are times") {
    // 4.8 GB at 4.8 TB/s
    CHECK(Amount(GB(4.8)) / AmountPerSecond(TBPerSecond(4.8)) == seconds(0.001));
    Amount total(flops(1));
    total += Amount::operations(2);
    CHECK((total * 2).in_base_units() == 6);
    CHECK((AmountPerSecond(TflopsPerSecond(1)) + AmountPerSecond(TflopsPerSecond(2))) ==
          AmountPerSecond(TflopsPerSecond(3)));
    CHECK((AmountPerSecond(GBPerSecond(8)) * seconds(2)).in_base_units() == 16e9);
  }

  TEST_CASE("what each unit counts") {
    CHECK(amount_kind(Unit::compute) == AmountKind::flops);
    CHECK(amount_kind(Unit::memory) == AmountKind::bytes);
    CHECK(amount_kind(Unit::tensor) == AmountKind::flops);
    CHECK(amount_kind(Unit::sfu) == AmountKind::operations);
    CHECK(amount_kind(Unit::atomic) == AmountKind::operations);
    CHECK(amount_kind(Unit::host) == AmountKind::seconds);
  }
}

}  // namespace
}  // namespace floorline
