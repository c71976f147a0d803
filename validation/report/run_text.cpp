// SPDX-License-Identifier: Apache-2.0
#include "validation/report/run_text.hpp"

#include "model/quantity/unit_names.hpp"
#include "model/report/resource_words.hpp"
#include "validation/report/node_access.hpp"

namespace floorline::run_text {

std::string value_text(MeasurandKind kind, std::optional<double> value) {
  if (!value) return "-";
  switch (kind) {
    case MeasurandKind::time:
      return to_text(Seconds(*value));
    case MeasurandKind::bytes:
      return to_text(Bytes(*value));
    case MeasurandKind::flops:
      return to_text(Flops(*value));
    case MeasurandKind::bandwidth:
      return to_text(BytesPerSecond(*value));
    case MeasurandKind::flop_rate:
      return to_text(FlopsPerSecond(*value));
    case MeasurandKind::ratio:
      break;
  }
  return number_text(*value, 4);
}

MeasurandKind kind_at(const Node& node, std::string_view path) {
  return measurand_kind_named(text_at(node, path)).value_or(MeasurandKind::ratio);
}

std::string interval_text(MeasurandKind kind, std::optional<double> low,
                          std::optional<double> high) {
  if (low && high) return value_text(kind, low) + " to " + value_text(kind, high);
  if (low) return "at least " + value_text(kind, low);
  if (high) return "at most " + value_text(kind, high);
  return "-";
}

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

std::string seconds_at(const Node& node, std::string_view path) {
  return value_text(MeasurandKind::time, number_at(node, path));
}

std::vector<std::pair<std::string, const Node*>> cases(const Node& run) {
  return {{"baseline", node_at(run, "baseline")}, {"variant", node_at(run, "variant")}};
}

void add_field(Section& section, const char* name, const std::string& value) {
  if (!value.empty()) section.fields.push_back({name, value});
}

namespace {

constexpr const char* kNotCollected = "not collected";

/// "experiment layernorm_fp32: layernorm rows=16384 …": its name, and what it is at these sizes.
std::string experiment_text(const Node& c) {
  const std::string name = text_at(c, "experiment");
  const std::string sizes = text_at(c, "experiment_at_size");
  if (sizes.empty() || sizes == name) return "experiment " + name;
  return "experiment " + name + ": " + sizes;
}

/// 'layernorm rows=…' or the workload with its settings, and where it is not serial its schedule;
/// what ran instead, where an experiment was measured.
std::string case_text(const Node& c) {
  std::string text = text_at(c, "op") + text_at(c, "workload");
  if (text.empty()) {
    text = experiment_text(c);
  } else if (text_at(c, "observed.time.evidence") == "measured") {
    text += "; run as " + experiment_text(c);
  }
  for (const std::string& set : texts_at(c, "set")) text += ", " + set;
  if (text_at(c, "schedule") != "serial") text += " (" + text_at(c, "schedule") + ")";
  return text;
}

// ---- what was measured, and how ----

std::string caches_text(const Node& o) {
  const std::string mode = text_at(o, "caches.mode");
  if (mode != "rotating") return mode;
  return "rotating over " + to_text(Bytes(number_at(o, "caches.rotated_bytes").value_or(0))) +
         " in " + count_text(number_at(o, "caches.calls").value_or(0)) + " calls";
}

std::string clock_text(const Node& o, const char* when) {
  const auto clock = number_at(o, std::string(when) + ".sm_clock_hz");
  const auto heat = number_at(o, std::string(when) + ".temperature_celsius");
  const auto power = number_at(o, std::string(when) + ".power_watts");
  const std::string throttle = text_at(o, std::string(when) + ".throttle_reasons");
  std::string text = clock ? to_text(Hertz(*clock)) : "clock " + std::string(kNotCollected);
  if (heat) text += ", " + number_text(*heat, 3) + " C";
  if (power) text += ", " + number_text(*power, 4) + " W";
  if (!throttle.empty()) text += ", throttled by: " + throttle;
  return text;
}

std::string correctness_text(const Node& o) {
  const auto error = number_at(o, "correctness.max_error");
  if (!error) return "not compared";
  const Node* passed = node_at(o, "correctness.passed");
  return std::string(passed != nullptr && passed->boolean ? "right" : "WRONG") + ", error " +
         number_text(*error, 2) + " of at most " +
         number_text(number_at(o, "correctness.bound").value_or(0), 2);
}

Table method_table(const Node& run) {
  Table table;
  table.title = "How it was measured";
  table.columns = {{"case"},        {"device"},  {"caches"}, {"warm-up", true},
                   {"timer", true}, {"results"}, {"before"}, {"after"}};
  for (const auto& [name, c] : cases(run)) {
    const Node* o = c == nullptr ? nullptr : node_at(*c, "observed.time");
    if (o == nullptr || o->kind != Node::Kind::table || text_at(*o, "evidence") != "measured")
      continue;
    table.rows.push_back({name, or_dash(text_at(*o, "machine.device")), caches_text(*o),
                          count_text(number_at(*o, "warm_up_calls").value_or(0)),
                          seconds_at(*o, "timer_resolution_s"), correctness_text(*o),
                          clock_text(*o, "before"), clock_text(*o, "after")});
  }
  return table;
}

// ---- the limit ----

void add_terms(const std::string& name, const Node& c, const char* list, Table& table) {
  const Node* terms = node_at(c, list);
  if (terms == nullptr) return;
  for (const Node& term : terms->items) {
    const auto id = resource_from(text_at(term, "resource"));
    if (!id) {
      table.rows.push_back({name, or_dash(text_at(term, "resource")), "-", "-",
                            seconds_at(term, "time_s"), text_at(term, "rate_kind")});
      continue;
    }
    const std::string how = text_at(term, "how");
    std::optional<double> amount;
    std::optional<double> rate;
    for (const char* key : {"bytes", "flops", "operations", "host_s"}) {
      if (!amount) amount = number_at(term, key);
    }
    for (const char* key : {"bytes_per_s", "flops_per_s", "per_s", "host_s_per_s"}) {
      if (!rate) rate = number_at(term, key);
    }
    const std::string words = words_for(*id) + (how.empty() ? "" : " (" + how + ")");
    table.rows.push_back({name, words, amount_text(*id, Amount(Flops(amount.value_or(0)))),
                          rate_text(*id, AmountPerSecond(FlopsPerSecond(rate.value_or(0)))),
                          seconds_at(term, "time_s"), text_at(term, "rate_kind")});
  }
}

/// "baseline: t >= 268.5 MB / 3.352 TB/s = 80.09 us (HBM bandwidth)", to paste.
std::string equation(const std::string& name, const Node& c, const std::vector<std::string>& row) {
  return name + ": t >= D/B = " + row[2] + " / " + row[3] + " = " + row[4] + " (" + row[1] +
         ", cold; any residency " + seconds_at(c, "floor.any_residency_s") + ")";
}

}  // namespace

Section boundary_section(const Node& run) {
  Section s;
  s.title = "1. Boundary and baseline";
  add_field(s, "question", text_at(run, "hypothesis.question"));
  add_field(s, "boundary", text_at(run, "hypothesis.boundary"));
  for (const auto& [name, c] : cases(run)) {
    if (c == nullptr) continue;
    add_field(s, name.c_str(), case_text(*c));
    if (name == "baseline") add_field(s, "device", text_at(*c, "device"));
  }
  Table table = method_table(run);
  if (!table.rows.empty()) s.tables.push_back(std::move(table));
  return s;
}

Section limit_section(const Node& run) {
  Section s;
  s.title = "2. Limit and evidence";
  add_field(s, "claimed limit", text_at(run, "hypothesis.claimed_limit"));
  add_field(s, "because", text_at(run, "hypothesis.limit_evidence"));
  add_field(s, "evidence of the claim", text_at(run, "hypothesis.evidence"));
  Table table;
  table.title = "Floors of the engine, cold";
  table.columns = {{"case"},       {"resource"},       {"demand", true},
                   {"rate", true}, {"at least", true}, {"rate is"}};
  for (const auto& [name, c] : cases(run)) {
    if (c == nullptr) continue;
    add_field(s, (name + " floor").c_str(),
              seconds_at(*c, "floor.time_s") + " cold, " + seconds_at(*c, "floor.any_residency_s") +
                  " at any residency, bound by " + or_dash(text_at(*c, "floor.binding")));
    const std::size_t before = table.rows.size();
    add_terms(name, *c, "floor.terms", table);
    if (table.rows.size() > before && text_at(*c, "floor.binding") == "hbm") {
      s.lines.push_back(equation(name, *c, table.rows[before]));
    }
    add_terms(name, *c, "floor.observed_terms", table);
  }
  if (!table.rows.empty()) s.tables.push_back(std::move(table));
  return s;
}

}  // namespace floorline::run_text
