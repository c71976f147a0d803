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

void apply_to_model(const std::vector<Assignment>& settings, Subject& subject, Diagnostics& wrong) {
  const std::size_t before = wrong.size();
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
        wrong.add(here(), a.name,
                  "is not a symbol of a model" + did_you_mean(a.name, symbol_names()));
      } else if (!r.error.empty()) {
        wrong.add(here(), a.name, r.error);
      }
    }
  }
  if (wrong.size() == before) check_model(model.architecture, model.scenario, model.layout, wrong);
}

void apply_to_graph(const std::vector<Assignment>& settings, Subject& subject, Diagnostics& wrong) {
  for (const Assignment& a : settings) {
    const bool clock = names_clock(a.name) && !subject.graph->symbol(a.name);
    if (names_device_key(a.name) || clock) {
      subject.device_settings.push_back(a);
    } else {
      collect(wrong, [&] { assign(*subject.graph, a); });
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
  Diagnostics wrong;
  Subject subject;
  std::vector<Assignment> settings = assignments_of(options.set, wrong);
  for (const Assignment& a : settings) {
    if (a.name == "device")
      wrong.add(here(), "device", "is no setting; expected --device " + a.value);
  }
  std::erase_if(settings, [](const Assignment& a) { return a.name == "device"; });
  if (options.workload.empty() && options.op.empty()) {
    wrong.add(here(), "",
              "no workload; expected a graph file, a model's config.json, the name of a shipped "
              "workload, or --op 'KIND key=value …'");
  } else if (!options.workload.empty() && !options.op.empty()) {
    wrong.add(here(), "", "both a workload and --op; expected one of them");
  } else if (!options.op.empty()) {
    subject.workload = options.op;
    subject.graph = collected(wrong, [&] { return parse_op_text(options.op); });
  } else {
    collect(wrong, [&] { read_file(options, subject); });
  }
  if (subject.model) apply_to_model(settings, subject, wrong);
  if (subject.graph) apply_to_graph(settings, subject, wrong);
  wrong.throw_if_any();
  return subject;
}

namespace {

void apply_device_setting(const Assignment& a, const DeviceOptions& options, DeviceSpec* device,
                          ClockChoice& clocks) {
  if (!names_clock(a.name)) {
    if (device != nullptr) assign(*device, a);
    return;
  }
  const bool sm = a.name == "sm_clock";
  if (!a.scale && !(sm ? options.sm_clock : options.memory_scale).empty()) {
    throw InputError(Diagnostic{here(), a.name,
                                std::string("is given by --set and by ") +
                                    (sm ? "--sm-clock" : "--mem-clock-scale") +
                                    "; expected one of them"});
  }
  assign(clocks, a);
}

}  // namespace

Machine load_machine(const std::string& name, const DeviceOptions& options,
                     const Subject& subject) {
  Diagnostics wrong;
  std::optional<DeviceSpec> device =
      collected(wrong, [&] { return load_device(name, device_path(options.device_path)); });
  std::optional<ClockChoice> clocks = collected(wrong, [&] { return clocks_of(options); });
  ClockChoice chosen = clocks.value_or(ClockChoice{});
  for (const Assignment& a : subject.device_settings) {
    collect(wrong, [&] { apply_device_setting(a, options, device ? &*device : nullptr, chosen); });
  }
  wrong.throw_if_any();
  return machine_of(*std::move(device), chosen);
}

std::optional<Subject> asked_subject(const WorkloadOptions& options, Diagnostics& wrong) {
  return collected(wrong, [&] { return read_subject(options); });
}

std::optional<Machine> asked_machine(const std::string& name, const DeviceOptions& options,
                                     const std::optional<Subject>& subject,
                                     const WorkloadOptions& workload, Diagnostics& wrong) {
  if (subject) return collected(wrong, [&] { return load_machine(name, options, *subject); });
  Subject unread;  // the workload is refused: what --set says of the device is read all the same
  Diagnostics told;
  for (Assignment& a : assignments_of(workload.set, told)) {
    if (names_device_key(a.name) || names_clock(a.name)) unread.device_settings.push_back(a);
  }
  return collected(wrong, [&] { return load_machine(name, options, unread); });
}

Question read_question(const WorkloadOptions& workload, const DeviceOptions& device,
                       const char* why_one, Diagnostics& wrong) {
  std::optional<Subject> subject = asked_subject(workload, wrong);
  const auto name = collected(wrong, [&] { return one_device(device, why_one); });
  std::optional<Machine> machine;
  if (name) machine = asked_machine(*name, device, subject, workload, wrong);
  wrong.throw_if_any();
  return {*std::move(subject), *std::move(machine)};
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
