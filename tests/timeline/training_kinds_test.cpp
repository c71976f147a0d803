// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "tests/timeline/kind_text.hpp"

using namespace floorline;

namespace {

/// Forward 10, four layers' backward 10 each, optimizer 5 ms; two ranks, so a bucket of S bytes
/// takes 2 x 0.5 ms + S / (10 GB/s).
std::string training(const char* bucket, const std::string& more = "") {
  return std::string(
             "[training_step]\nlayers = 4\nforward_time = \"10 ms\"\n"
             "backward_time = \"40 ms\"\noptimizer_time = \"5 ms\"\n"
             "gradient_bytes = \"400 MB\"\nranks = 2\nalpha = \"0.5 ms\"\n"
             "bandwidth = \"10 GB/s\"\nbucket_bytes = \"") +
         bucket + "\"\n" + more;
}

/// Gathers and scatters of 1/2 x 120 MB / (10 GB/s) = 6 ms.
std::string sharded(int prefetch) {
  return "[zero3]\nlayers = 2\nforward_time_per_layer = \"10 ms\"\n"
         "backward_time_per_layer = \"20 ms\"\nlayer_bytes = \"120 MB\"\nranks = 2\n"
         "alpha = \"0 s\"\nbandwidth = \"10 GB/s\"\nprefetch = " +
         std::to_string(prefetch) + "\n";
}

}  // namespace

TEST_SUITE("timeline") {
  TEST_CASE("four buckets, one a layer, beside the backward pass") {
    // Layers end at 20, 30, 40, 50; buckets of 11 ms: 20-31-42-53-64; optimizer to 69.
    const RunKind run(training("100 MB"));
    CHECK(run.period_ms() == doctest::Approx(69));
    CHECK(run.fact("exposed_communication_s") == doctest::Approx(0.014));
    CHECK(run.fact("exposed_share") == doctest::Approx(14.0 / 69));
    CHECK(run.fact("buckets") == 4);
    // After the backward pass: 50 + 44 + 5 = 99.
    CHECK(RunKind(training("100 MB", "overlap = false\n")).period_ms() == doctest::Approx(99));
  }

  TEST_CASE("buckets of other sizes") {
    // One bucket: 41 ms from 50: 91 + 5.
    CHECK(RunKind(training("400 MB")).period_ms() == doctest::Approx(96));
    CHECK(RunKind(training("1 GB")).period_ms() == doctest::Approx(96));
    // 150, 150, 100 MB complete after layers 2, 3, 4: 30-46-62-73, + 5.
    const RunKind run(training("150 MB"));
    CHECK(run.period_ms() == doctest::Approx(78));
    CHECK(run.fact("buckets") == 3);
  }

  TEST_CASE("in the network the message crosses once, at two alphas") {
    // 100 MB: 1 + 10 ms as the ring of two has it; ring of 4: 6 x 0.5 + 1.5 x 10 = 18 ms each:
    // 20-38-56-74-92, + 5 = 97.
    CHECK(RunKind(training("100 MB", "algorithm = \"in_network\"\n")).period_ms() ==
          doctest::Approx(69));
    std::string four = training("100 MB");
    four.replace(four.find("ranks = 2"), 9, "ranks = 4");
    CHECK(RunKind(four).period_ms() == doctest::Approx(97));
  }

  TEST_CASE("27 % exposed takes MFU from 21.8 % to 15.9 %") {
    // Compute 0.73 s; ring of 32: 62/32 x S / (25 GB/s) = 0.27 s for S = 3.48387 GB.
    const RunKind run(
        "[training_step]\nlayers = 1\nforward_time = \"243 ms\"\nbackward_time = \"487 ms\"\n"
        "gradient_bytes = \"3.483871 GB\"\nbucket_bytes = \"4 GB\"\nranks = 32\nalpha = \"0 s\"\n"
        "bandwidth = \"25 GB/s\"\noverlap = false\nmfu = 0.218\n");
    CHECK(run.fact("exposed_share") == doctest::Approx(0.27).epsilon(1e-5));
    CHECK(run.fact("mfu") == doctest::Approx(0.15914).epsilon(1e-5));
  }

  TEST_CASE("one rank exchanges nothing") {
    std::string alone = training("100 MB");
    alone.replace(alone.find("ranks = 2"), 9, "ranks = 1");
    CHECK(RunKind(alone).period_ms() == doctest::Approx(55));
  }

  TEST_CASE("sharded weights, two layers") {
    // prefetch 1: gather f0 0-6, f1 6-12; forward 6-16-26; gather b1 16-22; backward 1 26-46;
    // gather b0 26-32; backward 0 46-66; scatters 46-52, 66-72. Exposed 12 of 72.
    const RunKind one(sharded(1));
    CHECK(one.period_ms() == doctest::Approx(72));
    CHECK(one.fact("exposed_communication_s") == doctest::Approx(0.012));
    CHECK(one.fact("communication_per_step_s") == doctest::Approx(0.036));
    // prefetch 0: 6+10+6+10+6+20 = 58, gather b0 before scatter 1: 64, 84, scatter 0 to 90.
    CHECK(RunKind(sharded(0)).period_ms() == doctest::Approx(90));
    // Nothing more to hide than the first gather and the last scatter.
    CHECK(RunKind(sharded(3)).period_ms() == doctest::Approx(72));
  }

  TEST_CASE("160 all-reduces of 1 MiB") {
    // 6 x 7.33 us + 6.5536 us = 50.53 us; all 8.085 ms. At 0 us: 1.0486 ms; 7.04 ms between them.
    const RunKind run(
        "[collectives]\ncount = 160\nbytes = \"1 MiB\"\nranks = 4\nalpha = \"7.33 us\"\n"
        "bandwidth = \"240 GB/s\"\ncompare_alpha = \"0 s\"\n");
    CHECK(run.makespan_ms() == doctest::Approx(8.08538).epsilon(1e-5));
    CHECK(run.fact("collective_bandwidth_s") == doctest::Approx(6.5536e-6));
    CHECK(run.fact("compared_all_collectives_s") == doctest::Approx(1.048576e-3));
  }

  TEST_CASE("compute before each collective") {
    // Two ranks, 100 MB at 10 GB/s: 10 ms; 3 x (5 + 10).
    CHECK(RunKind("[collectives]\ncount = 3\nbytes = \"100 MB\"\nranks = 2\nalpha = \"0 s\"\n"
                  "bandwidth = \"10 GB/s\"\ncompute_time = \"5 ms\"\n")
              .makespan_ms() == doctest::Approx(45));
  }

  TEST_CASE("bounds of training kinds") {
    CHECK(refusal(training("1 B")).find("20000 buckets") != std::string::npos);
    CHECK(refusal(training("100 MB", "algorithm = \"rign\"\n")).find("\"ring\"") !=
          std::string::npos);
    CHECK(refusal(training("100 MB", "steps = 100000\nmfu = 2.0\n")).find("at most 1") !=
          std::string::npos);
    CHECK(refusal("[zero3]\nlayers = 2\n").find("layer_bytes") != std::string::npos);
  }
}
