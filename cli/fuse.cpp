// SPDX-License-Identifier: Apache-2.0
// floorline fuse: what one kernel instead of several buys, or why it cannot be.
#include <CLI/CLI.hpp>
#include <cmath>
#include <iostream>
#include <memory>

#include "cli/command_line.hpp"
#include "cli/emit.hpp"
#include "cli/output.hpp"
#include "cli/refuse.hpp"
#include "cli/subject.hpp"
#include "model/input/diagnostic.hpp"
#include "model/quantity/unit_names.hpp"
#include "model/report/fuse_document.hpp"
#include "model/report/graph_document.hpp"

namespace floorline {

namespace {

struct FuseOptions {
  WorkloadOptions workload;
  DeviceOptions device;
  OutputOptions output;
  std::vector<std::string> groups;
  bool search = false;
  std::string chunk;
  std::string emit;
};

std::vector<std::string> names_in(const std::string& list) {
  std::vector<std::string> names;
  std::size_t start = 0;
  while (start <= list.size()) {
    const std::size_t end = std::min(list.find(',', start), list.size());
    if (end == start) refuse("--group", "\"" + list + "\" has an empty name; expected a,b,c");
    names.push_back(list.substr(start, end - start));
    start = end + 1;
  }
  return names;
}

void check(const FuseOptions& options) {
  if (options.search == !options.groups.empty()) {
    refuse("--group", options.search ? "and --search do not go together; expected one of them"
                                     : "missing; expected --group a,b,c or --search");
  }
  if (!options.chunk.empty() && options.groups.size() != 1) {
    refuse("--chunk", "expected with one --group, whose operators run by chunks of rows");
  }
}

/// Rows of a chunk: a count.
std::optional<double> chunk_of(const FuseOptions& options) {
  if (options.chunk.empty()) return std::nullopt;
  const std::optional<double> rows = parse_number(options.chunk);
  constexpr double kMostRows = 9007199254740992.0;
  if (!rows || !(*rows >= 1) || *rows > kMostRows || std::floor(*rows) != *rows)
    refuse("--chunk", "\"" + options.chunk + "\" is no count of rows; expected 1, 2, 3…");
  return rows;
}

/// The fused graph as a file that every command reads.
std::string emitted_graph(const FusionResult& result, const FuseOptions& options,
                          const std::string& workload) {
  GraphReport report;
  report.workload = workload;
  report.set = options.workload.set;
  report.graph = &result.after->graph;
  report.bound = &result.after->bound;
  return emitted_text(graph_document(report), options.emit);
}

FusionResult run(const FuseOptions& options, Evaluation evaluation, const Machine& machine) {
  if (options.search) return fuse_best(std::move(evaluation), machine);
  if (const auto rows = chunk_of(options))
    return chunk_group(std::move(evaluation), machine, names_in(options.groups.front()), *rows);
  std::vector<std::vector<std::string>> groups;
  for (const std::string& group : options.groups) groups.push_back(names_in(group));
  return fuse_groups(std::move(evaluation), machine, groups);
}

int fuse(const FuseOptions& options) {
  Diagnostics wrong;
  collect(wrong, [&] { format_of(options.output); });
  collect(wrong, [&] { check(options); });
  collect(wrong, [&] { chunk_of(options); });
  for (const std::string& group : options.groups) collect(wrong, [&] { names_in(group); });
  collect(wrong, [&] { check_emitted_name(options.emit); });
  const auto files =
      output_files({{"--emit", options.emit}, {"--output", options.output.file}}, wrong);
  const Question asked_of =
      read_question(options.workload, options.device,
                    "expected one device (floorline devices lists them)", wrong);
  const Subject& subject = asked_of.subject;
  const Machine& machine = asked_of.machine;
  SubjectResult asked = evaluate(subject, machine);
  const FusionResult result = run(options, std::move(asked.evaluation), machine);
  if (!options.emit.empty() && result.legal())
    files->put("--emit", emitted_graph(result, options, subject.workload));
  FuseReport report;
  report.workload = subject.workload;
  report.set = options.workload.set;
  report.groups = options.groups;
  report.chunk = chunk_of(options);
  report.ranks = asked.ranks;
  report.machine = &machine;
  report.result = &result;
  report.assumptions = asked.assumptions;
  report.notes = asked.notes;
  files->finish(fuse_document(report), options.output);
  if (!options.emit.empty() && !result.legal())
    std::cerr << "floorline: --emit: nothing is written, as the group is not legal\n";
  return result.legal() ? 0 : 1;
}

}  // namespace

void add_fuse(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand(
      "fuse", "what one kernel instead of several buys, or why it cannot be one");
  auto options = std::make_shared<FuseOptions>();
  add_workload_options(*verb, options->workload);
  add_device_options(*verb, options->device, false);
  verb->add_option("--group", options->groups,
                   "operators to fuse, a,b,c; repeatable for several kernels")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  verb->add_flag("--search", options->search, "the legal groups with the least serial cold floor");
  verb->add_option("--chunk", options->chunk,
                   "the group as kernels that run by chunks of so many rows, of which alone the "
                   "intermediates are alive");
  verb->add_option("--emit", options->emit,
                   "write the fused graph to this file: NAME.json or NAME.toml");
  add_output_options(*verb, options->output);
  verb->callback([options, &action] { action = [options] { return fuse(*options); }; });
}

}  // namespace floorline
