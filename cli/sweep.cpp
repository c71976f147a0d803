// SPDX-License-Identifier: Apache-2.0
// floorline sweep: a grid of any variables, one row a point.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>

#include "cli/command_line.hpp"
#include "cli/output.hpp"
#include "cli/refuse.hpp"
#include "cli/subject.hpp"
#include "model/input/diagnostic.hpp"
#include "model/quantity/unit_names.hpp"
#include "model/report/document_head.hpp"
#include "model/report/sweep_writer.hpp"
#include "model/report/utf8.hpp"

namespace floorline {

namespace {

struct SweepOptions {
  WorkloadOptions workload;
  DeviceOptions device;
  std::vector<std::string> grid;
  std::string shard;
  std::string format = "csv";
  std::string file;
};

struct Shard {
  std::uint64_t part = 1;
  std::uint64_t parts = 1;
};

SweepFormat sweep_format(const std::string& text) {
  if (text == "csv") return SweepFormat::csv;
  if (text == "json") return SweepFormat::json;
  if (text == "columnar") return SweepFormat::columnar;
  refuse("--format", "\"" + text + "\" is not a format of sweep" +
                         did_you_mean(text, {"csv", "json", "columnar"}) +
                         "; expected csv, json or columnar");
}

Shard read_shard(const std::string& text) {
  if (text.empty()) return {};
  const std::size_t slash = text.find('/');
  constexpr double kMostParts = 1e9;
  const auto count = [&](std::string_view part) {
    const std::optional<double> n = parse_number(part);
    const bool fine = n && *n >= 1 && *n <= kMostParts &&
                      static_cast<double>(static_cast<std::uint64_t>(*n)) == *n;
    if (!fine)
      refuse("--shard", floorline::quoted(text) + " is not i/n with i from 1 to n, up to 1e9");
    return static_cast<std::uint64_t>(*n);
  };
  if (slash == std::string::npos)
    refuse("--shard", floorline::quoted(text) + " is not i/n, such as 1/8");
  const Shard shard{count(std::string_view(text).substr(0, slash)),
                    count(std::string_view(text).substr(slash + 1))};
  if (shard.part > shard.parts)
    refuse("--shard", floorline::quoted(text) + " is not i/n with i from 1 to n");
  return shard;
}

/// A variable has one source of values.
void refuse_doubles(const std::vector<GridAxis>& axes, const std::vector<std::string>& set) {
  Diagnostics told;  // by the reader of the workload
  for (const Assignment& a : assignments_of(set, told)) {
    for (const GridAxis& axis : axes) {
      if (axis.name() != a.name || axis.scales() || a.scale) continue;
      refuse(axis.name().c_str(),
             "is set to " + a.value + " and varied by --grid; expected one of the two");
    }
  }
}

/// Where rows go: standard output, or a file that is replaced whole once all is written.
class Rows {
 public:
  explicit Rows(OutputFile* file) : file_(file) {
    if (file_ != nullptr) file_->open();
  }
  void put(std::string_view text) {
    if (file_ != nullptr) {
      file_->put(text);
    } else {
      std::cout.write(text.data(), static_cast<std::streamsize>(text.size()));
      if (!std::cout) put_to_stdout("");
    }
  }
  void finish() {
    if (file_ == nullptr) return put_to_stdout("");
    file_->close();
    file_->replace();
  }

 private:
  OutputFile* file_;  ///< null: standard output
};

void show_progress(std::uint64_t done, std::uint64_t all) {
  if (isatty(STDERR_FILENO) == 0) return;
  std::fprintf(stderr, "\r%llu of %llu points%s", static_cast<unsigned long long>(done),
               static_cast<unsigned long long>(all), done == all ? "\n" : "");
}

std::vector<std::string> notes_of(const Subject& subject, const std::vector<DeviceSpec>& devices) {
  std::vector<std::string> notes{
      "cold: nothing of it on chip when the interval opens, every output in HBM when it closes; "
      "floorline bound prints all conditions of one point"};
  if (subject.model) {
    notes.emplace_back(
        "graph floors of a model: of the pipeline stage that limits; step_floor_s: "
        "fused, any residency, through all stages");
  }
  for (const DeviceSpec& device : devices) {
    if (!resolve_on_chip(device).all_known) {
      notes.push_back("no any-residency floors on " + device.name +
                      ": it does not state all its on-chip capacities");
    }
  }
  return notes;
}

/// What a sweep is asked; all that is wrong with the command line is told at once.
struct SweepQuestion {
  SweepFormat format = SweepFormat::csv;
  Shard shard;
  std::vector<GridAxis> axes;
  Subject subject;
  std::vector<DeviceSpec> devices;
  ClockChoice clocks;                ///< of all devices, by flags and by --set
  std::unique_ptr<OutputFile> file;  ///< null: standard output
};

void read_grid(const SweepOptions& options, SweepQuestion& asked, Diagnostics& wrong) {
  for (const std::string& text : options.grid) {
    if (auto axis = collected(wrong, [&text] { return GridAxis::parse(text); }))
      asked.axes.push_back(*std::move(axis));
  }
  if (options.grid.empty())
    wrong.add(position_in("command line"), "--grid",
              "missing; expected --grid NAME=a,b,c or NAME=first..last:*2");
  collect(wrong, [&] { refuse_doubles(asked.axes, options.workload.set); });
}

/// A count or an amount, which a word cannot be.
bool takes_number(const std::string& name, const Subject& subject) {
  if (subject.graph) return subject.graph->symbol(name).has_value();
  const ModelWorkload& model = *subject.model;
  return symbol_number(name, model.scenario, model.layout).has_value();
}

/// What is wrong with a value whatever the point, or "": where a number is needed, words.
std::string wrong_value(const GridAxis& axis, const std::string& value, const Subject& subject) {
  if (parse_number(value)) return "";
  if (subject.model && !axis.scales()) {
    Scenario scenario = subject.model->scenario;
    ParallelLayout layout = subject.model->layout;
    return apply_symbol(axis.name(), value, scenario, layout).error;
  }
  const bool bytes = !axis.scales() && parse_quantity(value, Dimension::bytes).error.empty();
  return bytes ? "" : floorline::quoted(value) + " is not a number";
}

void check_values(const std::vector<GridAxis>& axes, const Subject& subject, Diagnostics& wrong) {
  for (const GridAxis& axis : axes) {
    if (axis.numeric() || !(axis.scales() || takes_number(axis.name(), subject))) continue;
    for (std::uint64_t i = 0; i < axis.count(); ++i) {
      const std::string error = wrong_value(axis, axis.text(i), subject);
      if (!error.empty()) wrong.add(position_in("command line"), "--grid " + axis.name(), error);
    }
  }
}

/// Values of a device key that no device could have.
void check_device_values(const std::vector<GridAxis>& axes, const std::vector<DeviceSpec>& devices,
                         Diagnostics& wrong) {
  for (const GridAxis& axis : axes) {
    if (axis.numeric() || !names_device_key(axis.name())) continue;
    for (std::uint64_t i = 0; i < axis.count(); ++i) {
      for (DeviceSpec device : devices) collect(wrong, [&] { assign(device, axis.assignment(i)); });
    }
  }
}

SweepQuestion read_all(const SweepOptions& options) {
  Diagnostics wrong;
  SweepQuestion asked;
  collect(wrong, [&] { asked.format = sweep_format(options.format); });
  collect(wrong, [&] { asked.shard = read_shard(options.shard); });
  collect(wrong, [&] {
    if (!options.file.empty()) asked.file = std::make_unique<OutputFile>(options.file, "--output");
  });
  read_grid(options, asked, wrong);
  std::optional<Subject> subject = asked_subject(options.workload, wrong);
  const auto names = collected(wrong, [&] { return device_list(options.device); });
  if (names && names->empty())
    wrong.add(position_in("command line"), "--device",
              "missing; expected devices separated by commas");
  for (const std::string& name : names.value_or(std::vector<std::string>{})) {
    auto machine = asked_machine(name, options.device, subject, options.workload, wrong);
    if (!machine) continue;
    asked.clocks = machine->clocks;
    asked.devices.push_back(std::move(machine->device));
  }
  if (subject) check_values(asked.axes, *subject, wrong);
  check_device_values(asked.axes, asked.devices, wrong);
  wrong.throw_if_any();
  asked.subject = *std::move(subject);
  return asked;
}

SweepHead head_of(const SweepOptions& options, const SweepQuestion& asked) {
  SweepHead head;
  for (const DeviceSpec& device : asked.devices) head.devices.push_back(device.name);
  head.workload = asked.subject.workload;
  head.set = options.workload.set;
  head.grid = options.grid;
  head.model = asked.subject.model.has_value();
  if (asked.subject.graph) head.assumptions = asked.subject.graph->assumptions;
  head.notes = notes_of(asked.subject, asked.devices);
  return head;
}

/// Points that cannot be. Rows say why; that there are some is said beside them.
struct Refused {
  std::uint64_t points = 0;
  std::string first;

  void count(std::span<const SweepRow> rows) {
    for (const SweepRow& row : rows) {
      if (row.reason.empty()) continue;
      if (points++ == 0) first = row.reason;
    }
  }
  /// The exit status: bad input where no point of the whole grid can be. A part does not know the
  /// others.
  [[nodiscard]] int told(std::uint64_t all, bool part) const {
    constexpr int kBadInput = 2;
    if (points == 0) return 0;
    std::cerr << "floorline: " << points << " of " << all
              << " points cannot be: " << printable(shortened(first, 300)) << '\n';
    return points == all && !part ? kBadInput : 0;
  }
};

int sweep(const SweepOptions& options) {
  SweepQuestion asked = read_all(options);
  SweepHead head = head_of(options, asked);
  Grid grid(std::move(asked.axes), asked.devices.size());
  Sweep all({std::move(asked.subject.graph), std::move(asked.subject.model)},
            std::move(asked.devices), asked.clocks, std::move(grid));
  const PointRange range = all.grid().part(asked.shard.part, asked.shard.parts);
  Rows output(asked.file.get());
  SweepWriter writer(asked.format, std::move(head), all.grid(),
                     [&output](std::string_view text) { output.put(text); });
  if (asked.shard.part == 1) writer.begin();
  Refused refused;
  all.run(range, [&](std::span<const SweepRow> rows) {
    writer.write(rows);
    refused.count(rows);
    show_progress(rows.back().point + 1 - range.first, range.last - range.first);
    return true;
  });
  if (asked.shard.part == asked.shard.parts) writer.end();
  output.finish();
  return refused.told(range.last - range.first, asked.shard.parts > 1);
}

}  // namespace

void add_sweep(CLI::App& app, Action& action) {
  CLI::App* verb =
      app.add_subcommand("sweep", "floors over a grid of any variables, one row a point");
  auto options = std::make_shared<SweepOptions>();
  add_workload_options(*verb, options->workload);
  add_device_options(*verb, options->device, true);
  verb->add_option(
          "--grid", options->grid,
          "NAME=a,b,c, NAME=first..last:+step or NAME=first..last:*factor; repeatable, the "
          "first one slowest")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  verb->add_option("--shard", options->shard,
                   "part i of n, as i/n: the parts one after another are the whole");
  verb->add_option("--format", options->format,
                   "csv (default), json or columnar (a JSON object of arrays a line)")
      ->group("Output");
  verb->add_option("--output", options->file, "write to this file, replaced whole")
      ->group("Output");
  verb->callback([options, &action] { action = [options] { return sweep(*options); }; });
}

}  // namespace floorline
