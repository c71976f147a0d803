// SPDX-License-Identifier: Apache-2.0
#include "model/floor/graph_floor.hpp"

#include <algorithm>

#include "model/demand/input_reads.hpp"
#include "model/floor/critical_path.hpp"

namespace floorline {

namespace {

/// Bytes of tensors that enter the graph by this operator, and that leave it: outputs and state
/// that it writes. Where ranks share what a router decides, the mean rank: it exists for the whole
/// graph.
void operator_border(const BoundGraph& graph, const OnChip& chip, std::size_t i,
                     GraphFloors& result) {
  const BoundOperator& op = graph.ops[i];
  const auto uses = graph.inputs(op);
  const std::span<double> entering(result.entering.data() + op.first_input, uses.size());
  std::fill(entering.begin(), entering.end(), 0.0);
  result.leaving[i] = 0;
  if (op.times == 0) return;
  const Demand& demand = result.ops[i].demand;
  const InputReads busiest(graph, op, chip);
  Bytes all_read(0);
  for (std::size_t k = 0; k < uses.size(); ++k) {
    const Bytes bytes = busiest.bytes(static_cast<int>(k));
    entering[k] = bytes.in_base_units();
    if (!uses[k].again) all_read += bytes;
  }
  if (op.kind == OperatorKind::grouped_gemm) {
    const InputReads mean(graph, op, chip, RankShare::mean);
    for (std::size_t k = 0; k < uses.size(); ++k)
      entering[k] = mean.bytes(static_cast<int>(k)).in_base_units();
  }
  // Reads and writes over what the tensors alone would say: 1 but for copies, collectives and
  // stated bytes.
  const double read_scale = all_read > Bytes(0) ? demand.hbm_read / all_read : 0;
  for (std::size_t k = 0; k < uses.size(); ++k) {
    const BoundTensor& tensor = graph.tensors[static_cast<std::size_t>(uses[k].tensor)];
    const bool outside = tensor.producer < 0 && tensor.role != TensorRole::intermediate;
    // An operator touches no more instances than it has iterations.
    const double instances = std::min(tensor.copies, op.times);
    entering[k] = outside ? entering[k] * read_scale * instances : 0;
  }
  Bytes all_written(0);
  Bytes leaving(0);
  for (const TensorUse& use : graph.outputs(op)) {
    if (use.again) continue;
    const BoundTensor& tensor = graph.tensors[static_cast<std::size_t>(use.tensor)];
    all_written += tensor.bytes;
    if (tensor.role != TensorRole::output && tensor.role != TensorRole::state) continue;
    leaving += tensor.bytes * std::min(tensor.copies, op.times);
  }
  if (all_written > Bytes(0))
    result.leaving[i] = leaving.in_base_units() * (demand.hbm_write / all_written);
}

/// What enters the graph, each tensor once: the largest part any reader needs. What leaves it.
void fused_traffic(const BoundGraph& graph, GraphFloors& result) {
  std::vector<double>& most_read = result.ready;  // scratch by tensor
  std::fill(most_read.begin(), most_read.end(), 0.0);
  Bytes written(0);
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    const BoundOperator& op = graph.ops[i];
    for (int k = op.first_input; k < op.first_input + op.input_count; ++k) {
      const auto use = static_cast<std::size_t>(k);
      double& most = most_read[static_cast<std::size_t>(graph.uses[use].tensor)];
      most = std::max(most, result.entering[use]);
    }
    written += Bytes(result.leaving[i]);
  }
  Bytes read(0);
  for (const double bytes : most_read) read += Bytes(bytes);
  result.fused_demand.hbm_read = read;
  result.fused_demand.hbm_write = written;
}

void sum_demands(GraphFloors& result) {
  result.sum = GraphDemand{};
  result.fused_demand = GraphDemand{};
  for (const OperatorFloors& op : result.ops) {
    for (const DemandEntry& entry : op.demand.list()) {
      result.sum.add(entry.resource, entry.amount * op.times);
      if (entry.resource.unit == Unit::l1_port) continue;  // intermediates may stay in the units
      result.fused_demand.add(entry.resource, entry.amount * op.times);
    }
    result.sum.flops += op.demand.flops * op.times;
    result.sum.hbm_read += op.demand.hbm_read * op.times;
    result.sum.hbm_write += op.demand.hbm_write * op.times;
  }
  result.fused_demand.flops = result.sum.flops;
}

struct Longest {
  Seconds time{0};
  ResourceId resource;
};

/// The largest amount / rate of a whole graph's demand. `hbm` is what crosses that level.
Longest largest_term(const GraphDemand& demand, Bytes hbm, const Rates& rates,
                     bool proven_only = false) {
  Longest longest;
  const auto consider = [&](ResourceId id, Amount amount) {
    const Rate& rate = rates[id];
    if (!rate.known || !(amount > Amount()) || (proven_only && !rate.proves())) return;
    const Seconds time = amount / (rate.has_ceiling ? rate.ceiling : rate.nominal);
    if (time > longest.time) longest = {time, rate.via};
  };
  for (int i = 0; i < demand.count; ++i) {
    const DemandEntry& entry = demand.entries[static_cast<std::size_t>(i)];
    consider(entry.resource, entry.amount);
  }
  consider({Unit::hbm}, Amount(hbm));
  return longest;
}

Bytes beyond(Bytes amount, Bytes kept) { return std::max(Bytes(0), amount - kept); }

void fused_floors(const BoundGraph& graph, const Rates& rates, const OnChip& chip,
                  GraphFloors& result) {
  fused_traffic(graph, result);
  const GraphDemand& fused = result.fused_demand;
  const Longest cold = largest_term(fused, fused.hbm_read + fused.hbm_write, rates);
  result.fused.cold = cold.time;
  result.fused_binding = cold.resource;
  const Bytes beyond_chip = beyond(fused.hbm_read, chip.all) + beyond(fused.hbm_write, chip.all);
  const Bytes hbm = chip.all_known ? beyond_chip : Bytes(0);
  result.fused.any = largest_term(fused, hbm, rates).time;
  result.fused_proven = largest_term(fused, hbm, rates, true).time;
}

void operator_floors(const BoundGraph& graph, const Rates& rates, const OnChip& chip, std::size_t i,
                     GraphFloors& result) {
  OperatorFloors& op = result.ops[i];
  op.demand = demand_of(graph, graph.ops[i], chip);
  op.times = graph.ops[i].times;
  fill_floor(op.demand, rates, chip, Residency::cold, op.cold);
  fill_floor(op.demand, rates, chip, Residency::any_keep, op.any);
  op.any_overlapped = longest_term(op.demand, rates, chip, Residency::any_all);
  operator_border(graph, chip, i, result);
}

void serial_floors(const OnChip& chip, GraphFloors& result) {
  result.proven = true;
  result.any_known = chip.all_known;
  result.serial = {};
  for (const OperatorFloors& op : result.ops) {
    result.proven = result.proven && op.cold.proven;
    result.serial.cold += op.cold.time() * op.times;
    result.serial.any += op.any.time() * op.times;
  }
}

/// `low` is at most `high` but for the rounding of two orders of summation, which this takes away.
/// Anything more would be a defect: it stays to be seen.
Seconds without_rounding(Seconds low, Seconds high) {
  constexpr double kRounding = 1e-11;
  return low > high && low <= high * (1 + kRounding) ? high : low;
}

void critical_path_floors(const BoundGraph& graph, const Rates& rates, GraphFloors& result) {
  Bytes hbm(0);
  for (const OperatorFloors& op : result.ops) {
    hbm += std::max(op.demand.hbm_read + op.demand.hbm_write, op.demand.hbm_least_total) * op.times;
  }
  const Seconds sums = largest_term(result.sum, hbm, rates).time;
  result.critical_path.cold = std::max(longest_path(graph, result, PathTime::cold), sums);
  result.critical_path.any = longest_path(graph, result, PathTime::any_residency);
}

}  // namespace

void GraphDemand::add(ResourceId id, Amount amount) {
  for (int i = 0; i < count; ++i) {
    DemandEntry& entry = entries[static_cast<std::size_t>(i)];
    if (entry.resource == id) {
      entry.amount += amount;
      return;
    }
  }
  if (count == kCapacity) return;  // one resource fewer: a weaker floor
  entries[static_cast<std::size_t>(count++)] = {id, amount};
}

void prepare(const BoundGraph& graph, GraphFloors& result) {
  result.ops.assign(graph.ops.size(), OperatorFloors{});
  result.entering.assign(graph.uses.size(), 0);
  result.leaving.assign(graph.ops.size(), 0);
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
  serial_floors(chip, result);
  sum_demands(result);
  fused_floors(graph, rates, chip, result);
  critical_path_floors(graph, rates, result);
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

namespace {

/// Adds `time` to the share of `id` in a fixed list; the last slot takes what does not fit.
struct ShareList {
  std::array<Share, GraphDemand::kCapacity> shares{};
  int count = 0;
  void add(ResourceId id, double time) {
    for (int i = 0; i < count; ++i) {
      if (shares[static_cast<std::size_t>(i)].resource == id) {
        shares[static_cast<std::size_t>(i)].fraction += time;
        return;
      }
    }
    if (count < GraphDemand::kCapacity) shares[static_cast<std::size_t>(count++)] = {id, time};
  }
};

ShareList serial_times(const GraphFloors& floors) {
  ShareList list;
  for (const OperatorFloors& op : floors.ops) {
    if (op.cold.binding < 0) continue;
    list.add(op.cold.binding_term().resource, (op.cold.time() * op.times).in_base_units());
  }
  return list;
}

}  // namespace

ResourceId largest_serial_resource(const GraphFloors& floors) {
  const ShareList list = serial_times(floors);
  Share largest{};
  for (int i = 0; i < list.count; ++i) {
    const Share& share = list.shares[static_cast<std::size_t>(i)];
    if (share.fraction > largest.fraction) largest = share;
  }
  return largest.resource;
}

std::vector<Share> serial_shares(const GraphFloors& floors) {
  const ShareList list = serial_times(floors);
  std::vector<Share> shares(list.shares.begin(), list.shares.begin() + list.count);
  const double whole = floors.serial.cold.in_base_units();
  for (Share& share : shares) share.fraction = whole > 0 ? share.fraction / whole : 0;
  std::sort(shares.begin(), shares.end(),
            [](const Share& a, const Share& b) { return a.fraction > b.fraction; });
  return shares;
}

}  // namespace floorline
