// SPDX-License-Identifier: Apache-2.0
#include "model/floor/graph_floor.hpp"

#include <algorithm>

#include "model/demand/input_reads.hpp"
#include "model/floor/critical_path.hpp"

namespace floorline {

namespace {

/// What enters the graph by this operator: of tensors that nothing in it makes. `entering` has what
/// it reads of each input. Where ranks share what a router decides, the mean rank: it exists for
/// the whole graph.
void scale_entering(const BoundGraph& graph, const OnChip& chip, const BoundOperator& op,
                    const Demand& demand, std::span<Bytes> entering) {
  const auto uses = graph.inputs(op);
  Bytes all_read(0);
  for (std::size_t k = 0; k < uses.size(); ++k) {
    if (!uses[k].again) all_read += entering[k];
  }
  if (op.kind == OperatorKind::grouped_gemm) {
    const InputReads mean(graph, op, chip, RankShare::mean);
    for (std::size_t k = 0; k < uses.size(); ++k) entering[k] = mean.bytes(static_cast<int>(k));
  }
  // Reads over what the tensors alone would say: 1 but for copies, collectives and stated bytes.
  const double scale = all_read > Bytes(0) ? demand.hbm_read / all_read : 0;
  for (std::size_t k = 0; k < uses.size(); ++k) {
    const BoundTensor& tensor = graph.tensors[static_cast<std::size_t>(uses[k].tensor)];
    const bool outside = tensor.producer < 0 && tensor.role != TensorRole::intermediate;
    // An operator touches no more instances than it has iterations.
    const double instances = std::min(tensor.copies, op.times);
    entering[k] = outside ? entering[k] * scale * instances : Bytes(0);
  }
}

/// Outputs and state that it writes.
Bytes leaving_by(const BoundGraph& graph, const BoundOperator& op, const Demand& demand) {
  Bytes all_written(0);
  Bytes leaving(0);
  for (const TensorUse& use : graph.outputs(op)) {
    if (use.again) continue;
    const BoundTensor& tensor = graph.tensors[static_cast<std::size_t>(use.tensor)];
    all_written += tensor.bytes;
    if (tensor.role != TensorRole::output && tensor.role != TensorRole::state) continue;
    if (tensor.rows_of >= 0) continue;  // counted with the whole
    leaving += tensor.bytes * std::min(tensor.copies, op.times);
  }
  if (!(leaving > Bytes(0))) return Bytes(0);
  return leaving * (demand.hbm_write / all_written);
}

/// Tensors that are used by rows: no more than all of them together, nor than the whole. `read` has
/// the largest part of each tensor that any reader needs; rows move from there into `rows`.
void add_rows(const BoundGraph& graph, GraphFloors& result, Bytes& written) {
  std::fill(result.rows.begin(), result.rows.end(), Bytes(0));
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    if (graph.tensors[t].rows_of < 0) continue;
    result.rows[static_cast<std::size_t>(graph.tensors[t].rows_of)] += result.read[t];
    result.read[t] = Bytes(0);
  }
  for (std::size_t t = 0; t < graph.tensors.size(); ++t)
    result.read[t] = std::max(result.read[t], std::min(result.rows[t], graph.tensors[t].bytes));
  std::fill(result.rows.begin(), result.rows.end(), Bytes(0));
  for (const BoundOperator& op : graph.ops) {
    for (const TensorUse& use : graph.outputs(op)) {
      const BoundTensor& tensor = graph.tensors[static_cast<std::size_t>(use.tensor)];
      const bool leaves = tensor.role == TensorRole::output || tensor.role == TensorRole::state;
      if (tensor.rows_of < 0 || !leaves) continue;
      result.rows[static_cast<std::size_t>(tensor.rows_of)] += tensor.bytes * op.times;
    }
  }
  for (std::size_t t = 0; t < graph.tensors.size(); ++t)
    written += std::min(result.rows[t], graph.tensors[t].bytes);
}

/// What enters the graph, each tensor once: the largest part any reader needs. What leaves it.
void fused_traffic(const BoundGraph& graph, GraphFloors& result) {
  std::fill(result.read.begin(), result.read.end(), Bytes(0));
  Bytes written(0);
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    const BoundOperator& op = graph.ops[i];
    for (int k = op.first_input; k < op.first_input + op.input_count; ++k) {
      const auto use = static_cast<std::size_t>(k);
      Bytes& most = result.read[static_cast<std::size_t>(graph.uses[use].tensor)];
      most = std::max(most, result.entering[use]);
    }
    written += result.leaving[i];
  }
  if (graph.has_rows) add_rows(graph, result, written);
  Bytes read(0);
  for (const Bytes most : result.read) read += most;
  result.fused_demand.hbm_read = read;
  result.fused_demand.hbm_write = written;
}

void clear(GraphDemand& demand) {
  demand.count = 0;
  demand.flops = Flops(0);
  demand.hbm_read = demand.hbm_write = Bytes(0);
}

void sum_demands(GraphFloors& result) {
  GraphDemand& sum = result.sum;
  clear(sum);
  for (const OperatorFloors& op : result.ops) {
    for (const DemandEntry& entry : op.demand.list())
      sum.add(entry.resource, entry.amount * op.times);
    sum.flops += op.demand.flops * op.times;
    sum.hbm_read += op.demand.hbm_read * op.times;
    sum.hbm_write += op.demand.hbm_write * op.times;
  }
  GraphDemand& fused = result.fused_demand;
  clear(fused);
  fused.flops = sum.flops;
  for (int i = 0; i < sum.count; ++i) {
    const DemandEntry& entry = sum.entries[static_cast<std::size_t>(i)];
    if (entry.resource.unit == Unit::l1_port) continue;  // intermediates may stay in the units
    fused.entries[static_cast<std::size_t>(fused.count++)] = entry;
  }
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
  const BoundOperator& bound = graph.ops[i];
  OperatorFloors& op = result.ops[i];
  const std::span<Bytes> entering(result.entering.data() + bound.first_input,
                                  static_cast<std::size_t>(bound.input_count));
  fill_demand(graph, bound, chip, entering, op.demand);
  op.times = bound.times;
  fill_floors(rates, chip, op);
  if (bound.times == 0) {
    std::fill(entering.begin(), entering.end(), Bytes(0));
    result.leaving[i] = Bytes(0);
    return;
  }
  scale_entering(graph, chip, bound, op.demand, entering);
  result.leaving[i] = leaving_by(graph, bound, op.demand);
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
  result.entering.assign(graph.uses.size(), Bytes(0));
  result.leaving.assign(graph.ops.size(), Bytes(0));
  result.read.assign(graph.tensors.size(), Bytes(0));
  result.rows.assign(graph.has_rows ? graph.tensors.size() : 0, Bytes(0));
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
