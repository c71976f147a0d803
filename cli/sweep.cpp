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
    if (!fine) refuse("--shard", floorline::quoted(text) + " is not i/n with i from 1 to n");
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
  for (const Assignment& a : assignments_of(set)) {
    for (const GridAxis& axis : axes) {
      if (axis.name() != a.name || axis.scales() || a.scale) continue;
      refuse(axis.name().c_str(),
             "is set to " + a.value + " and varied by --grid; expected one of the two");
    }
  }
}

/// Where rows go: standard output, or a file that is replaced whole once all is written.
class Output {
 public:
  explicit Output(std::string file) : file_(std::move(file)) {
    if (file_.empty()) return;
    part_ = new_file_beside(file_);
    if (part_.empty()) throw cannot();
    stream_.open(part_, std::ios::binary | std::ios::trunc);
    if (!stream_) throw cannot();
  }
  ~Output() {
    std::error_code ignored;
    if (!file_.empty() && !done_) std::filesystem::remove(part_, ignored);
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void put(std::string_view text) {
    std::ostream& out = file_.empty() ? std::cout : stream_;
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    if (!out) throw cannot();
  }
  void finish() {
    if (file_.empty()) {
      std::cout.flush();
      if (!std::cout) throw cannot();
      return;
    }
    stream_.close();
    std::error_code error;
    if (!stream_.fail()) std::filesystem::rename(part_, file_, error);
    if (stream_.fail() || error) throw cannot();
    done_ = true;
  }

 private:
  [[nodiscard]] InputError cannot() const {
    return file_.empty()
               ? InputError(Diagnostic{position_in("standard output"), "", "cannot be written"})
               : InputError(Diagnostic{position_in(file_), "--output", "cannot be written"});
  }
  std::string file_;
  std::string part_;
  std::ofstream stream_;
  bool done_ = false;
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

int sweep(const SweepOptions& options) {
  const SweepFormat format = sweep_format(options.format);
  const Shard shard = read_shard(options.shard);
  std::vector<GridAxis> axes;
  for (const std::string& text : options.grid) axes.push_back(GridAxis::parse(text));
  if (axes.empty()) refuse("--grid", "missing; expected --grid NAME=a,b,c or NAME=first..last:*2");
  refuse_doubles(axes, options.workload.set);
  Subject subject = read_subject(options.workload);
  std::vector<DeviceSpec> devices;
  SweepHead head;
  for (const std::string& name : device_list(options.device)) {
    devices.push_back(load_machine(name, options.device, subject).device);
    head.devices.push_back(devices.back().name);
  }
  if (devices.empty()) refuse("--device", "missing; expected devices separated by commas");
  head.workload = subject.workload;
  head.set = options.workload.set;
  head.grid = options.grid;
  head.model = subject.model.has_value();
  if (subject.graph) head.assumptions = subject.graph->assumptions;
  head.notes = notes_of(subject, devices);
  Grid grid(std::move(axes), devices.size());
  Sweep all({std::move(subject.graph), std::move(subject.model)}, std::move(devices),
            clocks_of(options.device), std::move(grid));
  const PointRange range = all.grid().part(shard.part, shard.parts);
  Output output(options.file);
  SweepWriter writer(format, std::move(head), all.grid(),
                     [&output](std::string_view text) { output.put(text); });
  if (shard.part == 1) writer.begin();
  all.run(range, [&](std::span<const SweepRow> rows) {
    writer.write(rows);
    show_progress(rows.back().point + 1 - range.first, range.last - range.first);
    return true;
  });
  if (shard.part == shard.parts) writer.end();
  output.finish();
  return 0;
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
