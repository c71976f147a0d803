// SPDX-License-Identifier: Apache-2.0
// Fused attention, softmax(Q·Kᵀ)·V. A pair is one (query, key) that is not masked. For one sequence
// with q new tokens and kv keys (the new ones included; c = kv − q tokens came before):
//   not causal            pairs = q·kv
//   causal                query i = 1…q sees c + i keys:  pairs = q·c + q(q+1)/2
//   causal, window w      query i sees min(c + i, w):     pairs = Σ_i min(c + i, w), which for c =
//   0
//                         and q > w is w(w+1)/2 + (q−w)·w; continuous at q = w
// Each pair costs 2·d for its score and 2·d_v for its share of the result, each query head:
//   F = batch · q_heads · pairs · (2·head_dim + 2·v_dim)
// Exponentials: one a pair and query head. Linear work of the softmax is not counted (weaker).
// Bytes: Q, O once; keys and values that some query sees, once for each KV head (GQA reads a KV
// head once, however many query heads share it): visible = min(kv, q + w − 1) of kv under a window.
// A naive "inputs + outputs" count reads the whole cache under a window.
// Source of the causal and window counts: summation as above; GQA: Ainslie et al. 2023.
// Not modelled: recomputation, padding of the head, paged-cache tables, the write of new keys.
#include <algorithm>
#include <cmath>

#include "model/demand/operator_view.hpp"

namespace floorline {

namespace {

double triangle(double n) { return n * (n + 1) / 2; }

double pairs_of(const SequenceGroup& s, bool causal, double window) {
  if (!causal) return s.q_len * s.kv_len;
  const double before = s.kv_len - s.q_len;
  if (window <= 0 || window >= s.kv_len) return s.q_len * before + triangle(s.q_len);
  // Queries whose window is not yet full: before + i < window.
  const double growing = std::clamp(window - before, 0.0, s.q_len);
  return growing * before + triangle(growing) + (s.q_len - growing) * window;
}

double visible_keys(const SequenceGroup& s, bool causal, double window) {
  if (!causal || window <= 0) return s.kv_len;
  return std::min(s.kv_len, s.q_len + window - 1);
}

template <class PerSequence>
double sum_over_sequences(const OperatorView& op, PerSequence per_sequence) {
  const auto groups = op.graph().sequences_of(op.op());
  if (groups.empty()) {
    const SequenceGroup one{op.key(Key::batch, 1), op.key(Key::q_len, 1), op.key(Key::kv_len, 1)};
    return one.count * per_sequence(one);
  }
  double sum = 0;
  for (const SequenceGroup& group : groups) sum += group.count * per_sequence(group);
  return sum;
}

bool is_causal(const OperatorView& op) { return op.key(Key::causal, 1) != 0; }

}  // namespace

double attention_pairs(const OperatorView& op) {
  const bool causal = is_causal(op);
  const double window = op.key(Key::window, 0);
  return op.key(Key::q_heads, 1) * sum_over_sequences(op, [&](const SequenceGroup& s) {
           return pairs_of(s, causal, window);
         });
}

void attention_demand(const OperatorView& op, Demand& demand) {
  const double head_dim = op.key(Key::head_dim, 0);
  const double per_pair = 2 * head_dim + 2 * op.key(Key::v_dim, head_dim);
  const double pairs = attention_pairs(op);
  demand.flops = Flops(pairs * per_pair);
  demand.add(op.matrix_unit(), Amount(demand.flops));
  demand.add({Unit::sfu}, Amount::operations(pairs));
}

/// Input 0 is Q; all others are keys and values, of which only visible ones are read.
double attention_read_fraction(const OperatorView& op) {
  const double window = op.key(Key::window, 0);
  if (window <= 0) return 1;
  const bool causal = is_causal(op);
  const double all = sum_over_sequences(op, [](const SequenceGroup& s) { return s.kv_len; });
  const double visible = sum_over_sequences(
      op, [&](const SequenceGroup& s) { return visible_keys(s, causal, window); });
  return all > 0 ? visible / all : 1;
}

}  // namespace floorline
