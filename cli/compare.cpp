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

CompareRow compare_one(const Machine& machine, const Subject& subject,
                       const CompareOptions& options, Kept& kept) {
  CompareRow row;
  row.device = machine.device.name;
  try {  // a device that cannot is a row that says why
    kept.results.push_back(evaluate(subject, machine));
  } catch (const InputError& error) {
    for (const Diagnostic& d : error.diagnostics())
      row.reasons.push_back(d.key_path + ": " + d.message);
    return row;
  }
  BoundReport report;
  report.inputs.workload = subject.workload;
  report.inputs.ranks = kept.results.back().ranks;
  if (!options.measured.empty()) report.inputs.measured = options.measured;
  report.machine = &machine;
  report.evaluation = &kept.results.back().evaluation;
  report.model = kept.results.back().model;
  report.assumptions = kept.results.back().assumptions;
  row.report = std::move(report);
  return row;
}

/// The workload and every device; all that is wrong with the command line at once.
Subject read_all(const CompareOptions& options, Kept& kept) {
  Diagnostics wrong;
  check_output(options.output, wrong);
  collect(wrong, [&] { check_measured_text(options.measured); });
  std::optional<Subject> subject = asked_subject(options.workload, wrong);
  const auto devices = collected(wrong, [&] { return device_list(options.device); });
  if (devices && devices->empty())
    wrong.add(position_in("command line"), "--device",
              "missing; expected devices separated by commas (floorline devices)");
  for (const std::string& name : devices.value_or(std::vector<std::string>{})) {
    auto machine = asked_machine(name, options.device, subject, options.workload, wrong);
    if (machine) kept.machines.push_back(*std::move(machine));
  }
  wrong.throw_if_any();
  return *std::move(subject);
}

int compare(const CompareOptions& options) {
  Kept kept;
  const Subject subject = read_all(options, kept);
  std::vector<CompareRow> rows;
  for (const Machine& machine : kept.machines)
    rows.push_back(compare_one(machine, subject, options, kept));
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
