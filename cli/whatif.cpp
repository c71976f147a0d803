// SPDX-License-Identifier: Apache-2.0
// floorline whatif: what changes would buy, before anyone makes them.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/command_line.hpp"
#include "cli/emit.hpp"
#include "cli/hypothesis_case.hpp"
#include "cli/locate.hpp"
#include "cli/numbers.hpp"
#include "cli/output.hpp"
#include "cli/refuse.hpp"
#include "cli/subject.hpp"
#include "model/floor/measured.hpp"
#include "model/input/diagnostic.hpp"
#include "model/report/graph_document.hpp"
#include "model/report/whatif_document.hpp"
#include "model/whatif/fusion.hpp"

namespace floorline {

namespace {

struct WhatifOptions {
  WorkloadOptions workload;
  DeviceOptions device;
  NumbersOptions numbers;
  OutputOptions output;
  std::vector<std::string> changes;
  std::vector<std::string> removed;
  std::vector<std::string> measured;
  std::vector<std::string> points;
  std::string emit;
  std::string record;
  bool rank = false;
  std::optional<int> top;
  bool explain = false;
};

std::vector<Assignment> changes_of(const WhatifOptions& options, Diagnostics& wrong) {
  std::vector<Assignment> changes;
  for (const std::string& text : options.changes) {
    if (auto change = collected(wrong, [&text] { return parse_assignment(text); }))
      changes.push_back(*std::move(change));
  }
  for (const std::string& name : options.removed)
    changes.push_back({name.starts_with("op.") ? name : "op." + name, "remove", false});
  return changes;
}

std::vector<Assignment> changes_of(const WhatifOptions& options) {
  Diagnostics wrong;
  std::vector<Assignment> changes = changes_of(options, wrong);
  wrong.throw_if_any();
  return changes;
}

/// Throws all that is wrong, after what `wrong` holds already.
Situation situation_of(const WhatifOptions& options, Diagnostics& wrong) {
  Situation s;
  if (options.numbers.given()) {
    s.kernel = collected(
        wrong, [&] { return read_numbers(options.numbers, options.workload, options.device); });
    wrong.throw_if_any();
    return s;
  }
  Question asked =
      read_question(options.workload, options.device,
                    "whatif takes one device; --change device=NAME asks for another", wrong);
  s.graph = std::move(asked.subject.graph);
  s.model = std::move(asked.subject.model);
  s.device = std::move(asked.machine.device);
  s.clocks = asked.machine.clocks;
  s.device_settings = std::move(asked.subject.device_settings);
  s.device_path = device_path(options.device.device_path);
  return s;
}

/// What has no effect, or no meaning, where nothing but measured times is given.
void refuse_without_workload(const WhatifOptions& o, Diagnostics& wrong) {
  const char* why = "needs a workload; measured times alone are given";
  refuse_idle({{"--set", !o.workload.set.empty()},
               {"--workload-path", !o.workload.workload_path.empty()},
               {"--device", !o.device.device.empty()},
               {"--device-path", !o.device.device_path.empty()},
               {"--point", !o.points.empty()},
               {"--emit", !o.emit.empty()},
               {"--record", !o.record.empty()},
               {"--rank", o.rank},
               {"--top", o.top.has_value()},
               {"--explain", o.explain}},
              why, wrong);
  refuse_clocks(o.device, why, wrong);
}

/// Measured times alone, no workload.
int by_times(const WhatifOptions& options, MeasuredTimes measured, const WhatifInputs& inputs,
             Diagnostics& wrong) {
  const std::vector<Assignment> changes = changes_of(options, wrong);
  for (const Assignment& a : changes) {
    if (!names_measured_time(a.name))
      wrong.add(position_in("command line"), a.name,
                "needs a workload; measured times alone know op.NAME.time only");
  }
  refuse_without_workload(options, wrong);
  const ParsedQuantity q = parse_quantity(measured.given, Dimension::seconds);
  if (!q.error.empty()) {
    wrong.add(position_in("command line"), "--measured", q.error);
  } else if (!(q.base > 0)) {
    wrong.add(position_in("command line"), "--measured",
              floorline::quoted(measured.given) + " is not a time above zero");
  }
  wrong.throw_if_any();
  measured.whole = Seconds(q.base);
  check_measured(measured);
  print(amdahl_document(inputs, amdahl(*measured.whole, stated_parts(measured, changes))),
        options.output);
  return 0;
}

/// A time as it is, a rate by the work before the change.
Seconds whole_time(const std::string& text, const Situation& situation) {
  const Outcome before = evaluate(situation);
  MeasuredWork work{before.evaluation.floors.sum.flops, traffic_of(before), 0};
  if (before.model) {
    const ModelJudging& j = before.model->judging;
    work = {j.work_per_rank, j.traffic_per_rank, j.tokens};
  }
  return measured_time(text, work);
}

std::string emitted_graph(const WhatifOptions& options, const Whatif& result) {
  GraphReport report;
  report.workload =
      options.workload.workload.empty() ? options.workload.op : options.workload.workload;
  report.set = options.workload.set;
  report.set.insert(report.set.end(), options.changes.begin(), options.changes.end());
  report.graph = &result.after.evaluation.graph;
  report.bound = &result.after.evaluation.bound;
  return emitted_text(graph_document(report), options.emit);
}

void check_emit(const WhatifOptions& options) {
  if (options.emit.empty()) return;
  if (options.numbers.given()) refuse("--emit", "a kernel by numbers has no graph to write");
  check_emitted_name(options.emit);
}

constexpr std::size_t kMostFusions = 6;  // of the ranking; the search may find hundreds

/// Each group of the best search by itself, those that save most.
std::vector<FusionOffer> fusion_offers(const OperatorGraph& graph, const Machine& machine) {
  const FusionResult best = fuse_best(evaluate(graph, machine), machine);
  std::vector<const GroupFusion*> groups;
  for (const GroupFusion& group : best.groups) {
    if (group.after) groups.push_back(&group);
  }
  const auto saving = [](const GroupFusion* g) {
    return (g->before.cold - g->after->cold) * g->times;
  };
  std::stable_sort(groups.begin(), groups.end(),
                   [&](const auto* a, const auto* b) { return saving(a) > saving(b); });
  if (groups.size() > kMostFusions) groups.resize(kMostFusions);
  std::vector<FusionOffer> offers;
  for (const GroupFusion* group : groups) {
    FusionResult alone = fuse_groups(evaluate(graph, machine), machine, {group->operators});
    if (alone.legal()) offers.push_back({group->name, std::move(alone.after->graph)});
  }
  return offers;
}

/// Several changes are one variable, named after them.
std::string variable_of_all(const std::vector<Assignment>& changes) {
  std::string name;
  for (const Assignment& a : changes) name += (name.empty() ? "" : " and ") + a.name;
  return name;
}

/// The question as a hypothesis that can be run: one variable, predicted by the floors.
std::string hypothesis_text(const WhatifOptions& options) {
  HypothesisDraft draft;
  draft.op = options.workload.op;
  draft.workload = options.workload.workload;
  draft.set = options.workload.set;
  draft.device = device_list(options.device).front();
  const std::vector<Assignment> changes = changes_of(options);
  for (const Assignment& a : changes)
    draft.changes.push_back(a.name + (a.scale ? "*=" : "=") + a.value);
  if (changes.size() > 1) draft.variable = variable_of_all(changes);
  return drafted_text(draft,
                      {options.device, options.workload.workload_path, nullptr, Scale::device});
}

void check_record(const WhatifOptions& options) {
  if (options.record.empty()) return;
  if (options.numbers.given()) refuse("--record", "a kernel by numbers has nothing that could run");
  if (options.changes.empty() && options.removed.empty())
    refuse("--record", "writes a hypothesis about a change; expected --change or --remove");
}

WhatifInputs inputs_of(const WhatifOptions& options) {
  WhatifInputs inputs;
  inputs.workload = options.workload.op.empty() ? options.workload.workload : options.workload.op;
  inputs.set = options.workload.set;
  inputs.changes = options.changes;
  for (const std::string& name : options.removed) inputs.changes.push_back("remove " + name);
  inputs.measured = options.measured;
  inputs.points = options.points;
  inputs.emitted = options.emit;
  inputs.all_ranked = options.rank;
  inputs.top = options.top.value_or(0);
  inputs.explain = options.explain;
  return inputs;
}

/// All that the texts of the flags tell.
WhatifQuestion read_flags(const WhatifOptions& options, Diagnostics& wrong) {
  WhatifQuestion question;
  collect(wrong, [&] { format_of(options.output); });
  refuse_idle({{"--explain", options.explain && options.output.format == "csv"}},
              "is not told in csv, which has one flat table; expected table, json or md", wrong);
  collect(wrong, [&] { check_top(options.top); });
  collect(wrong, [&] { check_emit(options); });
  collect(wrong, [&] { check_record(options); });
  collect(wrong, [&] { question.measured = read_measured(options.measured); });
  question.changes = changes_of(options, wrong);
  for (const std::string& text : options.points) {
    if (auto point = collected(wrong, [&text] { return read_point(text); }))
      question.points.push_back(*std::move(point));
  }
  question.measured.token_rate = is_token_rate(question.measured.given);
  question.ranking.fusion = fusion_offers;
  return question;
}

int whatif(const WhatifOptions& options) {
  const WhatifInputs inputs = inputs_of(options);
  Diagnostics wrong;
  WhatifQuestion question = read_flags(options, wrong);
  const auto files = output_files(
      {{"--emit", options.emit}, {"--record", options.record}, {"--output", options.output.file}},
      wrong);
  const bool nothing = inputs.workload.empty() && !options.numbers.given();
  if (nothing && !question.measured.given.empty())
    return by_times(options, question.measured, inputs, wrong);
  collect(wrong, [&] { check_measured_text(question.measured.given); });
  const Situation situation = situation_of(options, wrong);
  if (!question.measured.given.empty())
    question.measured.whole = whole_time(question.measured.given, situation);
  const Whatif result = ask(situation, question);
  const Document document = whatif_document(inputs, result);
  if (!options.emit.empty()) files->put("--emit", emitted_graph(options, result));
  if (!options.record.empty()) files->put("--record", hypothesis_text(options));
  files->finish(document, options.output);
  const bool point = result.line && !result.line->impossible.empty();
  return point || (result.measured && result.measured->impossible) ? 1 : 0;
}

/// One value each, so that a repeated flag never swallows the WORKLOAD behind it.
void add_repeated(CLI::App& verb, const char* flag, std::vector<std::string>& values,
                  const char* help) {
  verb.add_option(flag, values, help)->expected(1)->take_all()->allow_extra_args(false);
}

}  // namespace

void add_whatif(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand(
      "whatif", "what changes would buy: before, after, where the limit moves, and a ranking");
  auto options = std::make_shared<WhatifOptions>();
  add_workload_options(*verb, options->workload);
  add_device_options(*verb, options->device, false);
  add_numbers_options(*verb, options->numbers);
  add_repeated(*verb, "--change", options->changes,
               "NAME=VALUE or NAME*=FACTOR: a symbol, op.NAME.bytes|flops|compute|accumulate, "
               "tensor.NAME.dtype, weight_dtype, kv_dtype, a device key, sm_clock, device=NAME, "
               "op.NAME='KIND key=value …', op.NAME.time of a measured operator; repeatable");
  add_repeated(*verb, "--remove", options->removed,
               "NAME of an operator to take out, same as --change op.NAME=remove; repeatable");
  add_repeated(*verb, "--measured", options->measured,
               "a time or rate of the whole before the change (35ms, 104.9token/s), and times of "
               "operators (op.NAME=22ms); repeatable");
  add_repeated(*verb, "--point", options->points,
               "a measured point of the line t = t0 + bytes/B: base=TIME, BYTES=TIME or "
               "'NAME=VALUE;NAME=VALUE=TIME'; two or more");
  verb->add_flag("--rank", options->rank, "all single changes, not only the first few");
  verb->add_option("--top", options->top,
                   "rows of the ranking, 1 or more (default: the first few)");
  verb->add_flag("--explain", options->explain,
                 "formula, numbers, origins and file positions of every term, before and after");
  verb->add_option(
      "--emit", options->emit,
      "write the changed graph, which every other command reads: NAME.json or NAME.toml");
  verb->add_option("--record", options->record,
                   "write the change as a hypothesis file, ready for floorline validate");
  add_output_options(*verb, options->output);
  verb->callback([options, &action] { action = [options] { return whatif(*options); }; });
}

}  // namespace floorline
