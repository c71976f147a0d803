// SPDX-License-Identifier: Apache-2.0
#include "validation/report/record_list_document.hpp"

#include "model/report/document_head.hpp"

namespace floorline {

namespace {

Document frame(const std::string& folder) {
  Document doc = document_frame("record");
  doc.json.set("inputs", Json::object().set("records", folder));
  return doc;
}

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

std::string or_none(const std::string& text) { return text.empty() ? "none" : text; }

Section empty_section(const char* line) { return {"", {}, {line}, {}}; }

}  // namespace

Document record_list_document(const std::string& folder,
                              const std::vector<RecordSummary>& records) {
  Document doc = frame(folder);
  Json all = Json::array();
  Table table;
  table.columns = {
      {"record", false, true}, {"created"}, {"verdict"}, {"evidence"}, {"device"}, {"question"}};
  for (const RecordSummary& r : records) {
    all.push(Json::object()
                 .set("id", r.file.id)
                 .set("created_utc", text_or_null(r.created_utc))
                 .set("verdict", text_or_null(r.verdict))
                 .set("evidence", text_or_null(r.evidence))
                 .set("device", text_or_null(r.device))
                 .set("question", text_or_null(r.question))
                 .set("unreadable", text_or_null(r.unreadable)));
    if (!r.unreadable.empty()) {
      table.rows.push_back({r.file.id, "-", "unreadable", "-", "-", r.unreadable});
    } else {
      table.rows.push_back(
          {r.file.id, r.created_utc, or_none(r.verdict), r.evidence, r.device, r.question});
    }
  }
  doc.json.set("records", std::move(all));
  doc.csv = table;
  if (records.empty()) {
    doc.sections.push_back(empty_section("No records there."));
  } else {
    doc.sections.push_back({"", {}, {}, {std::move(table)}});
  }
  return doc;
}

Document record_check_document(const std::string& folder, const RecordCheck& check) {
  Document doc = frame(folder);
  Json problems = Json::array();
  Table table;
  table.columns = {{"record"}, {"problem"}};
  for (const RecordProblem& p : check.problems) {
    problems.push(Json::object().set("file", p.file).set("problem", p.problem));
    table.rows.push_back({p.file, p.problem});
  }
  doc.json.set("records", static_cast<std::int64_t>(check.records));
  doc.json.set("problems", std::move(problems));
  doc.json.set("leftovers", json_of(check.leftovers));
  doc.json.set("other_files", json_of(check.strangers));
  doc.csv = table;
  Section s;
  s.fields.push_back({"records", std::to_string(check.records)});
  s.fields.push_back({"problems", std::to_string(check.problems.size())});
  if (!check.leftovers.empty()) {
    s.fields.push_back({"unfinished", std::to_string(check.leftovers.size()) +
                                          " .part files of runs that were killed"});
  }
  if (!check.strangers.empty()) {
    s.fields.push_back({"other files", std::to_string(check.strangers.size())});
  }
  if (!table.rows.empty()) s.tables.push_back(std::move(table));
  doc.sections.push_back(std::move(s));
  return doc;
}

Document hypothesis_list_document(const std::vector<Hypothesis>& hypotheses) {
  Document doc = document_frame("record");
  Json all = Json::array();
  Table table;
  table.columns = {
      {"hypothesis"}, {"changed variable"}, {"claimed limit"}, {"runs on"}, {"question"}};
  for (const Hypothesis& h : hypotheses) {
    std::string backends;
    for (const std::string& b : h.backends) backends += (backends.empty() ? "" : ", ") + b;
    const bool runs = !h.baseline.experiment.empty() && !h.variant.experiment.empty();
    if (runs && backends.empty()) backends = "cpu, cuda";
    all.push(Json::object()
                 .set("name", h.name)
                 .set("question", h.question)
                 .set("variable", h.change.variable)
                 .set("claimed_limit", h.claimed_limit)
                 .set("runs_on", runs ? Json(backends) : Json()));
    table.rows.push_back({h.name, h.change.variable, h.claimed_limit,
                          runs ? backends : "typed numbers", h.question});
  }
  doc.json.set("hypotheses", std::move(all));
  doc.csv = table;
  doc.sections.push_back({"", {}, {}, {std::move(table)}});
  return doc;
}

}  // namespace floorline
