// SPDX-License-Identifier: Apache-2.0
#include "model/report/timeline_document.hpp"

#include <algorithm>

#include "model/input/diagnostic.hpp"
#include "model/quantity/unit_names.hpp"
#include "model/report/document_head.hpp"
#include "model/report/gantt.hpp"
#include "model/report/timeline_json.hpp"
#include "model/report/timeline_tables.hpp"

namespace floorline {

namespace {

const std::string& name_of_stage(const Pipeline& p, StageId id) {
  return p.stages[index_of(id)].name;
}

std::vector<std::string> notes_of(const TimelineReport& r) {
  std::vector<std::string> notes = r.notes;
  const Timeline& t = *r.timeline;
  if (!t.period) notes.emplace_back("one item: no period and no throughput");
  for (const GroupReport& g : t.groups) {
    if (g.twice_as_fast) continue;
    notes.emplace_back(
        "stages without a \"twice as fast\" were not scheduled again: too many steps");
    break;
  }
  for (const GroupReport& g : t.groups) {
    const bool anomaly =
        (g.twice_as_fast && g.twice_as_fast->anomaly) || (g.free && g.free->anomaly);
    if (!anomaly) continue;
    notes.push_back("anomaly: a faster " + g.name +
                    " ends later, because the order on a shared resource changes (Graham 1969)");
  }
  if (t.critical_path.steps.size() > kMostPathSteps)
    notes.push_back("critical path: the first and the last " + std::to_string(kMostPathSteps / 2) +
                    " of " + std::to_string(t.critical_path.steps.size()) + " steps are listed");
  return notes;
}

std::vector<std::string> assumptions_of(const TimelineReport& r) {
  std::vector<std::string> all = r.assumptions;
  all.emplace_back(
      "a free server takes what was ready first, ties by item then stage, the lowest server first; "
      "nothing is preempted");
  if (!r.pipeline->buffers.empty())
    all.emplace_back(
        "buffers block after service: a finished item keeps its server until its buffer has room");
  all.emplace_back("resources do not slow each other down");
  return all;
}

std::string period_text(const TimelineReport& r) {
  const Period& period = *r.timeline->period;
  std::string text = to_text(period.time);
  if (period.kind == PeriodKind::cycle_mean) {
    if (!period.cycle.empty()) text += ", set by ";
    std::vector<std::string> names;
    for (const StageId id : period.cycle) {
      const std::string& name = name_of_stage(*r.pipeline, id);
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    for (std::size_t i = 0; i < names.size() && i < 6; ++i) text += (i > 0 ? ", " : "") + names[i];
    if (names.size() > 6) text += ", …";
    text += " (largest cycle mean";
    text += period.repeats ? "; the simulated one is " + to_text(*period.repeats) + ")" : ")";
    return text;
  }
  text += " (simulated over " + std::to_string(period.simulated_items) + " items";
  return text + (period.repeats ? ", where it repeats exactly)"
                                : ": the mean of the second half, or the busiest resource)");
}

Section head_section(const TimelineReport& r) {
  const Timeline& t = *r.timeline;
  Section head;
  head.title = r.pipeline->name.empty() ? r.workload : r.pipeline->name;
  if (!r.devices.empty()) {
    std::string names;
    for (const std::string& d : r.devices) names += (names.empty() ? "" : ", ") + d;
    head.fields.push_back({"device", names});
  }
  head.fields.push_back({"items", std::to_string(r.pipeline->items)});
  head.fields.push_back({"first item ends", to_text(t.first_item)});
  head.fields.push_back({"last ends (makespan)", to_text(t.schedule.makespan())});
  if (t.period) {
    head.fields.push_back({"period", period_text(r)});
    if (t.period->time > Seconds(0))
      head.fields.push_back(
          {"throughput", number_text(1 / t.period->time.in_base_units()) + " items/s, steady"});
    if (t.period->busiest)
      head.fields.push_back(
          {"period at least", to_text(t.period->at_least) + " (" +
                                  r.pipeline->pools[index_of(*t.period->busiest)].name + ")"});
  }
  if (t.gpu_util)
    head.fields.push_back({"GPU-Util", number_text(*t.gpu_util * 100, 3) +
                                           " % (time in which some kernel runs; says nothing of "
                                           "how well)"});
  if (t.communication)
    head.fields.push_back({"communication", to_text(*t.communication) + ", exposed " +
                                                to_text(*t.exposed_communication)});
  for (const TimelineFact& fact : r.facts) head.fields.push_back({fact.label, fact.text});
  return head;
}

Table task_table(const TimelineReport& r) {
  Table csv;
  for (const char* name : {"stage", "item", "resource", "server", "start_s", "end_s", "waited_for"})
    csv.columns.push_back({name, false});
  const Schedule& s = r.timeline->schedule;
  if (!r.task_table) return csv;
  if (s.order.size() > kMostTasksWritten)
    throw InputError(Diagnostic{position_in("command line"), "--format",
                                std::to_string(s.order.size()) + " steps are more than " +
                                    std::to_string(kMostTasksWritten) +
                                    " rows; expected fewer items, or another format"});
  for (const TaskId task : s.order) {
    const auto t = static_cast<std::size_t>(task);
    const Stage& stage = r.pipeline->stages[index_of(s.stage_of(task))];
    const Cause& cause = s.cause[t];
    std::string waited(word(cause.wait));
    if (cause.task != kNoTask)
      waited += ": " + name_of_stage(*r.pipeline, s.stage_of(cause.task)) + ", item " +
                std::to_string(s.item_of(cause.task));
    csv.rows.push_back({stage.name, std::to_string(s.item_of(task)),
                        r.pipeline->pools[index_of(stage.pool)].name, std::to_string(s.server[t]),
                        exact_text(s.time_of(s.start[t]).in_base_units()),
                        exact_text(s.time_of(s.end[t]).in_base_units()), waited});
  }
  return csv;
}

}  // namespace

std::string waited_for_text(const Pipeline& pipeline, const PathStep& step) {
  std::string text(word(step.wait));
  if (step.waited_for)
    text += ": " + name_of_stage(pipeline, *step.waited_for) + ", item " +
            std::to_string(step.waited_for_item);
  return text;
}

Document timeline_document(const TimelineReport& r) {
  Document doc;
  const std::vector<std::string> notes = notes_of(r);
  const std::vector<std::string> assumptions = assumptions_of(r);
  doc.json = document_head("timeline");
  doc.json
      .set("inputs", Json::object()
                         .set("workload", r.workload)
                         .set("set", json_of(r.set))
                         .set("devices", json_of(r.devices))
                         .set("items", r.pipeline->items))
      .set("assumptions", json_of(assumptions))
      .set("notes", json_of(notes));
  add_timeline_json(r, doc.json);
  doc.sections.push_back(head_section(r));
  for (Table& chart : gantt_tables(*r.pipeline, *r.timeline))
    doc.sections.push_back({"", {}, {}, {std::move(chart)}});
  doc.sections.push_back({"", {}, {}, {stage_table(r)}});
  if (Table sources = source_table(r); !sources.rows.empty())
    doc.sections.push_back({"", {}, {}, {std::move(sources)}});
  doc.sections.push_back({"", {}, {}, {resource_table(r)}});
  doc.sections.push_back({"", {}, {}, {path_table(r)}});
  if (Table copies = copy_table(r); !copies.rows.empty())
    doc.sections.push_back({"", {}, {}, {std::move(copies)}});
  doc.sections.push_back(
      {"Conditions and assumptions", {}, small_print_lines(notes, assumptions), {}});
  doc.csv = task_table(r);
  return doc;
}

}  // namespace floorline
