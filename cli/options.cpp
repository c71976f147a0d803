// SPDX-License-Identifier: Apache-2.0
#include "cli/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/refuse.hpp"
#include "model/floor/measured.hpp"
#include "model/input/diagnostic.hpp"
#include "model/quantity/unit_names.hpp"

namespace floorline {

void add_output_options(CLI::App& verb, OutputOptions& options) {
  verb.add_option("--format", options.format, "table (default), json, csv or md")->group("Output");
  verb.add_option("--output", options.file, "write to this file, replaced whole")->group("Output");
  verb.add_flag("--no-color", options.no_color, "no colour on a terminal (NO_COLOR does the same)")
      ->group("Output");
}

void add_workload_options(CLI::App& verb, WorkloadOptions& options) {
  verb.add_option("WORKLOAD", options.workload,
                  "a graph file, a model's config.json, or the name of a shipped workload");
  verb.add_option("--op", options.op,
                  "one operator: 'KIND key=value …' (floorline graph --kinds lists them)");
  // One value each, so that a repeated flag never swallows the WORKLOAD behind it.
  verb.add_option(
          "--set", options.set,
          "NAME=VALUE or NAME*=FACTOR: a symbol (floorline graph --symbols), op.NAME.bytes, "
          "op.NAME.flops, a precision, a clock or a device key (workloads/WHATIF.md); repeatable")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  verb.add_option("--workload-path", options.workload_path,
                  "folders to look for workloads in first");
}

void add_device_options(CLI::App& verb, DeviceOptions& options, bool several) {
  verb.add_option(
          "--device", options.device,
          several ? "names or files, separated by commas" : "a name or a file (floorline devices)")
      ->expected(1)
      ->allow_extra_args(false);
  verb.add_option("--device-path", options.device_path, "folders to look for devices in first");
  verb.add_option("--sm-clock", options.sm_clock,
                  "such as 1410MHz: scales compute and shared memory");
  verb.add_option("--mem-clock-scale", options.memory_scale, "such as 0.8: scales HBM bandwidth");
}

Format format_of(const OutputOptions& options) {
  if (options.format == "table") return Format::table;
  if (options.format == "json") return Format::json;
  if (options.format == "csv") return Format::csv;
  if (options.format == "md") return Format::md;
  refuse("--format", "\"" + options.format + "\" is not a format" +
                         did_you_mean(options.format, {"table", "json", "csv", "md"}) +
                         "; expected table, json, csv or md");
}

ClockChoice clocks_of(const DeviceOptions& options) {
  ClockChoice clocks;
  Diagnostics wrong;
  collect(wrong, [&] {
    if (!options.sm_clock.empty()) set_sm_clock(clocks, {"--sm-clock", options.sm_clock, false});
  });
  collect(wrong, [&] {
    if (!options.memory_scale.empty())
      set_memory_scale(clocks, {"--mem-clock-scale", options.memory_scale, false});
  });
  wrong.throw_if_any();
  return clocks;
}

std::vector<std::string> device_list(const DeviceOptions& options) {
  std::vector<std::string> names;
  std::size_t start = 0;
  while (start <= options.device.size()) {
    const std::size_t end = std::min(options.device.find(',', start), options.device.size());
    std::string name = options.device.substr(start, end - start);
    if (std::find(names.begin(), names.end(), name) != names.end())
      refuse("--device", "\"" + name + "\" is given twice; expected each device once");
    if (!name.empty()) names.push_back(std::move(name));
    start = end + 1;
  }
  return names;
}

std::string one_device(const DeviceOptions& options, const char* why_one) {
  const std::vector<std::string> names = device_list(options);
  if (names.empty())
    refuse("--device", "missing; expected a device (floorline devices lists them)");
  if (names.size() > 1) refuse("--device", why_one);
  return names.front();
}

namespace {

/// What is wrong with a second setting of a name, or "".
std::string wrong_again(const Assignment& before, const Assignment& a) {
  if (a.scale) return "";  // of what was set, or of an earlier factor
  if (before.scale)
    return "set to " + a.value + " after the factor " + before.value +
           ", which would be lost; expected the value first";
  return "set twice, to " + before.value + " and to " + a.value;
}

}  // namespace

std::vector<Assignment> assignments_of(const std::vector<std::string>& set,
                                       Diagnostics& diagnostics) {
  std::vector<Assignment> all;
  for (const std::string& text : set) {
    std::optional<Assignment> a =
        collected(diagnostics, [&text] { return parse_assignment(text); });
    if (!a) continue;
    for (const Assignment& before : all) {
      if (before.name != a->name) continue;
      const std::string wrong = wrong_again(before, *a);
      if (!wrong.empty()) diagnostics.add(position_in("command line"), a->name, wrong);
      break;
    }
    all.push_back(*std::move(a));
  }
  return all;
}

std::vector<Assignment> assignments_of(const std::vector<std::string>& set) {
  Diagnostics diagnostics;
  std::vector<Assignment> all = assignments_of(set, diagnostics);
  diagnostics.throw_if_any();
  return all;
}

void refuse_idle(const std::vector<IdleFlag>& flags, const std::string& why,
                 Diagnostics& diagnostics) {
  for (const IdleFlag& f : flags) {
    if (f.given) diagnostics.add(position_in("command line"), f.flag, why);
  }
}

void refuse_clocks(const DeviceOptions& options, const std::string& why, Diagnostics& diagnostics) {
  refuse_idle({{"--sm-clock", !options.sm_clock.empty()},
               {"--mem-clock-scale", !options.memory_scale.empty()}},
              why, diagnostics);
}

void check_measured_text(const std::string& text) {
  if (!text.empty()) measured_time(text, {Flops(1), Bytes(1), 1});
}

void check_top(std::optional<int> top) {
  if (top && *top < 1)
    refuse("--top", std::to_string(*top) + " rows are no table; expected 1 or more");
}

}  // namespace floorline
