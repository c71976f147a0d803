// SPDX-License-Identifier: Apache-2.0
#include "cli/pipeline_times.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <numbers>
#include <optional>

#include "cli/locate.hpp"
#include "cli/subject.hpp"
#include "model/device/device_file.hpp"
#include "model/input/diagnostic.hpp"
#include "model/quantity/unit_names.hpp"
#include "model/report/resource_words.hpp"
#include "validation/observation/csv_table.hpp"

namespace floorline {

namespace {

/// Longest time a stage may be given: 30,000 years. Beyond it sums would lose their meaning.
constexpr double kLongest = 1e12;

class Resolver {
 public:
  Resolver(const PipelineFile& file, const TimesContext& context)
      : file_(file), context_(context) {}

  TimesFound resolve() {
    for (const StageEntry& stage : file_.stages) resolve_stage(stage);
    resolve_arrivals();
    diagnostics_.throw_if_any();
    set_items();
    for (std::size_t s = 0; s < file_.stages.size(); ++s) fit_to_items(s);
    diagnostics_.throw_if_any();
    found_.notes.insert(found_.notes.end(), notes_.begin(), notes_.end());
    return std::move(found_);
  }

 private:
  void error(const StageEntry& stage, const char* key, std::string message) {
    diagnostics_.add(stage.at, stage.path + "." + key, std::move(message));
  }
  void note(std::string line) {
    if (std::find(notes_.begin(), notes_.end(), line) == notes_.end())
      notes_.push_back(std::move(line));
  }

  void resolve_stage(const StageEntry& stage) {
    found_.times.stages.emplace_back();
    found_.sources.emplace_back();
    StageSource& source = found_.sources.back();
    source.stage = stage.name;
    Duration& time = found_.times.stages.back();
    if (const auto* given = std::get_if<Seconds>(&stage.time)) {
      time.constant = *given;
      source.text = "given";
    } else if (const auto* list = std::get_if<std::vector<Seconds>>(&stage.time)) {
      time.per_item = *list;
      source.text = "given for each item";
    } else if (const auto* transfer = std::get_if<Transfer>(&stage.time)) {
      time.constant = transfer_time(stage, *transfer, source);
    } else if (const auto* floor = std::get_if<FloorOf>(&stage.time)) {
      time.constant = floor_of(stage, *floor, source);
    } else if (const auto* csv = std::get_if<CsvColumn>(&stage.time)) {
      time.per_item = column(*csv, stage.at, stage.path + ".csv");
      source.text = "column " + csv->column + " of " + csv->file;
    } else {
      source.text = "drawn from a distribution";
    }
    check_range(stage, time);
  }

  void check_range(const StageEntry& stage, const Duration& time) {
    const auto bad = [](Seconds t) { return !(t.in_base_units() <= kLongest); };
    if (bad(time.constant) || std::any_of(time.per_item.begin(), time.per_item.end(), bad))
      error(stage, "time", "is longer than 1e12 s; expected less");
  }

  // ---- bytes over a link ----

  const DeviceSpec* device_for(const StageEntry& stage, const char* key) {
    const std::vector<std::string> by_flag = device_list(context_.device);
    const std::string name = !stage.device.empty() ? stage.device
                             : !by_flag.empty()    ? by_flag.front()
                                                   : file_.device;
    if (stage.device.empty() && !by_flag.empty()) found_.flag_used = true;
    if (name.empty()) {
      error(stage, key, "needs a device: --device, `device` of the file or of the stage");
      return nullptr;
    }
    const auto known = devices_.find(name);
    if (known != devices_.end()) return &known->second;
    DeviceSpec device = load_device(name, device_path(context_.device.device_path));
    for (const Assignment& a : context_.device_settings) assign(device, a);
    found_.devices.push_back(name);
    return &devices_.emplace(name, std::move(device)).first->second;
  }

  static const LinkSpec* link_of(const DeviceSpec& device, const std::string& name) {
    if (name == "h2d") return &device.h2d;
    if (name == "d2h") return &device.d2h;
    if (name == "peer") return &device.peer;
    if (name == "network") return &device.network;
    return nullptr;
  }

  /// The stage's own figures, then those of the file's resource, then the device's link.
  struct Figures {
    std::optional<BytesPerSecond> bandwidth;
    std::optional<Seconds> latency;
    std::string from;
  };
  Figures figures(const StageEntry& stage, const Transfer& transfer) {
    Figures f{transfer.bandwidth, transfer.latency, "given"};
    for (std::size_t r = 0; r < file_.resources.size(); ++r) {
      if (file_.resources[r].name != transfer.link) continue;
      if (!f.bandwidth) f.bandwidth = file_.links[r].bandwidth;
      if (!f.latency) f.latency = file_.links[r].latency;
    }
    if (f.bandwidth) return f;
    const DeviceSpec* device = device_for(stage, "bytes");
    if (device == nullptr) return f;
    const LinkSpec* link = link_of(*device, transfer.link);
    if (link == nullptr) return f;
    const MaybeSourced<BytesPerSecond>& rate =
        transfer.observed ? link->bandwidth_observed : link->bandwidth;
    f.from = std::string(transfer.observed ? "observed" : "ceiling") + " of " + device->name;
    if (rate.known) {
      f.bandwidth = transfer.observed ? rate.known->value : rate.known->high;
    } else {
      error(stage, "bytes",
            "device " + device->name + " states no link." + transfer.link +
                (transfer.observed ? ".bandwidth_observed" : ".bandwidth") +
                "; expected a `bandwidth` in the stage");
    }
    if (!f.latency && link->latency.known) f.latency = link->latency.known->value;
    return f;
  }

  /// Each server of a resource is a whole link.
  void note_servers(const StageEntry& stage, BytesPerSecond bandwidth) {
    for (const Pool& pool : file_.resources) {
      if (pool.name != stage.resource || pool.servers == 1) continue;
      const auto servers = static_cast<double>(pool.servers);
      note("condition: " + pool.name + " has " + std::to_string(pool.servers) +
           " servers, each a link of its own at " + to_text(bandwidth) + ", together " +
           to_text(bandwidth * servers) +
           "; copy engines that share one link are servers = 1, or sharing = \"fair\" with 1");
    }
  }

  Seconds transfer_time(const StageEntry& stage, const Transfer& transfer, StageSource& source) {
    const Figures f = figures(stage, transfer);
    if (!f.bandwidth) return Seconds(0);
    source.copy = CopyFigures{transfer.bytes, *f.bandwidth, f.latency};
    source.text = to_text(transfer.bytes) + " over " + transfer.link + " at " +
                  to_text(*f.bandwidth) + " (" + f.from + ")";
    note_servers(stage, *f.bandwidth);
    if (f.latency) source.text += " + " + to_text(*f.latency);
    if (!f.latency)
      note("no latency of " + transfer.link +
           " is known: its transfers take bytes / bandwidth, small ones in truth longer");
    return f.latency.value_or(Seconds(0)) + transfer.bytes / *f.bandwidth;
  }

  // ---- floors ----

  Seconds floor_of(const StageEntry& stage, const FloorOf& floor, StageSource& source) {
    const char* key = floor.op.empty() ? "workload" : "op";
    const DeviceSpec* device = device_for(stage, key);
    if (device == nullptr) return Seconds(0);
    found_.clocks_used = true;
    try {
      WorkloadOptions asked;
      asked.workload = floor.workload;
      asked.op = floor.op;
      asked.set = floor.set;
      asked.workload_path = context_.workload_path;
      const Subject subject = read_subject(asked);
      DeviceSpec own = *device;
      for (const Assignment& a : subject.device_settings) assign(own, a);
      const Machine machine = machine_of(std::move(own), clocks_of(context_.device));
      const SubjectResult result = evaluate(subject, machine);
      describe(floor, device->name, result, source);
      return time_of(floor, result) / floor.efficiency;
    } catch (const InputError& e) {  // told at the stage that asks, with all else that is wrong
      for (const Diagnostic& d : e.diagnostics())
        error(stage, key, (d.key_path.empty() ? "" : d.key_path + ": ") + d.message);
    }
    return Seconds(0);
  }

  static Seconds time_of(const FloorOf& floor, const SubjectResult& result) {
    if (result.model)
      return floor.any_residency ? result.model->judging.latency.any
                                 : result.model->judging.latency_serial;
    const GraphFloors& floors = result.evaluation.floors;
    return floor.any_residency ? floors.fused.any : floors.serial.cold;
  }

  void describe(const FloorOf& floor, const std::string& device, const SubjectResult& result,
                StageSource& source) {
    source.is_floor = floor.efficiency == 1;
    source.text =
        std::string(floor.any_residency ? "floor, any residency" : "floor, cold, serial") +
        ", of " + (floor.op.empty() ? floor.workload : floor.op) + " on " + device;
    if (floor.efficiency != 1)
      source.text += " / " + number_text(floor.efficiency, 3) + " (efficiency given)";
    if (source.is_floor)
      note("stages whose time is a floor run as fast as nothing can: the real end is later");
    if (!result.evaluation.floors.proven)
      note("floors on " + device + " rest on rates without a ceiling: not proven sound");
  }

  // ---- tables ----

  std::string table_file(const std::string& name) const {
    namespace fs = std::filesystem;
    std::error_code error;
    const fs::path beside = fs::path(context_.folder) / name;
    return fs::exists(beside, error) ? beside.string() : name;
  }

  std::vector<Seconds> column(const CsvColumn& csv, const Position& at, const std::string& path) {
    const std::string file = table_file(csv.file);
    std::error_code missing;
    if (!std::filesystem::is_regular_file(file, missing)) {
      diagnostics_.add(at, path, "no such file: " + floorline::quoted(csv.file));
      return {Seconds(0)};
    }
    const CsvTable table = CsvTable::read(file);
    const std::optional<std::size_t> c = table.column(csv.column);
    if (!c) {
      diagnostics_.add(at, path,
                       file + " has no column " + floorline::quoted(csv.column) +
                           did_you_mean(csv.column, table.names()));
      return {Seconds(0)};
    }
    std::vector<Seconds> times;
    for (std::size_t row = 0; row < table.row_count(); ++row) {
      const std::optional<double> value = parse_number(table.cell(row, *c));
      if (!value || !(*value >= 0))
        diagnostics_.add(table.position(row, *c), csv.column,
                         quoted(table.cell(row, *c)) + " is not a time of zero or more");
      times.push_back(Seconds(value.value_or(0) * csv.unit_s));
    }
    if (times.empty()) diagnostics_.add(at, path, file + " has no rows");
    return times.empty() ? std::vector<Seconds>{Seconds(0)} : times;
  }

  void resolve_arrivals() {
    if (const auto* list = std::get_if<std::vector<Seconds>>(&file_.arrivals))
      found_.times.arrivals = *list;
    if (const auto* csv = std::get_if<CsvColumn>(&file_.arrivals))
      found_.times.arrivals = column(*csv, file_.at, "arrivals.csv");
    for (const Seconds t : found_.times.arrivals)
      if (!(t.in_base_units() <= kLongest)) {
        diagnostics_.add(file_.at, "arrivals", "are later than 1e12 s; expected less");
        break;
      }
  }

  // ---- items ----

  /// Given, or as many as the lists have, or one.
  void set_items() {
    std::int64_t items = 0;
    const auto take = [&items](std::size_t size) {
      const auto n = static_cast<std::int64_t>(size);
      items = items == 0 ? n : std::min(items, n);
    };
    for (const Duration& time : found_.times.stages)
      if (!time.per_item.empty()) take(time.per_item.size());
    if (!found_.times.arrivals.empty()) take(found_.times.arrivals.size());
    found_.times.items = file_.items.value_or(items == 0 ? 1 : items);
    const double tasks =
        static_cast<double>(found_.times.items) * static_cast<double>(file_.stages.size());
    if (tasks > static_cast<double>(kMostTasks))
      diagnostics_.add(file_.at, "items",
                       std::to_string(found_.times.items) + " items of " +
                           std::to_string(file_.stages.size()) +
                           " stages are more than 10,000,000 steps to place one by one; expected "
                           "fewer items: the period of many is that of few");
    diagnostics_.throw_if_any();
    cut(found_.times.arrivals, "arrivals");
  }

  void cut(std::vector<Seconds>& list, const std::string& path) {
    const auto items = static_cast<std::size_t>(found_.times.items);
    if (list.empty() || list.size() == items) return;
    if (list.size() < items) {
      diagnostics_.add(file_.at, path,
                       "has " + std::to_string(list.size()) + " times for " +
                           std::to_string(items) + " items; expected one an item");
      return;
    }
    note(path + ": the first " + std::to_string(items) + " of " + std::to_string(list.size()) +
         " times are used, one an item");
    list.resize(items);
  }

  void fit_to_items(std::size_t s) {
    Duration& time = found_.times.stages[s];
    if (const auto* d = std::get_if<Distribution>(&file_.stages[s].time)) {
      time.per_item = draw(*d, found_.times.items);
      note_cut(file_.stages[s], *d, time.per_item);
      check_range(file_.stages[s], time);
    }
    cut(time.per_item, file_.stages[s].path);
  }

  /// A normal distribution reaches below zero, a time does not.
  void note_cut(const StageEntry& stage, const Distribution& d, const std::vector<Seconds>& times) {
    if (d.kind != DistributionKind::normal || !(d.deviation > Seconds(0))) return;
    const double below = std::erfc(d.mean / d.deviation / std::numbers::sqrt2) / 2;
    const auto cut = std::count(times.begin(), times.end(), Seconds(0));
    constexpr double kNegligible = 1e-6;
    if (cut == 0 && below < kNegligible) return;
    note("assumption: times of " + stage.name + " drawn below zero are 0 (probability " +
         percent_text(below) + ", here " + std::to_string(cut) + " of " +
         std::to_string(times.size()) + "): their mean is above the one given");
  }

  const PipelineFile& file_;
  const TimesContext& context_;
  Diagnostics diagnostics_;
  TimesFound found_;
  std::vector<std::string> notes_;
  std::map<std::string, DeviceSpec> devices_;
};

}  // namespace

TimesFound resolve_times(const PipelineFile& file, const TimesContext& context) {
  return Resolver(file, context).resolve();
}

}  // namespace floorline
