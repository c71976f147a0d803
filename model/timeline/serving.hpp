// SPDX-License-Identifier: Apache-2.0
// A fixed trace of requests under continuous batching: when does each get its first token and its
// last? Time goes step by step on one engine; a step of T tokens takes what the step-time table
// says.
//   admission  first come, first served, before a step, while fewer than max_batch run and (when
//              kv_tokens is given) prompt + output of all admitted fit
//   mixed      every running sequence decodes one token, then prompts fill what max_tokens leaves,
//              in pieces if need be (chunked prefill; Agrawal et al., arXiv 2403.02310)
//   prefill_first  a step holds whole prompts only while any waits, else one token of each sequence
//              (Yu et al., "Orca", OSDI 2022, with prompts in steps of their own)
//   first token   at the end of the step that ends the prompt; each later step gives one more
//   step time  linear between rows of the table, the first row's below it, plus
//              per_context_token for every cached token that the step reads
// Ignored: preemption (room for the whole answer is taken at admission), prefix caches,
// speculation, time between steps, several engines.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/quantity/quantity.hpp"

namespace floorline {

struct ServingRequest {
  Seconds arrival{0};
  std::int64_t prompt = 1;
  std::int64_t output = 1;
};

struct StepTime {
  std::int64_t tokens = 1;
  Seconds time{0};
};

enum class BatchingPolicy : std::uint8_t { mixed, prefill_first };

// More is an input error of the reader.
inline constexpr std::int64_t kMaxRequests = 1'000'000;
inline constexpr std::int64_t kMaxTraceTokens = 200'000'000;  ///< prompts and outputs of all

/// What the reader has checked: requests by arrival; rows by rising tokens, the last at least
/// max_tokens; max_batch <= max_tokens; every request fits kv_tokens, and max_tokens where prompts
/// are not cut.
struct ServingSetup {
  std::vector<ServingRequest> requests;
  std::vector<StepTime> steps;
  BatchingPolicy policy = BatchingPolicy::mixed;
  std::int64_t max_batch = 256;
  std::int64_t max_tokens = 8192;
  std::optional<std::int64_t> kv_tokens;
  Seconds per_context_token{0};
};

struct RequestTimes {
  Seconds admitted{0};
  Seconds first_token{0};
  Seconds finished{0};
};
/// From arrival to the end of the step that gave the first token.
Seconds time_to_first_token(const ServingRequest& request, const RequestTimes& times);
/// (last - first token) / (tokens - 1); absent for a single token.
std::optional<Seconds> time_per_output_token(const ServingRequest& request,
                                             const RequestTimes& times);

struct ServingRun {
  std::vector<RequestTimes> requests;  ///< as the setup's
  Seconds makespan{0};                 ///< end of the last step, from time zero
  Seconds busy{0};
  std::int64_t steps = 0;
  std::int64_t decode_steps = 0;  ///< without a prompt token
  std::int64_t peak_batch = 0;
  std::int64_t peak_kv_tokens = 0;  ///< prompt + output of all admitted at once
};
ServingRun run_serving(const ServingSetup& setup);

/// Of a step of `tokens` tokens, from the table alone.
Seconds step_time(const std::vector<StepTime>& table, std::int64_t tokens);

}  // namespace floorline
