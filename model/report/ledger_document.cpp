// SPDX-License-Identifier: Apache-2.0
#include "model/report/ledger_document.hpp"

#include <algorithm>
#include <cmath>

#include "model/quantity/unit_names.hpp"
#include "model/report/document_head.hpp"
#include "model/report/ledger_sections.hpp"
#include "model/report/resource_words.hpp"

namespace floorline {

namespace {

constexpr std::size_t kBarWidth = 20;

std::string lifetime_text(const MemoryLedger& ledger, Lifetime alive) {
  if (alive == Lifetime::all(ledger.instants.size())) return "always";
  std::string text;
  for (std::size_t i = 0; i < ledger.instants.size(); ++i) {
    if (alive.holds(i)) text += (text.empty() ? "" : ", ") + ledger.instants[i];
  }
  return text;
}

Json lifetime_json(const MemoryLedger& ledger, Lifetime alive) {
  Json list = Json::array();
  for (std::size_t i = 0; i < ledger.instants.size(); ++i) {
    if (alive.holds(i)) list.push(ledger.instants[i]);
  }
  return list;
}

Json line_json(const MemoryLedger& ledger, const LedgerEntry& line) {
  Json json = Json::object();
  json.set("name", line.name);
  json.set("bytes", json_of(line.bytes));
  json.set("evidence", name_of(line.evidence));
  if (line.interval) {
    json.set("interval", Json::object()
                             .set("low_bytes", json_of(line.interval->low))
                             .set("high_bytes", json_of(line.interval->high)));
  }
  json.set("lifetime", lifetime_json(ledger, line.alive));
  json.set("formula", line.formula);
  json.set("source", line.source);
  return json;
}

Json budget_json(const LedgerReport& report) {
  if (!report.budget) return {};
  Json json = Json::object();
  json.set("bytes", json_of(report.budget->bytes));
  if (!report.budget->formula.empty()) json.set("formula", report.budget->formula);
  return json;
}

double share_of(ByteCount part, ByteCount whole) {
  const double all = whole.to_bytes().in_base_units();
  if (!(all > 0)) return 0;
  const double share = part.to_bytes().in_base_units() / all;
  return std::isfinite(share) ? share : 1;
}

std::string bar(double share) {
  const auto filled = static_cast<std::size_t>(std::lround(share * kBarWidth));
  return std::string(std::min(filled, kBarWidth), '#');
}

std::string range_text(const LedgerEntry& line, std::string (*text)(ByteCount)) {
  if (!line.interval) return text(line.bytes);
  return text(line.interval->low) + " to " + text(line.interval->high);
}

Table line_table(const LedgerReport& report, const Peak& peak) {
  const MemoryLedger& ledger = report.ledger;
  Table table;
  table.columns = {{"line", false, true},   {"GiB", true},     {"GB", true},
                   {"share of peak", true}, {"", false, true}, {"evidence", false},
                   {"alive", false}};
  for (const LedgerEntry& line : ledger.lines) {
    const bool counts = line.alive.holds(peak.at);
    const double share = share_of(line.bytes, peak.bytes);
    table.rows.push_back({line.name, range_text(line, gib_text), range_text(line, gb_text),
                          counts ? percent_text(share) : "-", counts ? bar(share) : "",
                          std::string(name_of(line.evidence)), lifetime_text(ledger, line.alive)});
  }
  const std::string at =
      ledger.instants.size() > 1 ? "peak (" + ledger.instants[peak.at] + ")" : std::string("sum");
  table.totals = {at, gib_text(peak.bytes), gb_text(peak.bytes), "100 %", "", "", ""};
  const bool ranges =
      std::any_of(ledger.lines.begin(), ledger.lines.end(),
                  [](const LedgerEntry& line) { return line.interval.has_value(); });
  if (ranges) table.footnotes.push_back("the high end of a range decides");
  return table;
}

Table instant_table(const LedgerReport& report) {
  Table table;
  table.title = "Alive at the same time";
  table.columns = {{"instant", false, true}, {"GiB", true}, {"GB", true}, {"bytes", true}};
  for (std::size_t i = 0; i < report.ledger.instants.size(); ++i) {
    const ByteCount bytes = alive_at(report.ledger, i);
    table.rows.push_back(
        {report.ledger.instants[i], gib_text(bytes), gb_text(bytes), bytes_text(bytes)});
  }
  return table;
}

/// "14,000,000,000 bytes = 13.04 GiB"
std::string with_gib(ByteCount bytes) {
  return bytes_text(bytes) + (bytes.overflowed() ? "" : " = " + gib_text(bytes) + " GiB");
}

Section verdict_section(const LedgerReport& report, const Peak& peak) {
  Section section;
  const auto field = [&section](const char* name, std::string value) {
    section.fields.push_back({name, std::move(value)});
  };
  const std::string amount = with_gib(peak.bytes);
  if (report.ledger.instants.size() > 1) {
    field("peak", amount + ", at " + report.ledger.instants[peak.at]);
  } else {
    field("need", amount);
  }
  if (report.kv_bytes_per_token > ByteCount(0)) {
    field("KV cache a token",
          bytes_text(report.kv_bytes_per_token) + " a rank, all layers in full");
  }
  if (!report.budget) {
    field("verdict", "no budget given (--budget)");
    return section;
  }
  const Budget& budget = *report.budget;
  field("budget", bytes_text(budget.bytes) + " = " + gib_text(budget.bytes) + " GiB" +
                      (budget.formula.empty() ? "" : " (" + budget.formula + ")"));
  const Headroom room = headroom(peak.bytes, budget);
  if (room.fits) {
    const ByteCount left(room.remaining.value_or(0));
    field("verdict", "fits");
    field("remaining", bytes_text(left) + " (" + gib_text(left) + " GiB)");
  } else if (room.remaining) {
    const ByteCount over(-*room.remaining);
    field("verdict", "exceeds by " + bytes_text(over) + " (" + gib_text(over) + " GiB)");
  } else {
    field("verdict", "exceeds: needs more than 9.2e18 bytes");
  }
  if (!room.fits && headroom(least_peak_of(report.ledger).bytes, budget).fits) {
    section.lines.push_back(
        "With the low ends of the ranges it would fit: a measured value for them decides.");
  }
  return section;
}

/// Which single lines could make up for what is missing.
struct Change {
  const LedgerEntry* line;
  std::optional<ByteCount> at_most;  ///< absent: the whole line is not enough
};
std::vector<Change> changes_of(const LedgerReport& report, const Peak& peak) {
  std::vector<Change> changes;
  if (!report.budget) return changes;
  const Headroom room = headroom(peak.bytes, *report.budget);
  if (room.fits || !room.remaining) return changes;
  const ByteCount over(-*room.remaining);
  for (const std::size_t i : lines_at(report.ledger, peak.at)) {
    const LedgerEntry& line = report.ledger.lines[i];
    Change change{&line, std::nullopt};
    if (line.bytes >= over) change.at_most = line.bytes - over;
    changes.push_back(change);
  }
  return changes;
}

Table change_table(const std::vector<Change>& changes) {
  Table table;
  table.title = "What to change: one line alone, by how much";
  table.columns = {{"line", false, true}, {"bytes now", true}, {"at most", true}, {"factor", true}};
  for (const Change& change : changes) {
    const ByteCount now = change.line->bytes;
    table.rows.push_back(
        {change.line->name, bytes_text(now), change.at_most ? bytes_text(*change.at_most) : "-",
         change.at_most ? number_text(share_of(*change.at_most, now), 3) : "not enough alone"});
  }
  return table;
}

Json changes_json(const std::vector<Change>& changes) {
  Json list = Json::array();
  for (const Change& change : changes) {
    Json json = Json::object();
    json.set("name", change.line->name);
    json.set("bytes", json_of(change.line->bytes));
    json.set("at_most_bytes", change.at_most ? json_of(*change.at_most) : Json());
    list.push(std::move(json));
  }
  return list;
}

Section formula_section(const MemoryLedger& ledger) {
  Section section;
  section.title = "How each line is counted";
  for (const LedgerEntry& line : ledger.lines) {
    if (line.formula.empty() && (line.source.empty() || line.source == "--line")) continue;
    std::string text = line.formula.empty() ? bytes_text(line.bytes) : line.formula;
    if (!line.source.empty()) text += "; " + line.source;
    section.fields.push_back({line.name, std::move(text)});
  }
  return section;
}

std::string plain(ByteCount bytes) {
  return bytes.overflowed() ? std::string() : std::to_string(*bytes.count());
}

/// Peak, budget, what remains and the verdict, told from the lines by the last column.
void add_verdict_rows(const LedgerReport& report, Table& csv) {
  const Peak peak = peak_of(report.ledger);
  const auto row = [&csv](const char* what, std::string bytes, std::string lifetime,
                          std::string text) {
    csv.rows.push_back(
        {what, std::move(bytes), "", "", "", std::move(lifetime), std::move(text), "", what});
  };
  row("peak", plain(peak.bytes), report.ledger.instants[peak.at], "");
  if (!report.budget) return;
  const Headroom room = headroom(peak.bytes, *report.budget);
  row("budget", plain(report.budget->bytes), "", "");
  row("remaining", room.remaining ? std::to_string(*room.remaining) : "", "", "");
  row("verdict", "", "", room.fits ? "fits" : "does not fit");
}

Table csv_table(const LedgerReport& report) {
  Table csv;
  for (const char* name : {"name", "bytes", "low_bytes", "high_bytes", "evidence", "lifetime",
                           "formula", "source", "row"}) {
    csv.columns.push_back({name, false});
  }
  for (const LedgerEntry& line : report.ledger.lines) {
    csv.rows.push_back(
        {line.name, plain(line.bytes), plain(line.interval ? line.interval->low : line.bytes),
         plain(line.interval ? line.interval->high : line.bytes),
         std::string(name_of(line.evidence)), lifetime_text(report.ledger, line.alive),
         line.formula, line.source, "line"});
  }
  add_verdict_rows(report, csv);
  return csv;
}

void add_json(const LedgerReport& report, const Peak& peak, Json& json) {
  const MemoryLedger& ledger = report.ledger;
  Json lines = Json::array();
  for (const LedgerEntry& line : ledger.lines) lines.push(line_json(ledger, line));
  json.set("lines", std::move(lines));
  Json instants = Json::array();
  for (std::size_t i = 0; i < ledger.instants.size(); ++i) {
    instants.push(
        Json::object().set("name", ledger.instants[i]).set("bytes", json_of(alive_at(ledger, i))));
  }
  json.set("instants", std::move(instants));
  const std::string at = ledger.instants.empty() ? std::string() : ledger.instants[peak.at];
  json.set("peak", Json::object()
                       .set("bytes", json_of(peak.bytes))
                       .set("low_bytes", json_of(least_peak_of(ledger).bytes))
                       .set("at", at));
  json.set("budget", budget_json(report));
  if (!report.budget) {
    json.set("remaining_bytes", Json()).set("fits", Json());
  } else {
    const Headroom room = headroom(peak.bytes, *report.budget);
    json.set("remaining_bytes", room.remaining ? Json(*room.remaining) : Json());
    json.set("fits", room.fits);
  }
  json.set("changes", changes_json(changes_of(report, peak)));
}

void add_model_json(const LedgerReport& report, Json& json) {
  if (report.parameters > 0) {
    json.set("model", Json::object()
                          .set("parameters", report.parameters)
                          .set("kv_bytes_per_token", json_of(report.kv_bytes_per_token))
                          .set("ranks", report.rank_count)
                          .set("stages", ranks_json(report.ranks)));
  }
  if (report.pool) json.set("pool", pool_json(*report.pool));
  if (report.solution) json.set("solve", solution_json(*report.solution));
  if (!report.after) return;
  Json after = Json::object();
  after.set("changed", report.after->changed);
  add_json(*report.after, peak_of(report.after->ledger), after);
  add_model_json(*report.after, after);
  json.set("after", std::move(after));
}

void add_model_sections(const LedgerReport& report, Document& doc) {
  if (report.ranks.size() > 1) doc.sections.push_back({"", {}, {}, {rank_table(report.ranks)}});
  if (report.pool) doc.sections.push_back(pool_section(report, *report.pool));
  if (report.solution) doc.sections.push_back(solution_section(report, *report.solution));
  if (report.after) doc.sections.push_back(comparison_section(report, *report.after));
}

Section head_section(const LedgerReport& report, const Peak& peak) {
  Section section{report.title, {}, {}, {line_table(report, peak)}};
  if (report.rank_count > 1) {
    section.lines.push_back("Amounts are for one of " + std::to_string(report.rank_count) +
                            " ranks, the one that needs most.");
  }
  return section;
}

}  // namespace

std::string bytes_text(ByteCount bytes) {
  if (bytes.overflowed()) return "more than 9.2e18 bytes";
  const std::string digits = std::to_string(*bytes.count());
  std::string text;
  constexpr std::size_t kGroup = 3;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const std::size_t rest = digits.size() - i;
    if (i > 0 && rest % kGroup == 0 && digits[i - 1] != '-') text += ',';
    text += digits[i];
  }
  return text + (text == "1" ? " byte" : " bytes");
}

namespace {

/// A zero, and what would print as one.
std::string in_units(ByteCount bytes, double unit) {
  if (bytes.overflowed()) return "> 9.2e18 B";
  const double value = bytes.to_bytes().in_base_units() / unit;
  constexpr double kSmall = 1e-3;
  constexpr int kDigits = 4;
  if (value == 0) return "0";
  return std::abs(value) < kSmall ? "< 0.001" : number_text(value, kDigits);
}

}  // namespace

std::string gib_text(ByteCount bytes) { return in_units(bytes, GiB(1).in_base_units()); }
std::string gb_text(ByteCount bytes) { return in_units(bytes, GB(1).in_base_units()); }

Json json_of(ByteCount bytes) { return bytes.overflowed() ? Json() : Json(*bytes.count()); }

bool fits(const LedgerReport& report) {
  if (report.after) return fits(*report.after);
  if (report.solution) return report.solution->value.has_value();
  if (!report.budget) return true;
  return headroom(peak_of(report.ledger).bytes, *report.budget).fits;
}

Document ledger_document(const LedgerReport& report) {
  Document doc;
  const Peak peak = peak_of(report.ledger);
  std::vector<std::string> notes = report.notes;
  if (peak.bytes.overflowed()) {
    notes.push_back("null: more than 9.2e18 bytes, which fits nowhere");
  }
  doc.json = document_head("ledger");
  doc.json.set("inputs", report.inputs)
      .set("assumptions", json_of(report.assumptions))
      .set("notes", json_of(notes));
  add_json(report, peak, doc.json);
  add_model_json(report, doc.json);

  doc.sections.push_back(head_section(report, peak));
  doc.sections.push_back(verdict_section(report, peak));
  if (report.ledger.instants.size() > 1) {
    doc.sections.push_back({"", {}, {}, {instant_table(report)}});
  }
  const std::vector<Change> changes = changes_of(report, peak);
  if (!changes.empty()) doc.sections.push_back({"", {}, {}, {change_table(changes)}});
  add_model_sections(report, doc);
  Section formulas = formula_section(report.ledger);
  if (!formulas.fields.empty()) doc.sections.push_back(std::move(formulas));
  Section small{"Conditions and assumptions", {}, small_print_lines(notes, report.assumptions), {}};
  if (!small.lines.empty()) doc.sections.push_back(std::move(small));
  doc.csv = csv_table(report);
  return doc;
}

}  // namespace floorline
