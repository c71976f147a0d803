// SPDX-License-Identifier: Apache-2.0
#include "model/timeline/serving_file.hpp"

#include <algorithm>

#include "model/input/table_reader.hpp"

namespace floorline {

namespace {

/// Step times and arrivals beyond this (31 years) are mistakes.
constexpr Seconds kLongest{1e9};
constexpr std::int64_t kUsualBatch = 256;

std::string text(std::int64_t n) { return std::to_string(n); }

void check_steps(const std::vector<StepRow>& steps, Diagnostics& diagnostics) {
  std::int64_t before = 0;
  for (const StepRow& row : steps) {
    if (row.step.tokens <= before) {
      diagnostics.add(row.at, "tokens",
                      "is " + text(row.step.tokens) +
                          (before == 0 ? "; expected at least 1"
                                       : "; expected more than the row before, " + text(before)));
    }
    before = std::max(before, row.step.tokens);
    if (!(row.step.time > Seconds(0)) || row.step.time > kLongest)
      diagnostics.add(row.at, "time", "expected a time above zero and below 1e9 s");
  }
}

/// What one request asks for that no step and no cache can give.
void check_request(const ServingSetup& setup, const TraceRow& row, Diagnostics& diagnostics) {
  const ServingRequest& r = row.request;
  if (r.prompt < 1 || r.prompt > kMaxTraceTokens) {
    diagnostics.add(row.at, "prompt_tokens",
                    "is " + text(r.prompt) + "; expected 1 to " + text(kMaxTraceTokens));
  }
  if (r.output < 1 || r.output > kMaxTraceTokens) {
    diagnostics.add(row.at, "output_tokens",
                    "is " + text(r.output) + "; expected 1 to " + text(kMaxTraceTokens));
  }
  if (setup.policy == BatchingPolicy::prefill_first && r.prompt > setup.max_tokens) {
    diagnostics.add(row.at, "prompt_tokens",
                    "is " + text(r.prompt) + ", more than max_tokens = " + text(setup.max_tokens) +
                        "; prefill_first does not cut prompts");
  }
  if (setup.kv_tokens && r.output <= kMaxTraceTokens && r.prompt > *setup.kv_tokens - r.output) {
    diagnostics.add(row.at, "prompt_tokens",
                    "and output_tokens are more than kv_tokens = " + text(*setup.kv_tokens));
  }
}

void check_trace(const ServingSetup& setup, const std::vector<TraceRow>& trace,
                 Diagnostics& diagnostics) {
  Seconds before{0};
  double tokens = 0;
  for (const TraceRow& row : trace) {
    if (row.request.arrival < before)
      diagnostics.add(row.at, "arrival", "is before that of the row above; expected rising times");
    if (row.request.arrival > kLongest)
      diagnostics.add(row.at, "arrival", "expected a time below 1e9 s");
    before = std::max(before, row.request.arrival);
    check_request(setup, row, diagnostics);
    tokens += static_cast<double>(row.request.prompt) + static_cast<double>(row.request.output);
  }
  if (tokens > static_cast<double>(kMaxTraceTokens)) {
    diagnostics.add(trace.front().at, "",
                    "the trace has more than " + text(kMaxTraceTokens) + " tokens in all");
  }
}

void check_limits(const ServingFile& file, const ServingSetup& setup, Diagnostics& diagnostics) {
  const std::int64_t last = setup.steps.back().tokens;
  if (setup.max_tokens > last) {
    diagnostics.add(file.at, "serving.max_tokens",
                    "is " + text(setup.max_tokens) + ", but the table of step times ends at " +
                        text(last) + " tokens");
  }
  if (setup.max_batch > setup.max_tokens) {
    diagnostics.add(file.at, "serving.max_batch",
                    "is " + text(setup.max_batch) + ", more than max_tokens = " +
                        text(setup.max_tokens) + ": a step could not decode for all");
  }
}

}  // namespace

bool names_serving(const Node& document) { return document.find("serving") != nullptr; }

ServingFile read_serving(const Node& document) {
  Diagnostics diagnostics;
  ServingFile file;
  {
    TableReader top(document, "", diagnostics);
    top.required_node("schema", "1");
    const std::optional<std::int64_t> schema = top.count("schema");
    if (schema && *schema != 1) top.error("schema", "is " + text(*schema) + "; expected 1");
    const std::string kind = top.required_text("kind");
    if (!kind.empty() && kind != "pipeline")
      top.error("kind", "is " + quoted(kind) + "; expected \"pipeline\"");
    file.name = top.text("name").value_or("serving");
    const Node* table = top.required_node("serving", "a table");
    top.finish();
    if (table == nullptr) diagnostics.throw_if_any();
    file.at = table->at;
    TableReader serving(*table, "serving", diagnostics);
    file.trace = serving.required_text("trace");
    file.steps = serving.required_text("steps");
    const std::string policy = serving.text("policy").value_or("mixed");
    if (policy != "mixed" && policy != "prefill_first") {
      serving.error("policy", quoted(policy) + " is not one of mixed, prefill_first" +
                                  did_you_mean(policy, {"mixed", "prefill_first"}));
    }
    if (policy == "prefill_first") file.policy = BatchingPolicy::prefill_first;
    file.max_batch = serving.count("max_batch", 1);
    file.max_tokens = serving.count("max_tokens", 1);
    file.kv_tokens = serving.count("kv_tokens", 1);
    file.per_context_token = serving.quantity<Seconds>("per_context_token").value_or(Seconds(0));
  }
  diagnostics.throw_if_any();
  return file;
}

ServingSetup serving_setup(const ServingFile& file, const std::vector<TraceRow>& trace,
                           const std::vector<StepRow>& steps) {
  Diagnostics diagnostics;
  if (trace.empty()) diagnostics.add(file.at, "serving.trace", "has no requests");
  if (steps.empty()) diagnostics.add(file.at, "serving.steps", "has no rows");
  if (trace.size() > static_cast<std::size_t>(kMaxRequests)) {
    diagnostics.add(file.at, "serving.trace",
                    "has " + std::to_string(trace.size()) + " requests; expected at most " +
                        text(kMaxRequests));
  }
  diagnostics.throw_if_any();
  check_steps(steps, diagnostics);
  diagnostics.throw_if_any();
  ServingSetup setup;
  for (const StepRow& row : steps) setup.steps.push_back(row.step);
  setup.policy = file.policy;
  setup.max_tokens = file.max_tokens.value_or(setup.steps.back().tokens);
  setup.max_batch = file.max_batch.value_or(std::min(kUsualBatch, setup.max_tokens));
  setup.kv_tokens = file.kv_tokens;
  setup.per_context_token = file.per_context_token;
  check_limits(file, setup, diagnostics);
  check_trace(setup, trace, diagnostics);
  diagnostics.throw_if_any();
  for (const TraceRow& row : trace) setup.requests.push_back(row.request);
  return setup;
}

}  // namespace floorline
