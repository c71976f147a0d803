// SPDX-License-Identifier: Apache-2.0
#include "model/evaluate.hpp"

#include <algorithm>

#include "model/demand/routed.hpp"
#include "model/input/diagnostic.hpp"

namespace floorline {

Machine machine_of(DeviceSpec device, const ClockChoice& clocks) {
  Machine machine{std::move(device), clocks, {}, {}};
  machine.rates = resolve_rates(machine.device, clocks);
  machine.chip = resolve_on_chip(machine.device);
  return machine;
}

namespace {

void fill_floors(const Machine& machine, Evaluation& e) {
  graph_floors(e.bound, machine.rates, machine.chip, e.floors);
  if (!e.uniform) return;
  e.bound.routing = Routing::uniform;
  graph_floors(e.bound, machine.rates, machine.chip, *e.uniform);
  e.bound.routing = e.graph.routing;
}

bool is_whole_number(Precision p) { return name_of(p).starts_with("int"); }

/// Of the rates, the one to ask for instead of `id`: the narrowest that holds its inputs.
std::optional<ResourceId> nearest_rate(const std::vector<ResourceId>& has, ResourceId id) {
  std::optional<ResourceId> best;
  for (const ResourceId& other : has) {
    const double bits = storage_bits(other.input);
    if (bits < storage_bits(id.input) || is_whole_number(other.input) != is_whole_number(id.input))
      continue;
    const bool narrower = best && bits < storage_bits(best->input);
    const bool same = best && bits == storage_bits(best->input);
    const bool fits =
        other.accumulate == id.accumulate && same && best->accumulate != id.accumulate;
    if (!best || narrower || fits) best = other;
  }
  return best;
}

/// What the device has of the tensor unit, and how to ask for it.
std::string other_tensor_rates(const Machine& machine, ResourceId id) {
  std::vector<ResourceId> has;
  for (const ResourceId& other : machine.rates.known()) {
    const bool any = other.input == Precision::any || other.accumulate == Precision::any;
    if (other.unit == id.unit && other.sparse == id.sparse && !any) has.push_back(other);
  }
  std::string list;
  for (const ResourceId& other : has) list += (list.empty() ? "" : ", ") + name_of(other);
  if (has.empty()) return "";
  const std::optional<ResourceId> best = nearest_rate(has, id);
  if (!best) return "; it states " + list;
  const std::string set = best->input != id.input
                              ? "compute_dtype=" + std::string(name_of(best->input))
                              : "accumulate_dtype=" + std::string(name_of(best->accumulate));
  return "; it states " + list + "; for example --set " + set;
}

}  // namespace

Evaluation evaluate(OperatorGraph graph, const Machine& machine) {
  Evaluation evaluation{std::move(graph), {}, {}, {}};
  evaluation.bound = bind(evaluation.graph);
  prepare(evaluation.bound, evaluation.floors);
  if (is_routed(evaluation.bound) && evaluation.graph.routing == Routing::least) {
    prepare(evaluation.bound, evaluation.uniform.emplace());
  }
  fill_floors(machine, evaluation);
  std::vector<Diagnostic> missing = missing_for(evaluation.graph, evaluation.floors, machine);
  if (!missing.empty()) throw InputError(std::move(missing));
  return evaluation;
}

std::vector<Diagnostic> missing_for(const OperatorGraph& graph, const GraphFloors& floors,
                                    const Machine& machine) {
  std::vector<Diagnostic> all;
  std::vector<ResourceId> named;
  for (std::size_t i = 0; i < floors.ops.size(); ++i) {
    const MissingRates missing = missing_rates(floors.ops[i].demand, machine.rates);
    for (int k = 0; k < missing.count; ++k) {
      const ResourceId id = missing.ids[static_cast<std::size_t>(k)];
      if (std::find(named.begin(), named.end(), id) != named.end()) continue;
      named.push_back(id);
      const Operator& op = graph.ops[i];
      all.push_back({position_in(machine.device.file), device_key_of(id),
                     "device " + machine.device.name + " does not state it, and operator \"" +
                         op.name + "\" (" + std::string(name_of(op.kind)) + ") needs it" +
                         (id.unit == Unit::tensor ? other_tensor_rates(machine, id) : "")});
    }
  }
  return all;
}

Evaluation evaluate_numbers(Flops flops, Bytes bytes, const Rates& rates) {
  Evaluation evaluation;
  evaluation.graph.name = "kernel";
  evaluation.graph.ops.emplace_back();
  evaluation.graph.ops.back().name = "kernel";
  evaluation.bound = bind(evaluation.graph);
  GraphFloors& floors = evaluation.floors;
  prepare(evaluation.bound, floors);
  OperatorFloors& op = floors.ops.front();
  op.demand = demand_by_numbers(flops, bytes);
  floorline::fill_floors(rates, {}, op);
  for (const DemandEntry& entry : op.demand.list()) floors.sum.add(entry.resource, entry.amount);
  floors.sum.flops = flops;
  floors.fused_demand = floors.sum;
  floors.serial = floors.critical_path = floors.fused = {op.cold.time(), op.any.time()};
  floors.fused_proven = op.any.time();
  floors.any_known = false;
  if (!op.cold.none()) {
    floors.serial_binding = op.cold.resource();
    floors.bound_by.add(op.cold.resource(), Amount(op.cold.time()));
  }
  floors.fused_binding = floors.serial_binding;
  return evaluation;
}

bool reevaluate(const Machine& machine, std::span<const double> symbol_values,
                Evaluation& evaluation) {
  if (!rebind(evaluation.graph, symbol_values, evaluation.bound)) return false;
  fill_floors(machine, evaluation);
  return true;
}

bool reevaluate(const Machine& machine, std::span<const double> symbol_values,
                const Touched& touched, Evaluation& e) {
  if (!rebind(e.graph, symbol_values, touched, e.bound)) return false;
  graph_floors(e.bound, machine.rates, machine.chip, touched.demands, e.floors);
  if (!e.floors.served) return false;
  if (!e.uniform) return true;
  e.bound.routing = Routing::uniform;
  graph_floors(e.bound, machine.rates, machine.chip, touched.demands, *e.uniform);
  e.bound.routing = e.graph.routing;
  return true;
}

}  // namespace floorline
