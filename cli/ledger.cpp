// SPDX-License-Identifier: Apache-2.0
// floorline ledger: does it fit, what is the most that fits.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/command_line.hpp"
#include "cli/ledger_flags.hpp"
#include "cli/ledger_subject.hpp"
#include "cli/output.hpp"

namespace floorline {

namespace {

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ", ") + text;
  return all;
}

int ledger(const LedgerOptions& options) {
  Diagnostics wrong;
  check_ledger_flags(options, wrong);
  auto read = collected(wrong, [&] { return ledger_report(options); });
  wrong.throw_if_any();
  LedgerReport& report = *read;
  if (!options.against.empty()) {
    LedgerReport after = ledger_report(changed_options(options));
    after.changed = joined(options.against);
    report.after = std::make_shared<const LedgerReport>(std::move(after));
  }
  print(ledger_document(report), options.output);
  return fits(report) ? 0 : 1;
}

CLI::Option* add_repeatable(CLI::App& verb, const char* flag, std::vector<std::string>& values,
                            const char* help) {
  return verb.add_option(flag, values, help)->expected(1)->take_all()->allow_extra_args(false);
}

}  // namespace

void add_ledger(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand(
      "ledger", "does it fit in memory, what is the most that fits (workloads/LEDGERS.md)");
  auto options = std::make_shared<LedgerOptions>();
  add_workload_options(*verb, options->workload);
  add_repeatable(*verb, "--line", options->lines,
                 "NAME=BYTES, such as weights=14GB; with a ledger file or a model it replaces the "
                 "line of that name; repeatable");
  verb->add_option("--budget", options->budget,
                   "what a rank has: 80GB, 22GiB, or device (what --device reports)");
  verb->add_option("--utilization", options->utilization,
                   "share of the budget that may be used, such as 0.9");
  verb->add_option("--device", options->device.device, "with --budget device: a name or a file");
  verb->add_option("--device-path", options->device.device_path,
                   "folders to look for devices in first");
  verb->add_option("--engine", options->engine,
                   "none (default), vllm, sglang, tensorrt-llm, llama.cpp, or a profile's file");
  verb->add_option("--engine-version", options->engine_version,
                   "such as 0.10.2; default: the newest rules");
  verb->add_option("--weights", options->weights,
                   "weights as stored: *.safetensors, its index, *.gguf or a folder with them; "
                   "headers alone are read, and the line weights is theirs");
  verb->add_option("--params", options->params,
                   "instead of a model: its number of parameters, such as 6.7e9; what its shapes "
                   "would tell is unknown");
  verb->add_option("--active-params", options->active_params, "with --params: used for a token");
  verb->add_option("--solve", options->solve,
                   "the largest batch, context, concurrency or layers that fits; the smallest tp");
  add_repeatable(*verb, "--against", options->against,
                 "NAME=VALUE of a second scenario, shown beside the first: a --set name, budget, "
                 "utilization, device, engine, engine_version or line.NAME; repeatable");
  add_output_options(*verb, options->output);
  verb->callback([options, &action] { action = [options] { return ledger(*options); }; });
}

}  // namespace floorline
