// SPDX-License-Identifier: Apache-2.0
#include "model/timeline/kinds/pipeline_parallel.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include "tests/timeline/kind_text.hpp"

using namespace floorline;

namespace {

std::string pp(const char* schedule, int ranks, int micro, const std::string& more) {
  return std::string("[pipeline_parallel]\nschedule = \"") + schedule +
         "\"\nranks = " + std::to_string(ranks) + "\nmicro_batches = " + std::to_string(micro) +
         "\n" + more;
}
const std::string kOneTwo = "forward_time = \"10 ms\"\nbackward_time = \"20 ms\"\n";

std::string text_of(const std::vector<Pass>& passes) {
  std::string text;
  for (const Pass& p : passes) {
    text += (text.empty() ? "" : " ") + std::string(p.backward ? "B" : "F") +
            std::to_string(p.stage) + "." + std::to_string(p.micro_batch);
  }
  return text;
}

/// Each rank runs the next pass of its order once what it needs has ended; whole milliseconds.
double swept_ms(const PipelineParallel& in) {
  const auto orders = passes_by_rank(in.shape);
  const int last = in.shape.ranks * in.shape.chunks - 1;
  std::map<std::tuple<int, int, bool>, double> ended;
  std::vector<std::size_t> next(orders.size(), 0);
  std::vector<double> free(orders.size(), 0);
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t r = 0; r < orders.size(); ++r) {
      if (next[r] == orders[r].size()) continue;
      const Pass pass = orders[r][next[r]];
      std::vector<std::tuple<int, int, bool>> needs;
      if (pass.backward) needs.emplace_back(pass.stage, pass.micro_batch, false);
      if (pass.backward && pass.stage < last)
        needs.emplace_back(pass.stage + 1, pass.micro_batch, true);
      if (!pass.backward && pass.stage > 0)
        needs.emplace_back(pass.stage - 1, pass.micro_batch, false);
      double start = free[r];
      bool ready = true;
      for (const auto& need : needs) {
        ready = ready && ended.count(need) == 1;
        if (ready) start = std::max(start, ended[need]);
      }
      if (!ready) continue;
      const auto stage = static_cast<std::size_t>(pass.stage);
      const Seconds time = pass.backward ? in.backward[stage] : in.forward[stage];
      free[r] = start + time.in_base_units() * 1e3;
      ended[{pass.stage, pass.micro_batch, pass.backward}] = free[r];
      ++next[r];
      moved = true;
    }
  }
  for (std::size_t r = 0; r < orders.size(); ++r) CHECK(next[r] == orders[r].size());
  return *std::max_element(free.begin(), free.end());
}

}  // namespace

TEST_SUITE("timeline") {
  TEST_CASE("orders, written out") {
    const auto one = passes_by_rank({3, 4, 1, MicroBatchOrder::one_f_one_b});
    CHECK(text_of(one[0]) == "F0.0 F0.1 F0.2 B0.0 F0.3 B0.1 B0.2 B0.3");
    CHECK(text_of(one[1]) == "F1.0 F1.1 B1.0 F1.2 B1.1 F1.3 B1.2 B1.3");
    CHECK(text_of(one[2]) == "F2.0 B2.0 F2.1 B2.1 F2.2 B2.2 F2.3 B2.3");
    const auto all = passes_by_rank({2, 2, 1, MicroBatchOrder::gpipe});
    CHECK(text_of(all[1]) == "F1.0 F1.1 B1.0 B1.1");
    // Two ranks, two chunks each: rank 0 has stages 0 and 2. Four forwards first (2 x 1 + 1 x 2),
    // in groups of two micro-batches.
    const auto twice = passes_by_rank({2, 4, 2, MicroBatchOrder::interleaved});
    CHECK(text_of(twice[0]) ==
          "F0.0 F0.1 F2.0 F2.1 F0.2 B2.0 F0.3 B2.1 F2.2 B0.0 F2.3 B0.1 B2.2 B2.3 B0.2 B0.3");
    CHECK(text_of(twice[1]) ==
          "F1.0 F1.1 F3.0 B3.0 F3.1 B3.1 F1.2 B1.0 F1.3 B1.1 F3.2 B3.2 F3.3 B3.3 B1.2 B1.3");
    CHECK(held_activations(twice) == std::vector<int>{5, 3});
    CHECK(held_activations(one) == std::vector<int>{3, 2, 1});
  }

  TEST_CASE("equal stages: the textbook bubble, for every shape tried") {
    for (int p = 1; p <= 6; ++p) {
      for (int m = 1; m <= 9; ++m) {
        CAPTURE(p);
        CAPTURE(m);
        for (const char* schedule : {"gpipe", "1f1b"}) {
          const RunKind run(pp(schedule, p, m, kOneTwo));
          CHECK(run.fact("bubble_share") == doctest::Approx((p - 1.0) / (m + p - 1)));
          CHECK(run.makespan_ms() == doctest::Approx(30.0 * (m + p - 1)));
        }
      }
      for (int v = 2; v <= 3; ++v) {
        for (int groups = 1; groups <= 3; ++groups) {
          CAPTURE(p);
          CAPTURE(v);
          const int m = groups * p;
          const RunKind run(
              pp("interleaved", p, m, kOneTwo + "chunks = " + std::to_string(v) + "\n"));
          CHECK(run.fact("bubble_share") == doctest::Approx((p - 1.0) / (v * m + p - 1)));
        }
      }
    }
  }

  TEST_CASE("unequal stages, by hand") {
    // Forward 1 and 3, backward 2 and 1. GPipe: rank 1 F 1-4-7, B 7-8-9; rank 0 B 8-10-12.
    const std::string times =
        "forward_time = [\"1 ms\", \"3 ms\"]\nbackward_time = [\"2 ms\", \"1 ms\"]\n";
    const RunKind gpipe(pp("gpipe", 2, 2, times));
    CHECK(gpipe.makespan_ms() == doctest::Approx(12));
    CHECK(gpipe.fact("bubble_share") == doctest::Approx(5.0 / 12));  // ideal 14 / 2 = 7
    CHECK_FALSE(gpipe.has("textbook_bubble_share"));
    // 1F1B: rank 1 F 1-4, B 4-5, F 5-8, B 8-9; rank 0 B 5-7, 9-11.
    CHECK(RunKind(pp("1f1b", 2, 2, times)).makespan_ms() == doctest::Approx(11));
  }

  TEST_CASE("random unequal stages: the same as passing over the orders until all is done") {
    for (unsigned seed = 1; seed <= 200; ++seed) {
      CAPTURE(seed);
      std::mt19937 random(seed);
      const auto upto = [&random](unsigned n) { return 1 + static_cast<int>(random() % n); };
      PipelineParallel in;
      in.shape.ranks = upto(5);
      in.shape.order = static_cast<MicroBatchOrder>(seed % 3);
      const bool interleaved = in.shape.order == MicroBatchOrder::interleaved;
      in.shape.chunks = interleaved ? 1 + upto(2) : 1;
      in.shape.micro_batches = interleaved ? in.shape.ranks * upto(3) : upto(9);
      for (int s = 0; s < in.shape.ranks * in.shape.chunks; ++s) {
        in.forward.push_back(milliseconds(upto(9)));
        in.backward.push_back(milliseconds(upto(9)));
      }
      const Schedule schedule = make_schedule(build(in).pipeline);
      REQUIRE_FALSE(schedule.deadlock.has_value());
      CHECK(schedule.makespan().in_base_units() * 1e3 == doctest::Approx(swept_ms(in)));
    }
  }

  TEST_CASE("sends stand between ranks") {
    // One micro-batch, two ranks: 10 + 5 + 10 + 20 + 5 + 20 = 70.
    CHECK(RunKind(pp("1f1b", 2, 1, kOneTwo + "send_time = \"5 ms\"\n")).makespan_ms() ==
          doctest::Approx(70));
  }

  TEST_CASE("eight ranks, two chunks: 1.30x with 8 micro-batches, 1.10x with 32") {
    // (8 + 7) / (8 + 3.5) = 1.3043; (32 + 7) / (32 + 3.5) = 1.0986
    const RunKind few(pp("interleaved", 8, 8, kOneTwo + "chunks = 2\n"));
    CHECK(few.fact("speedup_over_1f1b") == doctest::Approx(1.3043).epsilon(1e-4));
    // Rank 0 holds 2 x 7 + 8 + 1 chunks, or all 16 when there are no more.
    CHECK(few.fact("held_micro_batches") == doctest::Approx(8));
    const RunKind many(pp("interleaved", 8, 32, kOneTwo + "chunks = 2\n"));
    CHECK(many.fact("speedup_over_1f1b") == doctest::Approx(1.0986).epsilon(1e-4));
    CHECK(many.fact("held_micro_batches") == doctest::Approx(11.5));
  }

  TEST_CASE("bounds of pipeline-parallel") {
    CHECK(refusal(pp("interleaved", 4, 6, kOneTwo)).find("multiple of the 4 ranks") !=
          std::string::npos);
    CHECK(refusal(pp("1f1b", 4, 6, kOneTwo + "chunks = 2\n")).find("interleaved") !=
          std::string::npos);
    CHECK(refusal(pp("1f1b", 1000, 1000, kOneTwo)).find("2000000 passes") != std::string::npos);
    CHECK(refusal(pp("1f1b", 2, 2, "forward_time = [\"1 ms\"]\nbackward_time = \"1 ms\"\n"))
              .find("has 1 times") != std::string::npos);
    CHECK(refusal(pp("1f1b", 2, 2, "forward_time = \"1 ms\"\n")).find("backward_time") !=
          std::string::npos);
    CHECK(refusal(pp("zb1", 2, 2, kOneTwo)).find("not one of") != std::string::npos);
  }
}
