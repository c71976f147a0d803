// SPDX-License-Identifier: Apache-2.0
#include "model/timeline/serving.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>

#include "model/input/diagnostic.hpp"
#include "model/input/document_node.hpp"
#include "model/timeline/serving_file.hpp"

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

namespace {

ServingFile file_from(const std::string& keys) {
  return read_serving(parse_document("schema = 1\nkind = \"pipeline\"\n[serving]\n" + keys, "s"));
}
const std::string kTables = "trace = \"t.csv\"\nsteps = \"s.csv\"\n";

std::string setup_refusal(const std::string& keys, const std::vector<TraceRow>& trace,
                          const std::vector<StepRow>& steps) {
  try {
    serving_setup(file_from(kTables + keys), trace, steps);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}
const Position kRow = position_in("t.csv", 2, 1);
TraceRow row(double arrival_ms, std::int64_t prompt, std::int64_t output) {
  return {{milliseconds(arrival_ms), prompt, output}, kRow};
}
const std::vector<StepRow> kSteps = {{{1, milliseconds(10)}, kRow}, {{64, milliseconds(20)}, kRow}};

}  // namespace

TEST_SUITE("timeline") {
  TEST_CASE("a serving file and what it leaves to its tables") {
    const ServingSetup setup = serving_setup(file_from(kTables), {row(0, 5, 2)}, kSteps);
    CHECK(setup.max_tokens == 64);  // the last row of the step times
    CHECK(setup.max_batch == 64);   // 256, but no more than a step holds
    CHECK(setup.policy == BatchingPolicy::mixed);
    CHECK(file_from(kTables + "policy = \"prefill_first\"\n").policy ==
          BatchingPolicy::prefill_first);
    CHECK_THROWS_AS(file_from("trace = \"t.csv\"\n"), InputError);
    CHECK_THROWS_AS(file_from(kTables + "policy = \"mxied\"\n"), InputError);
    CHECK_THROWS_AS(file_from(kTables + "max_bacth = 4\n"), InputError);
  }

  TEST_CASE("what cannot be served is refused with its row") {
    const auto says = [](const std::string& text, const char* part) {
      CAPTURE(text);
      return text.find(part) != std::string::npos;
    };
    CHECK(says(setup_refusal("", {}, kSteps), "no requests"));
    CHECK(says(setup_refusal("", {row(0, 5, 2)}, {}), "no rows"));
    CHECK(says(setup_refusal("", {row(5, 5, 2), row(4, 5, 2)}, kSteps), "rising"));
    CHECK(says(setup_refusal("", {row(0, 0, 2)}, kSteps), "prompt_tokens: is 0"));
    CHECK(says(setup_refusal("", {row(0, 1, 0)}, kSteps), "output_tokens: is 0"));
    CHECK(says(setup_refusal("", {row(0, 150'000'000, 100'000'000)}, kSteps), "tokens in all"));
    CHECK(says(setup_refusal("max_tokens = 65\n", {row(0, 5, 2)}, kSteps), "ends at 64"));
    CHECK(says(setup_refusal("max_tokens = 8\nmax_batch = 9\n", {row(0, 5, 2)}, kSteps),
               "more than max_tokens = 8"));
    CHECK(says(setup_refusal("kv_tokens = 6\n", {row(0, 5, 2)}, kSteps), "kv_tokens = 6"));
    CHECK(says(setup_refusal("policy = \"prefill_first\"\n", {row(0, 65, 2)}, kSteps),
               "does not cut prompts"));
    CHECK(says(setup_refusal("", {row(0, 5, 2)}, {kSteps[1], kSteps[0]}), "more than the row"));
    CHECK(says(setup_refusal("", {row(0, 5, 2)}, {{{1, Seconds(0)}, kRow}}), "above zero"));
  }
}
