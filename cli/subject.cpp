// SPDX-License-Identifier: Apache-2.0
#include "cli/subject.hpp"

#include <filesystem>

#include "cli/locate.hpp"
#include "model/device/device_file.hpp"
#include "model/input/diagnostic.hpp"
#include "model/workload/architecture_file.hpp"
#include "model/workload/graph_file.hpp"
#include "model/workload/model_graph.hpp"
#include "model/workload/op_text.hpp"

namespace floorline {

namespace {

Position here() { return position_in("command line"); }

std::vector<std::string> symbol_names() {
  std::vector<std::string> names;
  for (const SymbolInfo& symbol : model_symbols()) names.emplace_back(symbol.name);
  return names;
}

/// All that is wrong with the settings is told at once.
void apply_to_model(const std::vector<Assignment>& settings, Subject& subject) {
  Diagnostics diagnostics;
  ModelWorkload& model = *subject.model;
  for (const Assignment& a : settings) {
    if (names_device_key(a.name) || names_clock(a.name)) {
      subject.device_settings.push_back(a);
    } else if (names_graph_part(a.name)) {
      model.graph_settings.push_back(a);
    } else {
      const SymbolResult r = a.scale ? scale_symbol(a.name, a.value, model.scenario, model.layout)
                                     : apply_symbol(a.name, a.value, model.scenario, model.layout);
      if (!r.known) {
        diagnostics.add(here(), a.name,
                        "is not a symbol of a model" + did_you_mean(a.name, symbol_names()));
      } else if (!r.error.empty()) {
        diagnostics.add(here(), a.name, r.error);
      }
    }
  }
  diagnostics.throw_if_any();
  check_model(model.architecture, model.scenario, model.layout, diagnostics);
  diagnostics.throw_if_any();
}

void apply_to_graph(const std::vector<Assignment>& settings, Subject& subject) {
  for (const Assignment& a : settings) {
    const bool clock = names_clock(a.name) && !subject.graph->symbol(a.name);
    if (names_device_key(a.name) || clock) {
      subject.device_settings.push_back(a);
    } else {
      assign(*subject.graph, a);
    }
  }
}

void read_file(const WorkloadOptions& options, Subject& subject) {
  const std::string file = find_workload(options.workload, workload_folders(options.workload_path));
  subject.workload = options.workload;
  const Node document = read_document(file);
  if (is_graph_document(document)) {
    subject.graph = read_graph(document);
    if (document.find("name") == nullptr) {
      subject.graph->name = std::filesystem::path(file).stem().string();
    }
  } else if (is_model_config(document)) {
    subject.model = ModelWorkload{
        architecture_from(document, std::filesystem::path(file).stem().string()), {}, {}, {}};
  } else {
    throw InputError(
        Diagnostic{document.at, "",
                   "neither an operator graph (kind = \"graph\") nor a model's config.json "
                   "(architectures, hidden_size, …)"});
  }
}

}  // namespace

Subject read_subject(const WorkloadOptions& options) {
  if (options.workload.empty() == options.op.empty()) {
    throw InputError(Diagnostic{
        here(), "",
        options.op.empty() ? "no workload; expected a graph file, a model's config.json, the "
                             "name of a shipped workload, or --op 'KIND key=value …'"
                           : "both a workload and --op; expected one of them"});
  }
  Subject subject;
  const std::vector<Assignment> settings = assignments_of(options.set);
  for (const Assignment& a : settings) {
    if (a.name == "device")
      throw InputError(Diagnostic{here(), "device", "is no setting; expected --device " + a.value});
  }
  if (!options.op.empty()) {
    subject.workload = options.op;
    subject.graph = parse_op_text(options.op);
  } else {
    read_file(options, subject);
  }
  if (subject.model) {
    apply_to_model(settings, subject);
  } else {
    apply_to_graph(settings, subject);
  }
  return subject;
}

Machine load_machine(const std::string& name, const DeviceOptions& options,
                     const Subject& subject) {
  DeviceSpec device = load_device(name, device_path(options.device_path));
  ClockChoice clocks = clocks_of(options);
  for (const Assignment& a : subject.device_settings) {
    if (names_clock(a.name)) {
      assign(clocks, a);
    } else {
      assign(device, a);
    }
  }
  return machine_of(std::move(device), clocks);
}

SubjectResult evaluate(const Subject& subject, const Machine& machine) {
  SubjectResult result;
  if (subject.graph) {
    result.evaluation = evaluate(*subject.graph, machine);
    return result;
  }
  const ModelWorkload& model = *subject.model;
  ModelEvaluation e = evaluate_model(model, machine);
  result.evaluation = std::move(e.shown);
  result.model = e.floors;
  result.ranks = e.ranks;
  result.notes = std::move(e.notes);
  for (const std::string& line : without_effect(model.scenario)) result.notes.push_back(line);
  return result;
}

}  // namespace floorline
