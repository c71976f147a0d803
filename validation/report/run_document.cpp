// SPDX-License-Identifier: Apache-2.0
#include "validation/report/run_document.hpp"

#include "model/quantity/unit_names.hpp"
#include "model/report/document_head.hpp"
#include "model/report/resource_words.hpp"
#include "validation/report/node_access.hpp"
#include "validation/report/observation_json.hpp"
#include "validation/report/run_json.hpp"
#include "validation/report/run_text.hpp"

namespace floorline {

namespace {

using namespace run_text;

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
       count > 0 ? count_text(count) : "-", ratio ? factor_text(*median / *floor) : "-",
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
