// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "tests/timeline/kind_text.hpp"

using namespace floorline;

namespace {
std::string copies(int count, const char* each, const std::string& more) {
  return "[copies]\ncount = " + std::to_string(count) + "\nbytes = \"" + each + "\"\n" + more;
}
}  // namespace

TEST_SUITE("timeline") {
  TEST_CASE("a copy of 4 KiB is all latency") {
    // 4096 / 55e9 = 74.5 ns beside 6 us; latency x bandwidth = 330 kB.
    const RunKind run(copies(1, "4 KiB", "latency = \"6 us\"\nbandwidth = \"55 GB/s\"\n"));
    CHECK(run.fact("bytes_term_s") == doctest::Approx(74.47e-9).epsilon(1e-3));
    CHECK(run.fact("copy_s") == doctest::Approx(6.07447e-6).epsilon(1e-5));
    CHECK(run.fact("crossover_bytes") == doctest::Approx(330000));
    CHECK(run.fact("latency_share") == doctest::Approx(0.98774).epsilon(1e-4));
  }

  TEST_CASE("batching pays below latency x bandwidth") {
    // 10 us, 25 GB/s: 250 kB. 1000 x 25 kB: 1000 x 11 us = 11 ms, or 10 us + 1 ms: 10.9x.
    const std::string link = "latency = \"10 us\"\nbandwidth = \"25 GB/s\"\n";
    const RunKind small(copies(1000, "25 kB", link));
    CHECK(small.makespan_ms() == doctest::Approx(11));
    CHECK(small.fact("batched_s") == doctest::Approx(1.01e-3));
    CHECK(small.fact("batching_speedup") == doctest::Approx(10.891).epsilon(1e-4));
    CHECK(RunKind(copies(1000, "25 kB", link + "batched = true\n")).makespan_ms() ==
          doctest::Approx(1.01));
    // 1000 x 25 MB: 1010 us each; 1.01 s against 1.00001 s.
    CHECK(RunKind(copies(1000, "25 MB", link)).fact("batching_speedup") ==
          doctest::Approx(1.00999).epsilon(1e-5));
  }

  TEST_CASE("both directions: two engines overlap, one does not, a round trip cannot") {
    // 100 MB at 10 GB/s: 10 ms each way.
    const std::string link = "latency = \"0 s\"\nbandwidth = \"10 GB/s\"\n";
    const auto ms = [&](const std::string& more) {
      return RunKind(copies(3, "100 MB", link + more)).makespan_ms();
    };
    CHECK(ms("") == doctest::Approx(30));
    CHECK(ms("direction = \"d2h\"\n") == doctest::Approx(30));
    CHECK(ms("direction = \"both\"\n") == doctest::Approx(30));
    CHECK(ms("direction = \"both\"\nengines = 1\n") == doctest::Approx(60));
    CHECK(ms("direction = \"round_trip\"\n") == doctest::Approx(60));
    CHECK(ms("direction = \"both\"\nd2h_bandwidth = \"5 GB/s\"\n") == doctest::Approx(60));
  }

  TEST_CASE("a measured time beside it") {
    // 4 MiB in 660.8 us: 6.347 GB/s. At 15.75 GB/s the bytes take 266.3 us: 2.4814x, and a latency
    // of 394.5 us would explain it. The pinned round trip, 8 MiB in 852 us: 9.846 GB/s.
    const std::string link = "latency = \"0 s\"\nbandwidth = \"15.75 GB/s\"\n";
    const RunKind pageable(copies(1, "4 MiB", link + "measured_time = \"660.8 us\"\n"));
    CHECK(pageable.fact("measured_bytes_per_s") == doctest::Approx(6.3473e9).epsilon(1e-4));
    CHECK(pageable.fact("measured_ratio") == doctest::Approx(2.4814).epsilon(1e-4));
    CHECK(pageable.fact("implied_latency_s") == doctest::Approx(394.5e-6).epsilon(1e-3));
    const RunKind pinned(
        copies(1, "4 MiB", link + "direction = \"round_trip\"\nmeasured_time = \"852 us\"\n"));
    CHECK(pinned.fact("measured_bytes_per_s") == doctest::Approx(9.8458e9).epsilon(1e-4));
    CHECK_FALSE(pinned.has("implied_latency_s"));
  }

  TEST_CASE("amounts beyond any schedule are refused") {
    CHECK(refusal(copies(1, "1e300 B", "latency = \"0 s\"\nbandwidth = \"1e-300 B/s\"\n"))
              .find("out of range") != std::string::npos);
    CHECK(refusal(copies(1, "1 B", "bandwidth = \"1 GB/s\"\ndirection = \"up\"\n"))
              .find("not one of h2d") != std::string::npos);
  }
}
