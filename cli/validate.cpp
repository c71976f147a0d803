// SPDX-License-Identifier: Apache-2.0
// floorline validate: predictions on record before they run, and what became of them.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <memory>

#include "cli/command_line.hpp"
#include "cli/hypothesis_case.hpp"
#include "cli/locate.hpp"
#include "cli/observe.hpp"
#include "cli/output.hpp"
#include "cli/refuse.hpp"
#include "cli/run_backend.hpp"
#include "model/quantity/unit_names.hpp"
#include "validation/hypothesis/hypothesis_file.hpp"
#include "validation/record/record_folder.hpp"
#include "validation/record/record_text.hpp"
#include "validation/report/run_document.hpp"
#include "validation/report/suite_document.hpp"

namespace floorline {

namespace {

struct ValidateOptions {
  std::string hypothesis;
  bool all = false;
  bool experiments = false;
  std::string hypothesis_path, workload_path;
  std::vector<std::string> observed;
  std::string tolerance;
  std::string backend;
  bool quick = false;
  std::string observe, mapping, models;
  bool record = false;
  std::string records;
  DeviceOptions device;
  OutputOptions output;
};

/// "5%" or 0.05; below one, or a number below its tolerance could be anything.
double tolerance_of(const std::string& text) {
  if (text.empty()) return kDefaultTolerance;
  const bool percent = text.ends_with('%');
  const std::optional<double> value =
      parse_number(percent ? std::string_view(text).substr(0, text.size() - 1) : text);
  const double tolerance = value.value_or(-1) / (percent ? 100 : 1);
  if (!(tolerance >= 0 && tolerance < 1)) {
    refuse("--tolerance", "\"" + text + "\" is no tolerance; expected such as 5% or 0.05");
  }
  return tolerance;
}

std::string records_folder(const ValidateOptions& o) {
  if (!o.records.empty()) return o.records;
  return o.record ? "records" : "";
}

CaseLookup lookup_of(const ValidateOptions& o) {
  return {o.device, o.workload_path, nullptr, Scale::device};
}

/// Predicts, observes, judges one hypothesis. `runner`: null, or what runs experiments.
HypothesisRun run_one(const std::string& file, const std::string& shown, const ValidateOptions& o,
                      BackendRunner* runner) {
  CaseLookup lookup = lookup_of(o);
  Hypothesis hypothesis = read_hypothesis_file(file);
  hypothesis.file = shown;  // where it was found is this machine's business
  if (runner != nullptr && runner->is_meant(hypothesis)) {
    lookup.machine = &runner->machine();
    lookup.scale = runner->scale();
  }
  HypothesisRun run = predict(std::move(hypothesis), lookup);
  run.tolerance = tolerance_of(o.tolerance);
  run.quick = o.quick;
  Diagnostics wrong;
  for (const std::string& text : o.observed) collect(wrong, [&] { add_typed(text, run); });
  wrong.throw_if_any();
  if (!o.observed.empty()) {
    judge_run(run);
    run.assumptions.push_back("typed numbers are within " + number_text(run.tolerance * 100, 3) +
                              " % of the true ones");
  }
  if (runner != nullptr) runner->observe(run);
  return run;
}

int status_of(const std::optional<HypothesisVerdict>& verdict) {
  return !verdict || verdict->verdict == Verdict::supported ? 0 : 1;
}

void keep(const HypothesisRun& run, const std::string& folder) {
  if (folder.empty()) return;
  const RecordFile file = keep_record(folder, run);
  for (const std::string& path : file.passed_over)
    std::cerr << "floorline: warning: " << path
              << " cannot be read; the new record does not name it as the one before\n";
  std::cerr << "record " << file.path << '\n';
}

int validate_one(const ValidateOptions& o, BackendRunner* runner) {
  const HypothesisRun run =
      run_one(find_hypothesis(o.hypothesis, hypothesis_folders(o.hypothesis_path)), o.hypothesis, o,
              runner);
  const std::string folder = records_folder(o);
  keep(run, folder);
  print(run_document(run), o.output);
  return status_of(run.verdict);
}

int validate_all(const ValidateOptions& o, BackendRunner* runner) {
  std::vector<HypothesisRun> runs;
  for (const std::string& file : shipped_hypotheses(hypothesis_folders(o.hypothesis_path))) {
    runs.push_back(run_one(file, std::filesystem::path(file).stem().string(), o, runner));
    keep(runs.back(), records_folder(o));
  }
  if (runs.empty()) refuse("--all", "no hypothesis files found");
  print(suite_document(runs), o.output);
  int status = 0;
  for (const HypothesisRun& run : runs) status = std::max(status, status_of(run.verdict));
  return status;
}

/// Flags that say nothing of what is asked.
void refuse_idle_flags(const ValidateOptions& o, Diagnostics& wrong) {
  std::error_code error;
  const bool folder = !o.observe.empty() && std::filesystem::is_directory(o.observe, error);
  const bool keeps_none = !o.observe.empty() || o.experiments;
  refuse_idle({{"--mapping", !o.mapping.empty() && o.observe.empty()}},
              "is how to read a table; expected with --observe TABLE", wrong);
  refuse_idle({{"--models", !o.models.empty() && !folder}},
              "is of a folder of measured rows; expected with --observe FOLDER", wrong);
  refuse_idle({{"--tolerance", !o.tolerance.empty() && o.observed.empty()}},
              "is of typed numbers; expected with --observed", wrong);
  refuse_idle(
      {{"--record", o.record && keeps_none}, {"--records", !o.records.empty() && keeps_none}},
      "keeps runs of hypotheses; --observe and --experiments have none", wrong);
  refuse_idle({{"--device", folder && !o.device.device.empty()}},
              "has no effect: rows of a folder name their device themselves", wrong);
  if (folder)
    refuse_clocks(o.device, "has no effect: a folder's rows were taken as they were", wrong);
  if (o.backend == "cpu")
    refuse_clocks(o.device, "is of a GPU; this machine's processors run at their own", wrong);
  if (o.all || !o.hypothesis.empty() || o.experiments) return;
  refuse_idle({{"--workload-path", !o.workload_path.empty()},
               {"--hypothesis-path", !o.hypothesis_path.empty()}},
              "is of hypotheses, which --observe has none of", wrong);
}

void check_subject(const ValidateOptions& o) {
  const int subjects = (o.hypothesis.empty() ? 0 : 1) + (o.all ? 1 : 0) +
                       (o.observe.empty() ? 0 : 1) + (o.experiments ? 1 : 0);
  if (subjects != 1) {
    refuse("",
           "expected one of: a hypothesis (a file or the name of a shipped one), --all, "
           "--experiments, or --observe with measurements from elsewhere");
  }
}

/// Flags alone, before any work.
void check_flags(const ValidateOptions& o, Diagnostics& wrong) {
  const Position at = position_in("command line");
  check_output(o.output, wrong);
  collect(wrong, [&] { tolerance_of(o.tolerance); });
  collect(wrong, [&] { check_subject(o); });
  collect(wrong, [&] { clocks_of(o.device); });
  collect(wrong, [&] { device_list(o.device); });
  if (!o.backend.empty() && !o.observed.empty()) {
    wrong.add(at, "--backend",
              "numbers that are typed in and a backend that measures are two runs; "
              "expected one of --backend and --observed");
  }
  refuse_idle({{"--observed", o.all && !o.observed.empty()}},
              "is about one hypothesis, not about all", wrong);
  refuse_idle({{"--observed", !o.observe.empty() && !o.observed.empty()},
               {"--backend", !o.observe.empty() && !o.backend.empty()}},
              "stands beside --observe, whose measurements are there already", wrong);
  if (o.experiments && (o.backend.empty() || !o.observed.empty()))
    wrong.add(at, "--experiments",
              "runs every experiment; expected with --backend cpu or cuda alone");
  if (o.quick && o.backend.empty())
    wrong.add(at, "--quick", "shortens runs; expected with --backend");
  refuse_idle_flags(o, wrong);
  if (const std::string folder = records_folder(o); !folder.empty())
    collect(wrong, [&] { check_can_keep(folder); });
}

int validate(const ValidateOptions& o) {
  Diagnostics wrong;
  check_flags(o, wrong);
  wrong.throw_if_any();
  if (!o.observe.empty()) {
    return observe({o.observe, o.mapping, o.models, o.device, o.output});
  }
  std::unique_ptr<BackendRunner> runner;
  if (!o.backend.empty()) runner = open_backend(o.backend, o.quick, o.device);
  if (o.experiments) return runner->run_experiments(o.output) ? 0 : 1;
  return o.all ? validate_all(o, runner.get()) : validate_one(o, runner.get());
}

void add_run_options(CLI::App& verb, ValidateOptions& o) {
  verb.add_option("--observed", o.observed,
                  "a number from elsewhere: baseline=5.074ms, variant=2.2TB/s, "
                  "variant.hbm_bytes=302MB; the same name again is its second run; repeatable")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  verb.add_option("--tolerance", o.tolerance,
                  "of typed numbers, such as 5% (default) or 0.02: a verdict only outside it");
  verb.add_option("--backend", o.backend, "run the experiments: cpu or cuda");
  verb.add_flag("--quick", o.quick, "short budgets and small rotations");
  verb.add_option("--observe", o.observe,
                  "a table of measurements (with --mapping), or a folder of measured rows "
                  "(validation/README.md)");
  verb.add_option("--mapping", o.mapping,
                  "how to read the table: columns, units and operator (validation/HYPOTHESES.md)");
  verb.add_option("--models", o.models, "of a folder: configurations of the served models");
  verb.add_flag("--record", o.record, "keep a record of the run in ./records");
  verb.add_option("--records", o.records, "keep it in this folder");
}

}  // namespace

void add_validate(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand(
      "validate", "a hypothesis: its prediction, its run or observed numbers, its verdict");
  auto o = std::make_shared<ValidateOptions>();
  verb->add_option("HYPOTHESIS", o->hypothesis,
                   "a hypothesis file, or the name of a shipped one (floorline record hypotheses)");
  verb->add_flag("--all", o->all, "every shipped hypothesis");
  verb->add_flag("--experiments", o->experiments,
                 "every experiment of the suite beside its floors, without hypotheses");
  add_run_options(*verb, *o);
  add_device_options(*verb, o->device, false);
  verb->add_option("--hypothesis-path", o->hypothesis_path,
                   "folders to look for hypotheses in first");
  verb->add_option("--workload-path", o->workload_path, "folders to look for workloads in first");
  add_output_options(*verb, o->output);
  verb->callback([o, &action] { action = [o] { return validate(*o); }; });
}

}  // namespace floorline
