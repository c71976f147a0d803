// SPDX-License-Identifier: Apache-2.0
// Kinds whose work is proportional to the elements they touch.
//   elementwise   F = flops · n, exponentials = exps · n, n = elements of the first output / writes
//                 (vector add: 1 FLOP and 12 bytes an element in fp32: 1/12 FLOP a byte)
//   rope          each pair (x, y) becomes (x·c − y·s, x·s + y·c): 4 products, 2 sums for 2
//   elements:
//                 F = 3 · elements rotated. The table of sines and cosines is counted only when the
//                 graph names it as an input.
//   quantize, dequantize   one scaling an element: F = elements of the input
// Bytes are those of the tensors. Naive "inputs + outputs" is wrong where one tensor is named twice
// (x·x): it is read once.
// Not modelled: block-scale searches (amax) of dynamic quantization, which are reads on chip.
#include "model/demand/operator_view.hpp"

namespace floorline {

void elementwise_demand(const OperatorView& op, Demand& demand) {
  const double writes = op.key(Key::writes, 1);
  const double stacked = op.output_count() == 1 && writes > 1 ? writes : 1;
  const double from_tensors = op.output_count() > 0 ? op.output(0).elements / stacked : 0;
  const double n = op.key(Key::n, from_tensors);
  demand.flops = Flops(op.key(Key::flops, 1) * n);
  demand.add(op.vector_unit(), Amount(demand.flops));
  demand.add({Unit::sfu}, Amount::operations(op.key(Key::exps, 0) * n));
}

void rope_demand(const OperatorView& op, Demand& demand) {
  demand.flops = Flops(3 * op.output_elements());
  demand.add(op.vector_unit(), Amount(demand.flops));
}

void quantize_demand(const OperatorView& op, Demand& demand) {
  demand.flops = Flops(op.input(0).elements);
  demand.add(op.vector_unit(), Amount(demand.flops));
}

}  // namespace floorline
