// SPDX-License-Identifier: Apache-2.0
// floorline bound: the floors of a workload, of one --op, or of one kernel by numbers.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/command_line.hpp"
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
  std::string flops, bytes, peak, bandwidth;
  std::string measured;
  int top = 0;
  bool explain = false;

  [[nodiscard]] bool by_numbers() const {
    return !flops.empty() || !bytes.empty() || !peak.empty() || !bandwidth.empty();
  }
};

[[noreturn]] void refuse(const char* flag, const std::string& why) {
  throw InputError(Diagnostic{position_in("command line"), flag, why});
}

/// A value by flag, replaced or scaled by --set flops=…, bytes*=….
double number_by_flag(const std::string& text, const char* name, Dimension dimension,
                      const std::vector<Assignment>& settings) {
  const std::string flag = std::string("--") + name;
  double value = 0;
  if (!text.empty()) {
    const ParsedQuantity q = parse_quantity(text, dimension);
    if (!q.error.empty()) refuse(flag.c_str(), q.error);
    value = q.base;
  }
  for (const Assignment& a : settings) {
    if (a.name != name) continue;
    const ParsedQuantity q = parse_quantity(a.value, dimension);
    const std::optional<double> factor = parse_number(a.value);
    if (a.scale && factor) {
      value *= *factor;
    } else if (!a.scale && q.error.empty()) {
      value = q.base;
    } else {
      refuse(name, a.scale ? "\"" + a.value + "\" is not a factor" : q.error);
    }
  }
  return value;
}

void check_numbers(const BoundOptions& o) {
  if (!o.workload.workload.empty() || !o.workload.op.empty() || !o.device.device.empty()) {
    refuse("--flops",
           "a kernel by numbers takes no workload, --op or --device; expected only --flops, "
           "--bytes, --peak, --bandwidth");
  }
  for (const Assignment& a : assignments_of(o.workload.set)) {
    if (a.name == "flops" || a.name == "bytes" || a.name == "peak" || a.name == "bandwidth")
      continue;
    refuse(a.name.c_str(), "is not an amount of a kernel by numbers" +
                               did_you_mean(a.name, {"flops", "bytes", "peak", "bandwidth"}));
  }
}

Rate typed_rate(Unit unit, AmountPerSecond rate) {
  Rate r;
  r.nominal = r.ceiling = rate;
  r.known = r.has_ceiling = true;
  r.via = ResourceId{unit};
  return r;
}

/// Work whose rate was not given is an error; a rate without work is not needed.
Rates rates_by_numbers(double work, double traffic, double peak, double bandwidth) {
  if (work > 0 && !(peak > 0)) refuse("--peak", "missing; --flops needs the rate that does them");
  if (traffic > 0 && !(bandwidth > 0))
    refuse("--bandwidth", "missing; --bytes needs the rate that moves them");
  Rates rates;
  if (peak > 0)
    rates.set({Unit::compute}, typed_rate(Unit::compute, AmountPerSecond(FlopsPerSecond(peak))));
  if (bandwidth > 0) {
    rates.set({Unit::memory}, typed_rate(Unit::memory, AmountPerSecond(BytesPerSecond(bandwidth))));
  }
  return rates;
}

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
  report.inputs.top = options.top;
  report.inputs.explain = options.explain;
  if (!options.measured.empty()) report.inputs.measured = options.measured;
  return report;
}

int bound_by_numbers(const BoundOptions& options) {
  check_numbers(options);
  const std::vector<Assignment> settings = assignments_of(options.workload.set);
  const double work = number_by_flag(options.flops, "flops", Dimension::flops, settings);
  const double traffic = number_by_flag(options.bytes, "bytes", Dimension::bytes, settings);
  const double peak = number_by_flag(options.peak, "peak", Dimension::flops_per_second, settings);
  const double bandwidth =
      number_by_flag(options.bandwidth, "bandwidth", Dimension::bytes_per_second, settings);
  if (!(work > 0) && !(traffic > 0))
    refuse("--flops", "expected work: --flops, --bytes or both, above zero");
  BoundReport report = report_for(options);
  report.numbers = rates_by_numbers(work, traffic, peak, bandwidth);
  report.inputs.numbers = Json::object();
  const auto typed = [&report](const char* key, double value) {
    report.inputs.numbers.set(key, value > 0 ? Json(value) : Json());
  };
  typed("flops", work);
  typed("bytes", traffic);
  typed("peak_flops_per_s", peak);
  typed("bandwidth_bytes_per_s", bandwidth);
  const Evaluation evaluation = evaluate_numbers(Flops(work), Bytes(traffic), report.numbers);
  report.evaluation = &evaluation;
  return finish(report, options);
}

int bound(const BoundOptions& options) {
  if (options.top < 0) refuse("--top", "expected a number of rows above zero");
  format_of(options.output);  // a bad flag is told before any work
  if (options.by_numbers()) return bound_by_numbers(options);
  const Subject subject = read_subject(options.workload);
  const std::vector<std::string> devices = device_list(options.device);
  if (devices.empty())
    refuse("--device", "missing; expected a device (floorline devices lists them)");
  if (devices.size() > 1)
    refuse("--device", "bound takes one device; floorline compare takes several");
  const Machine machine = load_machine(devices.front(), options.device, subject);
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
  verb->add_option("--flops", options->flops,
                   "work F of a kernel by numbers, such as 2e12 or 2TFLOP")
      ->group("One kernel by numbers");
  verb->add_option("--bytes", options->bytes, "traffic D, such as 100GB")
      ->group("One kernel by numbers");
  verb->add_option("--peak", options->peak, "rate P, such as 100TFLOP/s")
      ->group("One kernel by numbers");
  verb->add_option("--bandwidth", options->bandwidth, "rate B, such as 1TB/s")
      ->group("One kernel by numbers");
  verb->add_option("--measured", options->measured,
                   "a time or a rate to judge: 9.302ms, 17.6TFLOP/s, 2.2TB/s, 75.9token/s");
  verb->add_option("--top", options->top, "rows of the operator table (default: all)");
  verb->add_flag("--explain", options->explain,
                 "formula, numbers, origins and file positions of every term");
  add_output_options(*verb, options->output);
  verb->callback([options, &action] { action = [options] { return bound(*options); }; });
}

}  // namespace floorline
