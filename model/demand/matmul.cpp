// SPDX-License-Identifier: Apache-2.0
// Matrix product: each of the m·n results of one product is an inner product of length k, so
//   F = 2·m·n·k·batch = 2 · (elements of the output) · k          (a multiply-add is two)
//   D = a·(m·k) + b·(k·n) + c·(m·n), each times batch              (a, b, c: bytes of an element)
// taken from the tensors themselves, so an operand shared by all products of a batch, or named
// twice (A·Aᵀ), is read once; several weights side by side (q, k, v) are one product. Finite
// on-chip memory of S bytes: with element widths a, b, c at least
//   2·m·n·k·sqrt(a·b·c/S) − 2·S bytes cross HBM for one product
// (Smith, van de Geijn et al., "Tight I/O lower bounds for matrix multiplication", 2019, with
// widths; holds for the classical algorithm). batch products: each alone moves at least that.
// Not modelled: padding to tiles, split-k, the classical algorithm is a printed condition.
#include <algorithm>
#include <cmath>

#include "model/demand/operator_view.hpp"

namespace floorline {

namespace {

Bytes finite_memory_bound(const OperatorView& op, const OnChip& chip, Flops flops) {
  if (!chip.all_known || op.input_count() < 2 || op.output_count() < 1) return Bytes(0);
  if (op.op().sparse) return Bytes(0);  // fewer products than F says
  const double s = chip.all.in_base_units();
  double weight_width = op.input(1).width;
  for (int i = 2; i < op.input_count(); ++i)
    weight_width = std::min(weight_width, op.input(i).width);
  const double widths = op.input(0).width * weight_width * op.output(0).width;
  const double batch = std::max(1.0, op.key(Key::batch, 1));
  const double work = flops.in_base_units();
  const double kept = 2 * s * batch;
  if (work * work * widths <= kept * kept * s) return Bytes(0);  // spares the root
  return Bytes(std::max(0.0, work * std::sqrt(widths / s) - kept));
}

}  // namespace

void gemm_demand(const OperatorView& op, const OnChip& chip, Demand& demand) {
  const double k = op.key(Key::k, op.input(0).last_dim);
  const Flops flops(2 * op.output_elements() * k);
  demand.flops = flops;
  demand.add(op.matrix_unit(), Amount(flops));
  demand.hbm_least_total = finite_memory_bound(op, chip, flops);
}

/// F and D as stated. The unit is not: with a stated precision the products' unit, else whatever
/// both units can do together. Transactions to one address that reach L2 are served one after
/// another, one an L2 clock at best.
void custom_demand(const OperatorView& op, Demand& demand) {
  const Flops flops(op.key(Key::flops, 0));
  demand.flops = flops;
  const bool unknown = op.op().compute == Precision::any;
  demand.add(unknown ? op.linear_unit() : op.matrix_unit(), Amount(flops));
  demand.add({Unit::atomic}, Amount::operations(op.key(Key::serialized, 0)));
}

/// Time as stated, on one thread of the host: no device makes it shorter.
void host_demand(const OperatorView& op, Demand& demand) {
  demand.hbm_read = demand.hbm_write = Bytes(0);
  demand.add({Unit::host}, Amount(Seconds(op.key(Key::time, 0))));
}

}  // namespace floorline
