// SPDX-License-Identifier: Apache-2.0
// floorline graph: what was understood of a workload. Its JSON reads back.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/command_line.hpp"
#include "cli/output.hpp"
#include "cli/subject.hpp"
#include "model/input/diagnostic.hpp"
#include "model/report/document_head.hpp"
#include "model/report/graph_document.hpp"
#include "model/workload/model_graph.hpp"

namespace floorline {

namespace {

struct GraphOptions {
  WorkloadOptions workload;
  OutputOptions output;
  int stage = 0;  ///< 0: not given, the first
  bool kinds = false;
  bool symbols = false;
  [[nodiscard]] int stage_or_first() const { return stage == 0 ? 1 : stage; }
};

/// The symbols of a model, for --set.
Document symbols_document() {
  Document doc = document_frame("graph");
  Table table;
  table.columns = {{"symbol", false}, {"default", false}, {"meaning", false}};
  Json list = Json::array();
  for (const SymbolInfo& symbol : model_symbols()) {
    table.rows.push_back({symbol.name, symbol.fallback, symbol.meaning});
    list.push(Json::object()
                  .set("name", symbol.name)
                  .set("default", symbol.fallback)
                  .set("meaning", symbol.meaning));
  }
  doc.json.set("model_symbols", std::move(list));
  doc.csv = table;
  doc.sections.push_back({"", {}, {}, {table}});
  return doc;
}

/// Of generate: its decode step.
OperatorGraph graph_of(const Subject& subject, const GraphOptions& options) {
  if (subject.graph) return *subject.graph;
  const ModelWorkload& model = *subject.model;
  const int stage = options.stage_or_first();
  if (stage < 1 || stage > model.layout.pp) {
    throw InputError(
        Diagnostic{position_in("command line"), "--stage",
                   "expected a pipeline stage from 1 to " + std::to_string(model.layout.pp)});
  }
  const Scenario scenario = model.scenario.phase == Phase::generate
                                ? generate_parts(model.scenario).decode
                                : model.scenario;
  return stage_graph(model, scenario, stage - 1);
}

void check_flags(const GraphOptions& o, Diagnostics& wrong) {
  check_output(o.output, wrong);
  if (!o.kinds && !o.symbols) return;
  refuse_idle({{"--symbols", o.kinds && o.symbols}}, "stands beside --kinds; expected one of them",
              wrong);
  const bool of_models = o.symbols && !o.kinds;  // a WORKLOAD that is one has all of them
  refuse_idle({{"WORKLOAD", !of_models && !o.workload.workload.empty()},
               {"--op", !o.workload.op.empty()},
               {"--set", !o.workload.set.empty()},
               {"--workload-path", !of_models && !o.workload.workload_path.empty()},
               {"--stage", o.stage != 0}},
              of_models ? "has no effect on --symbols, which lists the symbols of any model with "
                          "their defaults; leave it out"
                        : "has no effect on --kinds, which lists what is known of any workload; "
                          "leave it out",
              wrong);
}

/// --symbols of a WORKLOAD: a model has all of them, a graph those of its own file.
void check_has_model_symbols(const WorkloadOptions& workload, Diagnostics& wrong) {
  if (workload.workload.empty()) return;
  const std::optional<Subject> asked = asked_subject(workload, wrong);
  refuse_idle({{"--symbols", asked && asked->graph}},
              "lists the symbols of a model, and this workload is one graph; floorline graph " +
                  workload.workload + " shows its own, without --symbols",
              wrong);
}

int graph(const GraphOptions& options) {
  Diagnostics wrong;
  check_flags(options, wrong);
  if (options.kinds || options.symbols) {
    if (wrong.empty() && options.symbols) check_has_model_symbols(options.workload, wrong);
    wrong.throw_if_any();
    print(options.kinds ? kinds_document() : symbols_document(), options.output);
    return 0;
  }
  const std::optional<Subject> asked = asked_subject(options.workload, wrong);
  if (asked && asked->graph)
    refuse_idle({{"--stage", options.stage != 0}}, "is of a model; this workload is one graph",
                wrong);
  wrong.throw_if_any();
  const Subject& subject = *asked;
  const OperatorGraph graph = graph_of(subject, options);
  const BoundGraph bound = bind(graph);
  GraphReport report;
  report.workload = subject.workload;
  report.set = options.workload.set;
  report.stage = options.stage_or_first();
  report.graph = &graph;
  report.bound = &bound;
  if (subject.model) {
    const ModelWorkload& model = *subject.model;
    const ParameterCount count = model.architecture.parameter_count();
    report.parameters = static_cast<double>(count.total);
    report.active_parameters = static_cast<double>(count.active);
    report.assumptions = defaults_used(model.scenario, model.layout);
    const std::vector<std::string>& keys = model.architecture.assumptions;
    report.assumptions.insert(report.assumptions.end(), keys.begin(), keys.end());
  }
  print(graph_document(report), options.output);
  return 0;
}

}  // namespace

void add_graph(CLI::App& app, Action& action) {
  CLI::App* verb =
      app.add_subcommand("graph", "what was understood of a workload; its JSON reads back");
  auto options = std::make_shared<GraphOptions>();
  add_workload_options(*verb, options->workload);
  verb->add_option("--stage", options->stage, "pipeline stage of a model, from 1");
  verb->add_flag("--kinds", options->kinds, "the operator kinds with their keys");
  verb->add_flag("--symbols", options->symbols,
                 "the symbols of a model, for --set, with their defaults");
  add_output_options(*verb, options->output);
  verb->callback([options, &action] { action = [options] { return graph(*options); }; });
}

}  // namespace floorline
