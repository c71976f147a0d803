// SPDX-License-Identifier: Apache-2.0
// A serving file: kind = "pipeline" with a [serving] table that names a trace of requests and a
// table of step times (workloads/PIPELINES.md). The tables are read by whoever knows files; their
// rows come back here, are checked against each other, and make a setup that can run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/quantity/sourced.hpp"
#include "model/timeline/serving.hpp"

namespace floorline {

struct Node;

struct ServingFile {
  std::string name;
  std::string trace;  ///< CSV, as written
  std::string steps;
  BatchingPolicy policy = BatchingPolicy::mixed;
  std::optional<std::int64_t> max_batch;
  std::optional<std::int64_t> max_tokens;
  std::optional<std::int64_t> kv_tokens;
  Seconds per_context_token{0};
  Position at;
};

bool names_serving(const Node& document);
/// Throws InputError with all that is wrong.
ServingFile read_serving(const Node& document);

struct TraceRow {
  ServingRequest request;
  Position at;
};
struct StepRow {
  StepTime step;
  Position at;
};
/// Throws InputError: no rows, requests out of order, steps that do not rise, a request that cannot
/// be served, more than kMaxRequests or kMaxTraceTokens.
ServingSetup serving_setup(const ServingFile& file, const std::vector<TraceRow>& trace,
                           const std::vector<StepRow>& steps);

}  // namespace floorline
