// SPDX-License-Identifier: Apache-2.0
#include "validation/report/suite_document.hpp"

#include <algorithm>
#include <map>

#include "model/quantity/unit_names.hpp"
#include "model/report/document_head.hpp"
#include "validation/report/observation_json.hpp"
#include "validation/report/run_json.hpp"
#include "validation/verdict/amount.hpp"

namespace floorline {

namespace {

std::string number_or_dash(const std::optional<double>& value) {
  return value ? number_text(*value, 4) : "-";
}

std::string claimed_text(const Prediction& p) {
  if (p.low && p.high) return number_text(*p.low, 4) + " to " + number_text(*p.high, 4);
  if (p.low) return "at least " + number_text(*p.low, 4);
  return "at most " + number_or_dash(p.high);
}

std::string why_not(const HypothesisRun& run) {
  if (!run.baseline.not_measured.empty()) return run.baseline.not_measured;
  return run.variant.not_measured;
}

std::vector<std::string> row_of(const HypothesisRun& run) {
  const Hypothesis& h = run.hypothesis;
  const PredictedAmountInfo& info = info_of(h.prediction.amount);
  const std::optional<double> engine =
      engine_amount(h.prediction.amount, run.baseline.floors, run.variant.floors);
  std::string verdict = run.verdict ? std::string(name_of(run.verdict->verdict)) : "not run";
  if (!why_not(run).empty()) verdict += " (not measured)";
  return {h.name,
          std::string(info.name),
          claimed_text(h.prediction),
          number_or_dash(engine),
          run.verdict ? number_or_dash(run.verdict->value) : "-",
          std::string(name_of(evidence_of(run))),
          verdict};
}

}  // namespace

Document suite_document(const std::vector<HypothesisRun>& runs) {
  Document doc = document_frame("validate");
  Json all = Json::array();
  std::map<std::string, int> tally;
  Table table;
  table.columns = {{"hypothesis"},     {"amount"},   {"claimed"}, {"floors give", true},
                   {"observed", true}, {"evidence"}, {"verdict"}};
  Section first;
  for (const HypothesisRun& run : runs) {
    all.push(run_json(run));
    table.rows.push_back(row_of(run));
    tally[run.verdict ? std::string(name_of(run.verdict->verdict)) : "not run"] += 1;
    if (!why_not(run).empty()) {
      table.footnotes.push_back(run.hypothesis.name + ": " + why_not(run));
    }
  }
  table.footnotes.emplace_back("amounts in base units: s, byte, FLOP, byte/s, FLOP/s");
  const auto measured = std::find_if(runs.begin(), runs.end(), [](const HypothesisRun& run) {
    return evidence_of(run) == EvidenceClass::measured;
  });
  const std::string standing =
      runs.empty() ? "" : standing_of(measured == runs.end() ? runs.front() : *measured);
  doc.json.set("standing", standing);
  doc.json.set("runs", std::move(all));
  first.lines.push_back(standing);
  Section s;
  for (const auto& [name, count] : tally) s.fields.push_back({name, std::to_string(count)});
  doc.csv = table;
  doc.csv.footnotes.clear();
  s.tables.push_back(std::move(table));
  doc.sections = {std::move(first), std::move(s)};
  return doc;
}

}  // namespace floorline
