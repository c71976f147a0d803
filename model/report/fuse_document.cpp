// SPDX-License-Identifier: Apache-2.0
#include "model/report/fuse_document.hpp"

#include "model/quantity/unit_names.hpp"
#include "model/report/document_head.hpp"
#include "model/report/floor_json.hpp"
#include "model/report/resource_words.hpp"
#include "model/whatif/ratios.hpp"

namespace floorline {

namespace {

Json ratio_json(Seconds before, Seconds after) {
  return after > Seconds(0) ? Json(before / after) : Json();
}

std::string ratio_text(Seconds before, Seconds after) {
  return after > Seconds(0) ? factor_text(before / after) : "-";
}

/// At any residency. Of chunks it is a ratio as any other.
std::optional<double> any_ratio(Seconds before, Seconds after, bool chunks) {
  return chunks ? ratio_of(before, after) : fusion_ratio_any(before, after);
}

bool has_chunks(const FusionResult& r) { return !r.groups.empty() && r.groups.front().chunk; }

Json any_json(const std::optional<double>& ratio) { return ratio ? Json(*ratio) : Json(); }

constexpr const char* kNoRatio =
    "any residency: each single kernel may find S_keep full of its own data, the one kernel finds "
    "it so once, and its floor is the higher one; no ratio follows, no slower kernel either";

/// The cell, and the footnote where there is no ratio.
std::string any_text(Seconds before, Seconds after, bool chunks, Table& table) {
  if (const auto ratio = any_ratio(before, after, chunks)) return factor_text(*ratio);
  if (before > Seconds(0) && after > Seconds(0)) table.footnotes.emplace_back(kNoRatio);
  return "-";
}

Bytes on_chip(const GroupFusion& group) {
  Bytes sum(0);
  for (const OnChipNeed& need : group.needs) sum += need.bytes;
  return sum;
}

Json times_json(const GroupTimes& times, bool any_known) {
  return Json::object()
      .set("cold_s", times.cold.in_base_units())
      .set("any_residency_s", any_known ? Json(times.any.in_base_units()) : Json())
      .set("hbm_bytes", times.hbm.in_base_units())
      .set("binding", times.cold > Seconds(0) ? Json(name_of(times.binding)) : Json());
}

Json tensors_json(const GroupFusion& group) {
  Json all = Json::array();
  for (const TensorTraffic& t : group.tensors) {
    Json row = Json::object();
    row.set("name", t.name)
        .set("read_bytes_before", t.read_before.in_base_units())
        .set("written_bytes_before", t.written_before.in_base_units());
    const bool known = group.after.has_value();
    row.set("read_bytes_after", known ? Json(t.read_after.in_base_units()) : Json())
        .set("written_bytes_after", known ? Json(t.written_after.in_base_units()) : Json());
    all.push(std::move(row));
  }
  return all;
}

/// Null where the group is asked for as one kernel.
Json chunk_json(const GroupFusion& group) {
  if (!group.chunk) return Json();
  const Chunking& c = *group.chunk;
  return Json::object()
      .set("rows", c.rows)
      .set("of_rows", c.all_rows)
      .set("chunks", c.chunks)
      .set("symbol", c.symbol)
      .set("intermediate_bytes_a_chunk", c.inside.in_base_units())
      .set("more_hbm_bytes", c.more.in_base_units())
      .set("read_by_every_chunk", json_of(c.whole_inputs))
      .set("summed", json_of(c.sums))
      .set("near_floor_from_rows", c.near_from ? Json(*c.near_from) : Json());
}

Json group_json(const GroupFusion& group, bool keep_known) {
  Json json = Json::object();
  json.set("name", group.name).set("operators", json_of(group.operators)).set("count", group.times);
  json.set("legal", group.refusals.empty());
  Json refused = Json::array();
  for (const FusionRefusal& r : group.refusals)
    refused.push(Json::object().set("rule", name_of(r.rule)).set("reason", r.reason));
  json.set("refused", std::move(refused)).set("conditions", json_of(group.conditions));
  json.set("on_chip_bytes", on_chip(group).in_base_units());
  json.set("intermediate_bytes", group.inside.in_base_units());
  json.set("before", times_json(group.before, keep_known));
  json.set("after", group.after ? times_json(*group.after, keep_known) : Json());
  json.set("floor_ratio", group.after ? ratio_json(group.before.cold, group.after->cold) : Json());
  json.set("floor_ratio_any_residency",
           group.after && keep_known
               ? any_json(any_ratio(group.before.any, group.after->any, group.chunk.has_value()))
               : Json());
  json.set("traffic_ratio", group.after && group.before.hbm > Bytes(0)
                                ? Json(group.after->hbm / group.before.hbm)
                                : Json());
  json.set("tensors", tensors_json(group));
  json.set("chunk", chunk_json(group));
  return json;
}

Json launches_json(const Launches& launches) {
  return Json::object()
      .set("evidence", "expectation")
      .set("before", launches.before)
      .set("after", launches.after)
      .set("saved_s", launches.saved ? Json(launches.saved->in_base_units()) : Json());
}

/// An amount beyond 64 bits is no number.
Json count_json(const ByteCount& bytes) { return bytes.count() ? Json(*bytes.count()) : Json(); }

Json memory_json(const FusionResult& r) {
  return Json::object()
      .set("peak_intermediate_bytes_before", count_json(r.peak_before))
      .set("peak_intermediate_bytes_after", r.peak_after ? count_json(*r.peak_after) : Json())
      .set("peak_bytes_before", count_json(r.memory_before))
      .set("peak_bytes_after", r.memory_after ? count_json(*r.memory_after) : Json());
}

Json ratios_json(const FusionResult& r) {
  if (!r.after) return Json();
  const GraphFloors& a = r.before.floors;
  const GraphFloors& b = r.after->floors;
  Json json = Json::object();
  const bool chunks = has_chunks(r);
  const auto add = [&](const char* name, const ResidencyTimes& x, const ResidencyTimes& y) {
    json.set(name, Json::object()
                       .set("cold", ratio_json(x.cold, y.cold))
                       .set("any_residency",
                            a.any_known ? any_json(any_ratio(x.any, y.any, chunks)) : Json()));
  };
  add("serial", a.serial, b.serial);
  add("critical_path", a.critical_path, b.critical_path);
  add("fused", a.fused, b.fused);
  return json;
}

Json search_json(const FusionPlan& plan) {
  return Json::object()
      .set("exact", plan.exact)
      .set("cut", json_of(plan.cut))
      .set("alone", json_of(plan.alone));
}

/// The whole document under the output contract.
Json document_json(const FuseReport& report, const std::vector<std::string>& assumed,
                   const std::vector<std::string>& notes) {
  const FusionResult& r = *report.result;
  Json json = document_head("fuse");
  json.set("inputs", Json::object()
                         .set("workload", report.workload)
                         .set("device", device_json(*report.machine))
                         .set("set", json_of(report.set))
                         .set("groups", json_of(report.groups))
                         .set("chunk_rows", report.chunk ? Json(*report.chunk) : Json())
                         .set("search", r.plan.has_value()));
  json.set("assumptions", json_of(assumed)).set("notes", json_of(notes));
  json.set("legal", r.legal());
  if (r.plan) json.set("search", search_json(*r.plan));
  Json groups = Json::array();
  for (const GroupFusion& group : r.groups)
    groups.push(group_json(group, report.machine->chip.keep_known));
  json.set("groups", std::move(groups)).set("launches", launches_json(r.launches));
  json.set("memory", memory_json(r));
  json.set("before", json_of_total(r.before.floors, report.ranks));
  json.set("after", r.after ? json_of_total(r.after->floors, report.ranks) : Json());
  json.set("floor_ratio",
           r.after ? ratio_json(r.before.floors.serial.cold, r.after->floors.serial.cold) : Json());
  json.set("floor_ratios", ratios_json(r));
  return json;
}

std::string bytes_text(Bytes b) { return b > Bytes(0) ? to_text(b) : "-"; }

Table tensor_table(const GroupFusion& group) {
  Table table;
  table.title = "Traffic a tensor";
  table.columns = {{"tensor", false},
                   {"read before", true},
                   {"written before", true},
                   {"read after", true},
                   {"written after", true}};
  TensorTraffic sum;
  for (const TensorTraffic& t : group.tensors) {
    table.rows.push_back({t.name, bytes_text(t.read_before), bytes_text(t.written_before),
                          bytes_text(t.read_after), bytes_text(t.written_after)});
    sum.read_before += t.read_before;
    sum.written_before += t.written_before;
    sum.read_after += t.read_after;
    sum.written_after += t.written_after;
  }
  table.totals = {"all", bytes_text(sum.read_before), bytes_text(sum.written_before),
                  bytes_text(sum.read_after), bytes_text(sum.written_after)};
  return table;
}

Table floor_table(const GroupFusion& group, bool keep_known) {
  const GroupTimes& before = group.before;
  const GroupTimes& after = *group.after;
  Table table;
  table.columns = {{"", false}, {"before", true}, {"after", true}, {"ratio", true}};
  table.rows.push_back({"HBM traffic, cold", to_text(before.hbm), to_text(after.hbm),
                        after.hbm > Bytes(0) ? factor_text(before.hbm / after.hbm) : "-"});
  table.rows.push_back({"floor, cold", to_text(before.cold), to_text(after.cold),
                        ratio_text(before.cold, after.cold)});
  table.rows.push_back(
      {"floor, any residency", keep_known ? to_text(before.any) : "not known",
       keep_known ? to_text(after.any) : "not known",
       keep_known ? any_text(before.any, after.any, group.chunk.has_value(), table) : "-"});
  table.rows.push_back({"bound by", words_for(before.binding), words_for(after.binding), ""});
  return table;
}

/// What every chunk reads again, and whether it has to.
std::string reread_line(const GroupFusion& group, const OnChip& chip) {
  const Chunking& c = *group.chunk;
  std::string what;
  for (const std::string& name : c.whole_inputs)
    what += (what.empty() ? "\"" : ", \"") + name + "\"";
  if (!what.empty()) what += " read by each of " + count_text(c.chunks) + " chunks";
  if (c.has_sums) {
    what += std::string(what.empty() ? "" : ", ") + "sums over rows read and written by each of " +
            count_text(c.chunks);
  }
  if (what.empty()) return "- nothing is read by every chunk";
  std::string line =
      "- " + what + ": " + to_text(c.more) + " more cross HBM, but for what stays on chip";
  if (!chip.keep_known || c.whole_inputs.empty()) return line;
  const bool fits = c.largest_whole_input <= chip.keep;
  return line + " (" + to_text(c.largest_whole_input) + (fits ? " fit" : " do not fit") +
         " into S_keep = " + to_text(chip.keep) + ")";
}

/// What of it may be expected in time.
std::string time_line(const GroupFusion& group) {
  constexpr double kEqual = 1.01;
  const Seconds before = group.before.cold;
  const Seconds after = group.after->cold;
  const std::string other =
      "; smaller products also use a GPU less well (tiles, launches), which no floor counts";
  if (after > before * kEqual) {
    return "- slower already at the floor: " + factor_text(after / before) +
           " the time of all rows at once, for what is read again" + other;
  }
  if (after * kEqual < before) return "- less crosses HBM than before" + other;
  return "- it buys memory, no time: no speed-up is promised" + other;
}

void add_chunk_lines(const GroupFusion& group, const OnChip& chip, Section& section) {
  const Chunking& c = *group.chunk;
  section.fields.push_back({"chunks", count_text(c.chunks) + " of " + count_text(c.rows) +
                                          " rows at most, " + count_text(c.all_rows) +
                                          " in all; symbol \"" + c.symbol + "\" of the graph"});
  section.fields.push_back({"alive", to_text(c.inside) + " of the " + to_text(group.inside) +
                                         " of intermediates at a time"});
  section.lines.push_back("- the same kernels in each chunk; every row is computed once");
  section.lines.push_back(reread_line(group, chip));
  std::string sums;
  for (const std::string& sum : c.sums) sums += (sums.empty() ? "" : ", ") + sum;
  if (!sums.empty())
    section.lines.push_back("- summed from chunk to chunk as stored: " + sums +
                            "; wider sums would move more bytes, narrow ones round once a chunk");
  section.lines.push_back(
      c.near_from
          ? "- from " + count_text(*c.near_from) +
                " rows a chunk on (powers of two) the cold floor stays within 5 % of the one "
                "before; smaller chunks wait for what is read again"
          : "- no chunk, of powers of two, keeps the cold floor within 5 % of the one before");
  section.lines.push_back(time_line(group));
}

Section group_section(const GroupFusion& group, const OnChip& chip) {
  Section section;
  section.title = group.name;
  if (group.times != 1) section.fields.push_back({"count", count_text(group.times)});
  if (group.chunk) {
    add_chunk_lines(group, chip, section);
  } else {
    section.fields.push_back({group.after ? "vanishes" : "would vanish",
                              to_text(group.inside) + " of intermediates a pass"});
  }
  for (const FusionRefusal& r : group.refusals)
    section.lines.push_back("refused (" + std::string(name_of(r.rule)) + "): " + r.reason);
  if (!group.after) return section;
  if (on_chip(group) > Bytes(0))
    section.fields.push_back({"on chip", to_text(on_chip(group)) + " in one SM"});
  for (const std::string& line : group.conditions) section.lines.push_back("- " + line);
  if (!group.chunk && chip.keep_known && group.inside <= chip.keep && group.inside > Bytes(0)) {
    section.lines.push_back("- intermediates of " + to_text(group.inside) +
                            " fit into S_keep = " + to_text(chip.keep) +
                            ": where they stay there, less is gained than cold");
  }
  section.tables.push_back(floor_table(group, chip.keep_known));
  section.tables.push_back(tensor_table(group));
  return section;
}

std::string launch_time_text(const Launches& launches) {
  if (!launches.saved || *launches.saved == Seconds(0)) return "";
  const bool more = *launches.saved < Seconds(0);
  return more ? "costs " + to_text(Seconds(0) - *launches.saved)
              : "saves " + to_text(*launches.saved);
}

Section whole_section(const FuseReport& report) {
  const FusionResult& r = *report.result;
  Section section;
  section.title = "The whole";
  Table table;
  table.columns = {{"", false}, {"before", true}, {"after", true}, {"ratio", true}};
  const bool any = r.before.floors.any_known;
  const GraphFloors& a = r.before.floors;
  const GraphFloors& b = r.after->floors;
  const auto row = [&table](const char* name, Seconds x, Seconds y) {
    table.rows.push_back({name, to_text(x), to_text(y), ratio_text(x, y)});
  };
  row("serial floor, cold", a.serial.cold, b.serial.cold);
  table.rows.push_back({"serial floor, any residency", any ? to_text(a.serial.any) : "not known",
                        any ? to_text(b.serial.any) : "not known",
                        any ? any_text(a.serial.any, b.serial.any, has_chunks(r), table) : "-"});
  row("fused floor, cold", a.fused.cold, b.fused.cold);
  table.rows.push_back({"intermediates alive at once", to_text(r.peak_before.to_bytes()),
                        to_text(r.peak_after->to_bytes()), ""});
  table.rows.push_back({"memory alive at once, all", to_text(r.memory_before.to_bytes()),
                        to_text(r.memory_after->to_bytes()), ""});
  table.rows.push_back({"launches (expectation only)", count_text(r.launches.before),
                        count_text(r.launches.after), launch_time_text(r.launches)});
  table.footnotes.push_back("a ratio of floors is not a promise; no floor has launch time");
  section.tables.push_back(std::move(table));
  return section;
}

Table csv_table(const FusionResult& r) {
  Table csv;
  for (const char* name : {"group", "legal", "hbm_bytes_before", "hbm_bytes_after", "cold_s_before",
                           "cold_s_after", "any_residency_s_before", "any_residency_s_after",
                           "floor_ratio", "intermediate_bytes", "refused"}) {
    csv.columns.push_back({name, false});
  }
  for (const GroupFusion& g : r.groups) {
    std::string refused;
    for (const FusionRefusal& f : g.refusals) refused += (refused.empty() ? "" : "; ") + f.reason;
    const auto after = [&g](auto amount) {
      return g.after ? exact_text(amount(*g.after).in_base_units()) : std::string();
    };
    csv.rows.push_back(
        {g.name, g.refusals.empty() ? "true" : "false", exact_text(g.before.hbm.in_base_units()),
         after([](const GroupTimes& t) { return t.hbm; }),
         exact_text(g.before.cold.in_base_units()),
         after([](const GroupTimes& t) { return t.cold; }),
         exact_text(g.before.any.in_base_units()), after([](const GroupTimes& t) { return t.any; }),
         g.after && g.after->cold > Seconds(0) ? exact_text(g.before.cold / g.after->cold) : "",
         exact_text(g.inside.in_base_units()), refused});
  }
  return csv;
}

}  // namespace

Document fuse_document(const FuseReport& report) {
  const FusionResult& r = *report.result;
  std::vector<std::string> notes = fused_notes(r.before.graph, report.machine);
  notes.insert(notes.end(), report.notes.begin(), report.notes.end());
  for (const std::string& line : floor_conditions(r.before, report.machine))
    notes.push_back("condition: " + line);
  if (!r.launches.saved) {
    notes.push_back("no launch time: device " + report.machine->device.name +
                    " does not state overhead.kernel_launch");
  }
  if (!report.machine->chip.keep_known) {
    notes.push_back("no any-residency memory floor: device " + report.machine->device.name +
                    " does not state memory.l2.capacity");
  }
  const std::vector<std::string> assumed =
      unique_lines({r.before.graph.assumptions, report.assumptions});
  Document doc;
  doc.json = document_json(report, assumed, notes);
  Section head;
  head.title = report.workload + " on " + device_line(*report.machine);
  if (r.plan) {
    head.fields.push_back({"search", r.plan->exact ? "exact" : "cut"});
    for (const std::string& line : r.plan->cut) head.lines.push_back("- " + line);
    if (r.groups.empty()) {
      head.lines.push_back("no legal fusion lowers the serial cold floor");
      for (const std::string& line : r.plan->alone) head.lines.push_back("- " + line);
    }
  }
  if (!r.legal())
    head.lines.push_back(report.chunk ? "cannot run by chunks of rows:" : "cannot be one kernel:");
  doc.sections.push_back(std::move(head));
  for (const GroupFusion& group : r.groups)
    doc.sections.push_back(group_section(group, report.machine->chip));
  if (r.legal()) {
    doc.sections.push_back(whole_section(report));
  } else {
    doc.sections.push_back({"As it is",
                            {{"serial floor, cold", to_text(r.before.floors.serial.cold)},
                             {"bound by", words_for(r.before.floors.serial_binding)},
                             {"intermediates alive at once", to_text(r.peak_before.to_bytes())}},
                            {},
                            {}});
  }
  doc.sections.push_back({"Conditions and assumptions", {}, small_print_lines(notes, assumed), {}});
  doc.csv = csv_table(r);
  return doc;
}

}  // namespace floorline
