// SPDX-License-Identifier: Apache-2.0
#include "model/report/whatif_document.hpp"

#include <algorithm>

#include "model/quantity/unit_names.hpp"
#include "model/report/document_head.hpp"
#include "model/report/explain.hpp"
#include "model/report/floor_json.hpp"
#include "model/report/routing_section.hpp"
#include "model/report/whatif_json.hpp"
#include "model/report/whatif_sections.hpp"

namespace floorline {

namespace {

Json texts_json(const std::vector<std::string>& lines) { return json_of(lines); }

Json inputs_json(const WhatifInputs& inputs, const Whatif* result) {
  Json json = Json::object();
  json.set("workload", inputs.workload.empty() ? Json() : Json(inputs.workload));
  const bool device = result != nullptr && result->before.machine;
  json.set("device", device ? device_json(*result->before.machine) : Json());
  if (device && result->after.machine->device.name != result->before.machine->device.name)
    json.set("device_after", device_json(*result->after.machine));
  if (result != nullptr && result->situation.kernel) {
    const KernelNumbers& k = *result->situation.kernel;
    json.set("numbers", Json::object()
                            .set("flops", k.work.in_base_units())
                            .set("bytes", k.traffic.in_base_units())
                            .set("peak_flops_per_s", k.peak.in_base_units())
                            .set("bandwidth_bytes_per_s", k.bandwidth.in_base_units()));
  }
  Json symbols = Json::object();
  if (result != nullptr) {
    const OperatorGraph& graph = result->before.evaluation.graph;
    for (std::size_t i = 0; i < graph.symbol_values.size(); ++i)
      symbols.set(graph.symbols.names()[i], graph.symbol_values[i]);
  }
  json.set("symbols", std::move(symbols));
  json.set("set", texts_json(inputs.set)).set("changes", texts_json(inputs.changes));
  json.set("measured", texts_json(inputs.measured)).set("points", texts_json(inputs.points));
  if (!inputs.emitted.empty()) json.set("emitted", inputs.emitted);
  return json;
}

std::vector<std::string> derivation_of(const WhatifInputs& inputs, const Outcome& outcome) {
  BoundReport report;
  report.inputs.workload = inputs.workload;
  report.inputs.ranks = outcome.ranks;
  report.machine = outcome.machine.get();
  if (outcome.numbers) report.numbers = *outcome.numbers;
  report.evaluation = &outcome.evaluation;
  report.model = outcome.model;
  return explain(report);
}

std::vector<std::string> all_notes(const Whatif& w) {
  std::vector<std::string> notes = w.notes;
  notes.push_back("ratios are of floors: what a change would buy at the floor, no promise");
  const bool many =
      w.before.model && (w.situation.model->layout.pp > 1 || w.before.model->phase == "generate");
  if (many) {
    notes.push_back(
        "floor ratios are of the whole (all stages, all steps); before and after show the stage or "
        "step that limits");
  }
  if (w.uniform) {
    notes.push_back(
        "experts: floors and the ranking count the least that any data could cause; the row of "
        "uniform routing is the mean step, which more tokens make longer");
  }
  std::vector<std::string> conditions;
  for (const Outcome* o : {&w.before, &w.after}) {
    for (const std::string& line : floor_conditions(o->evaluation, o->machine.get()))
      conditions.push_back("condition: " + line);
  }
  return unique_lines({w.after.evaluation.graph.notes,
                       fused_notes(w.after.evaluation.graph, w.after.machine.get()), w.after.notes,
                       w.ranking.notes, notes, conditions});
}

std::vector<std::string> all_assumptions(const Whatif& w) {
  return unique_lines(
      {w.before.evaluation.graph.assumptions, w.after.evaluation.graph.assumptions});
}

Json total_json(const Outcome& outcome) {
  const Evaluation& e = outcome.evaluation;
  Json total = json_of_total(e.floors, outcome.ranks, outcome.machine != nullptr);
  if (e.uniform) total.set("uniform_routing", json_of_uniform(*e.uniform));
  return total;
}

Table csv_of(const Whatif& w) {
  Table csv;
  for (const char* name : {"change", "from", "to", "floor_ratio_cold", "floor_ratio_any_residency",
                           "break_even_value", "break_even_factor", "break_even_binding"})
    csv.columns.push_back({name, false});
  const auto text = [](const std::optional<double>& v) { return v ? exact_text(*v) : ""; };
  for (const SingleChange& c : w.changes) {
    const auto& even = c.break_even.found;
    csv.rows.push_back({c.change.name, c.from, c.to, c.alone ? text(c.alone->serial.cold) : "",
                        c.alone ? text(c.alone->serial.any) : "",
                        even ? exact_text(even->value) : "", even ? exact_text(even->factor) : "",
                        even ? name_of(even->to) : ""});
  }
  csv.rows.push_back(
      {"all together", "", "", text(w.ratios.serial.cold), text(w.ratios.serial.any), "", "", ""});
  return csv;
}

void add_results(Json& json, const WhatifInputs& inputs, const Whatif& w) {
  json.set("before", total_json(w.before)).set("after", total_json(w.after));
  json.set("floor_ratio", w.ratios.serial.cold ? Json(*w.ratios.serial.cold) : Json());
  json.set("floor_ratios", json_of(w.ratios));
  if (w.uniform) json.set("floor_ratio_uniform_routing", *w.uniform);
  json.set("bindings", bindings_json(w));
  json.set("peak_memory", peak_memory_json(w));
  Json changes = Json::array();
  for (const SingleChange& c : w.changes) changes.push(json_of(c));
  json.set("changes", std::move(changes));
  if (w.interaction) {
    json.set("interaction", Json::object()
                                .set("product_of_single_ratios", w.interaction->product)
                                .set("joint_ratio", w.interaction->joint)
                                .set("interact", w.interaction->interact()));
  }
  if (w.before.model && w.after.model) {
    json.set("model", Json::object()
                          .set("before", model_json(*w.before.model))
                          .set("after", model_json(*w.after.model)));
  }
  if (w.measured) {
    const auto& most = w.measured->speedup_at_most;
    json.set("speedup_at_most", most ? Json(*most) : Json());
    std::string given;
    for (const std::string& text : inputs.measured) {
      if (text.find('=') == std::string::npos) given = text;
    }
    json.set("measured", json_of(*w.measured, given));
  }
  if (w.amdahl) json.set("amdahl", json_of(*w.amdahl));
  if (w.line) json.set("line", json_of(*w.line));
  Json ranked = Json::array();
  for (const RankedChange& r : w.ranking.changes) ranked.push(json_of(r));
  json.set("ranked", std::move(ranked));
}

}  // namespace

Document whatif_document(const WhatifInputs& inputs, const Whatif& w) {
  Document doc;
  doc.json = document_head("whatif");
  doc.json.set("inputs", inputs_json(inputs, &w));
  doc.json.set("assumptions", json_of(all_assumptions(w)));
  doc.json.set("notes", json_of(unique_lines({w.unfit, all_notes(w)})));
  add_results(doc.json, inputs, w);

  doc.sections.push_back(head_section(inputs, w));
  doc.sections.push_back(floors_section(w));
  if (!w.changes.empty()) doc.sections.push_back(changes_section(w));
  if (w.measured) doc.sections.push_back(measured_section(inputs, w));
  if (w.amdahl) doc.sections.push_back(amdahl_section(*w.amdahl));
  if (w.line) doc.sections.push_back(line_section(w, *w.line));
  if (!w.ranking.changes.empty()) doc.sections.push_back(ranking_section(w, inputs));
  if (inputs.explain) {
    const std::vector<std::string> before = derivation_of(inputs, w.before);
    const std::vector<std::string> after = derivation_of(inputs, w.after);
    doc.json.set("derivation",
                 Json::object().set("before", json_of(before)).set("after", json_of(after)));
    doc.sections.push_back({"Derivation, before", {}, before, {}});
    doc.sections.push_back({"Derivation, after", {}, after, {}});
  }
  doc.sections.push_back(
      {"Conditions and assumptions", {}, small_print_lines(all_notes(w), all_assumptions(w)), {}});
  doc.csv = csv_of(w);
  return doc;
}

Document amdahl_document(const WhatifInputs& inputs, const AmdahlPrediction& p) {
  Document doc;
  const std::vector<std::string> notes{
      "no workload and no device: measured times alone, so no floor and no ceiling but Amdahl's"};
  doc.json = document_head("whatif");
  doc.json.set("inputs", inputs_json(inputs, nullptr));
  doc.json.set("assumptions", Json::array()).set("notes", json_of(notes));
  doc.json.set("before", Json()).set("after", Json());
  doc.json.set("floor_ratio", Json()).set("floor_ratios", Json());
  doc.json.set("changes", Json::array());
  doc.json.set("amdahl", json_of(p));
  doc.sections.push_back(amdahl_section(p));
  doc.sections.push_back({"", {}, notes, {}});
  Table csv;
  for (const char* name : {"part", "before_s", "after_s", "whole_before_s", "whole_after_s"})
    csv.columns.push_back({name, false});
  for (const PartChange& part : p.parts) {
    csv.rows.push_back({part.name, exact_text(part.before.in_base_units()),
                        exact_text(part.after.in_base_units()),
                        exact_text(p.before.in_base_units()), exact_text(p.after.in_base_units())});
  }
  doc.csv = std::move(csv);
  return doc;
}

}  // namespace floorline
