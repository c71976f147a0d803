// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "tests/timeline/kind_text.hpp"

using namespace floorline;

namespace {

std::string step(const char* kernel, const char* launch, const std::string& more = "") {
  return std::string("[launch_bound]\nkernels = 5\nkernel_time = \"") + kernel +
         "\"\nlaunch_time = \"" + launch + "\"\n" + more;
}

}  // namespace

TEST_SUITE("timeline") {
  TEST_CASE("five kernels of 1 us, launches of 5 us") {
    // One wait at the end: 5 x 5 + 1 = 26 us; the GPU is busy 5 of them. A graph launched in 3 us:
    // 3 + 5 x 1 = 8 us; 26 / 8 = 3.25.
    const RunKind run(step("1 us", "5 us", "graph_launch_time = \"3 us\"\n"));
    CHECK(run.period_ms() * 1e3 == doctest::Approx(26));
    CHECK(run.fact("gpu_busy_share_eager") == doctest::Approx(5.0 / 26));
    CHECK(run.fact("graph_step_s") == doctest::Approx(8e-6));
    CHECK(run.fact("graph_speedup") == doctest::Approx(3.25));
    const RunKind graph(step(
        "1 us", "5 us", "graph = true\ngraph_launch_time = \"3 us\"\nnode_time = \"0.5 us\"\n"));
    CHECK(graph.period_ms() * 1e3 == doctest::Approx(3 + 5 * 1.5));
  }

  TEST_CASE("five kernels of 10 us, launches of 2 us: the GPU binds") {
    CHECK(RunKind(step("10 us", "2 us")).period_ms() * 1e3 == doctest::Approx(52));
    // No wait: launches run ahead.
    CHECK(RunKind(step("10 us", "2 us", "synchronizations = 0\n")).period_ms() * 1e3 ==
          doctest::Approx(50));
    // A wait after every kernel: 5 x (2 + 10), and 1 us of host time for each.
    CHECK(RunKind(step("10 us", "2 us", "synchronizations = 5\n")).period_ms() * 1e3 ==
          doctest::Approx(60));
    CHECK(RunKind(step("10 us", "2 us", "synchronizations = 5\nsynchronization_time = \"1 us\"\n"))
                  .period_ms() *
              1e3 ==
          doctest::Approx(65));
  }

  TEST_CASE("the launch queue holds the host") {
    // One launch ahead: launch 1 waits for the start of kernel 0 (2 us), launch 2 for that of
    // kernel 1 (12 us); stages are launch 0, kernel 0, launch 1, …
    const RunKind run(step("10 us", "2 us", "queue_depth = 1\nsynchronizations = 0\n"));
    CHECK(run.schedule.start_of(StageId{2}, 0).in_base_units() == doctest::Approx(2e-6));
    CHECK(run.schedule.start_of(StageId{4}, 0).in_base_units() == doctest::Approx(12e-6));
    CHECK(run.period_ms() * 1e3 == doctest::Approx(50));
  }

  TEST_CASE("29.1 ms of launches around 6.3 ms of kernels") {
    // 1455 launches of 20 us = 29.1 ms, then the last kernel, 6.3 ms / 1455 = 4.33 us: 29.1043 ms;
    // the GPU is busy 21.6 % of it. Graph: 10 us + 6.3 ms = 6.31 ms; 4.612x.
    const RunKind run(
        "[launch_bound]\nkernels = 1455\ngpu_time = \"6.3 ms\"\nlaunch_time = \"20 us\"\n"
        "graph_launch_time = \"10 us\"\n");
    CHECK(run.fact("eager_step_s") == doctest::Approx(29.10433e-3));
    CHECK(run.fact("gpu_busy_share_eager") == doctest::Approx(0.21646).epsilon(1e-4));
    CHECK(run.fact("graph_step_s") == doctest::Approx(6.31e-3));
    CHECK(run.fact("graph_speedup") == doctest::Approx(4.6124).epsilon(1e-4));
  }

  TEST_CASE("bounds of launches") {
    CHECK(refusal(step("1 us", "1 us", "gpu_time = \"1 ms\"\n")).find("stands beside") !=
          std::string::npos);
    CHECK(refusal(step("1 us", "1 us", "graph = true\n")).find("graph_launch_time") !=
          std::string::npos);
    CHECK(refusal(step("1 us", "1 us", "synchronizations = 6\n")).find("at most 5") !=
          std::string::npos);
    CHECK(refusal("[launch_bound]\nkernels = 20000\nsteps = 1000\nkernel_time = \"1 us\"\n"
                  "launch_time = \"1 us\"\n")
              .find("times kernels") != std::string::npos);
  }
}
