// SPDX-License-Identifier: Apache-2.0
// floorline timeline: when it ends, what it waits for, what a faster stage would buy.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "cli/command_line.hpp"
#include "cli/locate.hpp"
#include "cli/output.hpp"
#include "cli/pipeline_settings.hpp"
#include "cli/pipeline_times.hpp"
#include "cli/timeline_serving.hpp"
#include "cli/timeline_ways.hpp"
#include "model/input/diagnostic.hpp"
#include "model/report/chrome_trace.hpp"
#include "model/report/timeline_document.hpp"
#include "model/timeline/kinds/kind_file.hpp"
#include "model/timeline/serving_file.hpp"

namespace floorline {

namespace {

struct TimelineFlags {
  std::string file;
  std::string workload_path;
  std::vector<std::string> set;
  DeviceOptions device;
  OutputOptions output;
  std::string residency;  ///< empty: cold
  std::string trace;
  std::optional<int> top;
};

/// What --set changes in the document; what it says of the device is returned.
std::vector<Assignment> apply_settings(const TimelineFlags& flags, Node& document) {
  std::vector<Assignment> of_device;
  Diagnostics wrong;
  for (const Assignment& a : assignments_of(flags.set, wrong)) {
    if (names_device_key(a.name)) {
      of_device.push_back(a);
    } else {
      collect(wrong, [&] { apply_setting(a, document); });
    }
  }
  wrong.throw_if_any();
  return of_device;
}

void refuse_device(const TimelineFlags& flags, const std::vector<Assignment>& settings,
                   const char* why, Diagnostics& wrong) {
  const Position at = position_in("command line");
  if (!flags.device.device.empty()) wrong.add(at, "--device", why);
  for (const Assignment& a : settings) wrong.add(at, a.name, why);
}

const std::vector<Assignment> kNone;

AskedTimeline ask_pipeline(const TimelineFlags& flags, const Node& document, TimesContext context) {
  context.workload_path = flags.workload_path;
  context.device = flags.device;
  const PipelineFile pipeline = read_pipeline(document);
  TimesFound found = resolve_times(pipeline, context);
  Diagnostics unused;
  if (!found.flag_used)
    refuse_device(flags, found.devices.empty() ? context.device_settings : kNone,
                  "no stage takes its time from this device; expected a stage with op, workload or "
                  "bytes over a link of it",
                  unused);
  if (!found.clocks_used)
    refuse_clocks(flags.device, "no stage takes its time from a floor (op, workload)", unused);
  unused.throw_if_any();
  AskedTimeline asked;
  asked.pipeline = build_pipeline(pipeline, std::move(found.times));
  for (const StageEntry& stage : pipeline.stages) asked.places.emplace(stage.name, stage.at);
  asked.report.sources = std::move(found.sources);
  asked.report.notes = std::move(found.notes);
  asked.report.devices = std::move(found.devices);
  return asked;
}

/// At the first stage of the cycle that stands in the file, with the lines of the others.
[[noreturn]] void refuse_deadlock(const TimelineFlags& flags, const AskedTimeline& asked,
                                  const Deadlock& deadlock) {
  std::string cycle;
  Position at = position_in(flags.file);
  for (const Deadlock::Link& link : deadlock.cycle) {
    const std::string& name = asked.pipeline.stages[index_of(link.stage)].name;
    const auto place = asked.places.find(name);
    const bool known = place != asked.places.end() && place->second.line != 0;
    if (known && at.line == 0) at = place->second;
    cycle += (cycle.empty() ? "" : "; ") + name +
             (known ? " of line " + std::to_string(place->second.line) : "") + " (item " +
             std::to_string(link.item) + ") waits for " + link.waits_for;
  }
  throw InputError(Diagnostic{at, "",
                              "deadlock: " + shortened(cycle, 2000) +
                                  "; expected a larger buffer, or a distance above 0 somewhere on "
                                  "the way"});
}

/// Flags alone, before any work.
void check_flags(const TimelineFlags& flags, Diagnostics& wrong) {
  const Position at = position_in("command line");
  collect(wrong, [&] { format_of(flags.output); });
  if (flags.file.empty())
    wrong.add(at, "",
              "no pipeline; expected a file or the name of a shipped one (workloads/PIPELINES.md)");
  collect(wrong, [&] { check_top(flags.top); });
  collect(wrong, [&] {
    if (device_list(flags.device).size() > 1)
      wrong.add(at, "--device", "timeline takes one device; a stage may name another");
  });
  collect(wrong, [&] { clocks_of(flags.device); });
}

int show(const TimelineFlags& flags, AskedTimeline asked, OutputFiles& files) {
  const Format format = format_of(flags.output);
  Schedule schedule = make_schedule(asked.pipeline);
  if (schedule.deadlock) refuse_deadlock(flags, asked, *schedule.deadlock);
  if (asked.after) {
    for (TimelineFact& fact : asked.after(asked.pipeline, schedule))
      asked.report.facts.push_back(std::move(fact));
  }
  const Timeline result = analyse(asked.pipeline, std::move(schedule));
  TimelineReport& report = asked.report;
  report.workload = flags.file;
  report.set = flags.set;
  report.pipeline = &asked.pipeline;
  report.timeline = &result;
  report.top = flags.top.value_or(0);
  report.task_table = format == Format::csv;
  const Document document = timeline_document(report);
  if (!flags.trace.empty()) files.put("--trace", chrome_trace(report));
  files.finish(document, flags.output);
  return 0;
}

int show_serving(const TimelineFlags& flags, const Node& document, const std::string& folder) {
  if (!flags.trace.empty())
    throw InputError(Diagnostic{position_in("command line"), "--trace",
                                "is not written for a [serving] file; csv has every request"});
  print(timeline_of_serving(document, {flags.file, folder, flags.set, flags.top.value_or(0)}),
        flags.output);
  return 0;
}

int show_pipeline(const TimelineFlags& flags, Node document, const std::string& folder,
                  OutputFiles* files, Diagnostics& wrong) {
  if (!flags.residency.empty())
    wrong.add(position_in("command line"), "--residency",
              "is of the operators of a graph or model; this is a pipeline");
  const auto settings = collected(wrong, [&] { return apply_settings(flags, document); });
  const bool serving = names_serving(document);
  if (serving || names_pipeline_kind(document)) {
    const char* why = "is of a device, which a file of this kind does not use";
    refuse_device(flags, settings.value_or(kNone), why, wrong);
    refuse_clocks(flags.device, why, wrong);
  }
  wrong.throw_if_any();
  if (serving) return show_serving(flags, document, folder);
  if (names_pipeline_kind(document)) return show(flags, ask_pipeline_kind(document), *files);
  TimesContext context;
  context.folder = folder;
  context.device_settings = *settings;
  return show(flags, ask_pipeline(flags, document, std::move(context)), *files);
}

int timeline(const TimelineFlags& flags) {
  Diagnostics wrong;
  check_flags(flags, wrong);
  const auto files =
      output_files({{"--trace", flags.trace}, {"--output", flags.output.file}}, wrong);
  std::string file;
  std::optional<Node> document;
  if (!flags.file.empty()) {
    document = collected(wrong, [&] {
      file = find_workload(flags.file, workload_folders(flags.workload_path));
      return read_document(file);
    });
  }
  if (document && !is_pipeline_document(*document)) {
    const WorkloadOptions workload{flags.file, "", flags.workload_path, flags.set};
    const std::string residency = flags.residency.empty() ? "cold" : flags.residency;
    AskedTimeline asked = ask_operator_graph(workload, flags.device, residency, wrong);
    return show(flags, std::move(asked), *files);
  }
  if (!document) wrong.throw_if_any();
  return show_pipeline(flags, *std::move(document),
                       std::filesystem::path(file).parent_path().string(), files.get(), wrong);
}

}  // namespace

void add_timeline(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand(
      "timeline", "when a pipeline ends, what it waits for, what a faster stage would buy");
  auto flags = std::make_shared<TimelineFlags>();
  verb->add_option("PIPELINE", flags->file,
                   "a pipeline file (workloads/PIPELINES.md), a graph file or a model, or the name "
                   "of a shipped one");
  verb->add_option(
          "--set", flags->set,
          "NAME=VALUE or NAME*=FACTOR: items, stage.NAME.KEY, resource.NAME.KEY, "
          "buffer.PRODUCER-CONSUMER.capacity, KIND.KEY of a pipeline kind, a symbol of a graph or "
          "a model, or a device key; repeatable")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  verb->add_option("--workload-path", flags->workload_path,
                   "folders to look for pipelines and workloads in first");
  add_device_options(*verb, flags->device, false);
  verb->add_option("--residency", flags->residency,
                   "operators of a graph take their floors at this residency: cold (default) or "
                   "any");
  verb->add_option("--trace", flags->trace,
                   "write the schedule to this file as a Chrome trace, for Perfetto");
  verb->add_option("--top", flags->top,
                   "rows of the stage and path tables, 1 or more (default: 40)");
  add_output_options(*verb, flags->output);
  verb->callback([flags, &action] { action = [flags] { return timeline(*flags); }; });
}

}  // namespace floorline
