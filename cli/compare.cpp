// SPDX-License-Identifier: Apache-2.0
// floorline compare: one workload on several devices.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <deque>
#include <memory>

#include "cli/command_line.hpp"
#include "cli/output.hpp"
#include "cli/subject.hpp"
#include "model/input/diagnostic.hpp"
#include "model/report/compare_document.hpp"

namespace floorline {

namespace {

struct CompareOptions {
  WorkloadOptions workload;
  DeviceOptions device;
  OutputOptions output;
  std::string measured;
};

/// What the reports point into, at addresses that stay.
struct Kept {
  std::deque<Machine> machines;
  std::deque<SubjectResult> results;
};

CompareRow compare_one(const std::string& name, const Subject& subject,
                       const CompareOptions& options, Kept& kept) {
  CompareRow row;
  kept.machines.push_back(load_machine(name, options.device, subject));
  row.device = kept.machines.back().device.name;
  try {  // a device that cannot is a row that says why
    kept.results.push_back(evaluate(subject, kept.machines.back()));
  } catch (const InputError& error) {
    for (const Diagnostic& d : error.diagnostics())
      row.reasons.push_back(d.key_path + ": " + d.message);
    return row;
  }
  BoundReport report;
  report.inputs.workload = subject.workload;
  report.inputs.ranks = kept.results.back().ranks;
  if (!options.measured.empty()) report.inputs.measured = options.measured;
  report.machine = &kept.machines.back();
  report.evaluation = &kept.results.back().evaluation;
  report.model = kept.results.back().model;
  report.assumptions = kept.results.back().assumptions;
  row.report = std::move(report);
  return row;
}

int compare(const CompareOptions& options) {
  format_of(options.output);
  const Subject subject = read_subject(options.workload);
  const std::vector<std::string> devices = device_list(options.device);
  if (devices.empty()) {
    throw InputError(
        Diagnostic{position_in("command line"), "--device",
                   "missing; expected devices separated by commas (floorline devices)"});
  }
  Kept kept;
  std::vector<CompareRow> rows;
  for (const std::string& name : devices) rows.push_back(compare_one(name, subject, options, kept));
  BoundInputs inputs;
  inputs.workload = subject.workload;
  inputs.set = options.workload.set;
  if (!options.measured.empty()) inputs.measured = options.measured;
  print(compare_document(inputs, rows), options.output);
  const bool impossible = std::any_of(rows.begin(), rows.end(), [](const CompareRow& row) {
    const auto m = row.report ? judge_measured(*row.report) : std::nullopt;
    return m && m->verdict == MeasuredVerdict::impossible;
  });
  return impossible ? 1 : 0;
}

}  // namespace

void add_compare(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("compare", "the floors of one workload on several devices");
  auto options = std::make_shared<CompareOptions>();
  add_workload_options(*verb, options->workload);
  add_device_options(*verb, options->device, true);
  verb->add_option("--measured", options->measured, "a time or a rate to judge on each device");
  add_output_options(*verb, options->output);
  verb->callback([options, &action] { action = [options] { return compare(*options); }; });
}

}  // namespace floorline
