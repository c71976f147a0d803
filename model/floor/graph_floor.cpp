// SPDX-License-Identifier: Apache-2.0
#include "model/floor/graph_floor.hpp"

#include <algorithm>

#include "model/floor/critical_path.hpp"
#include "model/floor/graph_traffic.hpp"

namespace floorline {

namespace {

void clear(GraphDemand& demand) {
  demand.count = 0;
  demand.flops = Flops(0);
  demand.hbm_read = demand.hbm_write = Bytes(0);
}

/// One pass over the operators: what is summed over all of them.
void sum_operators(const OnChip& chip, GraphFloors& result) {
  GraphDemand& sum = result.sum;
  clear(sum);
  clear(result.bound_by);
  ResidencyTimes serial;
  bool proven = true;
  bool served = true;
  int* place = result.places.data();
  int* bound_place = result.bound_places.data();
  for (const OperatorFloors& op : result.ops) {
    const Demand& demand = op.demand;
    const double times = op.times;
    for (int i = 0; i < demand.count; ++i) {
      const DemandEntry& entry = demand.entries[static_cast<std::size_t>(i)];
      sum.add(entry.resource, entry.amount * times, place[i]);
    }
    place += Demand::kCapacity;
    sum.flops += demand.flops * times;
    sum.hbm_read += demand.hbm_read * times;
    sum.hbm_write += demand.hbm_write * times;
    if (!op.cold.none()) {
      const Amount time(op.cold.time() * times);
      result.bound_by.add(op.cold.resource(), time, *bound_place);
    }
    ++bound_place;
    serial.cold += op.cold.time() * times;
    serial.any += op.any.time() * times;
    proven = proven && op.cold.proven();
    served = served && op.served;
  }
  result.serial = serial;
  result.proven = proven;
  result.served = served;
  result.any_known = chip.all_known;
}

/// Bytes of each resource as summed; those that cross HBM are those of the graph's own tensors.
void fused_sums(GraphFloors& result) {
  const GraphDemand& sum = result.sum;
  GraphDemand& fused = result.fused_demand;
  clear(fused);
  fused.flops = sum.flops;
  for (const DemandEntry& entry : sum.list()) {
    if (entry.resource.unit == Unit::l1_port) continue;  // intermediates may stay in the units
    fused.entries[static_cast<std::size_t>(fused.count++)] = entry;
  }
}

struct Longest {
  Seconds time{0};
  ResourceId resource;
  void consider(Amount amount, const Rate& rate) {
    if (!rate.known || !(amount > Amount())) return;
    const Seconds other = amount / (rate.has_ceiling ? rate.ceiling : rate.nominal);
    if (other > time) *this = {other, rate.via};
  }
};

/// The largest amount / rate of a whole graph's sums, HBM aside.
struct SummedTimes {
  Longest work;        ///< the ports of the units aside
  Seconds proven{0};   ///< of the same, where the rate proves something
  Longest with_ports;  ///< everything
};

SummedTimes summed_times(const GraphDemand& sum, const Rates& rates) {
  SummedTimes times;
  for (const DemandEntry& entry : sum.list()) {
    const Rate& rate = rates[entry.resource];
    Longest own;
    own.consider(entry.amount, rate);
    if (own.time > times.with_ports.time) times.with_ports = own;
    if (entry.resource.unit == Unit::l1_port) continue;  // intermediates may stay in the units
    if (own.time > times.work.time) times.work = own;
    if (rate.proves()) times.proven = std::max(times.proven, own.time);
  }
  return times;
}

void fused_floors(const BoundGraph& graph, const Rates& rates, const OnChip& chip,
                  const SummedTimes& times, GraphFloors& result) {
  fused_traffic(graph, result);
  const GraphDemand& fused = result.fused_demand;
  const Rate& hbm = rates[{Unit::hbm}];
  Longest cold = times.work;
  cold.consider(Amount(fused.hbm_read + fused.hbm_write), hbm);
  result.fused.cold = cold.time;
  result.fused_binding = cold.resource;
  const Bytes beyond_chip = beyond(fused.hbm_read, chip.all) + beyond(fused.hbm_write, chip.all);
  Longest memory;
  memory.consider(Amount(chip.all_known ? beyond_chip : Bytes(0)), hbm);
  result.fused.any = std::max(times.work.time, memory.time);
  result.fused_proven = std::max(times.proven, hbm.proves() ? memory.time : Seconds(0));
}

void operator_floors(const BoundGraph& graph, const Rates& rates, const OnChip& chip, std::size_t i,
                     GraphFloors& result) {
  const BoundOperator& bound = graph.ops[i];
  OperatorFloors& op = result.ops[i];
  const std::span<Bytes> entering(result.entering.data() + bound.first_input,
                                  static_cast<std::size_t>(bound.input_count));
  fill_demand(graph, bound, chip, entering, op.demand);
  op.times = bound.times;
  fill_floors(rates, chip, op);
  if (bound.enters) {
    scale_entering(graph, chip, bound, op.demand, entering);
  } else if (bound.times == 0) {
    std::fill(entering.begin(), entering.end(), Bytes(0));
  }
  result.leaving[i] = bound.leaves ? leaving_by(graph, bound, op.demand) : Bytes(0);
}

/// `low` is at most `high` but for the rounding of two orders of summation, which this takes away.
/// Anything more would be a defect: it stays to be seen.
Seconds without_rounding(Seconds low, Seconds high) {
  constexpr double kRounding = 1e-11;
  return low > high && low <= high * (1 + kRounding) ? high : low;
}

void critical_path_floors(const BoundGraph& graph, const Rates& rates, const SummedTimes& times,
                          GraphFloors& result) {
  Bytes hbm(0);
  for (const OperatorFloors& op : result.ops) {
    hbm += std::max(op.demand.hbm_read + op.demand.hbm_write, op.demand.hbm_least_total) * op.times;
  }
  Longest sums = times.with_ports;
  sums.consider(Amount(hbm), rates[{Unit::hbm}]);
  result.critical_path.cold = std::max(longest_path(graph, result, PathTime::cold), sums.time);
  result.critical_path.any = longest_path(graph, result, PathTime::any_residency);
}

}  // namespace

void GraphDemand::add(ResourceId id, Amount amount, int& place) {
  const auto here = [&](int i) { return entries[static_cast<std::size_t>(i)].resource == id; };
  if (place >= count || !here(place)) {
    place = 0;
    while (place < count && !here(place)) ++place;
    if (place == kCapacity) return;  // one resource fewer: a weaker floor
    if (place == count) entries[static_cast<std::size_t>(count++)] = {id, Amount()};
  }
  entries[static_cast<std::size_t>(place)].amount += amount;
}

void prepare(const BoundGraph& graph, GraphFloors& result) {
  result.ops.assign(graph.ops.size(), OperatorFloors{});
  prepare_traffic(graph, result);
  result.bound_places.assign(graph.ops.size(), 0);
  result.places.assign(graph.ops.size() * Demand::kCapacity, 0);
  result.chain = is_chain(graph);
  result.ready.assign(graph.tensors.size(), 0);
  result.work.assign(graph.tensors.size(), 0);
  int carries = 0;
  for (const BoundRepeat& repeat : graph.repeats) carries = std::max(carries, repeat.carry_count);
  const auto side = static_cast<std::size_t>(carries + 2);
  result.matrix.assign(3 * side * side + 2 * side, 0);
}

namespace {

/// From the operators' floors to those of the graph.
void whole_floors(const BoundGraph& graph, const Rates& rates, const OnChip& chip,
                  GraphFloors& result) {
  sum_operators(chip, result);
  fused_sums(result);
  const SummedTimes times = summed_times(result.sum, rates);
  fused_floors(graph, rates, chip, times, result);
  critical_path_floors(graph, rates, times, result);
  // A floor that holds without a condition holds with one.
  result.critical_path.any = std::max(result.critical_path.any, result.fused.any);
  result.critical_path.cold = without_rounding(result.critical_path.cold, result.serial.cold);
  result.fused.cold = without_rounding(result.fused.cold, result.critical_path.cold);
  result.serial.any = std::max(result.serial.any, result.critical_path.any);
  result.serial_binding = largest_serial_resource(result);
}

}  // namespace

void graph_floors(const BoundGraph& graph, const Rates& rates, const OnChip& chip,
                  GraphFloors& result) {
  for (std::size_t i = 0; i < graph.ops.size(); ++i) operator_floors(graph, rates, chip, i, result);
  whole_floors(graph, rates, chip, result);
}

void graph_floors(const BoundGraph& graph, const Rates& rates, const OnChip& chip,
                  std::span<const int> changed, GraphFloors& result) {
  for (const int i : changed)
    operator_floors(graph, rates, chip, static_cast<std::size_t>(i), result);
  whole_floors(graph, rates, chip, result);
}

ResourceId largest_serial_resource(const GraphFloors& floors) {
  DemandEntry largest{};
  for (const DemandEntry& bound : floors.bound_by.list()) {
    if (bound.amount > largest.amount) largest = bound;
  }
  return largest.resource;
}

std::vector<Share> serial_shares(const GraphFloors& floors) {
  const double whole = floors.serial.cold.in_base_units();
  std::vector<Share> shares;
  for (const DemandEntry& bound : floors.bound_by.list())
    shares.push_back({bound.resource, whole > 0 ? bound.amount.in_base_units() / whole : 0});
  std::sort(shares.begin(), shares.end(),
            [](const Share& a, const Share& b) { return a.fraction > b.fraction; });
  return shares;
}

}  // namespace floorline
