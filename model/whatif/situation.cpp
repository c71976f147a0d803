// SPDX-License-Identifier: Apache-2.0
#include "model/whatif/situation.hpp"

#include <algorithm>

#include "model/input/diagnostic.hpp"
#include "model/quantity/expect.hpp"
#include "model/workload/model_graph.hpp"

namespace floorline {

namespace {

Outcome evaluate_kernel(const KernelNumbers& kernel) {
  Outcome outcome;
  outcome.numbers = std::make_shared<const Rates>(rates_of(kernel));
  outcome.evaluation = evaluate_numbers(kernel.work, kernel.traffic, *outcome.numbers);
  const GraphFloors& f = outcome.evaluation.floors;
  outcome.whole = {f.serial, f.critical_path, f.fused};
  return outcome;
}

void apply_device(Situation& s, const Assignment& a) {
  if (a.scale) {
    throw InputError(
        Diagnostic{position_in("command line"), a.name, "is a name; expected device=NAME"});
  }
  s.device = load_device(a.value, s.device_path);
  for (const Assignment& setting : s.device_settings) {
    if (!names_clock(setting.name)) assign(s.device, setting);
  }
}

void apply_symbol_of_model(ModelWorkload& model, const Assignment& a) {
  const SymbolResult r = a.scale ? scale_symbol(a.name, a.value, model.scenario, model.layout)
                                 : apply_symbol(a.name, a.value, model.scenario, model.layout);
  if (r.known && r.error.empty()) return;
  throw InputError(Diagnostic{position_in("command line"), a.name,
                              r.known ? r.error : "is not a symbol of a model"});
}

void apply(Situation& s, const Assignment& a) {
  if (s.kernel) return assign(*s.kernel, a);
  const bool symbol = s.graph && s.graph->symbol(a.name).has_value();
  if (names_device_key(a.name)) return assign(s.device, a);
  if (names_clock(a.name) && !symbol) return assign(s.clocks, a);
  if (s.graph) return assign(*s.graph, a);
  if (names_graph_part(a.name)) {
    s.model->graph_settings.push_back(a);
  } else {
    apply_symbol_of_model(*s.model, a);
  }
}

/// op.NAME=remove and op.NAME='KIND …' come after all that sets sizes.
int turn_of(const Assignment& a) {
  if (a.name == "device") return 0;
  const bool whole = a.name.starts_with("op.") && !a.scale &&
                     (a.value == "remove" || a.value.find(' ') != std::string::npos);
  return whole ? 2 : 1;
}

}  // namespace

Outcome evaluate(const Situation& s) {
  if (s.kernel) return evaluate_kernel(*s.kernel);
  Outcome outcome;
  outcome.machine = std::make_shared<const Machine>(machine_of(s.device, s.clocks));
  if (s.graph) {
    outcome.evaluation = evaluate(*s.graph, *outcome.machine);
    const GraphFloors& f = outcome.evaluation.floors;
    outcome.whole = {f.serial, f.critical_path, f.fused};
    return outcome;
  }
  FLOORLINE_EXPECT(s.model.has_value());
  ModelEvaluation e = evaluate_model(*s.model, *outcome.machine);
  outcome.evaluation = std::move(e.shown);
  outcome.model = std::move(e.floors);
  outcome.ranks = e.ranks;
  outcome.notes = std::move(e.notes);
  outcome.whole = outcome.model->judging.whole;
  return outcome;
}

Floor floor_in(const Outcome& outcome, std::size_t op, Residency residency) {
  const bool machine = outcome.machine != nullptr;
  return floor_of(outcome.evaluation.floors.ops[op].demand,
                  machine ? outcome.machine->rates : *outcome.numbers,
                  machine ? outcome.machine->chip : OnChip{}, residency);
}

std::optional<Seconds> proven_floor(const Outcome& outcome, bool between_steps) {
  const Evaluation& e = outcome.evaluation;
  if (e.graph.routing != Routing::least) return std::nullopt;
  Seconds floor = e.floors.fused_proven;
  if (outcome.model) {
    const ModelJudging& j = outcome.model->judging;
    floor = between_steps ? j.throughput_proven : j.latency_proven;
  } else if (e.floors.ops.size() == 1 && e.floors.ops.front().times == 1) {
    floor = std::max(floor, floor_in(outcome, 0, Residency::any_keep).proven_time());
  }
  if (!(floor > Seconds(0))) return std::nullopt;
  return floor;
}

Situation step_shown(Situation s) {
  if (!s.model || s.model->scenario.phase != Phase::generate) return s;
  const GenerateParts parts = generate_parts(s.model->scenario);
  const std::int64_t last = parts.steps > 0 ? parts.steps - 1 : 0;
  s.model->scenario = parts.decode;
  s.model->scenario.context = parts.decode.cached() + last * parts.decode.tokens_per_step;
  return s;
}

Situation changed(Situation s, const std::vector<Assignment>& changes) {
  std::vector<Assignment> ordered = changes;
  std::stable_sort(ordered.begin(), ordered.end(), [](const Assignment& a, const Assignment& b) {
    return turn_of(a) < turn_of(b);
  });
  Diagnostics wrong;  // of all changes at once
  for (const Assignment& a : ordered) {
    collect(wrong, [&] {
      if (a.name == "device" && !s.kernel) {
        apply_device(s, a);
      } else {
        apply(s, a);
      }
    });
  }
  wrong.throw_if_any();
  if (s.model) {
    Diagnostics diagnostics;
    check_model(s.model->architecture, s.model->scenario, s.model->layout, diagnostics);
    diagnostics.throw_if_any();
  }
  return s;
}

}  // namespace floorline
