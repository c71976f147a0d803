// SPDX-License-Identifier: Apache-2.0
#include "cli/timeline_ways.hpp"

#include "cli/subject.hpp"
#include "model/input/diagnostic.hpp"
#include "model/quantity/unit_names.hpp"
#include "model/timeline/kinds/kind_file.hpp"
#include "model/timeline/operator_timeline.hpp"

namespace floorline {

namespace {

std::vector<TimelineFact> report_facts(std::vector<Fact> facts) {
  std::vector<TimelineFact> out;
  for (Fact& fact : facts)
    out.push_back({std::move(fact.key), std::move(fact.label), fact.value, std::move(fact.text)});
  return out;
}

OperatorDuration duration_of(const std::string& residency) {
  if (residency == "cold") return OperatorDuration::cold;
  if (residency == "any") return OperatorDuration::any_residency;
  throw InputError(Diagnostic{position_in("command line"), "--residency",
                              floorline::quoted(residency) + " is not one of cold, any" +
                                  did_you_mean(residency, {"cold", "any"})});
}

/// The floors of the whole graph, between which the end of the schedule lies.
std::vector<TimelineFact> graph_facts(const GraphFloors& floors, bool cold) {
  const auto of = [cold](const ResidencyTimes& t) { return cold ? t.cold : t.any; };
  return report_facts(
      {time_fact("fused_floor_s", "fused floor", of(floors.fused)),
       time_fact("critical_path_floor_s", "critical path floor", of(floors.critical_path)),
       time_fact("serial_floor_s", "serial floor", of(floors.serial))});
}

}  // namespace

AskedTimeline ask_pipeline_kind(const Node& document) {
  BuiltKind kind = read_pipeline_kind(document);
  AskedTimeline asked;
  asked.pipeline = std::move(kind.pipeline);
  asked.report.facts = report_facts(std::move(kind.facts));
  asked.report.assumptions = std::move(kind.assumptions);
  asked.report.notes = std::move(kind.notes);
  if (kind.after) {
    asked.after = [after = std::move(kind.after)](const Pipeline& p, const Schedule& s) {
      return report_facts(after(p, s));
    };
  }
  return asked;
}

AskedTimeline ask_operator_graph(const WorkloadOptions& workload, const DeviceOptions& device,
                                 const std::string& residency, Diagnostics& wrong) {
  const auto duration = collected(wrong, [&] { return duration_of(residency); });
  if (device.device.empty())
    wrong.add(position_in("command line"), "--device",
              "missing; an operator graph takes the floors of a device "
              "(floorline devices lists them)");
  const std::optional<Subject> asked_of = asked_subject(workload, wrong);
  const auto names = collected(wrong, [&] { return device_list(device); });
  std::optional<Machine> machine;
  if (names && !names->empty())
    machine = asked_machine(names->front(), device, asked_of, workload, wrong);
  wrong.throw_if_any();
  const SubjectResult result = evaluate(*asked_of, *machine);
  const Evaluation& e = result.evaluation;
  const bool cold = *duration == OperatorDuration::cold;
  AskedTimeline asked;
  asked.pipeline = operator_pipeline(e.graph, e.bound, e.floors, *duration);
  asked.report.devices = {machine->device.name};
  asked.report.facts = graph_facts(e.floors, cold);
  asked.report.assumptions = e.graph.assumptions;
  asked.report.assumptions.insert(asked.report.assumptions.end(), result.assumptions.begin(),
                                  result.assumptions.end());
  asked.report.assumptions.push_back(
      std::string("every operator takes its floor (") + (cold ? "cold" : "any residency") +
      "): what overlaps if all attain it, neither a floor of the whole nor a measured time");
  asked.report.assumptions.emplace_back(
      "one kernel at a time; collectives on a stream of their own, one copy engine each way");
  asked.report.notes = e.graph.notes;
  asked.report.notes.insert(asked.report.notes.end(), result.notes.begin(), result.notes.end());
  return asked;
}

}  // namespace floorline
