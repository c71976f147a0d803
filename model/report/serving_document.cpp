// SPDX-License-Identifier: Apache-2.0
#include "model/report/serving_document.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "model/quantity/unit_names.hpp"
#include "model/report/document_head.hpp"

namespace floorline {

namespace {

constexpr std::size_t kUsualRows = 20;

/// Of one time of all requests that have it.
struct Spread {
  std::size_t count = 0;
  Seconds mean{0}, p50{0}, p90{0}, p99{0}, most{0};
};

std::optional<Spread> spread_of(std::vector<Seconds> times) {
  if (times.empty()) return std::nullopt;
  std::sort(times.begin(), times.end());
  const auto n = static_cast<double>(times.size());
  const auto at = [&](double share) {
    const auto place = static_cast<std::size_t>(std::ceil(share * n));
    return times[std::clamp<std::size_t>(place, 1, times.size()) - 1];
  };
  Seconds sum{0};
  for (const Seconds t : times) sum += t;
  return Spread{times.size(), sum / n, at(0.5), at(0.9), at(0.99), times.back()};
}

Json spread_json(const std::optional<Spread>& spread) {
  if (!spread) return {};
  return Json::object()
      .set("requests", static_cast<std::int64_t>(spread->count))
      .set("mean_s", spread->mean.in_base_units())
      .set("p50_s", spread->p50.in_base_units())
      .set("p90_s", spread->p90.in_base_units())
      .set("p99_s", spread->p99.in_base_units())
      .set("most_s", spread->most.in_base_units());
}

std::string spread_text(const std::optional<Spread>& spread) {
  if (!spread) return "no request has more than one token";
  return "mean " + to_text(spread->mean) + ", median " + to_text(spread->p50) + ", 90 % " +
         to_text(spread->p90) + ", 99 % " + to_text(spread->p99) + ", most " +
         to_text(spread->most);
}

Json request_json(const ServingRequest& request, const RequestTimes& times) {
  const std::optional<Seconds> tpot = time_per_output_token(request, times);
  return Json::object()
      .set("arrival_s", request.arrival.in_base_units())
      .set("prompt_tokens", request.prompt)
      .set("output_tokens", request.output)
      .set("admitted_s", times.admitted.in_base_units())
      .set("first_token_s", times.first_token.in_base_units())
      .set("finished_s", times.finished.in_base_units())
      .set("ttft_s", time_to_first_token(request, times).in_base_units())
      .set("tpot_s", tpot ? Json(tpot->in_base_units()) : Json());
}

/// One row a request, in text for people or exact for csv.
std::vector<std::string> request_row(std::size_t i, const ServingReport& report, bool exact) {
  const ServingRequest& request = report.setup.requests[i];
  const RequestTimes& times = report.run.requests[i];
  const auto shown = [exact](Seconds t) {
    return exact ? exact_text(t.in_base_units()) : to_text(t);
  };
  const std::optional<Seconds> tpot = time_per_output_token(request, times);
  const std::string none = exact ? "" : "-";
  return {std::to_string(i),
          shown(request.arrival),
          std::to_string(request.prompt),
          std::to_string(request.output),
          shown(times.admitted - request.arrival),
          shown(time_to_first_token(request, times)),
          tpot ? shown(*tpot) : none,
          shown(times.finished)};
}

Table request_table(const ServingReport& report) {
  Table table;
  table.title = "Requests";
  table.columns = {{"request", true}, {"arrives", true}, {"prompt", true}, {"output", true},
                   {"waits", true},   {"TTFT", true},    {"TPOT", true},   {"ends", true}};
  const std::size_t all = report.setup.requests.size();
  const std::size_t wanted = report.top > 0 ? static_cast<std::size_t>(report.top) : kUsualRows;
  for (std::size_t i = 0; i < std::min(all, wanted); ++i)
    table.rows.push_back(request_row(i, report, false));
  if (wanted < all) {
    table.footnotes.push_back("the first " + std::to_string(wanted) + " of " + std::to_string(all) +
                              " (--top shows more, csv and json have all)");
  }
  return table;
}

Table csv_table(const ServingReport& report) {
  Table table;
  table.columns = {{"request"},  {"arrival_s"}, {"prompt_tokens"}, {"output_tokens"},
                   {"waited_s"}, {"ttft_s"},    {"tpot_s"},        {"finished_s"}};
  for (std::size_t i = 0; i < report.setup.requests.size(); ++i)
    table.rows.push_back(request_row(i, report, true));
  return table;
}

std::vector<std::string> assumptions_of(const ServingReport& report) {
  const ServingSetup& setup = report.setup;
  std::vector<std::string> lines;
  lines.push_back(setup.policy == BatchingPolicy::mixed
                      ? "policy mixed: every step decodes one token of each running request, then "
                        "fills up with prompts, cut where need be"
                      : "policy prefill_first: steps of whole prompts while any waits, decode "
                        "steps otherwise");
  lines.push_back("max_batch " + std::to_string(setup.max_batch) + ", max_tokens " +
                  std::to_string(setup.max_tokens) + " a step" +
                  (setup.kv_tokens ? ", kv_tokens " + std::to_string(*setup.kv_tokens) : ""));
  if (!setup.kv_tokens) lines.emplace_back("the cache holds every admitted request (no kv_tokens)");
  if (!(setup.per_context_token > Seconds(0)))
    lines.emplace_back("a step's time does not depend on the context (no per_context_token)");
  lines.emplace_back("no time between steps, no preemption");
  return lines;
}

struct Totals {
  std::int64_t output = 0;
  std::int64_t prompt = 0;
};
Totals totals_of(const ServingSetup& setup) {
  Totals totals;
  for (const ServingRequest& r : setup.requests) {
    totals.output += r.output;
    totals.prompt += r.prompt;
  }
  return totals;
}

struct Figures {
  Totals totals;
  std::optional<Spread> ttft, tpot;
  double output_rate = 0;
};
Figures figures_of(const ServingReport& report) {
  std::vector<Seconds> ttft;
  std::vector<Seconds> tpot;
  for (std::size_t i = 0; i < report.setup.requests.size(); ++i) {
    const ServingRequest& request = report.setup.requests[i];
    ttft.push_back(time_to_first_token(request, report.run.requests[i]));
    if (const auto t = time_per_output_token(request, report.run.requests[i])) tpot.push_back(*t);
  }
  Figures f{totals_of(report.setup), spread_of(std::move(ttft)), spread_of(std::move(tpot)), 0};
  const Seconds span = report.run.makespan - report.setup.requests.front().arrival;
  f.output_rate = static_cast<double>(f.totals.output) / span.in_base_units();
  return f;
}

Section head_section(const ServingReport& report, const Figures& f) {
  const ServingRun& run = report.run;
  Section head;
  head.title = report.file.name;
  head.fields = {
      {"requests", std::to_string(report.setup.requests.size()) + ", " +
                       std::to_string(f.totals.prompt) + " prompt and " +
                       std::to_string(f.totals.output) + " output tokens"},
      {"ends at", to_text(run.makespan)},
      {"throughput",
       number_text(f.output_rate) + " output token/s from the first arrival to the end"},
      {"TTFT", spread_text(f.ttft)},
      {"TPOT", spread_text(f.tpot)},
      {"engine busy", to_text(run.busy) + " in " + std::to_string(run.steps) + " steps, " +
                          std::to_string(run.decode_steps) + " of them decode only"},
      {"peak batch", std::to_string(run.peak_batch) + " requests, " +
                         std::to_string(run.peak_kv_tokens) + " tokens of cache held"}};
  return head;
}

Json serving_json(const ServingReport& report, const Figures& f,
                  const std::vector<std::string>& assumptions) {
  const ServingRun& run = report.run;
  Json json = document_head("timeline");
  json.set("kind", "serving").set("name", report.file.name);
  json.set("inputs", Json::object()
                         .set("workload", report.workload)
                         .set("set", json_of(report.set))
                         .set("trace", report.file.trace)
                         .set("steps", report.file.steps));
  json.set("assumptions", json_of(assumptions)).set("notes", Json::array());
  json.set("makespan_s", run.makespan.in_base_units());
  json.set("busy_s", run.busy.in_base_units());
  json.set("output_tokens_per_s", f.output_rate);
  json.set("steps", run.steps).set("decode_steps", run.decode_steps);
  json.set("peak_batch", run.peak_batch).set("peak_kv_tokens", run.peak_kv_tokens);
  json.set("ttft", spread_json(f.ttft)).set("tpot", spread_json(f.tpot));
  Json requests = Json::array();
  for (std::size_t i = 0; i < report.setup.requests.size(); ++i)
    requests.push(request_json(report.setup.requests[i], run.requests[i]));
  json.set("requests", std::move(requests));
  return json;
}

}  // namespace

Document serving_document(const ServingReport& report) {
  const Figures figures = figures_of(report);
  const std::vector<std::string> assumptions = assumptions_of(report);
  Document doc;
  doc.json = serving_json(report, figures, assumptions);
  doc.sections.push_back(head_section(report, figures));
  doc.sections.push_back({"", {}, {}, {request_table(report)}});
  doc.sections.push_back({"Assumptions and notes", {}, small_print_lines({}, assumptions), {}});
  doc.csv = csv_table(report);
  return doc;
}

}  // namespace floorline
