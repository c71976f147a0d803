// SPDX-License-Identifier: Apache-2.0
// floorline calibrate: fits of what a device really does to measured times.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/command_line.hpp"
#include "cli/output.hpp"
#include "cli/refuse.hpp"
#include "cli/subject.hpp"
#include "model/input/diagnostic.hpp"
#include "model/quantity/unit_names.hpp"
#include "model/report/resource_words.hpp"
#include "validation/calibration/line_points.hpp"
#include "validation/report/line_document.hpp"

namespace floorline {

namespace {

struct CalibrateOptions {
  std::string line;
  std::string x, column, time, rate, unit, resource;
  DeviceOptions device;
  OutputOptions output;
};

AmountKind kind_of(const std::string& x) {
  if (x == "bytes") return AmountKind::bytes;
  if (x == "flops") return AmountKind::flops;
  refuse("--x", (x.empty() ? "missing" : "\"" + x + "\" is no kind of size") +
                    "; expected bytes or flops");
}

bool is_wildcard(const ResourceId& id) {
  return id.input == Precision::any || id.accumulate == Precision::any;
}

ResourceId named_resource(const CalibrateOptions& o, AmountKind kind, const Machine& machine) {
  const std::optional<ResourceId> id = resource_from(o.resource);
  if (id && amount_kind(id->unit) == kind && machine.rates[*id].known) return *id;
  std::vector<std::string> names;
  std::string list;
  for (const ResourceId& known : machine.rates.known()) {
    const bool shown = known.unit != Unit::linear && !is_wildcard(known);
    if (amount_kind(known.unit) != kind || !shown) continue;
    names.push_back(name_of(known));
    list += (list.empty() ? "" : ", ") + names.back();
  }
  refuse("--resource", "\"" + o.resource + "\" is no resource of " + machine.device.name +
                           " with a rate of " + o.x + did_you_mean(o.resource, names) +
                           "; expected one of " + list);
}

/// The dense id of the highest ceiling, of one unit where one is given.
ResourceId fastest_dense(const Machine& machine, std::optional<Unit> unit) {
  ResourceId fastest{Unit::compute};
  AmountPerSecond most;
  for (const ResourceId& id : machine.rates.known()) {
    const Rate& rate = machine.rates[id];
    const bool meant = unit ? id.unit == *unit : amount_kind(id.unit) == AmountKind::flops;
    if (meant && !id.sparse && !is_wildcard(id) && rate.has_ceiling && rate.ceiling > most) {
      most = rate.ceiling;
      fastest = id;
    }
  }
  return fastest;
}

/// Sums and scalings may run on two units at once: `devices show` has these, not their sum.
std::vector<ResourceId> both_units(const Machine& machine) {
  return {fastest_dense(machine, Unit::tensor), fastest_dense(machine, Unit::vector)};
}

std::string names_of(const std::vector<ResourceId>& ids) {
  std::string names;
  for (const ResourceId& id : ids) names += (names.empty() ? "" : " + ") + name_of(id);
  return names;
}

/// HBM for bytes; for FLOPs the named one, or the fastest that the device has.
ResourceId resource_of(const CalibrateOptions& o, AmountKind kind, const Machine& machine,
                       LineReport& report) {
  if (!o.resource.empty()) return named_resource(o, kind, machine);
  if (kind == AmountKind::bytes) return {Unit::hbm};
  const ResourceId fastest = fastest_dense(machine, std::nullopt);
  const Rate& rate = machine.rates[fastest];
  if (fastest.unit == Unit::linear && rate.pooled) report.together = both_units(machine);
  report.notes.push_back(
      "ceiling: the fastest dense rate, " + rate_text(fastest, rate.ceiling) + " of " +
      (report.together.empty() ? name_of(fastest) : names_of(report.together) + " together") +
      "; --resource names another");
  return fastest;
}

void set_limits(const CalibrateOptions& o, const Machine& machine, LineReport& report) {
  report.machine = &machine;
  report.resource = resource_of(o, report.kind, machine, report);
  const Rate& rate = machine.rates[report.resource];
  if (rate.known) report.nominal = rate.nominal;
  if (rate.has_ceiling && !rate.provisional) report.ceiling = rate.ceiling;
  if (report.kind != AmountKind::bytes || report.resource.unit != Unit::hbm) return;
  if (machine.chip.keep_known) {
    report.more_than = Amount(machine.chip.keep * 2);
  } else {
    report.notes.emplace_back("the device's caches are not known: every size is taken");
  }
}

/// Flags alone, before any work.
AmountKind check_flags(const CalibrateOptions& o, Diagnostics& wrong) {
  check_output(o.output, wrong);
  const Position at = position_in("command line");
  if (o.line.empty()) wrong.add(at, "--line", "missing; expected a CSV file of sizes and times");
  if (o.time.empty() == o.rate.empty())
    wrong.add(at, "--time", "expected one of --time and --rate: the column that was measured");
  if (o.device.device.empty()) {
    const char* why = "is of a device; expected with --device";
    refuse_idle(
        {{"--resource", !o.resource.empty()}, {"--device-path", !o.device.device_path.empty()}},
        why, wrong);
    refuse_clocks(o.device, why, wrong);
  }
  return collected(wrong, [&] { return kind_of(o.x); }).value_or(AmountKind::bytes);
}

std::optional<Machine> machine_asked(const CalibrateOptions& o, Diagnostics& wrong) {
  if (o.device.device.empty()) return std::nullopt;
  return collected(wrong, [&] {
    return load_machine(one_device(o.device, "expected one device"), o.device, {});
  });
}

int calibrate(const CalibrateOptions& o) {
  Diagnostics wrong;
  const AmountKind kind = check_flags(o, wrong);
  std::optional<Machine> machine = machine_asked(o, wrong);
  wrong.throw_if_any();
  LineReport report;
  report.file = o.line;
  report.kind = kind;
  report.measured = o.time.empty() ? o.rate : o.time;
  report.points =
      line_points(CsvTable::read(o.line),
                  {report.kind, o.column.empty() ? o.x : o.column, o.time, o.rate, o.unit});
  if (machine) {
    set_limits(o, *machine, report);
  } else {
    report.notes.emplace_back(
        "no device: neither caches nor a ceiling are known; sizes that fit in caches bend the "
        "line");
  }
  report.fit = fit_line(report.points, {report.more_than, report.ceiling});
  print(line_document(report), o.output);
  return report.fit.refusal == LineRefusal::none ? 0 : 1;
}

}  // namespace

void add_calibrate(CLI::App& app, Action& action) {
  CLI::App* verb =
      app.add_subcommand("calibrate", "fixed cost and rate of measured times: t = t0 + x / R");
  auto o = std::make_shared<CalibrateOptions>();
  verb->add_option("--line", o->line,
                   "a CSV file with a column of sizes and one of times or rates");
  verb->add_option("--x", o->x, "what a size counts: bytes or flops");
  verb->add_option("--column", o->column, "the column of sizes (default: named as --x)");
  verb->add_option("--time", o->time, "the column of times, such as median_us");
  verb->add_option("--rate", o->rate, "the column of rates instead, with --unit");
  verb->add_option("--unit", o->unit,
                   "of that column: us, TFLOP/s, GB/s (default: by its name's end)");
  verb->add_option(
      "--resource", o->resource,
      "whose ceiling the rate may not exceed (default: hbm, or the fastest dense rate)");
  add_device_options(*verb, o->device, false);
  add_output_options(*verb, o->output);
  verb->callback([o, &action] { action = [o] { return calibrate(*o); }; });
}

}  // namespace floorline
