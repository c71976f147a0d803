// SPDX-License-Identifier: Apache-2.0
#include "validation/report/table_document.hpp"

#include <algorithm>

#include "model/quantity/unit_names.hpp"
#include "model/report/document_head.hpp"
#include "model/report/resource_words.hpp"

namespace floorline {

namespace {

constexpr std::size_t kShown = 30;  // rows in text; JSON and CSV have all
constexpr const char* kStanding =
    "This proves nothing about a GPU that we saw: the times are somebody else's, read from a "
    "table.";

std::string ratio_text(Seconds time, Seconds floor) {
  return floor > Seconds(0) ? factor_text(time / floor) : "-";
}

Json ratio_json(Seconds time, Seconds floor) {
  return floor > Seconds(0) ? Json(time / floor) : Json();
}

Json row_json(const JudgedRow& r) {
  Json doubts = Json::array();
  for (const Doubt& d : r.doubts) doubts.push(d.symbol);
  return Json::object()
      .set("place", r.place)
      .set("device", r.row.device)
      .set("op", r.row.op)
      .set("time_s", r.time.in_base_units())
      .set("floor_cold_s", r.cold.in_base_units())
      .set("floor_any_residency_s", r.any.in_base_units())
      .set("ratio_cold", ratio_json(r.time, r.cold))
      .set("expected_s", r.expected ? Json(r.expected->in_base_units()) : Json())
      .set("binding", r.binding.empty() ? Json() : Json(r.binding))
      .set("finding", name_of(r.finding))
      .set("doubts", std::move(doubts));
}

constexpr std::array<RowFinding, 5> kFindings{RowFinding::floor_violated, RowFinding::unconfirmed,
                                              RowFinding::above_observed, RowFinding::warm,
                                              RowFinding::possible};

Section counts(const TableJudgement& judgement) {
  Section s;
  s.fields.push_back({"rows judged", std::to_string(judgement.rows.size())});
  const std::array<const char*, 5> words{
      "below the floor at any residency, seen twice", "below it once: unconfirmed",
      "faster than a best-seen rate", "below the cold floor: something was on chip",
      "at or above the cold floor"};
  for (std::size_t i = 0; i < kFindings.size(); ++i) {
    s.fields.push_back({std::string(name_of(kFindings[i])),
                        std::to_string(judgement.count(kFindings[i])) + "  " + words[i]});
  }
  return s;
}

void add_percentiles(const char* name, std::vector<double> values, Section& s) {
  if (values.empty()) return;
  const Percentiles p = percentiles(std::move(values));
  s.fields.push_back({name, "p10 " + number_text(p.p10, 4) + ", median " + number_text(p.p50, 4) +
                                ", p90 " + number_text(p.p90, 4)});
}

/// Worst findings first, then the closest to their floor.
std::vector<const JudgedRow*> in_order(const TableJudgement& judgement) {
  std::vector<const JudgedRow*> rows;
  for (const JudgedRow& r : judgement.rows) rows.push_back(&r);
  const auto closeness = [](const JudgedRow* r) {
    return r->cold > Seconds(0) ? r->time / r->cold : 1e300;
  };
  std::stable_sort(rows.begin(), rows.end(), [&](const JudgedRow* a, const JudgedRow* b) {
    if (a->finding != b->finding) return a->finding > b->finding;
    return closeness(a) < closeness(b);
  });
  return rows;
}

Table row_table(const TableJudgement& judgement) {
  Table table;
  table.title = "Rows, the closest to their floors first";
  table.columns = {{"place"},
                   {"device"},
                   {"operator"},
                   {"measured", true},
                   {"cold", true},
                   {"x", true},
                   {"any residency", true},
                   {"bound by"},
                   {"finding"}};
  const auto rows = in_order(judgement);
  for (std::size_t i = 0; i < std::min(rows.size(), kShown); ++i) {
    const JudgedRow& r = *rows[i];
    table.rows.push_back({r.place, r.row.device, r.row.op, to_text(r.time), to_text(r.cold),
                          ratio_text(r.time, r.cold), to_text(r.any), r.binding,
                          std::string(name_of(r.finding))});
  }
  if (rows.size() > kShown) {
    table.footnotes.push_back(std::to_string(rows.size() - kShown) +
                              " more rows: --format json or csv");
  }
  return table;
}

Section doubt_section(const TableJudgement& judgement) {
  Section s;
  s.title = "What to doubt of a row below its floor, and the next measurement that would tell";
  for (const JudgedRow* r : in_order(judgement)) {
    for (const Doubt& d : r->doubts) {
      const std::string line =
          "- " + std::string(d.symbol) + ": " + d.why + ". Next: " + d.next_measurement;
      if (std::find(s.lines.begin(), s.lines.end(), line) == s.lines.end()) s.lines.push_back(line);
    }
  }
  return s;
}

Table csv_of(const TableJudgement& judgement) {
  Table csv;
  for (const char* name : {"place", "device", "op", "time_s", "floor_cold_s",
                           "floor_any_residency_s", "expected_s", "binding", "finding"}) {
    csv.columns.push_back({name});
  }
  const auto exact = [](Seconds t) { return exact_text(t.in_base_units()); };
  for (const JudgedRow& r : judgement.rows) {
    csv.rows.push_back({r.place, r.row.device, r.row.op, exact(r.time), exact(r.cold), exact(r.any),
                        r.expected ? exact(*r.expected) : "", r.binding,
                        std::string(name_of(r.finding))});
  }
  return csv;
}

}  // namespace

Document table_document(const TableJudgement& judgement, const std::string& mapping) {
  Document doc;
  doc.json = document_head("validate");
  doc.json.set("inputs", Json::object().set("observe", judgement.file).set("mapping", mapping));
  doc.json.set("assumptions", Json::array()).set("notes", Json::array());
  doc.json.set("standing", kStanding);
  Json tally = Json::object();
  for (const RowFinding f : kFindings) {
    tally.set(name_of(f), static_cast<std::int64_t>(judgement.count(f)));
  }
  doc.json.set("findings", std::move(tally));
  Json rows = Json::array();
  std::vector<double> to_floor;
  std::vector<double> to_expected;
  for (const JudgedRow& r : judgement.rows) {
    rows.push(row_json(r));
    if (r.cold > Seconds(0)) to_floor.push_back(r.time / r.cold);
    if (r.expected) to_expected.push_back(r.time / *r.expected);
  }
  doc.json.set("rows", std::move(rows));
  Section first;
  first.lines.push_back(kStanding);
  Section s = counts(judgement);
  add_percentiles("measured / cold floor", std::move(to_floor), s);
  add_percentiles("measured / expected", std::move(to_expected), s);
  s.tables.push_back(row_table(judgement));
  doc.sections = {std::move(first), std::move(s)};
  if (Section doubts = doubt_section(judgement); !doubts.lines.empty()) {
    doc.sections.push_back(std::move(doubts));
  }
  doc.csv = csv_of(judgement);
  return doc;
}

}  // namespace floorline
