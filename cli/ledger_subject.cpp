// SPDX-License-Identifier: Apache-2.0
#include "cli/ledger_subject.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "cli/ledger_ways.hpp"
#include "cli/locate.hpp"
#include "cli/refuse.hpp"
#include "cli/subject.hpp"
#include "model/input/diagnostic.hpp"
#include "model/input/document_node.hpp"
#include "model/ledger/engine_file.hpp"
#include "model/ledger/ledger_file.hpp"
#include "model/ledger/weights_entry.hpp"
#include "model/quantity/unit_names.hpp"
#include "model/report/document_head.hpp"
#include "model/workload/model_notes.hpp"
#include "model/workload/weights_file/weights_path_file.hpp"

namespace floorline {

namespace {

std::optional<double> utilization_of(const LedgerOptions& options) {
  if (options.utilization.empty()) return std::nullopt;
  if (options.budget.empty()) refuse("--utilization", "without --budget; expected both");
  const std::optional<double> share = parse_number(options.utilization);
  if (!share || !(*share > 0 && *share <= 1)) {
    refuse("--utilization", floorline::quoted(options.utilization) +
                                " is not a fraction above 0 and up to 1, such as 0.9");
  }
  return share;
}

/// The driver's figure; where it is not known, the advertised one with a word about it.
MemoryTotal device_total(const LedgerOptions& options, const Subject& subject,
                         std::vector<std::string>& notes) {
  const std::vector<std::string> devices = device_list(options.device);
  if (devices.size() != 1) {
    refuse("--budget", "device: expected one --device, whose memory is the budget");
  }
  const DeviceSpec device = load_machine(devices.front(), options.device, subject).device;
  const MaybeSourced<Bytes>& known =
      device.hbm.driver_capacity ? device.hbm.driver_capacity : device.hbm.capacity;
  if (!known) {
    refuse("--device", device.name + " states neither memory.hbm.driver_capacity nor capacity");
  }
  if (!device.hbm.driver_capacity) {
    notes.push_back(device.name +
                    ": what the driver reports is not known; the advertised capacity "
                    "is the budget, and the driver may give less");
  }
  MemoryTotal total;
  total.bytes = whole_budget(known->value);
  total.text = to_text_binary(known->value) + " of " + device.name;
  total.of_device = true;
  return total;
}

std::optional<MemoryTotal> total_of(const LedgerOptions& options, const Subject& subject,
                                    std::vector<std::string>& notes) {
  const std::optional<double> utilization = utilization_of(options);
  const bool device = options.budget == "device";
  if (!device && !options.device.device.empty()) {
    refuse("--device", "is read with --budget device only; expected --budget device");
  }
  if (options.budget.empty()) return std::nullopt;
  MemoryTotal total;
  if (device) {
    total = device_total(options, subject, notes);
  } else {
    total.bytes = parse_budget(options.budget, "--budget");
    total.text = options.budget;
  }
  total.utilization = utilization;
  return total;
}

/// The same name twice is a mistake.
std::vector<LedgerEntry> given_lines(const LedgerOptions& options, std::size_t instants) {
  std::vector<LedgerEntry> lines;
  for (const std::string& text : options.lines) {
    LedgerEntry line = parse_line(text, Lifetime::all(instants));
    for (const LedgerEntry& before : lines) {
      if (before.name == line.name) refuse("--line", line.name + " is given twice");
    }
    lines.push_back(std::move(line));
  }
  if (!options.stored) return lines;
  for (const LedgerEntry& line : lines) {
    if (line.name == "weights") refuse("--line", "weights is given by --weights too");
  }
  lines.push_back(weights_entry(*options.stored, Lifetime::all(instants)));
  return lines;
}

/// Replaces lines of the same name, which keep their lifetimes.
void add_lines(const LedgerOptions& options, MemoryLedger& ledger) {
  for (LedgerEntry& line : given_lines(options, ledger.instants.size())) {
    if (const LedgerEntry* old = find_line(ledger, line.name)) line.alive = old->alive;
    set_line(ledger, std::move(line));
  }
}

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json inputs_json(const LedgerOptions& options) {
  Json json = Json::object();
  json.set("workload", text_or_null(options.workload.workload));
  json.set("set", json_of(options.workload.set));
  json.set("lines", json_of(options.lines));
  json.set("budget", text_or_null(options.budget));
  json.set("utilization", text_or_null(options.utilization));
  json.set("device", text_or_null(options.device.device));
  json.set("engine", options.engine);
  json.set("engine_version", text_or_null(options.engine_version));
  json.set("solve", text_or_null(options.solve));
  json.set("against", json_of(options.against));
  if (!options.weights.empty()) json.set("weights", options.weights);
  if (!options.params.empty()) json.set("params", options.params);
  if (!options.active_params.empty()) json.set("active_params", options.active_params);
  if (!options.workload.op.empty()) json.set("op", options.workload.op);
  return json;
}

void refuse_model_flags(const LedgerOptions& options) {
  const char* const what = "needs a model; a list of lines or a ledger file has none";
  if (!options.solve.empty()) refuse("--solve", what);
  if (options.engine != "none") refuse("--engine", what);
  if (!options.engine_version.empty()) refuse("--engine-version", what);
  if (!options.workload.set.empty()) refuse("--set", what);
}

LedgerReport by_hand(const LedgerOptions& options, LedgerDocument document) {
  refuse_model_flags(options);
  LedgerReport report;
  report.title = document.name;
  report.inputs = inputs_json(options);
  report.ledger = std::move(document.ledger);
  add_lines(options, report.ledger);
  report.budget = document.budget;
  if (const auto total = total_of(options, Subject{}, report.notes)) {
    report.budget = budget_of(EngineProfile{}, *total);
  }
  return report;
}

/// What is asked of graphs, training and sizes alike: lines, budget, and no engine or solution.
LedgerReport completed(const LedgerOptions& options, const Subject& subject, LedgerReport report) {
  const char* const what = "is there for serving a model alone";
  if (!options.solve.empty()) refuse("--solve", what);
  if (options.engine != "none") refuse("--engine", what);
  if (!options.engine_version.empty()) refuse("--engine-version", what);
  report.inputs = inputs_json(options);
  add_lines(options, report.ledger);
  if (const auto total = total_of(options, subject, report.notes)) {
    report.budget = budget_of(EngineProfile{}, *total);
  }
  return report;
}

// ---- models

/// Sizes of a request go far beyond what a graph can have: an absurd one is a clear no.
bool apply_large(const Assignment& a, Scenario& scenario) {
  constexpr std::int64_t kGraphLimit = std::int64_t{1} << 30U;
  constexpr std::int64_t kMost = 1'000'000'000'000'000;
  std::int64_t number = 0;
  const char* const end = a.value.data() + a.value.size();
  const auto [stop, failed] = std::from_chars(a.value.data(), end, number);
  if (a.scale || failed != std::errc() || stop != end || number <= kGraphLimit || number > kMost) {
    return false;
  }
  if (a.name == "batch") {
    scenario.batch = number;
  } else if (a.name == "context") {
    scenario.context = number;
    scenario.contexts.clear();
  } else if (a.name == "prompt") {
    scenario.prompt = number;
  } else {
    return false;
  }
  scenario.given.push_back(a.name);
  return true;
}

/// Takes from --set what only ledgers know; the rest is the model's.
struct SplitSettings {
  LedgerSettings settings;
  std::vector<Assignment> large;
  std::vector<std::string> rest;
};
SplitSettings split(const std::vector<std::string>& set) {
  SplitSettings result;
  Diagnostics diagnostics;
  const std::vector<Assignment> all = assignments_of(set);
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::string wrong;
    Scenario probe;
    if (!all[i].scale && apply_setting(all[i].name, all[i].value, result.settings, wrong)) {
      if (!wrong.empty()) diagnostics.add(position_in("command line"), all[i].name, wrong);
    } else if (apply_large(all[i], probe)) {
      result.large.push_back(all[i]);
    } else {
      result.rest.push_back(set[i]);
    }
  }
  diagnostics.throw_if_any();
  return result;
}

EngineProfile engine_of(const LedgerOptions& options) {
  std::vector<std::string> folders = workload_folders(options.workload.workload_path);
  for (std::string& folder : folders) folder += "/engines";
  const bool is_path = options.engine.find('/') != std::string::npos;
  const std::string name =
      is_path || options.engine.ends_with(".toml") ? options.engine : options.engine + ".toml";
  if (options.engine == "none") {
    if (!options.engine_version.empty())
      refuse("--engine-version", "is of an engine; expected --engine beside it");
    return {};
  }
  try {
    return load_engine(find_workload(name, folders), options.engine_version);
  } catch (const InputError&) {
    if (is_path) throw;
    for (const std::string& folder : folders) {
      if (std::filesystem::exists(folder + "/" + name)) throw;
    }
    std::vector<std::string> names;
    for (const std::string& folder : folders) {
      std::error_code error;
      for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
        names.push_back(entry.path().stem().string());
      }
    }
    refuse("--engine", floorline::quoted(options.engine) + " is not an engine that is known" +
                           did_you_mean(options.engine, names));
  }
}

std::string engine_title(const EngineProfile& engine) {
  return engine.title + (engine.version.empty() ? ", newest rules" : " " + engine.version);
}

std::vector<RankSummary> summaries(const std::vector<RankLedger>& ranks, const RankLedger& worst) {
  std::vector<RankSummary> all;
  for (const RankLedger& rank : ranks) {
    const Peak peak = peak_of(rank.ledger);
    all.push_back({rank.stage, rank.stages, peak.bytes, rank.ledger.instants[peak.at],
                   rank.stage == worst.stage});
  }
  return all;
}

void add_engine_defaults(const LedgerModel& model, std::vector<std::string>& assumptions) {
  const EngineProfile& e = *model.engine;
  const LedgerSettings& s = model.settings;
  if (e.batched_tokens > 0 && !s.batched_tokens) {
    assumptions.push_back("batched_tokens = " + std::to_string(e.batched_tokens) + " (default)");
  }
  if (e.sequences > 0 && !s.max_sequences) {
    assumptions.push_back("max_sequences = " + std::to_string(e.sequences) + " (default)");
  }
}

/// An engine that runs fewer sequences at once than memory would hold.
void add_sequence_notes(const LedgerModel& model, const std::optional<LedgerSolution>& solution,
                        std::vector<std::string>& notes) {
  const std::int64_t most = model.settings.max_sequences.value_or(model.engine->sequences);
  if (most <= 0) return;
  const std::string limit =
      "; the engine runs at most " + std::to_string(most) + " at once (max_sequences)";
  const std::int64_t asked = model.scenario.batch;
  if (asked > most) {
    notes.push_back("a batch of " + std::to_string(asked) + " sequences" + limit);
  }
  const bool of_sequences =
      solution && solution->value &&
      (solution->what == SolveFor::batch || solution->what == SolveFor::concurrency);
  if (of_sequences && *solution->value > most) {
    notes.push_back("memory holds " + std::to_string(*solution->value) + " sequences" + limit);
  }
}

LedgerSolution solution_of(const LedgerOptions& options, const LedgerModel& model,
                           const std::optional<MemoryTotal>& total) {
  const std::optional<SolveFor> what = solve_for(options.solve);
  if (!what) {
    refuse("--solve",
           floorline::quoted(options.solve) +
               " is not one of batch, context, concurrency, layers, tp" +
               did_you_mean(options.solve, {"batch", "context", "concurrency", "layers", "tp"}));
  }
  if (!total) refuse("--solve", "without --budget; expected both");
  if (!model.scenario.contexts.empty() && *what != SolveFor::tp && *what != SolveFor::layers) {
    refuse("--solve", "a list of contexts fixes " + options.solve + "; expected one length");
  }
  return solve(model, *total, *what);
}

LedgerReport of_model(const LedgerOptions& options) {
  SplitSettings given = split(options.workload.set);
  WorkloadOptions workload = options.workload;
  workload.set = given.rest;
  Subject subject = read_subject(workload);
  if (!subject.model) return completed(options, subject, graph_report(*subject.graph));
  ModelWorkload& asked = *subject.model;
  for (const Assignment& a : given.large) apply_large(a, asked.scenario);
  if (options.stored) check_stored(asked);
  if (asked.scenario.phase == Phase::train) {
    if (given.rest.size() < options.workload.set.size())
      refuse("phase", "train takes no batch, prompt, context or setting of an engine");
    return completed(options, subject, training_report(asked));
  }
  const EngineProfile engine = engine_of(options);
  LedgerModel model;
  model.architecture = &asked.architecture;
  model.scenario = asked.scenario;
  model.layout = asked.layout;
  model.engine = &engine;
  model.settings = given.settings;
  model.given = given_lines(options, kInferenceInstants);
  Diagnostics diagnostics;
  for (const std::string& wrong : model_errors(model)) {
    diagnostics.add(position_in("command line"), "", wrong);
  }
  diagnostics.throw_if_any();

  LedgerReport report;
  const std::optional<MemoryTotal> total = total_of(options, subject, report.notes);
  std::vector<RankLedger> ranks = engine_ledgers(model, total);
  const RankLedger& worst = worst_rank(ranks);
  report.title = asked.architecture.name;
  report.engine = engine_title(engine);
  report.inputs = inputs_json(options);
  report.ledger = worst.ledger;
  if (total) report.budget = budget_of(engine, *total);
  report.parameters = asked.architecture.parameter_count().total;
  report.kv_bytes_per_token = bytes_per_token(worst.plan);
  report.max_positions = asked.architecture.max_positions;
  report.ranks = summaries(ranks, worst);
  report.rank_count = asked.layout.ranks();
  report.pool = engine_pool(model, ranks, total);
  if (!options.solve.empty()) report.solution = solution_of(options, model, total);
  for (std::string& note : ledger_notes(model, worst)) report.notes.push_back(std::move(note));
  if (auto note = length_note(asked.architecture, asked.scenario)) {
    report.notes.push_back(std::move(*note));
  }
  add_sequence_notes(model, report.solution, report.notes);
  report.assumptions = defaults_used(asked.scenario, asked.layout);
  add_engine_defaults(model, report.assumptions);
  for (const std::string& line : asked.architecture.assumptions) report.assumptions.push_back(line);
  for (const std::string& line : without_effect(asked.scenario)) report.notes.push_back(line);
  return report;
}

void replace_setting(std::vector<std::string>& set, const std::string& name,
                     const std::string& text) {
  for (std::string& old : set) {
    if (old.starts_with(name + "=")) {
      old = text;
      return;
    }
  }
  set.push_back(text);
}

}  // namespace

namespace {

LedgerReport report_of(const LedgerOptions& options) {
  const std::string& name = options.workload.workload;
  if (!options.params.empty()) return completed(options, Subject{}, size_report(options));
  if (!options.active_params.empty()) refuse("--active-params", "without --params");
  if (name.empty() && options.workload.op.empty()) {
    if (options.lines.empty() && !options.stored) {
      refuse("--line",
             "nothing to sum; expected --line NAME=BYTES, --weights, a ledger file or a model");
    }
    LedgerDocument document;
    document.name = "ledger by hand";
    document.ledger.instants = {"together"};
    return by_hand(options, std::move(document));
  }
  if (!options.workload.op.empty()) return of_model(options);
  const std::string file = find_workload(name, workload_folders(options.workload.workload_path));
  const Node node = read_document(file);
  if (!is_ledger_document(node)) return of_model(options);
  LedgerDocument document = read_ledger(node);
  if (document.name.empty()) document.name = std::filesystem::path(file).stem().string();
  return by_hand(options, std::move(document));
}

}  // namespace

LedgerReport ledger_report(const LedgerOptions& options) {
  if (options.weights.empty()) return report_of(options);
  LedgerOptions with = options;
  with.stored = std::make_shared<const StoredWeights>(load_stored_weights(options.weights));
  LedgerReport report = report_of(with);
  if (report.parameters > 0) {
    report.notes.push_back("the model has " + std::to_string(report.parameters) +
                           " parameters, the files hold " +
                           std::to_string(total_elements(*with.stored)) + " elements");
  }
  for (std::string& note : weights_notes(*with.stored)) report.notes.push_back(std::move(note));
  return report;
}

LedgerOptions changed_options(const LedgerOptions& options) {
  LedgerOptions changed = options;
  for (const std::string& text : options.against) {
    const Assignment a = parse_assignment(text);
    constexpr std::string_view kLine = "line.";
    if (a.name == "budget") {
      changed.budget = a.value;
    } else if (a.name == "utilization") {
      changed.utilization = a.value;
    } else if (a.name == "engine") {
      changed.engine = a.value;
    } else if (a.name == "engine_version") {
      changed.engine_version = a.value;
    } else if (a.name == "device") {
      changed.device.device = a.value;
    } else if (a.name.starts_with(kLine)) {
      const std::string line = a.name.substr(kLine.size());
      replace_setting(changed.lines, line, line + "=" + a.value);
    } else {
      replace_setting(changed.workload.set, a.name, text);
    }
  }
  return changed;
}

}  // namespace floorline
