// SPDX-License-Identifier: Apache-2.0
#include "cli/ledger_ways.hpp"

#include <cmath>

#include "cli/refuse.hpp"
#include "model/input/diagnostic.hpp"
#include "model/ledger/graph_ledger.hpp"
#include "model/ledger/size_ledger.hpp"
#include "model/ledger/training_ledger.hpp"
#include "model/quantity/unit_names.hpp"
#include "model/workload/bound_graph.hpp"
#include "model/workload/model_graph.hpp"

namespace floorline {

namespace {

std::int64_t parameters_of(const char* flag, const std::string& text) {
  constexpr double kMost = 1e18;
  const std::optional<double> number = parse_number(text);
  if (!number || !(*number >= 1 && *number <= kMost) || std::floor(*number) != *number) {
    refuse(flag, floorline::quoted(text) + " is not a number of parameters, such as 6.7e9");
  }
  return static_cast<std::int64_t>(*number);
}

/// What a model of a known size and unknown shapes has no line for.
bool needs_shapes(const std::string& name) {
  for (const char* symbol : {"batch", "prompt", "context", "output", "tokens_per_step", "sequence",
                             "micro_batch", "kv_dtype", "activation_dtype", "routing", "logits"}) {
    if (name == symbol) return true;
  }
  return false;
}

}  // namespace

LedgerReport graph_report(const OperatorGraph& graph) {
  LedgerReport report;
  report.title = graph.name;
  const BoundGraph bound = bind(graph);
  report.ledger = graph_ledger(graph, bound);
  report.assumptions = graph.assumptions;
  report.notes = graph.notes;
  report.notes.emplace_back(
      "no operator works in place and none needs workspace; an allocator's rounding is not "
      "counted");
  return report;
}

LedgerReport training_report(const ModelWorkload& model) {
  Diagnostics diagnostics;
  check_training_memory(model.architecture, model.scenario, model.layout, diagnostics);
  diagnostics.throw_if_any();
  TrainingLedger training = training_ledger(model.architecture, model.scenario, model.layout);
  LedgerReport report;
  report.title = model.architecture.name + " train";
  report.ledger = std::move(training.ledger);
  report.assumptions = std::move(training.assumptions);
  report.notes = std::move(training.notes);
  for (const std::string& line : model.architecture.assumptions) report.assumptions.push_back(line);
  report.parameters = model.architecture.parameter_count().total;
  report.rank_count = model.layout.ranks();
  for (const DistinctStage& distinct : distinct_stages(model.architecture, model.layout)) {
    const MemoryLedger stage =
        training_ledger_of_stage(model.architecture, model.scenario, model.layout, distinct.stage);
    const Peak peak = peak_of(stage);
    report.ranks.push_back({distinct.stage, distinct.count, peak.bytes, stage.instants[peak.at],
                            distinct.stage == training.stage});
  }
  return report;
}

LedgerReport size_report(const LedgerOptions& options) {
  if (!options.workload.workload.empty() || !options.workload.op.empty())
    refuse("--params", "beside a workload; expected one of the two");
  ModelSize size;
  size.parameters = parameters_of("--params", options.params);
  if (!options.active_params.empty()) {
    size.active = parameters_of("--active-params", options.active_params);
    if (*size.active > size.parameters)
      refuse("--active-params", "is above --params; expected a part of it");
  }
  Scenario scenario;
  ParallelLayout layout;
  Diagnostics diagnostics;
  for (const Assignment& a : assignments_of(options.workload.set)) {
    const SymbolResult r = apply_symbol(a.name, a.value, scenario, layout);
    std::string wrong = r.known ? r.error : "is not a symbol of a model";
    if (a.scale) wrong = "is a symbol of a model; expected NAME=VALUE";
    if (wrong.empty() && needs_shapes(a.name))
      wrong = "has no effect: what follows from a model's shapes is unknown beside --params";
    if (!wrong.empty()) diagnostics.add(position_in("command line"), a.name, wrong);
  }
  diagnostics.throw_if_any();
  TrainingLedger ledger = size_ledger(size, scenario, layout);
  LedgerReport report;
  report.title = options.params + " parameters";
  report.ledger = std::move(ledger.ledger);
  report.assumptions = std::move(ledger.assumptions);
  report.notes = std::move(ledger.notes);
  report.parameters = size.parameters;
  const Peak peak = peak_of(report.ledger);
  report.ranks.push_back({0, layout.pp, peak.bytes, report.ledger.instants[peak.at], true});
  report.rank_count = layout.ranks();
  return report;
}

void check_stored(const ModelWorkload& model) {
  const ParallelLayout& l = model.layout;
  const bool shared = model.scenario.phase == Phase::train && model.scenario.training.zero == 3;
  if (l.tp == 1 && l.pp == 1 && l.ep == 1 && !(shared && l.dp > 1)) return;
  refuse("--weights",
         "files hold the whole model, and which part of it a rank has is not told; expected tp, pp "
         "and ep of 1 (and no zero = 3)");
}

}  // namespace floorline
