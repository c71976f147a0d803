// SPDX-License-Identifier: Apache-2.0
// Row-wise kinds, n elements in a row; the fewest operations of the classical one-pass forms.
//   reduce     n − 1 sums a row:                       F = elements in − elements out
//   scan       running sums, n − 1 a row, every element read and written once (a decoupled
//   look-back
//              scan does; Merrill and Garland 2016): F = elements − rows
//   softmax    maximum, subtract, sum, multiply:       F = 4 an element, 1 exponential an element
//   layernorm  sum (1), sum of squares (2), x·r + c (2), ·scale + shift (2):   F = 7 an element
//   rmsnorm    sum of squares (2), ·r (1), ·scale (1): F = 4 an element, and 1 more for each
//   further
//              full-size input that is added first (residual)
// The arithmetic is linear, so it may run on the vector and the tensor unit at once
// (F/(R_vector + R_tensor), design §5). Per-row square roots and divisions are left out (weaker).
// Bytes: those of the tensors; scale and shift are read once, not once a row: a naive count that
// multiplies them by the rows is wrong, and so is one that forgets that three separate kernels read
// the large tensor again (then they are three operators of a graph).
#include "model/demand/operator_view.hpp"

namespace floorline {

void reduce_demand(const OperatorView& op, Demand& demand) {
  double in = 0;
  for (int i = 0; i < op.input_count(); ++i) in += op.input(i).elements;
  const double out = op.output_elements();
  demand.flops = Flops(in > out ? in - out : 0);
  demand.add(op.linear_unit(), Amount(demand.flops));
}

void scan_demand(const OperatorView& op, Demand& demand) {
  const BoundTensor& in = op.input(0);
  const double rows = op.key(Key::rows, in.last_dim > 0 ? in.elements / in.last_dim : 0);
  demand.flops = Flops(in.elements > rows ? in.elements - rows : 0);
  demand.add(op.linear_unit(), Amount(demand.flops));
}

void softmax_demand(const OperatorView& op, Demand& demand) {
  const double n = op.input(0).elements;
  demand.flops = Flops(4 * n);
  demand.add(op.linear_unit(), Amount(demand.flops));
  demand.add({Unit::sfu}, Amount::operations(n));
}

void layernorm_demand(const OperatorView& op, Demand& demand) {
  demand.flops = Flops(7 * op.input(0).elements);
  demand.add(op.linear_unit(), Amount(demand.flops));
}

void rmsnorm_demand(const OperatorView& op, Demand& demand) {
  const double n = op.input(0).elements;
  double flops = 4 * n;
  for (int i = 1; i < op.input_count(); ++i) {
    if (op.input(i).elements == n && op.input(i).role != TensorRole::weight) flops += n;
  }
  demand.flops = Flops(flops);
  demand.add(op.linear_unit(), Amount(demand.flops));
}

}  // namespace floorline
