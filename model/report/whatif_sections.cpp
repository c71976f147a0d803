// SPDX-License-Identifier: Apache-2.0
#include "model/report/whatif_sections.hpp"

#include <algorithm>

#include "model/quantity/unit_names.hpp"
#include "model/report/document_head.hpp"
#include "model/report/resource_words.hpp"
#include "model/report/whatif_json.hpp"

namespace floorline {

namespace {

constexpr std::size_t kShortList = 6;     // of the ranked changes, unasked
constexpr std::size_t kNamedChanges = 2;  // of one row
constexpr int kDigits = 5;                // of ratios: 1.9998x is not 2x

std::string ratio_text(const std::optional<double>& ratio) {
  return ratio ? number_text(*ratio, kDigits) + "x" : "-";
}

std::string words_or_none(const std::optional<ResourceId>& id) {
  return id ? words_for(*id) : "none";
}

std::string binding_words(const Outcome& o) {
  const GraphFloors& f = o.evaluation.floors;
  return f.serial.cold > Seconds(0) ? words_for(f.serial_binding) : "nothing";
}

std::string signed_memory(Bytes change) {
  if (change == Bytes(0)) return "0";
  if (change < Bytes(0)) return "-" + to_text_binary(Bytes(0) - change);
  return "+" + to_text_binary(change);
}

/// Below this a ratio prints as 1.0000x.
bool buys(const RankedChange& r) {
  constexpr double kLeast = 1.00005;
  return r.gain.cold.value_or(1) >= kLeast;
}

/// What --change does each of the first rows; "-" where none does.
std::string change_texts(const Ranking& ranking, std::size_t rows) {
  std::string text;
  for (std::size_t i = 0; i < rows; ++i) {
    const std::vector<Assignment>& changes = ranking.changes[i].changes;
    text += i == 0 ? "" : "; ";
    if (changes.empty()) text += "-";
    for (std::size_t k = 0; k < changes.size(); ++k) {
      const Assignment& a = changes[k];
      text += (k == 0 ? "" : " and ") + a.name + (a.scale ? "*=" : "=") + a.value;
      if (k + 1 == kNamedChanges && changes.size() > kNamedChanges) {
        text += " and " + std::to_string(changes.size() - kNamedChanges) + " more";
        break;
      }
    }
  }
  return text;
}

std::string idle_names(const Whatif& w, std::size_t first) {
  std::string text;
  for (std::size_t i = first; i < w.ranking.changes.size(); ++i) {
    const RankedChange& r = w.ranking.changes[i];
    if (r.kind != RankedKind::launches) text += (text.empty() ? "" : ", ") + r.name;
  }
  return text.empty() ? "none of those tried" : text;
}

void model_rows(const Whatif& w, Table& table) {
  const ModelFloors& b = *w.before.model;
  const ModelFloors& a = *w.after.model;
  table.rows.push_back({"tokens a second, at most", number_text(b.tokens_per_s_ceiling),
                        number_text(a.tokens_per_s_ceiling),
                        b.tokens_per_s_ceiling > 0
                            ? ratio_text(a.tokens_per_s_ceiling / b.tokens_per_s_ceiling)
                            : "-"});
  if (b.cache_per_token > Bytes(0) || a.cache_per_token > Bytes(0)) {
    table.rows.push_back(
        {"KV cache a token", exact_text(b.cache_per_token.in_base_units()) + " B",
         exact_text(a.cache_per_token.in_base_units()) + " B",
         a.cache_per_token > Bytes(0) ? ratio_text(b.cache_per_token / a.cache_per_token) : "-"});
  }
}

std::string first_of(const std::vector<std::string>& names) {
  constexpr std::size_t kListed = 6;
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kListed; ++i)
    text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kListed) text += " and " + std::to_string(names.size() - kListed) + " more";
  return text;
}

/// Amounts of an operator are those of one execution.
std::string each_text(const SingleChange& c) {
  if (!c.executions) return " (each execution)";
  return *c.executions == 1 ? "" : " (each of " + count_text(*c.executions) + ")";
}

std::string even_text(const BreakEvenAnswer& answer) {
  if (!answer.found) return "-";
  const BreakEvenValue& even = *answer.found;
  return even.text + " (x " + number_text(even.factor) + "), to " + short_words_for(even.to) +
         (even.within ? "" : "; beyond it");
}

}  // namespace

Section head_section(const WhatifInputs& inputs, const Whatif& w) {
  Section section;
  std::string what = w.before.evaluation.graph.name;
  if (w.before.evaluation.graph.ops.size() == 1 && !inputs.workload.empty()) what = inputs.workload;
  if (w.situation.kernel) what = "kernel by numbers";
  if (w.before.machine) what += " on " + device_line(*w.before.machine);
  section.title = what;
  for (const std::string& change : inputs.changes) section.lines.push_back("change: " + change);
  if (w.changes.empty() && inputs.changes.empty())
    section.lines.push_back("no change asked for: see what single changes would buy");
  if (!inputs.emitted.empty())
    section.lines.push_back("The changed graph is in " + inputs.emitted + ".");
  const auto of_ranks = [](double ranks) {
    return ranks > 1 ? "one of " + count_text(ranks) + " ranks" : std::string("the one rank");
  };
  if (w.before.ranks > 1 || w.after.ranks > 1) {
    section.lines.push_back(w.before.ranks == w.after.ranks
                                ? "Amounts are for " + of_ranks(w.before.ranks) + "."
                                : "Amounts are for " + of_ranks(w.before.ranks) + " before, " +
                                      of_ranks(w.after.ranks) + " after.");
  }
  return section;
}

Section floors_section(const Whatif& w) {
  Table table;
  table.columns = {{"", false}, {"before", true}, {"after", true}, {"gain", true}};
  const auto row = [&table](const char* name, Seconds b, Seconds a, bool known,
                            const std::optional<double>& ratio) {
    table.rows.push_back({name, known ? to_text(b) : "not known", known ? to_text(a) : "not known",
                          known ? ratio_text(ratio) : "-"});
  };
  const bool known = w.before.evaluation.floors.any_known && w.after.evaluation.floors.any_known;
  const auto both = [&](const char* cold, const char* any, const ResidencyTimes& b,
                        const ResidencyTimes& a, const Ratio& ratio) {
    row(cold, b.cold, a.cold, true, ratio.cold);
    row(any, b.any, a.any, known, ratio.any);
  };
  const WholeTimes& b = w.before.whole;
  const WholeTimes& a = w.after.whole;
  both("serial floor, cold", "serial floor, any residency", b.serial, a.serial, w.ratios.serial);
  const bool several =
      w.before.evaluation.floors.ops.size() > 1 || w.after.evaluation.floors.ops.size() > 1;
  if (several) {
    both("critical path, cold", "critical path, any residency", b.critical_path, a.critical_path,
         w.ratios.critical_path);
    both("fused floor, cold", "fused floor, any residency", b.fused, a.fused, w.ratios.fused);
  }
  if (w.uniform) {
    table.rows.push_back({"serial, cold, uniform routing (mean)",
                          to_text(w.before.evaluation.uniform->serial.cold),
                          to_text(w.after.evaluation.uniform->serial.cold), ratio_text(w.uniform)});
  }
  table.rows.push_back({"bound by", binding_words(w.before), binding_words(w.after), ""});
  table.rows.push_back({"next limit", words_or_none(runner_up_of(w.before)),
                        words_or_none(runner_up_of(w.after)), ""});
  const Bytes traffic = traffic_of(w.before);
  const Bytes traffic_after = traffic_of(w.after);
  table.rows.push_back({"traffic", to_text(traffic), to_text(traffic_after),
                        traffic_after > Bytes(0) ? ratio_text(traffic / traffic_after) : "-"});
  const auto peak = peak_memory(w.before);
  const auto peak_after = peak_memory(w.after);
  if (peak && peak_after) {
    table.rows.push_back({"peak memory", to_text_binary(peak->to_bytes()),
                          to_text_binary(peak_after->to_bytes()),
                          signed_memory(peak_after->to_bytes() - peak->to_bytes())});
  }
  const bool model = w.before.model && w.after.model;
  if (model) model_rows(w, table);
  table.footnotes.push_back(std::string("gain: times and bytes before / after") +
                            (model ? ", tokens a second after / before" : "") +
                            (peak && peak_after ? "; peak memory: after - before" : ""));
  table.footnotes.insert(table.footnotes.end(), w.unfit.begin(), w.unfit.end());
  return {"", {}, {}, {table}};
}

Section changes_section(const Whatif& w) {
  Section section;
  section.title = "Each change alone";
  Table table;
  table.columns = {{"change", false},
                   {"from", false},
                   {"to", false},
                   {"floor ratio", true},
                   {"binding moves at", false}};
  for (const SingleChange& c : w.changes) {
    const std::string each = each_text(c);
    table.rows.push_back({c.change.name, c.from + each, c.to + each,
                          c.alone ? ratio_text(c.alone->serial.cold) : "not alone",
                          even_text(c.break_even)});
    if (!c.cannot.empty()) table.footnotes.push_back(c.change.name + " alone: " + c.cannot);
    if (c.cannot.empty() && !c.break_even.found)
      table.footnotes.push_back(c.change.name + ": " + c.break_even.reason);
  }
  if (w.changes.size() > 1)
    table.totals = {"together", "", "", ratio_text(w.ratios.serial.cold), ""};
  if (w.interaction) {
    const Interaction& i = *w.interaction;
    table.footnotes.push_back(
        "the single ratios multiply to " + ratio_text(i.product) + "; together " +
        ratio_text(i.joint) +
        (i.interact() ? ": the changes interact" : ": the changes do not interact"));
  }
  section.tables.push_back(std::move(table));
  return section;
}

Section measured_section(const WhatifInputs&, const Whatif& w) {
  const MeasuredAnswer& m = *w.measured;
  Section section;
  section.title = "Against the measured time";
  const auto field = [&section](const char* name, std::string value) {
    section.fields.push_back({name, std::move(value)});
  };
  field("measured", to_text(m.time) + (m.over_serial > 0 ? ", " + number_text(m.over_serial, 3) +
                                                               "x the serial cold floor before"
                                                         : ""));
  if (m.impossible)
    field("verdict", "IMPOSSIBLE: below the floor at any residency, " + to_text(*m.floor_before) +
                         "; F, D, P, B or the time is wrong");
  if (m.warm)
    field("verdict",
          "warm: below the cold floor, so part of the data was on chip, or the run was "
          "not cold");
  field("speed-up at most", m.speedup_at_most ? ratio_text(m.speedup_at_most) +
                                                    " (measured / any-residency floor after)"
                                              : no_speedup_reason(m));
  if (m.token_speedup_at_most)
    field("in tokens a second", ratio_text(m.token_speedup_at_most) + " at most");
  if (m.expected) {
    const double ratio = m.time / *m.expected;
    field("expected", "between " + ratio_text(std::min(1.0, ratio)) + " and " +
                          ratio_text(std::max(1.0, ratio)) + "; " + to_text(*m.expected) +
                          " if the rest of the run stays as it is");
  }
  if (m.far_above) {
    const bool changes = w.ratios.serial.cold && *w.ratios.serial.cold != 1;
    section.lines.push_back((changes ? "The ratio of " + ratio_text(w.ratios.serial.cold) +
                                           " by bytes and work is not promised: the run is "
                                     : std::string("The run is ")) +
                            number_text(m.over_serial, 3) +
                            "x its floor, so something else holds it. Look first at:");
    for (const std::string& line : m.look_first) section.lines.push_back("- " + line);
    const auto before = peak_memory(w.before);
    const auto after = peak_memory(w.after);
    if (before && after && *after < *before) {
      section.lines.push_back("Memory falls by " +
                              to_text_binary(before->to_bytes() - after->to_bytes()) +
                              " all the same: capacity yes, speed not before that is solved.");
    }
  }
  return section;
}

Section amdahl_section(const AmdahlPrediction& p) {
  Section section;
  section.title = "By measured parts (Amdahl)";
  Table table;
  table.columns = {{"part", false},
                   {"before", true},
                   {"after", true},
                   {"local", true},
                   {"after rests on", false}};
  for (const PartChange& part : p.parts) {
    table.rows.push_back({part.name, to_text(part.before), to_text(part.after),
                          ratio_text(ratio_of(part.before, part.after)), part.why});
  }
  table.totals = {"whole", to_text(p.before), to_text(p.after),
                  ratio_text(ratio_of(p.before, p.after)), ""};
  const auto ceiling = p.ceiling();
  table.footnotes.push_back("the changed parts are " + percent_text(p.share()) +
                            " of the measured time: however fast they get, at most " +
                            (ceiling ? ratio_text(ceiling) : std::string("no bound")));
  if (!p.unmeasured.empty())
    table.footnotes.push_back(
        "changed too, but without a measured time, so taken to stay as they "
        "are: " +
        first_of(p.unmeasured));
  section.tables.push_back(std::move(table));
  return section;
}

Section line_section(const Whatif&, const LineAnswer& line) {
  Section section;
  section.title = "Calibrated by measured points (expectation)";
  const auto field = [&section](const char* name, std::string value) {
    section.fields.push_back({name, std::move(value)});
  };
  std::string points;
  for (const LinePoint& p : line.fit.points) {
    points += (points.empty() ? "" : "; ") + p.name + ": " + to_text(p.traffic) + " in " +
              to_text(p.time);
  }
  field("points", points);
  field("line", "t = " +
                    (line.fit.fixed < Seconds(0) ? "-" + to_text(Seconds(0) - line.fit.fixed)
                                                 : to_text(line.fit.fixed)) +
                    " + bytes / " + to_text(line.fit.bandwidth));
  if (line.fit.points.size() > 2) field("worst residual", to_text(line.fit.worst_residual));
  field("expected", line.impossible.empty()
                        ? to_text(line.time_before) + " before, " + to_text(line.time_after) +
                              " after: " + ratio_text(ratio_of(line.time_before, line.time_after))
                        : "nothing: a point of the line cannot be");
  field("bytes alone",
        line.after > Bytes(0) ? ratio_text(line.before / line.after) : std::string("-"));
  for (const std::string& point : line.impossible)
    section.lines.push_back("- IMPOSSIBLE: " + point);
  for (const std::string& doubt : line.doubts) section.lines.push_back("- " + doubt);
  return section;
}

Section ranking_section(const Whatif& w, const WhatifInputs& inputs) {
  Section section;
  section.title = "What single changes would buy, from the workload before";
  Table table;
  table.columns = {{"change", false, true}, {"floor ratio", true}, {"any residency", true},
                   {"at most", true},       {"elasticity", true},  {"peak memory", true}};
  std::size_t useful = 0;  // the largest gain comes first
  while (useful < w.ranking.changes.size() && buys(w.ranking.changes[useful])) ++useful;
  const bool all = inputs.all_ranked;
  const std::size_t most =
      inputs.top > 0 ? static_cast<std::size_t>(inputs.top) : (all ? useful : kShortList);
  const std::size_t rows = std::min(most, useful);
  for (std::size_t i = 0; i < rows; ++i) {
    const RankedChange& r = w.ranking.changes[i];
    table.rows.push_back(
        {r.name, ratio_text(r.gain.cold), ratio_text(r.gain.any),
         r.ceiling ? number_text(*r.ceiling, 4) + "x" + (r.share_measured ? " (measured)" : "")
                   : "-",
         r.elasticity ? number_text(*r.elasticity, 3) : "-",
         r.memory ? signed_memory(*r.memory) : "-"});
  }
  table.footnotes.push_back(
      "at most: 1 / (1 - share of what it touches), " +
      std::string("of the floor unless marked measured; -: it touches everything"));
  if (rows > 0 && rows <= kShortList)
    table.footnotes.push_back("as --change, in this order: " + change_texts(w.ranking, rows));
  if (rows < useful) {
    table.footnotes.push_back(std::to_string(useful - rows) +
                              " more that would buy something (--rank)");
  }
  if (all) table.footnotes.push_back("would buy nothing: " + idle_names(w, useful));
  for (const RankedChange& r : w.ranking.changes) {
    if (r.kind == RankedKind::launches)
      table.footnotes.push_back(r.name + ": at most " + to_text(*r.saving) + " (" + r.note + ")");
  }
  section.tables.push_back(std::move(table));
  return section;
}

}  // namespace floorline
