// SPDX-License-Identifier: Apache-2.0
#include "validation/report/judge_document.hpp"

#include "model/quantity/unit_names.hpp"
#include "model/report/document_head.hpp"

namespace floorline {

namespace {

constexpr std::size_t kShown = 50;  // listed rows in text; JSON has all

std::string count(std::int64_t n) { return std::to_string(n); }
std::string ratio(double r) { return r > 0 ? number_text(r, 4) : "-"; }

std::vector<std::string> assumptions() {
  return {
      "measured: best_us, the smallest time over all backends; Vidur: min_us and 1 us of "
      "resolution",
      "attention: S_keep, one call a graph, kernels do not overlap; so are Vidur's kernels",
      "elsewhere S_all: several calls a graph, which dependent launch may overlap",
      "accumulation is not recorded: the fastest that the device has",
      "not counted: RoPE and the KV-cache write inside attention, scales of quantized operands",
      "experts: the least that data could cause, of the mean rank of the group",
      "serving: one step of one model, fused; what is not recorded gives the lower floor",
      "ceilings at the highest clock of each device; clocks of the rows are not recorded",
  };
}

std::string holds_text(Statement::Holds holds) {
  switch (holds) {
    case Statement::Holds::yes:
      return "holds";
    case Statement::Holds::no:
      return "FAILS";
    case Statement::Holds::no_rows:
      return "no rows";
  }
  return "";
}

Table statement_table(const Judgement& judgement) {
  Table table;
  table.columns = {{"", false}, {"found", false}, {"what must hold", false}};
  for (const Statement& s : judgement.statements) {
    table.rows.push_back({holds_text(s.holds), s.found, s.text});
  }
  return table;
}

Table group_table(const Judgement& judgement) {
  Table table;
  table.columns = {{"device", false}, {"kind", false}, {"rows", true},   {"judged", true},
                   {"below", true},   {"warm", true},  {"closest", true}};
  for (const auto& [key, group] : judgement.groups) {
    table.rows.push_back({key.first, std::string(name_of(key.second)), count(group.rows),
                          count(group.judged), count(group.violating), count(group.warm),
                          ratio(group.closest)});
  }
  const GroupTally all = judgement.total();
  table.totals = {"all",
                  "",
                  count(all.rows),
                  count(all.judged),
                  count(all.violating),
                  count(all.warm),
                  ratio(all.closest)};
  table.footnotes = {
      "below: under the floor at any residency, a violation; warm: under the cold floor only",
      "closest: the least measured / floor at any residency"};
  return table;
}

Table rule_table(const Judgement& judgement) {
  Table table;
  table.columns = {{"rule", false}, {"rows", true}, {"below", true}, {"below without it", true}};
  for (const RuleTally& tally : judgement.rules) {
    table.rows.push_back({std::string(tally.rule->id), count(tally.rows), count(tally.violating),
                          count(tally.violating_without)});
  }
  return table;
}

Table uniform_table(const Judgement& judgement) {
  Table table;
  table.columns = {{"balanced rows", false}, {"rows", true}, {"below", true}, {"closest", true},
                   {"below cold", true},     {"p10", true},  {"p50", true},   {"p90", true}};
  for (const UniformTally& tally : judgement.uniform) {
    table.rows.push_back({std::string(tally.rows_text) + (tally.exception ? " (exception)" : ""),
                          count(tally.rows), count(tally.below), ratio(tally.closest),
                          count(tally.below_cold), ratio(tally.ratio.p10), ratio(tally.ratio.p50),
                          ratio(tally.ratio.p90)});
  }
  table.footnotes = {"closest: measured / floor at any residency; p10, p50, p90: / cold floor"};
  return table;
}

bool has_balanced(const Judgement& judgement) {
  std::int64_t rows = 0;
  for (const UniformTally& tally : judgement.uniform) rows += tally.rows;
  return rows > 0;
}

std::vector<Field> rule_fields(const Judgement& judgement) {
  std::vector<Field> fields;
  for (const RuleTally& tally : judgement.rules) {
    const ReadingRule& rule = *tally.rule;
    fields.push_back({std::string(rule.id), std::string(rule.rows) + ": " +
                                                std::string(rule.reading) + "; " +
                                                std::string(rule.evidence)});
  }
  return fields;
}

/// One row a line: a table would cut what names the row.
std::vector<std::string> listed_lines(const std::vector<ListedRow>& rows) {
  std::vector<std::string> lines;
  for (const ListedRow& row : rows) {
    if (lines.size() == kShown) {
      lines.push_back(count(static_cast<std::int64_t>(rows.size() - kShown)) +
                      " more; --format json lists them");
      break;
    }
    const double r = row.floor > Seconds(0) ? row.time / row.floor : 0;
    lines.push_back(row.place + ": " + row.gpu + " " + row.keys + ", " + row.source + ": " +
                    to_text(row.time) + ", floor " + to_text(row.floor) + " by " + row.binding +
                    ", ratio " + ratio(r) + "; " + row.reason);
  }
  return lines;
}

Table impossible_table(const Judgement& judgement) {
  Table table;
  table.columns = {{"device", false}, {"kind", false}, {"rows", true}, {"called impossible", true}};
  for (const auto& [key, tally] : judgement.impossible) {
    table.rows.push_back(
        {key.first, std::string(name_of(key.second)), count(tally.rows), count(tally.called)});
  }
  const CalledTally all = judgement.total_impossible();
  table.totals = {"all", "", count(all.rows), count(all.called)};
  return table;
}

Table tightness_table(const Judgement& judgement) {
  Table table;
  table.columns = {{"device", false}, {"kind", false}, {"size class", false}, {"rows", true},
                   {"p10", true},     {"p50", true},   {"p90", true}};
  for (const TightnessGroup& group : judgement.tightness) {
    const bool bf16_gemm =
        group.kind == RowKind::gemm && group.variant == name_of(GemmDtype::bfloat16);
    if (!group.variant.empty() && !bf16_gemm) continue;
    std::string kind(name_of(group.kind));
    if (bf16_gemm) kind += ", bf16";
    table.rows.push_back({group.gpu, kind, std::string(name_of(group.size)),
                          count(static_cast<std::int64_t>(group.ratio.rows)),
                          ratio(group.ratio.p10), ratio(group.ratio.p50), ratio(group.ratio.p90)});
  }
  table.footnotes = {"measured / cold floor; a row may be in both of the first two classes",
                     "the rest is dominated by launch gaps; below 1 the run was warm",
                     "--format csv tells every dtype, op and implementation apart"};
  return table;
}

Section section(const char* title, Table table) {
  Section made;
  made.title = title;
  made.tables.push_back(std::move(table));
  return made;
}

Section summary(const std::string& folder, const Judgement& judgement) {
  Section made = section("Measured rows against floors", statement_table(judgement));
  made.fields = {{"folder", folder},
                 {"rows judged", count(judgement.total().judged)},
                 {"rules that set rows apart", "0"}};
  return made;
}

std::vector<std::string> notes_of(const Judgement& judgement) {
  std::vector<std::string> notes;
  for (const auto& [reason, rows] : judgement.not_judged) {
    notes.push_back(count(rows) + " rows not judged: " + reason);
  }
  if (judgement.violations.size() == kMaxListed) {
    notes.push_back("only the first " + count(kMaxListed) + " violating rows are listed");
  }
  std::string others;
  for (const std::string& file : judgement.other_files)
    others += (others.empty() ? "" : ", ") + file;
  if (!others.empty()) notes.push_back("not read, other kinds of rows: " + others);
  return notes;
}

std::vector<Section> sections_of(const std::string& folder, const Judgement& judgement) {
  std::vector<Section> all{summary(folder, judgement)};
  if (!judgement.violations.empty()) {
    all.push_back({"Violations", {}, listed_lines(judgement.violations), {}});
  }
  all.push_back(section("By device and kind", group_table(judgement)));
  all.push_back(section("Rules: how rows are read", rule_table(judgement)));
  all.back().fields = rule_fields(judgement);
  if (has_balanced(judgement)) {
    all.push_back(section("Balanced experts against uniform routing", uniform_table(judgement)));
  }
  if (!judgement.impossible.empty()) {
    all.push_back(section("Rows that were left out as impossible", impossible_table(judgement)));
    if (!judgement.not_called.empty()) {
      all.push_back({"Not called impossible", {}, listed_lines(judgement.not_called), {}});
    }
  }
  all.push_back(section("Tightness", tightness_table(judgement)));
  Section conditions;
  conditions.title = "Conditions";
  conditions.lines = assumptions();
  for (const std::string& note : notes_of(judgement)) conditions.lines.push_back(note);
  all.push_back(std::move(conditions));
  return all;
}

Json json_of(const std::vector<ListedRow>& rows) {
  Json all = Json::array();
  for (const ListedRow& row : rows) {
    all.push(Json::object()
                 .set("row", row.place)
                 .set("device", row.gpu)
                 .set("kernel", row.keys)
                 .set("source", row.source)
                 .set("time_s", row.time.in_base_units())
                 .set("floor_any_residency_s", row.floor.in_base_units())
                 .set("binding", row.binding)
                 .set("reason", row.reason));
  }
  return all;
}

Json statements_json(const Judgement& judgement) {
  Json all = Json::array();
  for (const Statement& s : judgement.statements) {
    Json holds;  // null: no rows
    if (s.holds != Statement::Holds::no_rows) holds = Json(s.holds == Statement::Holds::yes);
    all.push(Json::object()
                 .set("id", s.id)
                 .set("text", s.text)
                 .set("found", s.found)
                 .set("holds", std::move(holds)));
  }
  return all;
}

Json groups_json(const Judgement& judgement) {
  Json all = Json::array();
  for (const auto& [key, group] : judgement.groups) {
    all.push(Json::object()
                 .set("device", key.first)
                 .set("kind", name_of(key.second))
                 .set("rows", group.rows)
                 .set("judged", group.judged)
                 .set("below", group.violating)
                 .set("warm", group.warm)
                 .set("closest", group.closest > 0 ? Json(group.closest) : Json()));
  }
  return all;
}

Json rules_json(const Judgement& judgement) {
  Json all = Json::array();
  for (const RuleTally& tally : judgement.rules) {
    all.push(Json::object()
                 .set("id", tally.rule->id)
                 .set("rows_text", tally.rule->rows)
                 .set("reading", tally.rule->reading)
                 .set("evidence", tally.rule->evidence)
                 .set("rows", tally.rows)
                 .set("below", tally.violating)
                 .set("below_without", tally.violating_without));
  }
  return all;
}

Json uniform_json(const Judgement& judgement) {
  Json all = Json::array();
  for (const UniformTally& tally : judgement.uniform) {
    all.push(Json::object()
                 .set("id", tally.id)
                 .set("rows_text", tally.rows_text)
                 .set("exception", tally.exception)
                 .set("rows", tally.rows)
                 .set("below", tally.below)
                 .set("below_cold", tally.below_cold)
                 .set("closest", tally.closest > 0 ? Json(tally.closest) : Json())
                 .set("p10", tally.ratio.p10)
                 .set("p50", tally.ratio.p50)
                 .set("p90", tally.ratio.p90));
  }
  return all;
}

Json impossible_json(const Judgement& judgement) {
  Json groups = Json::array();
  for (const auto& [key, tally] : judgement.impossible) {
    groups.push(Json::object()
                    .set("device", key.first)
                    .set("kind", name_of(key.second))
                    .set("rows", tally.rows)
                    .set("called", tally.called));
  }
  const CalledTally all = judgement.total_impossible();
  return Json::object()
      .set("rows", all.rows)
      .set("called", all.called)
      .set("groups", std::move(groups))
      .set("not_called", json_of(judgement.not_called));
}

Json tightness_json(const Judgement& judgement) {
  Json all = Json::array();
  for (const TightnessGroup& group : judgement.tightness) {
    all.push(Json::object()
                 .set("device", group.gpu)
                 .set("kind", name_of(group.kind))
                 .set("variant", group.variant.empty() ? Json() : Json(group.variant))
                 .set("size_class", name_of(group.size))
                 .set("rows", static_cast<std::int64_t>(group.ratio.rows))
                 .set("p10", group.ratio.p10)
                 .set("p50", group.ratio.p50)
                 .set("p90", group.ratio.p90));
  }
  return all;
}

Table csv_of(const Judgement& judgement) {
  Table csv;
  for (const char* name :
       {"device", "kind", "variant", "size_class", "rows", "p10", "p50", "p90"}) {
    csv.columns.push_back({name, false});
  }
  for (const TightnessGroup& group : judgement.tightness) {
    csv.rows.push_back(
        {group.gpu, std::string(name_of(group.kind)), group.variant,
         std::string(name_of(group.size)), count(static_cast<std::int64_t>(group.ratio.rows)),
         exact_text(group.ratio.p10), exact_text(group.ratio.p50), exact_text(group.ratio.p90)});
  }
  return csv;
}

}  // namespace

Document judge_document(const std::string& folder, const Judgement& judgement) {
  Document document;
  document.json = document_head("judge_measured");
  document.json.set("inputs", Json::object().set("folder", folder))
      .set("assumptions", json_of(assumptions()))
      .set("notes", json_of(notes_of(judgement)))
      .set("holds", judgement.holds())
      .set("statements", statements_json(judgement))
      .set("violations", json_of(judgement.violations))
      .set("groups", groups_json(judgement))
      .set("rules", rules_json(judgement))
      .set("uniform_routing", uniform_json(judgement))
      .set("impossible", impossible_json(judgement))
      .set("tightness", tightness_json(judgement));
  document.sections = sections_of(folder, judgement);
  document.csv = csv_of(judgement);
  return document;
}

}  // namespace floorline
