// SPDX-License-Identifier: Apache-2.0
// Attention with grouped KV heads on one of tp ranks, T tokens, q and kv this rank's heads of d:
//   qkv_proj      [T,h] × [h,(q+2·kv)·d]   k and v leave as what the cache stores; with an output
//                 gate q is twice as wide
//   q_norm k_norm rope     3 FLOPs an element that turns
//   attention     cached and new keys; with a window w a query sees at most w − 1 cached tokens, so
//                 only min(context, w−1) of the cache are an input (chunks: seen_keys.cpp)
//   attn_gate     attention · sigmoid(gate): 1 FLOP and 1 exponential an element
//   o_proj        [T,q·d] × [q·d,h]
// cp > 1: a prefill gathers keys and values of all ranks, a decode step gathers the queries and
// sums the results by parts. Not modelled: sinks and soft-capping, an exponential or two a query.
#include <algorithm>

#include "model/workload/layer_parts.hpp"

namespace floorline {

namespace {

class Attention {
 public:
  explicit Attention(const LayerPart& layer)
      : l_(layer),
        b_(layer.b),
        a_(layer.group.attention),
        seen_(b_, a_, 0),
        q_heads_(a_.q_heads / b_.layout.tp),
        kv_heads_(std::max<std::int64_t>(1, a_.kv_heads / b_.layout.tp)) {}

  TensorId add(TensorId normed) {
    project(normed);
    normalize();
    turn();
    gather();
    TensorId out = attend();
    if (a_.output_gate) out = gated(out);
    const TensorId projected = b_.activation(l_.named("o_proj.out"), {b_.tokens, b_.hidden});
    b_.add_product(l_.named("o_proj"), {out, l_.weight("self_attn.o_proj.weight")}, {projected});
    return projected;
  }

 private:
  [[nodiscard]] bool gathers(Phase phase) const {
    return b_.layout.cp > 1 && b_.scenario.phase == phase;
  }
  TensorId state(const char* name, const std::string& tokens, std::int64_t size) {
    return b_.tensor(l_.named(name), {tokens, std::to_string(size)}, b_.kv_dtype,
                     TensorRole::state);
  }

  void project(TensorId normed) {
    q_ = l_.rows("q", q_heads_ * a_.head_dim);
    std::vector<TensorId> outputs{q_};
    std::vector<TensorId> inputs{normed, l_.weight("self_attn.q_proj.weight")};
    if (a_.output_gate) outputs.push_back(gate_ = l_.rows("gate", q_heads_ * a_.head_dim));
    inputs.push_back(l_.weight("self_attn.k_proj.weight"));
    const bool direct = !a_.rope && a_.qk_norm == QkNorm::none;
    k_ = direct ? state("k_new", b_.tokens, kv_heads_ * a_.head_dim)
                : l_.rows("k", kv_heads_ * a_.head_dim);
    outputs.push_back(k_);
    if (!a_.k_is_v) {
      v_new_ = state("v_new", b_.tokens, kv_heads_ * a_.v_dim);
      inputs.push_back(l_.weight("self_attn.v_proj.weight"));
      outputs.push_back(v_new_);
    }
    const TensorId keys = k_;
    b_.add_product(l_.named("qkv_proj"), std::move(inputs), std::move(outputs));
    if (a_.k_is_v) {
      v_new_ = state("v_new", b_.tokens, kv_heads_ * a_.v_dim);
      Operator& op = b_.add(l_.named("v_norm"), OperatorKind::rmsnorm, {keys}, {v_new_});
      op.compute = b_.vector_precision();
    }
  }

  TensorId head_norm(const char* name, TensorId x, std::int64_t heads) {
    const std::string full = l_.named(name);
    const TensorId out = b_.activation(
        full + ".out", {b_.tokens, std::to_string(heads), std::to_string(a_.head_dim)});
    std::vector<TensorId> inputs{x};
    if (a_.qk_norm != QkNorm::unscaled) {
      inputs.push_back(l_.weight("self_attn." + std::string(name) + ".weight"));
    }
    b_.add(full, OperatorKind::rmsnorm, std::move(inputs), {out}).compute = b_.vector_precision();
    return out;
  }

  void normalize() {
    if (a_.qk_norm == QkNorm::none) return;
    q_ = head_norm("q_norm", q_, q_heads_);
    k_ = head_norm("k_norm", k_, kv_heads_);
  }

  void turn() {
    if (!a_.rope) {
      k_new_ = k_;
      return;
    }
    k_new_ = state("k_new", b_.tokens, kv_heads_ * a_.head_dim);
    const TensorId q_rot = l_.rows("q_rot", q_heads_ * a_.head_dim);
    Operator& op = b_.add(l_.named("rope"), OperatorKind::rope, {q_, k_}, {q_rot, k_new_});
    op.compute = b_.vector_precision();
    if (a_.rotary_dim > 0) {
      op.work_scale = static_cast<double>(a_.rotary_dim) / static_cast<double>(a_.head_dim);
    }
    q_ = q_rot;
  }

  void gather() {
    const std::int64_t cp = b_.layout.cp;
    const OperatorKind kind = OperatorKind::all_gather;
    if (gathers(Phase::decode)) {
      q_ = b_.collective(l_.named("q_gather"), kind, q_,
                         {"batch*new", std::to_string(q_heads_ * a_.head_dim)}, cp);
    } else if (gathers(Phase::prefill)) {
      k_new_ = b_.collective(l_.named("k_gather"), kind, k_new_,
                             {"batch*new", std::to_string(kv_heads_ * a_.head_dim)}, cp);
      v_new_ = b_.collective(l_.named("v_gather"), kind, v_new_,
                             {"batch*new", std::to_string(kv_heads_ * a_.v_dim)}, cp);
    }
  }

  TensorId attend() {
    const TensorId k_cache = state("k_cache", seen_.cached_tokens(), kv_heads_ * a_.head_dim);
    const TensorId v_cache = state("v_cache", seen_.cached_tokens(), kv_heads_ * a_.v_dim);
    const std::string width = std::to_string(q_heads_ * a_.v_dim);
    const bool all = gathers(Phase::decode);
    const TensorId out = b_.activation(l_.named("attn"), {all ? "batch*new" : b_.tokens, width});
    const MatrixPrecision precision = b_.product_precision({q_, k_cache});
    Operator& op = b_.add(l_.named("attention"), OperatorKind::attention,
                          {q_, k_cache, v_cache, k_new_, v_new_}, {out});
    op.compute = precision.compute;
    op.accumulate = precision.accumulate;
    seen_.set_lengths(op);
    b_.set(op, Key::q_heads, std::to_string(q_heads_));
    b_.set(op, Key::kv_heads, std::to_string(kv_heads_));
    b_.set(op, Key::head_dim, std::to_string(a_.head_dim));
    b_.set(op, Key::v_dim, std::to_string(a_.v_dim));
    seen_.set_mask(op);
    if (!all) return out;
    return b_.collective(l_.named("attn_scatter"), OperatorKind::reduce_scatter, out,
                         {b_.tokens, width}, b_.layout.cp);
  }

  TensorId gated(TensorId x) {
    const TensorId out = l_.rows("attn_gate.out", q_heads_ * a_.v_dim);
    Operator& op = b_.add(l_.named("attn_gate"), OperatorKind::elementwise, {x, gate_}, {out});
    op.compute = b_.vector_precision();
    b_.set(op, Key::flops, "1");
    b_.set(op, Key::exps, "1");
    return out;
  }

  const LayerPart& l_;
  GraphBuilder& b_;
  const AttentionShape& a_;
  SeenKeys seen_;
  std::int64_t q_heads_;
  std::int64_t kv_heads_;
  TensorId q_{}, gate_{}, k_{}, k_new_{}, v_new_{};
};

}  // namespace

TensorId LayerPart::norm(const std::string& name, const std::string& scale, TensorId x,
                         GraphBuilder::Shape out) const {
  const TensorId result = b.activation(named(name) + ".out", out);
  b.add(named(name), OperatorKind::rmsnorm, {x, weight(scale)}, {result}).compute =
      b.vector_precision();
  return result;
}

TensorId add_attention(const LayerPart& layer, TensorId normed) {
  return Attention(layer).add(normed);
}

}  // namespace floorline
