// SPDX-License-Identifier: Apache-2.0
// Kinds that only training has. A pair is one (query, key) that is not masked (attention.cpp).
//   attention_backward   with P = softmax(Q·Kᵀ) and O = P·V, from dO (Dao et al. 2022, algorithm
//   4):
//                          dV = Pᵀ·dO   dP = dO·Vᵀ   dS = P∘(dP − rowsum(dO∘O))   dQ = dS·K   dK =
//                          dSᵀ·Q
//                        two products of length v_dim and two of head_dim a pair:
//                          F = pairs · (4·head_dim + 4·v_dim), twice the forward pass
//                        P has to be known. A kernel that did not keep it (FlashAttention) computes
//                        Q·Kᵀ and the exponentials again: 2·head_dim and 1 more a pair, 2.5 times
//                        the forward pass. A kernel that kept it does not, so neither counts
//                        (weaker).
//   norm_backward        inputs: gradient of the result, the normalized tensor's source x, further
//                        gradients of x that are added, scale. With x̂ = x·r, g = dy·scale:
//                          x̂ (1), g (1), sum of g·x̂ (2), r·(g − x̂·c) (3), gradient of the scale (2)
//                        F = 9 an element, 1 more for each gradient that is added. r is kept.
//   cross_entropy        logits to their gradient: the softmax, F = 4 and 1 exponential an element
//   optimizer            F as the key says: AdamW 12 an element: m (3), v (4), the quotient (2),
//   decay
//                        and step (3); SGD with momentum 4. Square roots are left out (weaker).
// Bytes: those of the tensors. In the optimizer they are all there is: AdamW with fp32 master
// weights and 16-bit gradients reads 2 + 4 + 4 + 4 and writes 4 + 4 + 4 + 2 bytes a parameter. Not
// modelled: clipping (one more read of all gradients), dropout masks, loss scaling.
#include "model/demand/operator_view.hpp"

namespace floorline {

void attention_backward_demand(const OperatorView& op, Demand& demand) {
  const double head_dim = op.key(Key::head_dim, 0);
  const double per_pair = 4 * head_dim + 4 * op.key(Key::v_dim, head_dim);
  demand.flops = Flops(attention_pairs(op) * per_pair);
  demand.add(op.matrix_unit(), Amount(demand.flops));
}

void norm_backward_demand(const OperatorView& op, Demand& demand) {
  constexpr int kSources = 2;  // the gradient and x
  const double n = op.input(0).elements;
  double flops = 9 * n;
  for (int i = kSources; i < op.input_count(); ++i) {
    if (op.input(i).elements == n && op.input(i).role != TensorRole::weight) flops += n;
  }
  demand.flops = Flops(flops);
  demand.add(op.linear_unit(), Amount(demand.flops));
}

void optimizer_demand(const OperatorView& op, Demand& demand) {
  constexpr double kAdamW = 12;
  demand.flops = Flops(op.key(Key::flops, kAdamW) * op.key(Key::n, op.input(0).elements));
  demand.add(op.vector_unit(), Amount(demand.flops));
}

}  // namespace floorline
