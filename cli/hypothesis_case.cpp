// SPDX-License-Identifier: Apache-2.0
#include "cli/hypothesis_case.hpp"

#include <algorithm>

#include "cli/locate.hpp"
#include "cli/subject.hpp"
#include "model/device/device_file.hpp"
#include "model/floor/measured.hpp"
#include "model/input/diagnostic.hpp"
#include "model/quantity/unit_names.hpp"
#include "model/report/device_document.hpp"
#include "model/report/document_head.hpp"
#include "model/report/graph_document.hpp"
#include "validation/experiment/prediction.hpp"
#include "validation/hypothesis/experiment_name.hpp"
#include "validation/hypothesis/hypothesis_file.hpp"

namespace floorline {

namespace {

Subject subject_of(const HypothesisCase& c, const CaseLookup& lookup) {
  WorkloadOptions options;
  options.op = c.op;
  options.workload = c.workload;
  options.workload_path = lookup.workload_path;
  options.set = c.set;
  const bool runs = lookup.machine != nullptr && !c.experiment.empty();
  const bool has_graph = !c.op.empty() || !c.workload.empty();
  const auto spec =
      c.experiment.empty() ? std::nullopt : resolve_experiment(c.experiment, lookup.scale);
  if (!spec || (has_graph && !runs)) return read_subject(options);
  Subject subject;
  subject.workload = text_of(*spec);
  subject.graph = prediction_graph(*spec);
  for (const Assignment& a : assignments_of(c.set)) {
    if (names_device_key(a.name) || names_clock(a.name)) {
      subject.device_settings.push_back(a);
    } else {
      assign(*subject.graph, a);
    }
  }
  return subject;
}

std::string device_of(const Hypothesis& h, const HypothesisCase& c, const CaseLookup& lookup) {
  const std::vector<std::string> given = device_list(lookup.device);
  if (given.size() > 1) {
    throw InputError(Diagnostic{position_in("command line"), "--device",
                                "a hypothesis is about one device at a time"});
  }
  if (!given.empty()) return given.front();
  if (!c.device.empty()) return c.device;
  if (!h.device.empty()) return h.device;
  throw InputError(Diagnostic{position_in(h.file), "device",
                              "missing; expected a device here or by --device (floorline devices "
                              "lists them)"});
}

Machine machine_for(const Hypothesis& h, const HypothesisCase& c, const CaseLookup& lookup,
                    const Subject& subject) {
  if (lookup.machine == nullptr) {
    return load_machine(device_of(h, c, lookup), lookup.device, subject);
  }
  DeviceSpec device = lookup.machine->device;
  ClockChoice clocks = lookup.machine->clocks;
  for (const Assignment& a : subject.device_settings) {
    if (names_clock(a.name)) {
      assign(clocks, a);
    } else {
      assign(device, a);
    }
  }
  return machine_of(std::move(device), clocks);
}

/// All numbers of the device and the graph as documents: what changes a floor changes these.
void set_texts(const SubjectResult& result, const Machine& machine, CaseRun& run) {
  Document device = device_document(machine);
  run.device_text = write_json(device);
  GraphReport report;
  report.graph = &result.evaluation.graph;
  report.bound = &result.evaluation.bound;
  run.workload_text = write_json(graph_document(report));
}

void add_lines(const std::vector<std::string>& lines, std::vector<std::string>& all) {
  for (const std::string& line : lines) {
    if (std::find(all.begin(), all.end(), line) == all.end()) all.push_back(line);
  }
}

CaseRun predict_case(const HypothesisCase& c, const CaseLookup& lookup, HypothesisRun& run) {
  const Subject subject = subject_of(c, lookup);
  const Machine machine = machine_for(run.hypothesis, c, lookup, subject);
  const SubjectResult result = evaluate(subject, machine);
  CaseRun predicted;
  predicted.floors = result.model
                         ? case_floors(result.evaluation, *result.model, machine, c.schedule)
                         : case_floors(result.evaluation, machine, c.schedule);
  predicted.device = machine.device.name;
  set_texts(result, machine, predicted);
  if (!c.experiment.empty()) {
    const auto spec = resolve_experiment(c.experiment, lookup.scale);
    if (spec) predicted.experiment = text_of(*spec);
  }
  add_lines(result.evaluation.graph.assumptions, run.assumptions);
  add_lines(result.assumptions, run.assumptions);
  for (const std::string& line : floor_conditions(result.evaluation, &machine)) {
    add_lines({"condition: " + line}, run.notes);
  }
  add_lines(result.notes, run.notes);
  return predicted;
}

/// What the claim says of the baseline, beside what the engine says.
void compare_limit(HypothesisRun& run) {
  const std::string& claimed = run.hypothesis.claimed_limit;
  const std::optional<ResourceId> id = resource_from(claimed);
  const CaseFloors& floors = run.baseline.floors;
  if (!id) {
    run.notes.push_back("claimed limit " + claimed + ": no rate bounds it, so no floor judges it");
  } else if (floors.term(*id) == nullptr) {
    run.notes.push_back("claimed limit " + claimed +
                        ": the engine finds no work of the baseline for it, so nothing judges it");
  } else if (floors.binding && *floors.binding != *id) {
    run.notes.push_back("claimed limit " + claimed +
                        ": the engine's floor of the baseline is bound by " +
                        name_of(*floors.binding));
  }
}

[[noreturn]] void refuse(const std::string& why) {
  throw InputError(Diagnostic{position_in("command line"), "--observed", why});
}

Observation typed_observation(const std::string& name, MeasurandKind kind, double value) {
  Observation o;
  o.what = {name, kind};
  o.summary = typed_value(value);
  o.evidence = EvidenceClass::typed;
  o.machine.backend = "typed";
  return o;
}

double typed_bytes(const std::string& text) {
  const ParsedQuantity q = parse_quantity(text, Dimension::bytes);
  if (!q.error.empty()) refuse(q.error);
  if (!(q.base > 0)) refuse("\"" + text + "\" is not above zero");
  return q.base;
}

void add_bytes(const std::string& name, const std::string& value, CaseRun& c) {
  if (c.observed.hbm_bytes) refuse(name + " is given twice");
  c.observed.hbm_bytes = typed_observation("hbm_bytes", MeasurandKind::bytes, typed_bytes(value));
}

/// Read as --measured reads it; a mistake is told of the flag that was given.
Seconds typed_time(const std::string& name, const std::string& value, const CaseFloors& floors) {
  try {
    return measured_time(value, {floors.work, floors.hbm_counted, 0});
  } catch (const InputError& error) {
    refuse(name + ": " + error.diagnostics().front().message);
  }
}

void add_time(const std::string& name, const std::string& value, CaseRun& c) {
  const Seconds time = typed_time(name, value, c.floors);
  Observation o = typed_observation("time", MeasurandKind::time, time.in_base_units());
  if (!c.observed.time) {
    c.observed.time = std::move(o);
  } else if (!c.observed.second) {
    c.observed.second = std::move(o);
  } else {
    refuse(name + " is given three times; expected a time and perhaps a second run's");
  }
}

}  // namespace

HypothesisRun predict(Hypothesis hypothesis, const CaseLookup& lookup) {
  HypothesisRun run;
  run.hypothesis = std::move(hypothesis);
  run.baseline = predict_case(run.hypothesis.baseline, lookup, run);
  run.variant = predict_case(run.hypothesis.variant, lookup, run);
  compare_limit(run);
  add_lines(run.hypothesis.notes, run.notes);
  return run;
}

void add_typed(const std::string& text, HypothesisRun& run) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) {
    refuse("\"" + text + "\" has no '='; expected such as baseline=5.074ms");
  }
  const std::string name = text.substr(0, equals);
  const std::string value = text.substr(equals + 1);
  if (name == "baseline") {
    add_time(name, value, run.baseline);
  } else if (name == "variant") {
    add_time(name, value, run.variant);
  } else if (name == "baseline.hbm_bytes") {
    add_bytes(name, value, run.baseline);
  } else if (name == "variant.hbm_bytes") {
    add_bytes(name, value, run.variant);
  } else {
    const std::vector<std::string> names{"baseline", "variant", "baseline.hbm_bytes",
                                         "variant.hbm_bytes"};
    refuse("\"" + name + "\" is nothing that is observed" + did_you_mean(name, names) +
           "; expected baseline, variant, baseline.hbm_bytes or variant.hbm_bytes");
  }
  run.typed.push_back(text);
  run.backend = "typed";
}

void judge_run(HypothesisRun& run) {
  run.verdict = judge(run.hypothesis, {&run.baseline.floors, &run.baseline.observed},
                      {&run.variant.floors, &run.variant.observed}, run.tolerance);
}

std::string drafted_text(HypothesisDraft draft, const CaseLookup& lookup) {
  const auto clock = [&draft](const char* name, const std::string& value) {
    if (!value.empty()) draft.set.push_back(std::string(name) + "=" + value);
  };
  clock("sm_clock", lookup.device.sm_clock);
  clock("mem_clock_scale", lookup.device.memory_scale);
  Hypothesis h = draft_hypothesis(draft);
  CaseLookup with_settings = lookup;  // clocks are among them now
  with_settings.device.sm_clock.clear();
  with_settings.device.memory_scale.clear();
  const HypothesisRun run = predict(h, with_settings);
  const CaseFloors& before = run.baseline.floors;
  const CaseFloors& after = run.variant.floors;
  DraftFloors floors;
  if (before.cold > Seconds(0) && after.cold > Seconds(0)) {
    floors.floor_ratio = before.cold / after.cold;
  }
  if (before.binding) floors.binding = name_of(*before.binding);
  predict_from_floors(h, floors);
  const std::string text = write_hypothesis(h);
  parse_hypothesis(text, h.name + ".toml");  // ready to run, or told now why not
  return text;
}

}  // namespace floorline
