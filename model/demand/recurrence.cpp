// SPDX-License-Identifier: Apache-2.0
// Layers whose memory is a state of fixed size, not a cache that grows. For one head and token:
//   ssm_scan (Mamba-2, Dao and Gu 2024 §3, §6; state of p × n, p = head_dim, n = state)
//     h ← a·h + x⊗B    p·n to decay, 2·p·n to add the outer product        y = h·C    2·p·n
//   linear_attention (state of d × e, d = head_dim, e = v_dim; Katharopoulos et al. 2020; with the
//   gated delta rule: Yang, Kautz, Hatamizadeh 2024, Gated Delta Networks §3)
//     S ← a·S + k⊗u    d·e and 2·d·e     o = Sᵀ·q    2·d·e     delta: u = β(v − a·Sᵀ·k)    2·d·e
// A token by token recurrence decays at every token. Chunked forms (SSD, WY) decay once a chunk and
// replace products with the state by pairs of tokens, at least 2·p (2·e) a pair. Whatever the
// chunk:
//   the update takes 2·p·n a token, since the new state is a sum of outer products;
//   sequences that continue from a state: every token's products with the old state take 2·p·n
//   each, and the state decays at least once:
//     F = heads · ((2 + 2·products)·p·n · tokens + p·n · sequences)      products: 1, with delta 2
//   sequences that start from zero: token t has t tokens to look at (the delta rule t − 1), so
//     F = heads · (2·p·n · tokens + Σ_t min(2·p·n, 2·p·t) …)
// One token from a state: 5·p·n, with delta 7·d·e: the recurrence itself. The classical algorithm
// is a condition; gates, norms and short convolutions are other operators; scores C·B between
// tokens, shared by the heads of a group, are not counted (weaker). All of it is linear: vector and
// tensor unit may share it. Bytes: those of the tensors: the state is read and written once a call.
// A naive count that moves the state once a token is wrong for more than one token, and one that
// has a cache growing with the context is wrong altogether.
#include <algorithm>

#include "model/demand/operator_view.hpp"

namespace floorline {

namespace {

struct Recurrence {
  double sequences = 1;
  double q_len = 1;
  double rows = 0;  ///< of a head's state: the side that a token is matched with (n, d)
  double cols = 0;  ///< the side that it brings (p, e)
  bool delta = false;
  bool initial = true;  ///< sequences continue from a state
};

/// Σ over the first `tokens` tokens of min(t, limit), t from 1.
double pairs_up_to(double tokens, double limit) {
  const double growing = std::clamp(tokens, 0.0, limit);
  return growing * (growing + 1) / 2 + (tokens - growing) * limit;
}

double flops_of_head(const Recurrence& r) {
  const double state = r.rows * r.cols;
  const double update = 2 * state * r.q_len;
  if (r.initial) {
    const double products = r.delta ? 2 : 1;
    return r.sequences * (update + 2 * state * products * r.q_len + (r.q_len > 0 ? state : 0));
  }
  double pairs = pairs_up_to(r.q_len, r.rows);
  if (r.delta) pairs += pairs_up_to(std::max(0.0, r.q_len - 1), r.rows);
  return r.sequences * (update + 2 * r.cols * pairs);
}

void add_linear(const OperatorView& op, double flops, Demand& demand) {
  demand.flops = Flops(flops);
  demand.add(op.linear_unit(), Amount(demand.flops));
}

}  // namespace

void ssm_scan_demand(const OperatorView& op, Demand& demand) {
  const Recurrence r{op.key(Key::batch, 1),
                     op.key(Key::q_len, 1),
                     op.key(Key::state, 0),
                     op.key(Key::head_dim, 0),
                     false,
                     op.key(Key::initial, 1) > 0};
  add_linear(op, op.key(Key::heads, 1) * flops_of_head(r), demand);
}

void linear_attention_demand(const OperatorView& op, Demand& demand) {
  const double head_dim = op.key(Key::head_dim, 0);
  const Recurrence r{
      op.key(Key::batch, 1),        op.key(Key::q_len, 1),     head_dim,
      op.key(Key::v_dim, head_dim), op.key(Key::delta, 1) > 0, op.key(Key::initial, 1) > 0};
  add_linear(op, op.key(Key::heads, 1) * flops_of_head(r), demand);
}

}  // namespace floorline
