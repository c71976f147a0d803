// SPDX-License-Identifier: Apache-2.0
#include "model/timeline/serving.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

using namespace floorline;

namespace {

/// A step of T tokens takes 10 + 0.1 (T - 1) ms.
std::vector<StepTime> ten_ms_and_a_tenth_a_token() {
  return {{1, milliseconds(10)}, {101, milliseconds(20)}};
}

ServingSetup three_requests(BatchingPolicy policy) {
  ServingSetup setup;
  setup.requests = {{milliseconds(0), 100, 3}, {milliseconds(5), 51, 2}, {milliseconds(6), 10, 1}};
  setup.steps = ten_ms_and_a_tenth_a_token();
  setup.policy = policy;
  setup.max_batch = 2;
  setup.max_tokens = 101;
  return setup;
}

double ms(Seconds t) { return t.in_base_units() * 1e3; }
double ttft_ms(const ServingSetup& s, const ServingRun& r, std::size_t i) {
  return ms(time_to_first_token(s.requests[i], r.requests[i]));
}

}  // namespace

TEST_SUITE("timeline") {
  TEST_CASE("a step between two rows of the table, and below the first") {
    const std::vector<StepTime> table = {{10, milliseconds(2)}, {30, milliseconds(6)}};
    CHECK(ms(step_time(table, 1)) == doctest::Approx(2));
    CHECK(ms(step_time(table, 10)) == doctest::Approx(2));
    CHECK(ms(step_time(table, 15)) == doctest::Approx(3));  // a quarter of the way from 2 to 6
    CHECK(ms(step_time(table, 30)) == doctest::Approx(6));
  }

  TEST_CASE("three requests, mixed steps") {
    // t = 0     A's 100 prompt tokens                    19.9 ms -> 19.9   A's first
    // t = 19.9  A decodes, B's 51; C must wait (batch 2)  52 tokens 15.1 -> 35.0   B's first
    // t = 35.0  A and B decode                             2 tokens 10.1 -> 45.1   both done
    // t = 45.1  C's 10                                    10.9 -> 56.0   first and last
    const ServingSetup setup = three_requests(BatchingPolicy::mixed);
    const ServingRun run = run_serving(setup);
    CHECK(ttft_ms(setup, run, 0) == doctest::Approx(19.9));
    CHECK(ttft_ms(setup, run, 1) == doctest::Approx(30.0));
    CHECK(ttft_ms(setup, run, 2) == doctest::Approx(50.0));
    CHECK(ms(run.requests[2].admitted) == doctest::Approx(45.1));
    CHECK(ms(*time_per_output_token(setup.requests[0], run.requests[0])) == doctest::Approx(12.6));
    CHECK(ms(*time_per_output_token(setup.requests[1], run.requests[1])) == doctest::Approx(10.1));
    CHECK_FALSE(time_per_output_token(setup.requests[2], run.requests[2]).has_value());
    CHECK(ms(run.makespan) == doctest::Approx(56.0));
    CHECK(run.steps == 4);
    CHECK(run.decode_steps == 1);
    CHECK(run.peak_batch == 2);
    CHECK(run.peak_kv_tokens == 103 + 53);
  }

  TEST_CASE("three requests, prompts first") {
    // 19.9 A | B's 51 alone 15.0 -> 34.9 | A, B decode 10.1 -> 45.0, B done | C's 10 -> 55.9 |
    // A's third token 10.0 -> 65.9
    const ServingSetup setup = three_requests(BatchingPolicy::prefill_first);
    const ServingRun run = run_serving(setup);
    CHECK(ttft_ms(setup, run, 1) == doctest::Approx(29.9));
    CHECK(ttft_ms(setup, run, 2) == doctest::Approx(49.9));
    CHECK(ms(*time_per_output_token(setup.requests[0], run.requests[0])) == doctest::Approx(23.0));
    CHECK(ms(run.makespan) == doctest::Approx(65.9));
    CHECK(run.steps == 5);
    CHECK(run.decode_steps == 2);
  }

  TEST_CASE("a prompt longer than a step is cut, and cached tokens are charged") {
    // max_tokens 60: 60 tokens 15.9 ms, then 40 tokens 13.9 ms reading 60 cached at 0.01 ms each:
    // 0.6. First token 15.9 + 13.9 + 0.6 = 30.4; the second reads 100 + 1: 10 + 1.01 -> 41.41.
    ServingSetup setup = three_requests(BatchingPolicy::mixed);
    setup.requests = {{milliseconds(0), 100, 2}};
    setup.max_tokens = 60;
    setup.per_context_token = microseconds(10);
    const ServingRun run = run_serving(setup);
    CHECK(ms(run.requests[0].first_token) == doctest::Approx(30.4));
    CHECK(ms(run.makespan) == doctest::Approx(41.41));
  }

  TEST_CASE("no room for a second request's answer: it waits for the first to end") {
    // A needs 103 tokens of 150; B's 53 do not fit beside it. A: 19.9, then 10 and 10: 39.9.
    ServingSetup setup = three_requests(BatchingPolicy::mixed);
    setup.kv_tokens = 150;
    const ServingRun run = run_serving(setup);
    CHECK(ms(run.requests[1].admitted) == doctest::Approx(39.9));
    CHECK(run.peak_kv_tokens == 103);
  }

  TEST_CASE("the engine sleeps until the next arrival") {
    ServingSetup setup = three_requests(BatchingPolicy::mixed);
    setup.requests = {{milliseconds(0), 1, 1}, {milliseconds(100), 1, 1}};
    const ServingRun run = run_serving(setup);  // 10 ms, 90 ms of nothing, 10 ms
    CHECK(ms(run.makespan) == doctest::Approx(110));
    CHECK(ms(run.busy) == doctest::Approx(20));
  }

  TEST_CASE("random traces: every token is made, first tokens wait for their prompts") {
    for (unsigned seed = 1; seed <= 200; ++seed) {
      CAPTURE(seed);
      std::mt19937 random(seed);
      const auto upto = [&random](unsigned n) { return 1 + static_cast<int>(random() % n); };
      ServingSetup setup =
          three_requests(seed % 2 == 0 ? BatchingPolicy::mixed : BatchingPolicy::prefill_first);
      setup.requests.clear();
      double arrival = 0;
      std::int64_t tokens = 0;
      for (int i = upto(20); i > 0; --i) {
        setup.requests.push_back({milliseconds(arrival), upto(80), upto(8)});
        tokens += setup.requests.back().prompt + setup.requests.back().output - 1;
        arrival += upto(30) - 1;
      }
      setup.max_batch = upto(6);
      const ServingRun run = run_serving(setup);
      // The table is 9.9 ms a step and 0.1 ms a token, so busy time counts both.
      CHECK(ms(run.busy) == doctest::Approx(9.9 * static_cast<double>(run.steps) +
                                            0.1 * static_cast<double>(tokens)));
      CHECK(run.peak_batch <= setup.max_batch);
      for (std::size_t i = 0; i < setup.requests.size(); ++i) {
        const ServingRequest& request = setup.requests[i];
        const RequestTimes& times = run.requests[i];
        const Seconds prompt_alone = step_time(setup.steps, request.prompt);
        CHECK(times.admitted >= request.arrival);
        CHECK(times.first_token >= times.admitted + 0.999 * prompt_alone);
        CHECK(ms(times.finished - times.first_token) >=
              doctest::Approx(10.0 * static_cast<double>(request.output - 1)));
      }
    }
  }
}
