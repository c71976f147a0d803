// SPDX-License-Identifier: Apache-2.0
// floorline record: hypotheses written down, and the records of their runs.
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "cli/command_line.hpp"
#include "cli/hypothesis_case.hpp"
#include "cli/locate.hpp"
#include "cli/output.hpp"
#include "model/input/diagnostic.hpp"
#include "validation/hypothesis/draft.hpp"
#include "validation/hypothesis/hypothesis_file.hpp"
#include "validation/report/record_list_document.hpp"
#include "validation/report/run_document.hpp"

namespace floorline {

namespace {

struct RecordOptions {
  std::string records = "records";
  std::string which;
  std::string hypothesis_path;
  HypothesisDraft draft;
  WorkloadOptions workload;
  DeviceOptions device;
  OutputOptions output;
};

int list(const RecordOptions& o) {
  std::vector<RecordSummary> all;
  for (const RecordFile& file : list_records(o.records).records) all.push_back(summary_of(file));
  print(record_list_document(o.records, all), o.output);
  return 0;
}

int check(const RecordOptions& o) {
  const RecordCheck result = check_records(o.records);
  print(record_check_document(o.records, result), o.output);
  return result.problems.empty() ? 0 : 1;
}

int show(const RecordOptions& o) {
  print(record_document(read_record(find_record(o.records, o.which).path), "record"), o.output);
  return 0;
}

/// A review reads Markdown; the other formats are there when asked for.
int report(RecordOptions o, bool format_given) {
  if (!format_given) o.output.format = "md";
  return show(o);
}

int hypotheses(const RecordOptions& o) {
  std::vector<Hypothesis> all;
  for (const std::string& file : shipped_hypotheses(hypothesis_folders(o.hypothesis_path))) {
    all.push_back(read_hypothesis_file(file));
  }
  print(hypothesis_list_document(all), o.output);
  return 0;
}

/// Text is the product here: the hypothesis file itself, to standard output or to --output.
int write_new(RecordOptions o) {
  o.draft.op = o.workload.op;
  o.draft.workload = o.workload.workload;
  o.draft.set = o.workload.set;
  const std::vector<std::string> devices = device_list(o.device);
  if (devices.size() != 1) {
    throw InputError(Diagnostic{position_in("command line"), "--device",
                                "expected one device, which the prediction is about"});
  }
  o.draft.device = devices.front();
  print_text(drafted_text(o.draft, {o.device, o.workload.workload_path, nullptr, Scale::device}),
             o.output);
  return 0;
}

void add_records(CLI::App& verb, RecordOptions& o) {
  verb.add_option("--records", o.records, "folder of the records (default ./records)");
  add_output_options(verb, o.output);
}

void add_new(CLI::App& verb, std::shared_ptr<RecordOptions> o, Action& action) {
  CLI::App* sub = verb.add_subcommand(
      "new", "a hypothesis file from one change, ready to run: everything is filled in");
  add_workload_options(*sub, o->workload);
  sub->add_option("--change", o->draft.changes,
                  "the one change, NAME=VALUE or NAME*=FACTOR; repeatable where several keys are "
                  "one variable")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  sub->add_option("--variable", o->draft.variable, "its name (default: the key)");
  sub->add_option("--name", o->draft.name, "of the hypothesis (default: kind and keys)");
  sub->add_option("--question", o->draft.question, "in words");
  sub->add_option("--boundary", o->draft.boundary, "what is timed, from when to when");
  sub->add_option("--claimed-limit", o->draft.claimed_limit,
                  "a resource id (default: what binds the baseline's floor)");
  add_device_options(*sub, o->device, false);
  sub->add_option("--output", o->output.file, "write to this file, replaced whole");
  sub->callback([o, &action] { action = [o] { return write_new(*o); }; });
}

}  // namespace

void add_record(CLI::App& app, Action& action) {
  CLI::App* verb =
      app.add_subcommand("record", "records of runs: list, show, report, check; new hypotheses");
  verb->require_subcommand(1);
  auto o = std::make_shared<RecordOptions>();
  const auto add = [&](const char* name, const char* help, int (*run)(const RecordOptions&)) {
    CLI::App* sub = verb->add_subcommand(name, help);
    add_records(*sub, *o);
    sub->callback([o, run, &action] { action = [o, run] { return run(*o); }; });
    return sub;
  };
  add("list", "every record: verdict, evidence, device, question", list);
  add("check", "are all records whole, chained and honest about their evidence", check);
  const char* which = "a record's id, a hypothesis' name (its last record), or a file";
  add("show", "one record", show)->add_option("RECORD", o->which, which)->required();
  CLI::App* md =
      add("report", "one record in three parts, Markdown unless --format says otherwise", show);
  md->add_option("RECORD", o->which, which)->required();
  md->callback([o, md, &action] {
    const bool given = md->get_option("--format")->count() > 0;
    action = [o, given] { return report(*o, given); };
  });
  CLI::App* shipped = verb->add_subcommand("hypotheses", "the hypotheses that are shipped");
  shipped->add_option("--hypothesis-path", o->hypothesis_path,
                      "folders to look for hypotheses in first");
  add_output_options(*shipped, o->output);
  shipped->callback([o, &action] { action = [o] { return hypotheses(*o); }; });
  add_new(*verb, o, action);
}

}  // namespace floorline
