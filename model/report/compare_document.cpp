// SPDX-License-Identifier: Apache-2.0
#include "model/report/compare_document.hpp"

#include <algorithm>

#include "model/device/memory_capacity.hpp"
#include "model/quantity/unit_names.hpp"
#include "model/report/document_head.hpp"
#include "model/report/floor_json.hpp"
#include "model/report/resource_words.hpp"

namespace floorline {

namespace {

const BoundReport* first_result(const std::vector<CompareRow>& rows) {
  for (const CompareRow& row : rows) {
    if (row.report) return &*row.report;
  }
  return nullptr;
}

Json model_json(const ModelFloors& model) {
  return Json::object()
      .set("step_floor_s", model.step.in_base_units())
      .set("tokens_per_s_ceiling", model.tokens_per_s_ceiling)
      .set("resident_bytes", model.resident.in_base_units());
}

Json row_json(const CompareRow& row, const BoundReport* first) {
  Json json = Json::object();
  json.set("device", row.device);
  if (!row.report) {
    Json reasons = Json::array();
    for (const std::string& reason : row.reasons) reasons.push(reason);
    return std::move(json.set("total", Json()).set("reasons", std::move(reasons)));
  }
  const GraphFloors& f = row.report->evaluation->floors;
  json.set("total", json_of_total(f, row.report->inputs.ranks));
  if (row.report->model) json.set("model", model_json(*row.report->model));
  const Seconds base = first->evaluation->floors.serial.cold;
  json.set("floor_ratio", f.serial.cold > Seconds(0) ? Json(base / f.serial.cold) : Json());
  if (const auto measured = judge_measured(*row.report)) {
    json.set("measured", Json::object()
                             .set("time_s", measured->time.in_base_units())
                             .set("ratio_cold", measured->ratio_cold)
                             .set("verdict", name_of(measured->verdict)));
  }
  return json;
}

std::string binding_of(const BoundReport& report, std::size_t op, bool words) {
  const Limit& limit = report.evaluation->floors.ops[op].cold;
  if (limit.none()) return words ? "nothing" : "";
  const ResourceId id = limit.resource();
  return words ? words_for(id) : name_of(id);
}

/// Same operators on every device (pipeline stages shown may differ): those bound differently.
std::vector<std::size_t> changing(const std::vector<CompareRow>& rows, const BoundReport& first) {
  std::vector<std::size_t> ops;
  for (std::size_t i = 0; i < first.evaluation->graph.ops.size(); ++i) {
    const bool changes = std::any_of(rows.begin(), rows.end(), [&](const CompareRow& row) {
      return row.report && i < row.report->evaluation->graph.ops.size() &&
             binding_of(*row.report, i, false) != binding_of(first, i, false);
    });
    if (changes) ops.push_back(i);
  }
  return ops;
}

Json changes_json(const std::vector<CompareRow>& rows, const BoundReport& first) {
  Json all = Json::array();
  for (const std::size_t op : changing(rows, first)) {
    Json by_device = Json::object();
    for (const CompareRow& row : rows) {
      if (row.report && op < row.report->evaluation->graph.ops.size()) {
        by_device.set(row.device, binding_of(*row.report, op, false));
      }
    }
    all.push(Json::object()
                 .set("name", first.evaluation->graph.ops[op].name)
                 .set("binding", std::move(by_device)));
  }
  return all;
}

/// Of each device that a model's weights and state are too large for.
std::vector<std::string> unfit_lines(const std::vector<CompareRow>& rows) {
  std::vector<std::string> lines;
  for (const CompareRow& row : rows) {
    if (!row.report || !row.report->model) continue;
    const Bytes resident = row.report->model->resident;
    const auto capacity = exceeded_capacity(row.report->machine->device, resident);
    if (!capacity) continue;
    lines.push_back(row.device + " DOES NOT FIT: weights and state are " +
                    to_text_binary(resident) + " a rank, the device has " +
                    to_text_binary(*capacity));
  }
  return lines;
}

Table device_table(const std::vector<CompareRow>& rows, const BoundReport* first) {
  Table table;
  const bool model = first != nullptr && first->model.has_value();
  table.columns = {
      {"device", false}, {"fused", true}, {"fused, any residency", true}, {"serial", true}};
  if (model) table.columns.push_back({"token/s at most", true});
  table.columns.push_back({"ratio", true});
  table.columns.push_back({"bound by", false});
  const bool judged = first != nullptr && first->inputs.measured.has_value();
  if (judged) table.columns.push_back({"measured " + *first->inputs.measured, false});
  for (const CompareRow& row : rows) {
    if (!row.report) {
      std::vector<std::string> cells{row.device, "cannot", "", ""};
      if (model) cells.emplace_back("");
      cells.emplace_back("");
      cells.emplace_back("see below");
      if (judged) cells.emplace_back("");
      table.rows.push_back(std::move(cells));
      continue;
    }
    const GraphFloors& f = row.report->evaluation->floors;
    std::vector<std::string> cells{row.device, to_text(f.fused.cold),
                                   f.any_known ? to_text(f.fused.any) : "not known",
                                   to_text(f.serial.cold)};
    if (model) cells.push_back(number_text(row.report->model->tokens_per_s_ceiling, 4));
    cells.push_back(f.serial.cold > Seconds(0)
                        ? factor_text(first->evaluation->floors.serial.cold / f.serial.cold)
                        : "-");
    cells.push_back(words_for(f.serial_binding));
    if (const auto m = judge_measured(*row.report)) {
      cells.push_back(std::string(name_of(m->verdict)) + ", " + factor_text(m->ratio_cold) +
                      " cold");
    }
    table.rows.push_back(std::move(cells));
  }
  table.footnotes.push_back(
      "ratio: serial cold floor of the first device over this one's; a ratio of floors is not a "
      "promise");
  for (std::string& line : unfit_lines(rows)) table.footnotes.push_back(std::move(line));
  return table;
}

Table change_table(const std::vector<CompareRow>& rows, const BoundReport& first) {
  Table table;
  table.title = "Operators that change class";
  table.columns.push_back({"operator", false});
  for (const CompareRow& row : rows) {
    if (row.report) table.columns.push_back({row.device, false});
  }
  for (const std::size_t op : changing(rows, first)) {
    std::vector<std::string> cells{first.evaluation->graph.ops[op].name};
    for (const CompareRow& row : rows) {
      if (!row.report) continue;
      cells.push_back(
          op < row.report->evaluation->graph.ops.size() ? binding_of(*row.report, op, true) : "-");
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

Table csv_table(const std::vector<CompareRow>& rows) {
  Table csv;
  for (const char* name :
       {"device", "fused_cold_s", "fused_any_residency_s", "critical_path_cold_s", "serial_cold_s",
        "binding", "measured_s", "verdict", "reason"}) {
    csv.columns.push_back({name, false});
  }
  for (const CompareRow& row : rows) {
    if (!row.report) {
      csv.rows.push_back(
          {row.device, "", "", "", "", "", "", "", row.reasons.empty() ? "" : row.reasons.front()});
      continue;
    }
    const GraphFloors& f = row.report->evaluation->floors;
    const auto m = judge_measured(*row.report);
    csv.rows.push_back({row.device, exact_text(f.fused.cold.in_base_units()),
                        f.any_known ? exact_text(f.fused.any.in_base_units()) : "",
                        exact_text(f.critical_path.cold.in_base_units()),
                        exact_text(f.serial.cold.in_base_units()), name_of(f.serial_binding),
                        m ? exact_text(m->time.in_base_units()) : "",
                        m ? std::string(name_of(m->verdict)) : "", ""});
  }
  return csv;
}

}  // namespace

Document compare_document(const BoundInputs& inputs, const std::vector<CompareRow>& rows) {
  Document doc;
  const BoundReport* first = first_result(rows);
  doc.json = document_head("compare");
  Json asked = Json::object();
  asked.set("workload", inputs.workload).set("set", json_of(inputs.set));
  Json names = Json::array();
  for (const CompareRow& row : rows) names.push(row.device);
  asked.set("devices", std::move(names));
  if (first != nullptr) {
    const ClockChoice& clocks = first->machine->clocks;
    if (clocks.sm_clock) asked.set("sm_clock_hz", clocks.sm_clock->in_base_units());
    if (clocks.memory_scale != 1) asked.set("memory_clock_scale", clocks.memory_scale);
  }
  if (inputs.measured) asked.set("measured", *inputs.measured);
  doc.json.set("inputs", std::move(asked));
  std::vector<std::string> notes;
  std::vector<std::string> assumed;
  if (first != nullptr) {
    for (const std::string& line : floor_conditions(*first->evaluation, first->machine)) {
      notes.push_back("condition: " + line);
    }
    assumed = unique_lines({first->evaluation->graph.assumptions, first->assumptions});
  }
  doc.json.set("assumptions", json_of(assumed))
      .set("notes", json_of(unique_lines({unfit_lines(rows), notes})));
  Json devices = Json::array();
  for (const CompareRow& row : rows) devices.push(row_json(row, first));
  doc.json.set("devices", std::move(devices));
  doc.json.set("changes", first != nullptr ? changes_json(rows, *first) : Json::array());

  Section head;
  head.title = first != nullptr && first->evaluation->graph.ops.size() > 1
                   ? first->evaluation->graph.name
                   : inputs.workload;
  doc.sections.push_back(std::move(head));
  doc.sections.push_back({"", {}, {}, {device_table(rows, first)}});
  for (const CompareRow& row : rows) {
    if (row.reasons.empty()) continue;
    Section why{row.device + " cannot", {}, {}, {}};
    for (const std::string& reason : row.reasons) why.lines.push_back("- " + reason);
    doc.sections.push_back(std::move(why));
  }
  if (first != nullptr && !changing(rows, *first).empty()) {
    doc.sections.push_back({"", {}, {}, {change_table(rows, *first)}});
  }
  Section small{"Conditions and assumptions", {}, small_print_lines(notes, assumed), {}};
  doc.sections.push_back(std::move(small));
  doc.csv = csv_table(rows);
  return doc;
}

}  // namespace floorline
