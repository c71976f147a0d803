// SPDX-License-Identifier: Apache-2.0
// floorline bound: the floors of a workload, of one --op, or of one kernel by numbers.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/command_line.hpp"
#include "cli/numbers.hpp"
#include "cli/output.hpp"
#include "cli/subject.hpp"
#include "model/input/diagnostic.hpp"
#include "model/quantity/unit_names.hpp"
#include "model/report/bound_document.hpp"

namespace floorline {

namespace {

struct BoundOptions {
  WorkloadOptions workload;
  DeviceOptions device;
  OutputOptions output;
  NumbersOptions numbers;
  std::string measured;
  std::optional<int> top;
  bool explain = false;
};

int exit_status(const std::optional<Measured>& measured) {
  return measured && measured->verdict == MeasuredVerdict::impossible ? 1 : 0;
}

int finish(const BoundReport& report, const BoundOptions& options) {
  print(bound_document(report), options.output);
  return exit_status(judge_measured(report));
}

BoundReport report_for(const BoundOptions& options) {
  BoundReport report;
  report.inputs.set = options.workload.set;
  report.inputs.top = options.top.value_or(0);
  report.inputs.explain = options.explain;
  if (!options.measured.empty()) report.inputs.measured = options.measured;
  return report;
}

/// Flags alone, before any work.
void check_flags(const BoundOptions& options, Diagnostics& wrong) {
  check_output(options.output, wrong);
  refuse_idle({{"--explain", options.explain && options.output.format == "csv"}},
              "is not told in csv, which has one flat table; expected table, json or md", wrong);
  collect(wrong, [&] { check_top(options.top); });
  collect(wrong, [&] { check_measured_text(options.measured); });
}

int bound_by_numbers(const BoundOptions& options) {
  Diagnostics wrong;
  check_flags(options, wrong);
  const auto read = collected(
      wrong, [&] { return read_numbers(options.numbers, options.workload, options.device); });
  wrong.throw_if_any();
  const KernelNumbers& kernel = *read;
  BoundReport report = report_for(options);
  report.numbers = rates_of(kernel);
  report.inputs.numbers = json_of(kernel);
  const Evaluation evaluation = evaluate_numbers(kernel.work, kernel.traffic, report.numbers);
  report.evaluation = &evaluation;
  return finish(report, options);
}

int bound(const BoundOptions& options) {
  if (options.numbers.given()) return bound_by_numbers(options);
  Diagnostics wrong;
  check_flags(options, wrong);
  const auto asked =
      read_question(options.workload, options.device,
                    "bound takes one device; floorline compare takes several", wrong);
  const Subject& subject = asked.subject;
  const Machine& machine = asked.machine;
  const SubjectResult result = evaluate(subject, machine);
  BoundReport report = report_for(options);
  report.inputs.workload = subject.workload;
  report.inputs.ranks = result.ranks;
  report.machine = &machine;
  report.evaluation = &result.evaluation;
  report.model = result.model;
  report.assumptions = result.assumptions;
  report.notes = result.notes;
  return finish(report, options);
}

}  // namespace

void add_bound(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand(
      "bound", "the floors of a workload, of one --op, or of one kernel by numbers");
  auto options = std::make_shared<BoundOptions>();
  add_workload_options(*verb, options->workload);
  add_device_options(*verb, options->device, false);
  add_numbers_options(*verb, options->numbers);
  verb->add_option("--measured", options->measured,
                   "a time or a rate to judge: 9.302ms, 17.6TFLOP/s, 2.2TB/s, 75.9token/s");
  verb->add_option("--top", options->top, "rows of the operator table, 1 or more (default: all)");
  verb->add_flag("--explain", options->explain,
                 "formula, numbers, origins and file positions of every term");
  add_output_options(*verb, options->output);
  verb->callback([options, &action] { action = [options] { return bound(*options); }; });
}

}  // namespace floorline
