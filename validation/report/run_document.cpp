// SPDX-License-Identifier: Apache-2.0
#include "validation/report/run_document.hpp"

#include "model/quantity/unit_names.hpp"
#include "model/report/document_head.hpp"
#include "model/report/resource_words.hpp"
#include "validation/report/node_access.hpp"
#include "validation/report/observation_json.hpp"
#include "validation/report/run_json.hpp"

namespace floorline {

namespace {

constexpr const char* kNotCollected = "not collected";

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

/// 'layernorm rows=…' or the workload with its settings, and where it is not serial its schedule.
std::string case_text(const Node& c) {
  std::string text = text_at(c, "op") + text_at(c, "workload");
  if (text.empty()) text = "experiment " + text_at(c, "experiment");
  for (const std::string& set : texts_at(c, "set")) text += ", " + set;
  if (text_at(c, "schedule") != "serial") text += " (" + text_at(c, "schedule") + ")";
  return text;
}

std::vector<std::pair<std::string, const Node*>> cases(const Node& run) {
  return {{"baseline", node_at(run, "baseline")}, {"variant", node_at(run, "variant")}};
}

void add_field(Section& section, const char* name, const std::string& value) {
  if (!value.empty()) section.fields.push_back({name, value});
}

// ---- what was measured, and how ----

std::string caches_text(const Node& o) {
  const std::string mode = text_at(o, "caches.mode");
  if (mode != "rotating") return mode;
  return "rotating over " + to_text(Bytes(number_at(o, "caches.rotated_bytes").value_or(0))) +
         " in " + number_text(number_at(o, "caches.calls").value_or(0), 6) + " calls";
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
                          number_text(number_at(*o, "warm_up_calls").value_or(0), 6),
                          seconds_at(*o, "timer_resolution_s"), correctness_text(*o),
                          clock_text(*o, "before"), clock_text(*o, "after")});
  }
  return table;
}

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
    table.rows.push_back({name, words_for(*id), amount_text(*id, Amount(Flops(amount.value_or(0)))),
                          rate_text(*id, AmountPerSecond(FlopsPerSecond(rate.value_or(0)))),
                          seconds_at(term, "time_s"), text_at(term, "rate_kind")});
  }
}

/// "baseline: t >= 268.5 MB / 3.352 TB/s = 80.09 us (HBM bandwidth)", to paste.
std::string equation(const std::string& name, const Node& c, const std::vector<std::string>& row) {
  return name + ": t >= D/B = " + row[2] + " / " + row[3] + " = " + row[4] + " (" + row[1] +
         ", cold; any residency " + seconds_at(c, "floor.any_residency_s") + ")";
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

// ---- change, prediction, observation, refutation ----

Table change_table(const Node& run) {
  Table table;
  table.title = "The change";
  table.columns = {{"key"}, {"baseline"}, {"variant"}};
  const Node* all = node_at(run, "hypothesis.change.differences");
  if (all == nullptr) return table;
  for (const Node& d : all->items) {
    table.rows.push_back(
        {text_at(d, "key"), or_dash(text_at(d, "baseline")), or_dash(text_at(d, "variant"))});
  }
  return table;
}

void add_observation(const std::string& name, const Node& c, const char* key, Table& table) {
  const Node* o = node_at(c, std::string("observed.") + key);
  if (o == nullptr || o->kind != Node::Kind::table) return;
  const MeasurandKind kind = kind_at(*o, "kind");
  const std::string suffix(key_suffix(kind));
  const auto value = [&](const std::string& path) { return number_at(*o, path + suffix); };
  const double count = number_at(*o, "summary.samples").value_or(0);
  const auto median = value("summary.median");
  const auto floor = number_at(c, "floor.time_s");
  const bool ratio = kind == MeasurandKind::time && median && floor && *floor > 0;
  table.rows.push_back(
      {name, std::string(key) == "second_run" ? "time, second run" : text_at(*o, "what"),
       value_text(kind, median),
       interval_text(kind, value("summary.interval.low"), value("summary.interval.high")),
       count > 0 ? value_text(kind, value("summary.minimum")) : "-",
       count > 0 ? percent_text(number_at(*o, "summary.spread").value_or(0)) : "none (typed)",
       count > 0 ? number_text(count, 6) : "-", ratio ? factor_text(*median / *floor) : "-",
       or_dash(text_at(c, "judged.residency"))});
}

Table observation_table(const Node& run) {
  Table table;
  table.title = "Observed";
  table.columns = {{"case"},          {"what"},         {"median", true},  {"interval"},
                   {"fastest", true}, {"spread", true}, {"samples", true}, {"x cold floor", true},
                   {"caches"}};
  for (const auto& [name, c] : cases(run)) {
    if (c == nullptr) continue;
    for (const char* key : {"time", "second_run", "hbm_bytes"}) {
      add_observation(name, *c, key, table);
    }
  }
  return table;
}

/// Sentences, not a table: they are read one by one, and the first is the first to follow.
Section doubt_section(const Node& run) {
  Section s;
  s.title = "What to doubt, and the next measurement that would tell";
  for (const auto& [name, c] : cases(run)) {
    const Node* doubts = c == nullptr ? nullptr : node_at(*c, "judged.doubts");
    if (doubts == nullptr) continue;
    for (const Node& d : doubts->items) {
      s.lines.push_back("- " + name + ", " + text_at(d, "doubt") + ": " + text_at(d, "why") +
                        ". Next: " + text_at(d, "next_measurement"));
    }
  }
  return s;
}

void add_reasons(const Node& run, Section& s) {
  for (const std::string& reason : texts_at(run, "result.reasons"))
    s.lines.push_back("- " + reason);
  for (const auto& [name, c] : cases(run)) {
    if (c == nullptr) continue;
    for (const std::string& reason : texts_at(*c, "judged.reasons")) {
      s.lines.push_back("- " + name + ": " + reason);
    }
    const std::string why = text_at(*c, "not_measured");
    if (!why.empty()) s.lines.push_back("- " + name + " was not measured: " + why);
  }
}

void add_result(const Node& run, MeasurandKind kind, Section& s) {
  const std::string suffix(key_suffix(kind));
  if (text_at(run, "result.verdict").empty()) {
    add_field(s, "verdict", "none: nothing was observed");
    return;
  }
  const auto value = number_at(run, "result.value" + suffix);
  std::string observed = value_text(kind, value);
  if (value && number_at(run, "result.low" + suffix)) {
    observed += " (" +
                interval_text(kind, number_at(run, "result.low" + suffix),
                              number_at(run, "result.high" + suffix)) +
                ")";
  }
  add_field(s, "observed", observed);
  add_field(s, "prediction", text_at(run, "result.prediction"));
  add_field(s, "verdict", text_at(run, "result.verdict"));
}

Section change_section(const Node& run) {
  Section s;
  s.title = "3. One change: prediction, observation, refutation";
  const Node empty;
  const Node* p = node_at(run, "hypothesis.prediction");
  if (p == nullptr) p = &empty;
  const MeasurandKind kind = kind_at(*p, "kind");
  const std::string suffix(key_suffix(kind));
  add_field(s, "changed variable", text_at(run, "hypothesis.change.variable"));
  add_field(s, "predicted amount", text_at(*p, "amount") + ": " + text_at(*p, "meaning"));
  add_field(s, "claimed",
            interval_text(kind, number_at(*p, "low" + suffix), number_at(*p, "high" + suffix)));
  add_field(s, "rests on", text_at(*p, "source"));
  const auto engine = number_at(*p, "engine" + suffix);
  add_field(s, "floors alone give",
            engine ? value_text(kind, engine) + " (cold; a ratio of floors is not a promise)"
                   : "nothing: no floor bounds this amount");
  add_field(s, "refuted if", text_at(*p, "refuted_if"));
  add_result(run, kind, s);
  add_reasons(run, s);
  for (Table table : {change_table(run), observation_table(run)}) {
    if (!table.rows.empty()) s.tables.push_back(std::move(table));
  }
  return s;
}

Table csv_of(const Node& run) {
  Table csv;
  for (const char* name :
       {"hypothesis", "case", "what", "evidence", "median", "low", "high", "minimum", "samples",
        "unit", "floor_cold_s", "floor_any_residency_s", "finding", "verdict"}) {
    csv.columns.push_back({name});
  }
  const auto exact = [](const std::optional<double>& x) { return x ? exact_text(*x) : ""; };
  for (const auto& [name, c] : cases(run)) {
    for (const char* key : {"time", "second_run", "hbm_bytes"}) {
      const Node* o = c == nullptr ? nullptr : node_at(*c, std::string("observed.") + key);
      if (o == nullptr || o->kind != Node::Kind::table) continue;
      const MeasurandKind kind = kind_at(*o, "kind");
      const std::string suffix(key_suffix(kind));
      const auto at = [&](const char* path) { return exact(number_at(*o, path + suffix)); };
      csv.rows.push_back({text_at(run, "hypothesis.name"), name, text_at(*o, "what"),
                          text_at(*o, "evidence"), at("summary.median"), at("summary.interval.low"),
                          at("summary.interval.high"), at("summary.minimum"),
                          exact(number_at(*o, "summary.samples")), std::string(unit_of(kind)),
                          exact(number_at(*c, "floor.time_s")),
                          exact(number_at(*c, "floor.any_residency_s")),
                          text_at(*c, "judged.finding"), text_at(run, "result.verdict")});
    }
  }
  return csv;
}

}  // namespace

Node node_of(const Json& json) {
  Document doc;
  doc.json = json;
  return parse_json(write_json(doc), "run");
}

Json json_of(const Node& node) {
  switch (node.kind) {
    case Node::Kind::null:
      return {};
    case Node::Kind::boolean:
      return {node.boolean};
    case Node::Kind::integer:
      return {node.integer};
    case Node::Kind::real:
      return {node.real};
    case Node::Kind::text:
      return {node.text};
    case Node::Kind::array: {
      Json json = Json::array();
      for (const Node& item : node.items) json.push(json_of(item));
      return json;
    }
    case Node::Kind::table: {
      Json json = Json::object();
      for (const NodeMember& m : node.members) json.set(m.key, json_of(m.value));
      return json;
    }
  }
  return {};
}

std::vector<Section> run_sections(const Node& run) {
  Section first;
  first.lines.push_back(text_at(run, "standing"));
  std::vector<Section> sections{std::move(first), boundary_section(run), limit_section(run),
                                change_section(run)};
  if (Section doubts = doubt_section(run); !doubts.lines.empty()) {
    sections.push_back(std::move(doubts));
  }
  const std::vector<std::string> lines =
      small_print_lines(texts_at(run, "notes"), texts_at(run, "assumptions"));
  if (!lines.empty()) sections.push_back({"Conditions and assumptions", {}, lines, {}});
  return sections;
}

Document run_document(const HypothesisRun& run) {
  Document doc;
  doc.json = run_json(run);
  const Node node = node_of(doc.json);
  doc.sections = run_sections(node);
  doc.csv = csv_of(node);
  return doc;
}

Document record_document(const Node& record, std::string_view command) {
  Document doc = document_frame(command);
  const Node empty;
  const Node* run = record.find("run");
  if (run == nullptr) run = &empty;
  doc.json.set("record", json_of(record));
  doc.sections = run_sections(*run);
  Section head;
  head.title = "Record";
  add_field(head, "id", text_at(record, "id"));
  add_field(head, "created", text_at(record, "created_utc"));
  add_field(head, "host", text_at(record, "host"));
  add_field(head, "floorline", text_at(*run, "floorline"));
  add_field(head, "record before it", text_at(record, "previous.id"));
  for (const char* path :
       {"hypothesis_sha256", "baseline.device_sha256", "baseline.workload_sha256",
        "variant.device_sha256", "variant.workload_sha256"}) {
    add_field(head, path, text_at(record, std::string("hashes.") + path));
  }
  doc.sections.push_back(std::move(head));
  doc.csv = csv_of(*run);
  return doc;
}

}  // namespace floorline
