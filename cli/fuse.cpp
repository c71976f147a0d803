// SPDX-License-Identifier: Apache-2.0
// floorline fuse: what one kernel instead of several buys, or why it cannot be.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/command_line.hpp"
#include "cli/output.hpp"
#include "cli/refuse.hpp"
#include "cli/subject.hpp"
#include "model/report/fuse_document.hpp"
#include "model/report/graph_document.hpp"

namespace floorline {

namespace {

struct FuseOptions {
  WorkloadOptions workload;
  DeviceOptions device;
  OutputOptions output;
  std::vector<std::string> groups;
  bool search = false;
  std::string emit;
};

std::vector<std::string> names_in(const std::string& list) {
  std::vector<std::string> names;
  std::size_t start = 0;
  while (start <= list.size()) {
    const std::size_t end = std::min(list.find(',', start), list.size());
    if (end == start) refuse("--group", "\"" + list + "\" has an empty name; expected a,b,c");
    names.push_back(list.substr(start, end - start));
    start = end + 1;
  }
  return names;
}

void check(const FuseOptions& options) {
  format_of(options.output);
  if (options.search == !options.groups.empty()) {
    refuse("--group", options.search ? "and --search do not go together; expected one of them"
                                     : "missing; expected --group a,b,c or --search");
  }
}

/// The fused graph as a file that every command reads.
void emit(const FusionResult& result, const FuseOptions& options, const std::string& workload) {
  GraphReport report;
  report.workload = workload;
  report.set = options.workload.set;
  report.graph = &result.after->graph;
  report.bound = &result.after->bound;
  OutputOptions file;
  file.format = "json";
  file.file = options.emit;
  file.flag = "--emit";
  print(graph_document(report), file);
}

FusionResult run(const FuseOptions& options, Evaluation evaluation, const Machine& machine) {
  if (options.search) return fuse_best(std::move(evaluation), machine);
  std::vector<std::vector<std::string>> groups;
  for (const std::string& group : options.groups) groups.push_back(names_in(group));
  return fuse_groups(std::move(evaluation), machine, groups);
}

int fuse(const FuseOptions& options) {
  check(options);
  const Subject subject = read_subject(options.workload);
  const std::vector<std::string> devices = device_list(options.device);
  if (devices.size() != 1) refuse("--device", "expected one device (floorline devices lists them)");
  const Machine machine = load_machine(devices.front(), options.device, subject);
  SubjectResult asked = evaluate(subject, machine);
  const FusionResult result = run(options, std::move(asked.evaluation), machine);
  if (!options.emit.empty() && result.legal()) emit(result, options, subject.workload);
  FuseReport report;
  report.workload = subject.workload;
  report.set = options.workload.set;
  report.groups = options.groups;
  report.ranks = asked.ranks;
  report.machine = &machine;
  report.result = &result;
  report.assumptions = asked.assumptions;
  report.notes = asked.notes;
  print(fuse_document(report), options.output);
  return result.legal() ? 0 : 1;
}

}  // namespace

void add_fuse(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand(
      "fuse", "what one kernel instead of several buys, or why it cannot be one");
  auto options = std::make_shared<FuseOptions>();
  add_workload_options(*verb, options->workload);
  add_device_options(*verb, options->device, false);
  verb->add_option("--group", options->groups,
                   "operators to fuse, a,b,c; repeatable for several kernels")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  verb->add_flag("--search", options->search, "the legal groups with the least serial cold floor");
  verb->add_option("--emit", options->emit, "write the fused graph to this file (JSON)");
  add_output_options(*verb, options->output);
  verb->callback([options, &action] { action = [options] { return fuse(*options); }; });
}

}  // namespace floorline
