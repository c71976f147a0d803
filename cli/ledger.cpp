// SPDX-License-Identifier: Apache-2.0
// floorline ledger: does it fit, what is the most that fits.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>

#include "cli/command_line.hpp"
#include "cli/locate.hpp"
#include "cli/output.hpp"
#include "model/input/diagnostic.hpp"
#include "model/input/document_node.hpp"
#include "model/ledger/ledger_file.hpp"
#include "model/quantity/unit_names.hpp"
#include "model/report/document_head.hpp"
#include "model/report/ledger_document.hpp"

namespace floorline {

namespace {

struct LedgerOptions {
  WorkloadOptions workload;
  DeviceOptions device;
  OutputOptions output;
  std::vector<std::string> lines;
  std::string budget, utilization;
};

[[noreturn]] void refuse(const char* flag, const std::string& why) {
  throw InputError(Diagnostic{position_in("command line"), flag, why});
}

double utilization_of(const LedgerOptions& options) {
  if (options.utilization.empty()) return 1;
  const std::optional<double> share = parse_number(options.utilization);
  if (!share || !(*share > 0 && *share <= 1)) {
    refuse("--utilization", floorline::quoted(options.utilization) +
                                " is not a fraction above 0 and up to 1, such as 0.9");
  }
  return *share;
}

std::optional<Budget> budget_of(const LedgerOptions& options) {
  if (options.budget.empty()) {
    if (!options.utilization.empty()) refuse("--utilization", "without --budget; expected both");
    return std::nullopt;
  }
  const double share = utilization_of(options);
  const ByteCount whole = parse_budget(options.budget, "--budget");
  if (options.utilization.empty()) return Budget{whole, ""};
  return Budget{whole_budget(whole.to_bytes() * share),
                options.budget + " x " + options.utilization};
}

/// Replaces lines of the same name; the same name twice is a mistake.
void add_lines(const LedgerOptions& options, MemoryLedger& ledger) {
  std::vector<std::string> names;
  for (const std::string& text : options.lines) {
    LedgerEntry line = parse_line(text, Lifetime::all(ledger.instants.size()));
    if (std::find(names.begin(), names.end(), line.name) != names.end()) {
      refuse("--line", line.name + " is given twice");
    }
    names.push_back(line.name);
    set_line(ledger, std::move(line));
  }
}

Json inputs_json(const LedgerOptions& options) {
  Json json = Json::object();
  json.set("workload",
           options.workload.workload.empty() ? Json() : Json(options.workload.workload));
  json.set("set", json_of(options.workload.set));
  json.set("lines", json_of(options.lines));
  json.set("budget", options.budget.empty() ? Json() : Json(options.budget));
  if (!options.utilization.empty()) json.set("utilization", options.utilization);
  return json;
}

LedgerReport by_hand(const LedgerOptions& options, LedgerDocument document) {
  LedgerReport report;
  report.title = document.name;
  report.inputs = inputs_json(options);
  report.ledger = std::move(document.ledger);
  add_lines(options, report.ledger);
  report.budget = document.budget;
  if (const auto given = budget_of(options)) report.budget = given;
  return report;
}

LedgerReport report_for(const LedgerOptions& options) {
  const std::string& name = options.workload.workload;
  if (name.empty()) {
    if (options.lines.empty()) {
      refuse("--line", "nothing to sum; expected --line NAME=BYTES, a ledger file or a model");
    }
    LedgerDocument document;
    document.name = "ledger by hand";
    document.ledger.instants = {"together"};
    return by_hand(options, std::move(document));
  }
  const std::string file = find_workload(name, workload_folders(options.workload.workload_path));
  const Node node = read_document(file);
  if (is_ledger_document(node)) {
    LedgerDocument document = read_ledger(node);
    if (document.name.empty()) document.name = std::filesystem::path(file).stem().string();
    return by_hand(options, std::move(document));
  }
  throw InputError(Diagnostic{node.at, "", "neither a ledger (kind = \"ledger\") nor a model"});
}

int ledger(const LedgerOptions& options) {
  format_of(options.output);  // a bad flag is told before any work
  const LedgerReport report = report_for(options);
  print(ledger_document(report), options.output);
  return fits(report) ? 0 : 1;
}

}  // namespace

void add_ledger(CLI::App& app, Action& action) {
  CLI::App* verb =
      app.add_subcommand("ledger", "does it fit in memory, what is the most that fits");
  auto options = std::make_shared<LedgerOptions>();
  add_workload_options(*verb, options->workload);
  verb->add_option("--line", options->lines,
                   "NAME=BYTES, such as weights=14GB; with a ledger file or a model it replaces "
                   "the line of that name; repeatable")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  verb->add_option("--budget", options->budget, "what there is: 80GB, 22GiB");
  verb->add_option("--utilization", options->utilization,
                   "share of the budget that may be used, such as 0.9");
  add_output_options(*verb, options->output);
  verb->callback([options, &action] { action = [options] { return ledger(*options); }; });
}

}  // namespace floorline
