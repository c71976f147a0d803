// SPDX-License-Identifier: Apache-2.0
#include "model/timeline/kinds/collective_cost.hpp"

#include <doctest/doctest.h>

using namespace floorline;

namespace {
double us(Seconds t) { return t.in_base_units() * 1e6; }
constexpr CollectiveLink kLink{microseconds(5), GBPerSecond(100)};
}  // namespace

TEST_SUITE("timeline") {
  TEST_CASE("all_reduce of 800 MB on 8 ranks at 100 GB/s and 5 us a step") {
    // S/B = 8 ms. ring: 14 steps, 70 us; 2 x 7/8 x 8 ms = 14 ms. tree: 6 steps, 30 us; 16 ms.
    // in_network: 2 steps, 10 us; 8 ms.
    const Bytes s = GB(0.8);
    const auto cost = [&](CollectiveAlgorithm how) {
      return collective_cost(Collective::all_reduce, how, s, 8, kLink);
    };
    CHECK(us(cost(CollectiveAlgorithm::ring).latency) == doctest::Approx(70));
    CHECK(us(cost(CollectiveAlgorithm::ring).bandwidth) == doctest::Approx(14000));
    CHECK(us(cost(CollectiveAlgorithm::tree).latency) == doctest::Approx(30));
    CHECK(us(cost(CollectiveAlgorithm::tree).bandwidth) == doctest::Approx(16000));
    CHECK(us(cost(CollectiveAlgorithm::in_network).latency) == doctest::Approx(10));
    CHECK(us(cost(CollectiveAlgorithm::in_network).bandwidth) == doctest::Approx(8000));
  }

  TEST_CASE("the other collectives of 800 MB on 6 ranks") {
    // S/B = 8 ms; ceil(log2 6) = 3; 5/6 of 8 ms = 6666.67 us.
    const auto cost = [](Collective what, CollectiveAlgorithm how) {
      return collective_cost(what, how, GB(0.8), 6, kLink);
    };
    for (const Collective what : {Collective::all_gather, Collective::reduce_scatter}) {
      CHECK(us(cost(what, CollectiveAlgorithm::ring).latency) == doctest::Approx(25));
      CHECK(us(cost(what, CollectiveAlgorithm::tree).latency) == doctest::Approx(15));
      CHECK(us(cost(what, CollectiveAlgorithm::in_network).latency) == doctest::Approx(5));
      CHECK(us(cost(what, CollectiveAlgorithm::ring).bandwidth) == doctest::Approx(6666.667));
      CHECK(us(cost(what, CollectiveAlgorithm::tree).bandwidth) == doctest::Approx(6666.667));
    }
    CHECK(us(cost(Collective::all_to_all, CollectiveAlgorithm::tree).latency) ==
          doctest::Approx(25));
    CHECK(us(cost(Collective::broadcast, CollectiveAlgorithm::ring).time()) ==
          doctest::Approx(8025));
    CHECK(us(cost(Collective::broadcast, CollectiveAlgorithm::tree).time()) ==
          doctest::Approx(8015));
    CHECK(us(cost(Collective::broadcast, CollectiveAlgorithm::in_network).time()) ==
          doctest::Approx(8005));
  }

  TEST_CASE("one rank has nobody to talk to; two ranks talk once each way") {
    CHECK(collective_cost(Collective::all_reduce, CollectiveAlgorithm::ring, GB(1), 1, kLink)
              .time() == Seconds(0));
    // 2 x (2-1) = 2 steps of 5 us, 2 x 1/2 x 10 ms
    CHECK(us(collective_cost(Collective::all_reduce, CollectiveAlgorithm::ring, GB(1), 2, kLink)
                 .time()) == doctest::Approx(10010));
    // ceil(log2 2) = 1
    CHECK(us(collective_cost(Collective::all_gather, CollectiveAlgorithm::tree, GB(1), 2, kLink)
                 .latency) == doctest::Approx(5));
  }

  TEST_CASE("160 all-reduces of 1 MiB on 4 ranks: what bandwidth and what alpha cost") {
    // 2 x 3/4 x 1,048,576 = 1,572,864 bytes at 240 GB/s: 6.554 us. 44 us more each (7.0 ms over
    // 160) are 6 steps of 7.33 us.
    const CollectiveCost c = collective_cost(Collective::all_reduce, CollectiveAlgorithm::ring,
                                             MiB(1), 4, {microseconds(7.33), GBPerSecond(240)});
    CHECK(us(c.bandwidth) == doctest::Approx(6.5536));
    CHECK(us(c.latency) == doctest::Approx(43.98));
  }

  TEST_CASE("names read back") {
    for (const char* name : {"ring", "tree", "in_network"})
      CHECK(name_of(*collective_algorithm_from(name)) == name);
    for (const char* name :
         {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast"})
      CHECK(name_of(*collective_from(name)) == name);
    CHECK_FALSE(collective_from("allreduce").has_value());
  }
}
