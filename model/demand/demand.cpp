// SPDX-License-Identifier: Apache-2.0
#include "model/demand/demand.hpp"

#include "model/demand/operator_view.hpp"

namespace floorline {

namespace {

/// Compulsory traffic: each distinct input byte read once, each output byte written once. In a
/// naive "inputs + outputs" count a tensor that is named twice counts twice; here it counts once.
void compulsory_traffic(const OperatorView& view, const OnChip& chip, std::span<Bytes> reads,
                        Demand& demand) {
  const BoundGraph& graph = view.graph();
  const InputReads inputs(graph, view.op(), chip);
  const bool whole = inputs.whole_tensors();
  Bytes read(0);
  const auto uses = graph.inputs(view.op());
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const Bytes own = whole ? graph.tensors[static_cast<std::size_t>(uses[i].tensor)].bytes
                            : inputs.bytes(static_cast<int>(i));
    if (!reads.empty()) reads[i] = own;
    if (!uses[i].again) read += own;
  }
  Bytes written(0);
  for (const TensorUse& use : graph.outputs(view.op())) {
    if (!use.again) written += graph.tensors[static_cast<std::size_t>(use.tensor)].bytes;
  }
  demand.hbm_read = read;
  demand.hbm_write = written;
}

void arithmetic(const OperatorView& view, const OnChip& chip, Demand& demand) {
  switch (view.op().kind) {
    case OperatorKind::gemm:
      return gemm_demand(view, chip, demand);
    case OperatorKind::elementwise:
      return elementwise_demand(view, demand);
    case OperatorKind::reduce:
      return reduce_demand(view, demand);
    case OperatorKind::softmax:
      return softmax_demand(view, demand);
    case OperatorKind::layernorm:
      return layernorm_demand(view, demand);
    case OperatorKind::rmsnorm:
      return rmsnorm_demand(view, demand);
    case OperatorKind::rope:
      return rope_demand(view, demand);
    case OperatorKind::attention:
      return attention_demand(view, demand);
    case OperatorKind::embedding:
    case OperatorKind::transpose:
      return;  // bytes only
    case OperatorKind::copy:
      return copy_demand(view, demand);
    case OperatorKind::quantize:
    case OperatorKind::dequantize:
      return quantize_demand(view, demand);
    case OperatorKind::all_reduce:
    case OperatorKind::all_gather:
    case OperatorKind::reduce_scatter:
    case OperatorKind::all_to_all:
    case OperatorKind::broadcast:
    case OperatorKind::send_recv:
      return collective_demand(view, chip, demand);
    case OperatorKind::custom:
      return custom_demand(view, demand);
    case OperatorKind::conv:
      return conv_demand(view, demand);
    case OperatorKind::scan:
      return scan_demand(view, demand);
    case OperatorKind::gather:
      return;  // bytes only
    case OperatorKind::scatter:
      return scatter_demand(view, chip, demand);
    case OperatorKind::grouped_gemm:
      return grouped_gemm_demand(view, demand);
    case OperatorKind::dispatch:
      return dispatch_demand(view, chip, demand);
    case OperatorKind::combine:
      return combine_demand(view, chip, demand);
    case OperatorKind::ssm_scan:
      return ssm_scan_demand(view, demand);
    case OperatorKind::linear_attention:
      return linear_attention_demand(view, demand);
    case OperatorKind::host:
      return host_demand(view, demand);
    case OperatorKind::attention_backward:
      return attention_backward_demand(view, demand);
    case OperatorKind::norm_backward:
      return norm_backward_demand(view, demand);
    case OperatorKind::cross_entropy:
      return softmax_demand(view, demand);
    case OperatorKind::optimizer:
      return optimizer_demand(view, demand);
    case OperatorKind::fused:
      return fused_demand(view, chip, demand);
  }
}

/// op.NAME.flops: every entry counted in FLOPs scales with F.
void override_flops(const OperatorView& view, Flops flops, Demand& demand) {
  const Flops before = demand.flops;
  // A kind that has no arithmetic of its own: the unit is as unknown as that of custom.
  if (!(before > Flops(0))) demand.add(view.matrix_unit(), Amount(flops));
  for (int i = 0; i < demand.count && before > Flops(0); ++i) {
    DemandEntry& entry = demand.entries[static_cast<std::size_t>(i)];
    if (amount_kind(entry.resource.unit) != AmountKind::flops) continue;
    entry.amount = entry.amount * (flops / before);
  }
  demand.flops = flops;
}

/// op.NAME.bytes: reads and writes keep their proportion; what is stated replaces every bound.
void override_bytes(Bytes bytes, Demand& demand) {
  const Bytes before = demand.hbm_read + demand.hbm_write;
  const double scale = before > Bytes(0) ? bytes / before : 0;
  demand.hbm_read = before > Bytes(0) ? demand.hbm_read * scale : bytes;
  demand.hbm_write = demand.hbm_write * scale;
  demand.hbm_least_total = Bytes(0);
}

void apply_overrides(const OperatorView& view, Demand& demand) {
  const BoundOperator& op = view.op();
  if (op.stated_work >= Flops(0)) override_flops(view, op.stated_work, demand);
  if (op.work_scale != 1) override_flops(view, demand.flops * op.work_scale, demand);
  if (op.stated_traffic >= Bytes(0)) override_bytes(op.stated_traffic, demand);
  if (op.traffic_scale != 1) {
    override_bytes((demand.hbm_read + demand.hbm_write) * op.traffic_scale, demand);
  }
}

/// Copies and collectives may be done by copy engines and the fabric, past the units' ports.
bool read_by_units(OperatorKind kind) {
  switch (kind) {
    case OperatorKind::copy:
    case OperatorKind::all_reduce:
    case OperatorKind::all_gather:
    case OperatorKind::reduce_scatter:
    case OperatorKind::all_to_all:
    case OperatorKind::broadcast:
    case OperatorKind::send_recv:
    case OperatorKind::dispatch:
    case OperatorKind::combine:
      return false;
    default:
      return true;
  }
}

}  // namespace

void Demand::add(ResourceId resource, Amount amount) {
  if (!(amount > Amount())) return;
  for (int i = 0; i < count; ++i) {
    DemandEntry& entry = entries[static_cast<std::size_t>(i)];
    if (entry.resource == resource) {
      entry.amount += amount;
      return;
    }
  }
  if (count < kCapacity) entries[static_cast<std::size_t>(count++)] = {resource, amount};
}

Demand demand_of(const BoundGraph& graph, const BoundOperator& op, const OnChip& chip) {
  Demand demand;
  fill_demand(graph, op, chip, {}, demand);
  return demand;
}

void fill_demand(const BoundGraph& graph, const BoundOperator& op, const OnChip& chip,
                 std::span<Bytes> reads, Demand& demand) {
  demand.flops = Flops(0);
  demand.hbm_least_total = Bytes(0);
  demand.count = 0;
  const OperatorView view(graph, op);
  compulsory_traffic(view, chip, reads, demand);
  arithmetic(view, chip, demand);
  if (op.overridden) apply_overrides(view, demand);
  if (read_by_units(op.kind)) demand.add({Unit::l1_port}, Amount(demand.hbm_read));
}

Demand demand_by_numbers(Flops flops, Bytes bytes) {
  Demand demand;
  demand.flops = flops;
  demand.add({Unit::compute}, Amount(flops));
  demand.add({Unit::memory}, Amount(bytes));
  return demand;
}

}  // namespace floorline
