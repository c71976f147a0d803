// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "tests/timeline/kind_text.hpp"

using namespace floorline;

namespace {

std::string loader(int workers, const std::string& more = "") {
  return "[data_loading]\nnum_workers = " + std::to_string(workers) +
         "\nload_time = \"1.71 s\"\nstep_time = \"0.266 s\"\n" + more;
}

/// Loading is fast; what counts is how the copy of 10 ms (pageable: 16 ms), the launch of 15 ms and
/// the step of 20 ms lie beside each other.
double copy_period_ms(bool pinned, bool non_blocking, bool own_stream) {
  const auto word = [](bool yes) { return std::string(yes ? "true" : "false"); };
  return RunKind(
             "[data_loading]\nnum_workers = 1\nload_time = \"1 us\"\nlaunch_time = \"15 ms\"\n"
             "step_time = \"20 ms\"\nbatch_bytes = \"100 MB\"\npinned_bandwidth = \"10 GB/s\"\n"
             "pageable_bandwidth = \"6.25 GB/s\"\npin_time = \"0 s\"\npin_memory = " +
             word(pinned) + "\nnon_blocking = " + word(non_blocking) +
             "\ncopy_stream = " + word(own_stream) + "\n")
      .period_ms();
}

}  // namespace

TEST_SUITE("timeline") {
  TEST_CASE("workers of 1.71 s a batch beside a step of 0.266 s") {
    // max(1.71 / n, 0.266); 1.71 / 0.266 = 6.43, so 7 workers hide loading.
    CHECK(RunKind(loader(1)).period_ms() == doctest::Approx(1710));
    CHECK(RunKind(loader(2)).period_ms() == doctest::Approx(855));
    CHECK(RunKind(loader(4)).period_ms() == doctest::Approx(427.5));
    CHECK(RunKind(loader(6)).period_ms() == doctest::Approx(285));
    CHECK(RunKind(loader(7)).period_ms() == doctest::Approx(266));
    CHECK(RunKind(loader(8)).period_ms() == doctest::Approx(266));
    CHECK(RunKind(loader(2)).fact("workers_needed") == 7);
  }

  TEST_CASE("a measured scaling efficiency") {
    // 1.71 / (4 x 0.857) = 0.49883 s; 1.71 / (0.857 x 0.266) = 7.50: 8 workers
    const RunKind run(loader(4, "scaling_efficiency = 0.857\n"));
    CHECK(run.period_ms() == doctest::Approx(498.83).epsilon(1e-5));
    CHECK(run.fact("workers_needed") == 8);
  }

  TEST_CASE("without workers the host loads, and still overlaps the step it has launched") {
    CHECK(RunKind(loader(0)).period_ms() == doctest::Approx(1710));
    // Until it waits for each step: 1.71 + 0.266.
    CHECK(RunKind(loader(0, "synchronize = true\n")).period_ms() == doctest::Approx(1976));
    // A worker loads during the step even so.
    CHECK(RunKind(loader(1, "synchronize = true\n")).period_ms() == doctest::Approx(1710));
  }

  TEST_CASE("pinned x non_blocking x own stream") {
    // One stream: the copy waits for the step before. Host blocked to the end of the copy: copy,
    // launch, step one after another, 16 + 15 + 20 pageable, 10 + 15 + 20 pinned. Host ahead: the
    // launch hides, 10 + 20.
    CHECK(copy_period_ms(false, false, false) == doctest::Approx(51));
    CHECK(copy_period_ms(false, true, false) == doctest::Approx(51));
    CHECK(copy_period_ms(true, false, false) == doctest::Approx(45));
    CHECK(copy_period_ms(true, true, false) == doctest::Approx(30));
    // Own stream: the copy runs beside the step before. Host blocked: copy + launch, 31 and 25,
    // above the step's 20. Host ahead: the step, 20.
    CHECK(copy_period_ms(false, false, true) == doctest::Approx(31));
    CHECK(copy_period_ms(false, true, true) == doctest::Approx(31));
    CHECK(copy_period_ms(true, false, true) == doctest::Approx(25));
    CHECK(copy_period_ms(true, true, true) == doctest::Approx(20));
  }

  TEST_CASE("one stream: neither pinning nor non_blocking alone hides any of the copy") {
    // Launch free, one bandwidth: 10 + 20 in all four.
    for (const char* flags :
         {"", "pin_memory = true\npin_time = \"0 s\"\n", "non_blocking = true\n",
          "pin_memory = true\npin_time = \"0 s\"\nnon_blocking = true\n"}) {
      const RunKind run(std::string("[data_loading]\nnum_workers = 1\nload_time = \"1 us\"\n"
                                    "step_time = \"20 ms\"\ncopy_time = \"10 ms\"\n") +
                        flags);
      CHECK(run.period_ms() == doctest::Approx(30));
    }
  }

  TEST_CASE("the prefetch window: a worker begins a batch only when an earlier one was taken") {
    // One worker, window 1: load of batch i waits for the taking of i - 1, which follows its load
    // at once, unless the host is busy: launch 30 ms. take 0 at 10; load 1 runs 10 .. 20; launch 0
    // to 40, take 1 at 40, load 2 40 .. 50: period = max(load, launch) = 30 all the same.
    const std::string table =
        "[data_loading]\nnum_workers = 1\nload_time = \"10 ms\"\nlaunch_time = \"30 ms\"\n"
        "step_time = \"1 ms\"\nbatches = 5\nprefetch_factor = ";
    const RunKind one(table + "1\n");
    const StageId load{0};
    CHECK(one.schedule.start_of(load, 2).in_base_units() == doctest::Approx(0.040));
    CHECK(one.period_ms() == doctest::Approx(30));
    // Window 2: load 2 waits for take 0 (10 ms) and load 1 (20 ms).
    CHECK(RunKind(table + "2\n").schedule.start_of(load, 2).in_base_units() ==
          doctest::Approx(0.020));
  }

  TEST_CASE("pinning runs beside loading with workers, in the host thread without") {
    const std::string rest =
        "load_time = \"30 ms\"\npin_memory = true\npin_time = \"20 ms\"\nstep_time = \"1 ms\"\n";
    CHECK(RunKind("[data_loading]\nnum_workers = 1\n" + rest).period_ms() == doctest::Approx(30));
    CHECK(RunKind("[data_loading]\nnum_workers = 0\n" + rest).period_ms() == doctest::Approx(50));
  }

  TEST_CASE("what is missing or out of range is named") {
    CHECK(refusal("[data_loading]\nload_time = \"1 s\"\nstep_time = \"1 s\"\n")
              .find("data_loading.num_workers") != std::string::npos);
    CHECK(refusal(loader(1, "batch_bytes = \"1 MB\"\n")).find("pageable_bandwidth") !=
          std::string::npos);
    CHECK(refusal(loader(1, "batches = 2000000\n")).find("at most 1000000") != std::string::npos);
    CHECK(refusal(loader(1, "scaling_efficiency = 1.5\n")).find("at most 1") != std::string::npos);
    CHECK(refusal(loader(1, "pin_memroy = true\n")).find("pin_memory") != std::string::npos);
    CHECK(refusal("").find("no pipeline kind") != std::string::npos);
    CHECK(refusal(loader(1) + "[copies]\ncount = 1\n").find("stands beside") != std::string::npos);
  }

  TEST_CASE("double buffering: one buffer adds, two overlap") {
    const auto period = [](const char* keys) {
      return RunKind(std::string("[double_buffering]\nproduce_time = \"3 ms\"\n"
                                 "consume_time = \"5 ms\"\n") +
                     keys)
          .period_ms();
    };
    CHECK(period("buffers = 1\n") == doctest::Approx(8));
    CHECK(period("buffers = 2\n") == doctest::Approx(5));
    CHECK(period("") == doctest::Approx(5));
    // One buffer each way: consume i needs its input (3) and the way out free (drain of i - 1).
    CHECK(period("drain_time = \"7 ms\"\n") == doctest::Approx(7));
    // produce(i) after consume(i-1), consume(i) after drain(i-1): 5 + 7, produce hides in drain.
    CHECK(period("drain_time = \"7 ms\"\nbuffers = 1\n") == doctest::Approx(12));
  }
}
