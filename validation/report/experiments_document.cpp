// SPDX-License-Identifier: Apache-2.0
#include "validation/report/experiments_document.hpp"

#include "model/quantity/unit_names.hpp"
#include "model/report/document_head.hpp"
#include "validation/report/observation_json.hpp"

namespace floorline {

namespace {

std::string finding_text(const SuiteRow& row) {
  if (row.run.wrong) return "wrong";
  if (!row.run.observation) return "not measured";
  if (row.verdict.finding) return std::string(name_of(*row.verdict.finding));
  return "possible";
}

std::string interval_text(const Observation& o) {
  const std::optional<double> width = o.summary.relative_width();
  return width ? number_text(*width * 100, 2) + " %" : "-";
}

std::vector<std::string> row_of(const SuiteRow& row) {
  const Observation& o = *row.run.observation;
  const std::optional<double> times = row.times_floor();
  return {row.run.spec.name,
          to_text(row.floors->cold),
          to_text(Seconds(o.summary.minimum)),
          to_text(Seconds(o.summary.median)),
          interval_text(o),
          std::to_string(o.summary.count),
          times ? number_text(*times, 3) : "-",
          std::string(name_of(row.verdict.residency)),
          finding_text(row)};
}

Json json_of_row(const SuiteRow& row) {
  Json json = Json::object();
  json.set("name", row.run.spec.name)
      .set("experiment", text_of(row.run.spec))
      .set("prediction", row.prediction)
      .set("finding", finding_text(row))
      .set("not_measured", row.run.why_not.empty() ? Json() : Json(row.run.why_not));
  if (!row.floors) return json;
  Json floor = Json::object();
  floor.set("cold_s", row.floors->cold.in_base_units())
      .set("proven_s", row.verdict.proven_line.in_base_units())
      .set("provisional_s", row.verdict.provisional_line.in_base_units())
      .set("binding", row.floors->binding ? Json(name_of(*row.floors->binding)) : Json());
  json.set("floor", std::move(floor))
      .set("residency", name_of(row.verdict.residency))
      .set("observation", observation_json(*row.run.observation));
  if (row.second) json.set("second_observation", observation_json(*row.second));
  Json reasons = Json::array();
  for (const std::string& reason : row.verdict.reasons) reasons.push(reason);
  json.set("reasons", std::move(reasons));
  return json;
}

Section verdict_section(const std::vector<SuiteRow>& rows) {
  Section s;
  const SuiteStanding standing = standing_of(rows);
  s.lines.emplace_back(
      sound(rows) ? "No run lies below a floor that ceilings prove, and no result is wrong."
                  : "Something is impossible or wrong: see the findings.");
  if (standing.proves) {
    s.lines.emplace_back("Copy, triad and matrix product lie within twice their floors.");
    return s;
  }
  std::string slow;
  for (const std::string& line : standing.slow) slow += (slow.empty() ? "" : "; ") + line;
  s.lines.push_back("Too slow to prove anything beyond that: " + slow +
                    ". Run it on an idle machine.");
  return s;
}

Table table_of(const std::vector<SuiteRow>& rows) {
  Table table;
  table.columns = {{"experiment", false, true},
                   {"floor (cold)", true},
                   {"fastest", true},
                   {"median", true},
                   {"interval", true},
                   {"samples", true},
                   {"x floor", true},
                   {"judged as"},
                   {"finding"}};
  for (const SuiteRow& row : rows) {
    if (row.run.observation) table.rows.push_back(row_of(row));
  }
  table.footnotes = {
      "interval: of the median, 95 %, as a share of it; x floor: fastest sample over the cold "
      "floor",
      "possible: not below what ceilings or probes allow; above_observed: faster than the probe"};
  return table;
}

/// One line for each reason, with those that share it.
std::vector<std::string> not_measured_lines(const std::vector<SuiteRow>& rows) {
  std::vector<std::pair<std::string, std::string>> reasons;
  for (const SuiteRow& row : rows) {
    if (row.run.why_not.empty()) continue;
    bool found = false;
    for (auto& [reason, names] : reasons) {
      if (reason != row.run.why_not) continue;
      names += ", " + row.run.spec.name;
      found = true;
    }
    if (!found) reasons.emplace_back(row.run.why_not, row.run.spec.name);
  }
  std::vector<std::string> lines;
  for (const auto& [reason, names] : reasons) lines.push_back(names + ": " + reason);
  return lines;
}

Table csv_of(const std::vector<SuiteRow>& rows) {
  Table csv;
  csv.columns = {{"experiment"}, {"floor_cold_s"}, {"minimum_s"}, {"median_s"},
                 {"samples"},    {"residency"},    {"finding"}};
  for (const SuiteRow& row : rows) {
    if (!row.run.observation) continue;
    const SampleSummary& s = row.run.observation->summary;
    csv.rows.push_back({row.run.spec.name, number_text(row.floors->cold.in_base_units(), 17),
                        number_text(s.minimum, 17), number_text(s.median, 17),
                        std::to_string(s.count), std::string(name_of(row.verdict.residency)),
                        finding_text(row)});
  }
  return csv;
}

}  // namespace

Document experiments_document(const Backend& backend, const std::vector<SuiteRow>& rows,
                              const Method& method) {
  Document doc = document_frame("validate");
  const MeasuredOn on = backend.measured_on();
  const SuiteStanding standing = standing_of(rows);
  std::vector<std::string> notes = backend.notes();
  Json experiments = Json::array();
  for (const SuiteRow& row : rows) experiments.push(json_of_row(row));
  Json inputs = Json::object();
  inputs.set("backend", on.backend)
      .set("measured_on", on.device)
      .set("host", on.host)
      .set("device", device_json(backend.machine()))
      .set("seed", static_cast<std::int64_t>(method.seed))
      .set("budget_s", method.budget.in_base_units());
  doc.json.set("inputs", std::move(inputs))
      .set("notes", json_of(notes))
      .set("sound", sound(rows))
      .set("proves", standing.proves)
      .set("slow", json_of(standing.slow))
      .set("experiments", std::move(experiments));
  Section head;
  head.title = "experiments on " + on.device + " (" + on.backend + " backend)";
  head.fields = {{"predicted by", device_line(backend.machine())}};
  head.tables.push_back(table_of(rows));
  Section missing;
  missing.title = "Not measured";
  missing.lines = not_measured_lines(rows);
  Section conditions;
  conditions.title = "Conditions";
  conditions.lines = notes;
  doc.sections = {std::move(head), verdict_section(rows)};
  if (!missing.lines.empty()) doc.sections.push_back(std::move(missing));
  doc.sections.push_back(std::move(conditions));
  doc.csv = csv_of(rows);
  return doc;
}

}  // namespace floorline
