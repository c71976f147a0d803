// SPDX-License-Identifier: Apache-2.0
#include "model/sweep/sweep.hpp"

#include <algorithm>
#include <cmath>

#include "model/device/memory_capacity.hpp"
#include "model/input/diagnostic.hpp"
#include "model/workload/model_graph.hpp"

namespace floorline {

namespace {

bool of_machine(const std::string& name) { return names_device_key(name) || names_clock(name); }

void assign_to_machine(const Assignment& a, DeviceSpec& device, ClockChoice& clocks) {
  names_clock(a.name) ? assign(clocks, a) : assign(device, a);
}

constexpr double kMostTokens = 1073741824.0;  // 2^30, as model symbols have it
constexpr std::size_t kMostMasks = 64;        // sets of moved symbols that are remembered

std::string reason_of(const InputError& error) {
  const Diagnostic& d = error.diagnostics().front();
  return d.key_path.empty() ? d.message : d.key_path + ": " + d.message;
}

/// The graph's symbol behind a model's, where the graph of a step keeps it as one; "" otherwise.
std::string_view graph_symbol(std::string_view name, Phase phase) {
  if (name == "batch" || name == "context") return name;
  if (name == "prompt" && phase == Phase::prefill) return "new";
  if (name == "tokens_per_step" && phase == Phase::decode) return "new";
  return {};
}

SweepValues values_of(const Evaluation& e) {
  SweepValues v;
  const GraphFloors& f = e.floors;
  v.fused = f.fused;
  v.critical_path = f.critical_path;
  v.serial = f.serial;
  v.binding = f.serial_binding;
  v.fused_binding = f.fused_binding;
  v.bound = f.serial.cold > Seconds(0);
  v.any_known = f.any_known;
  v.proven = f.proven;
  return v;
}

SweepModelValues model_values(Seconds step, double tokens_per_s, Bytes resident,
                              const DeviceSpec& device) {
  SweepModelValues v{step, tokens_per_s, resident, {}};
  if (states_capacity(device)) v.exceeds = exceeded_capacity(device, resident).has_value();
  return v;
}

}  // namespace

/// A graph on a machine, or why there is none.
struct Sweep::Build {
  std::optional<Machine> machine;
  std::optional<Evaluation> evaluation;  ///< absent: every point is evaluated as a whole
  std::string reason;                    ///< why no point of it can be
  std::vector<int> axes;                 ///< the axes that are symbols
  std::vector<int> slots;                ///< theirs in the graph
  std::vector<double> factors;           ///< of `*=`: what the values scale; 1 otherwise
  std::vector<double> values;            ///< of the graph's symbols, at the last point
  std::vector<std::pair<std::uint64_t, Touched>> touched;  ///< by the set of moved axes
  bool stale = true;                                       ///< some floors are of an older point
  bool is_model = false;
  double replicas = 1;
  int batch_slot = -1;
  int new_slot = -1;

  const Touched& touched_for(std::uint64_t moved) {
    for (const auto& [set, what] : touched) {
      if (set == moved) return what;
    }
    if (touched.size() >= kMostMasks) touched.pop_back();
    std::vector<int> some;
    for (std::size_t a = 0; a < axes.size(); ++a) {
      if ((moved >> std::min<std::size_t>(a, 63) & 1U) != 0) some.push_back(slots[a]);
    }
    touched.emplace_back(moved, touched_by(evaluation->graph, evaluation->bound, some));
    return touched.back().second;
  }
};

Sweep::Sweep(SweepSubject subject, std::vector<DeviceSpec> devices, const ClockChoice& clocks,
             Grid grid)
    : subject_(std::move(subject)),
      devices_(std::move(devices)),
      clocks_(clocks),
      grid_(std::move(grid)),
      digits_(grid_.axes().size(), 0) {
  classify();
}

Sweep::~Sweep() = default;

/// Which axes move symbols of a graph that stays; an unknown name is told here.
void Sweep::classify() {
  Diagnostics diagnostics;
  for (const GridAxis& axis : grid_.axes()) {
    kinds_.push_back(is_symbol(axis) ? AxisKind::symbol : AxisKind::rebuild);
    const Assignment first = axis.assignment(0);
    if (of_machine(axis.name())) {
      DeviceSpec scratch = devices_.front();
      ClockChoice clocks = clocks_;
      assign_to_machine(first, scratch, clocks);
    } else if (subject_.graph) {
      OperatorGraph scratch = *subject_.graph;
      assign(scratch, first);
    } else if (!axis.name().starts_with("op.")) {
      ModelWorkload scratch = *subject_.model;
      const SymbolResult r =
          apply_symbol(first.name, first.value, scratch.scenario, scratch.layout);
      std::vector<std::string> names;
      for (const SymbolInfo& symbol : model_symbols()) names.emplace_back(symbol.name);
      if (!r.known) {
        diagnostics.add(position_in("command line"), axis.name(),
                        "is not a symbol of a model" + did_you_mean(axis.name(), names));
      } else if (axis.scales()) {
        diagnostics.add(position_in("command line"), axis.name(),
                        "is a symbol of a model; expected NAME=VALUES (*= scales device keys and "
                        "operators' bytes or flops)");
      }
    }
  }
  diagnostics.throw_if_any();
}

bool Sweep::is_symbol(const GridAxis& axis) const {
  if (!axis.numeric() || of_machine(axis.name())) return false;
  if (subject_.graph) return subject_.graph->symbol(axis.name()).has_value();
  const Scenario& scenario = subject_.model->scenario;
  const auto varies = [this](std::string_view name) {
    return std::any_of(grid_.axes().begin(), grid_.axes().end(),
                       [name](const GridAxis& other) { return other.name() == name; });
  };
  // Lists of contexts, stages and other phases take a whole evaluation a point.
  if (!scenario.contexts.empty() || varies("phase") || varies("pp")) return false;
  if (scenario.phase != Phase::decode && scenario.phase != Phase::prefill) return false;
  return subject_.model->layout.pp == 1 && !graph_symbol(axis.name(), scenario.phase).empty();
}

std::uint64_t Sweep::build_key(std::uint64_t device) const {
  std::uint64_t key = device;
  for (std::size_t a = 0; a < digits_.size(); ++a) {
    if (kinds_[a] == AxisKind::rebuild) key = key * grid_.axes()[a].count() + digits_[a];
  }
  return key;
}

Sweep::Build& Sweep::build_for(std::uint64_t device, std::uint64_t key) {
  if (last_ != nullptr && last_key_ == key) return *last_;
  const auto there = std::find_if(builds_.begin(), builds_.end(),
                                  [key](const auto& kept) { return kept.first == key; });
  last_key_ = key;
  if (there != builds_.end()) {
    last_ = there->second.get();
    return *last_;
  }
  if (builds_.size() >= kKept) builds_.erase(builds_.begin());
  builds_.emplace_back(key, make_build(device));
  last_ = builds_.back().second.get();
  return *last_;
}

std::unique_ptr<Sweep::Build> Sweep::make_build(std::uint64_t device) const {
  auto build = std::make_unique<Build>();
  try {  // a combination that cannot be is rows that say why
    DeviceSpec spec = devices_[static_cast<std::size_t>(device)];
    ClockChoice clocks = clocks_;
    for (std::size_t a = 0; a < digits_.size(); ++a) {
      const GridAxis& axis = grid_.axes()[a];
      if (of_machine(axis.name())) assign_to_machine(axis.assignment(digits_[a]), spec, clocks);
    }
    build->machine = machine_of(std::move(spec), clocks);
    if (subject_.graph) {
      make_graph_build(*build);
    } else {
      make_model_build(*build);
    }
  } catch (const InputError& error) {
    // Symbols may be at fault here and fine elsewhere: then every point tells for itself.
    build->evaluation.reset();
    if (!build->machine) build->reason = reason_of(error);
  }
  return build;
}

/// The graph at the present point, for reevaluation at others.
void Sweep::make_graph_build(Build& build) const {
  OperatorGraph graph = *subject_.graph;
  for (std::size_t a = 0; a < digits_.size(); ++a) {
    const GridAxis& axis = grid_.axes()[a];
    if (of_machine(axis.name())) continue;
    if (kinds_[a] == AxisKind::symbol) {
      build.axes.push_back(static_cast<int>(a));
      build.slots.push_back(graph.symbols.find(axis.name()).value());
      build.factors.push_back(axis.scales() ? *graph.symbol(axis.name()) : 1);
    }
    assign(graph, axis.assignment(digits_[a]));
  }
  build.evaluation = evaluate(std::move(graph), *build.machine);
  build.evaluation->uniform.reset();
  build.values = build.evaluation->graph.symbol_values;
}

ModelWorkload Sweep::model_at(Diagnostics& diagnostics) const {
  ModelWorkload model = *subject_.model;
  for (std::size_t a = 0; a < digits_.size(); ++a) {
    const Assignment value = grid_.axes()[a].assignment(digits_[a]);
    if (of_machine(value.name)) continue;
    if (value.name.starts_with("op.")) {
      model.graph_settings.push_back(value);
      continue;
    }
    const SymbolResult r = apply_symbol(value.name, value.value, model.scenario, model.layout);
    if (!r.error.empty()) diagnostics.add({}, value.name, r.error);
  }
  diagnostics.throw_if_any();
  check_model(model.architecture, model.scenario, model.layout, diagnostics);
  diagnostics.throw_if_any();
  return model;
}

void Sweep::make_model_build(Build& build) const {
  build.is_model = true;
  Diagnostics diagnostics;
  const ModelWorkload model = model_at(diagnostics);
  const Phase phase = model.scenario.phase;
  const bool step = phase == Phase::decode || phase == Phase::prefill;
  if (!step || model.layout.pp > 1 || !model.scenario.contexts.empty()) return;
  OperatorGraph graph = stage_graph(model, model.scenario, 0);
  for (std::size_t a = 0; a < digits_.size(); ++a) {
    if (kinds_[a] != AxisKind::symbol) continue;
    const auto slot = graph.symbols.find(graph_symbol(grid_.axes()[a].name(), phase));
    if (!slot) return;
    build.axes.push_back(static_cast<int>(a));
    build.slots.push_back(*slot);
    build.factors.push_back(1);
  }
  build.replicas = static_cast<double>(model.layout.dp);
  build.batch_slot = graph.symbols.find("batch").value_or(-1);
  build.new_slot = graph.symbols.find("new").value_or(-1);
  if (build.batch_slot < 0 || build.new_slot < 0) return;
  build.evaluation = evaluate(std::move(graph), *build.machine);
  build.evaluation->uniform.reset();
  build.values = build.evaluation->graph.symbol_values;
}

void Sweep::evaluate_symbols(Build& build, SweepRow& row) {
  std::uint64_t moved = 0;
  bool plain = true;
  for (std::size_t a = 0; a < build.axes.size(); ++a) {
    const auto axis = static_cast<std::size_t>(build.axes[a]);
    const double value = grid_.axes()[axis].number(digits_[axis]) * build.factors[a];
    plain = plain &&
            (!build.is_model || (value >= 1 && value <= kMostTokens && std::floor(value) == value));
    double& last = build.values[static_cast<std::size_t>(build.slots[a])];
    if (last != value || build.stale) moved |= std::uint64_t{1} << std::min<std::size_t>(a, 63);
    last = value;
  }
  Evaluation& e = *build.evaluation;
  const bool fine = plain &&
                    reevaluate(*build.machine, build.values, build.touched_for(moved), e) &&
                    (build.is_model || agrees(e.graph, e.bound));
  build.stale = !fine;
  if (!fine) return evaluate_whole(build, row);
  row.values = values_of(e);
  if (!build.is_model) return;
  const double tokens = build.values[static_cast<std::size_t>(build.batch_slot)] *
                        build.values[static_cast<std::size_t>(build.new_slot)];
  row.values.model =
      model_values(e.floors.fused.any, token_ceiling(build.replicas, tokens, e.floors.fused.any),
                   resident_bytes(e.bound), build.machine->device);
}

/// As `bound` does it, with the reason if it cannot be.
void Sweep::evaluate_whole(const Build& build, SweepRow& row) const {
  try {
    if (subject_.graph) {
      OperatorGraph graph = *subject_.graph;
      for (std::size_t a = 0; a < digits_.size(); ++a) {
        const Assignment value = grid_.axes()[a].assignment(digits_[a]);
        if (!of_machine(value.name)) assign(graph, value);
      }
      row.values = values_of(evaluate(std::move(graph), *build.machine));
      return;
    }
    Diagnostics diagnostics;
    const ModelWorkload model = model_at(diagnostics);
    const ModelEvaluation e = evaluate_model(model, *build.machine);
    row.values = values_of(e.shown);
    row.values.model = model_values(e.floors.step, e.floors.tokens_per_s_ceiling, e.floors.resident,
                                    build.machine->device);
  } catch (const InputError& error) {
    row.reason = reason_of(error);
  }
}

void Sweep::evaluate_point(SweepRow& row) {
  row.device = grid_.place(row.point, digits_);
  row.reason.clear();
  Build& build = build_for(row.device, build_key(row.device));
  if (!build.machine) {
    row.reason = build.reason;
  } else if (build.evaluation) {
    evaluate_symbols(build, row);
  } else {
    evaluate_whole(build, row);
  }
}

void Sweep::run(PointRange points, const std::function<bool(std::span<const SweepRow>)>& take) {
  std::vector<SweepRow> rows(
      static_cast<std::size_t>(std::min<std::uint64_t>(kChunk, points.last - points.first)));
  for (std::uint64_t first = points.first; first < points.last; first += rows.size()) {
    const auto count =
        static_cast<std::size_t>(std::min<std::uint64_t>(rows.size(), points.last - first));
    for (std::size_t i = 0; i < count; ++i) {
      rows[i].point = first + i;
      evaluate_point(rows[i]);
    }
    if (!take(std::span<const SweepRow>(rows.data(), count))) return;
  }
}

}  // namespace floorline
