// SPDX-License-Identifier: Apache-2.0
#include "cli/options.hpp"

#include <CLI/CLI.hpp>

#include "cli/refuse.hpp"
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
  if (!options.sm_clock.empty()) set_sm_clock(clocks, {"--sm-clock", options.sm_clock, false});
  if (!options.memory_scale.empty())
    set_memory_scale(clocks, {"--mem-clock-scale", options.memory_scale, false});
  return clocks;
}

std::vector<std::string> device_list(const DeviceOptions& options) {
  std::vector<std::string> names;
  std::size_t start = 0;
  while (start <= options.device.size()) {
    const std::size_t end = std::min(options.device.find(',', start), options.device.size());
    if (end > start) names.push_back(options.device.substr(start, end - start));
    start = end + 1;
  }
  return names;
}

std::vector<Assignment> assignments_of(const std::vector<std::string>& set) {
  std::vector<Assignment> all;
  for (const std::string& text : set) {
    Assignment a = parse_assignment(text);
    for (const Assignment& before : all) {
      if (before.name == a.name && !before.scale && !a.scale) {
        throw InputError(Diagnostic{position_in("command line"), a.name,
                                    "set twice, to " + before.value + " and to " + a.value});
      }
    }
    all.push_back(std::move(a));
  }
  return all;
}

}  // namespace floorline
