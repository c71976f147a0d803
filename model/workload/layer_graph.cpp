// SPDX-License-Identifier: Apache-2.0
// One layer on one of tp ranks, T = batch·new tokens, h = hidden, q and kv this rank's heads of d:
//   qkv_proj      [T,h] × [h,(q+2·kv)·d]      k and v leave as what the cache stores
//   rope          q and k; 3 FLOPs an element
//   attention     cached and new keys; with a window w a query sees at most w − 1 cached tokens, so
//                 only min(context, w−1) of the cache are an input
//   o_proj        [T,q·d] × [q·d,h]           gate_up_proj [T,h] × [h,2·f]   down_proj [T,f] ×
//   [f,h] activation    silu(gate)·up. With silu(x) = y·tanh(y) + y, y = x/2: one product, one
//                 exponential, one multiply-add, one product: 4 FLOPs and 1 exponential an element
#include "model/workload/layer_graph.hpp"

#include <algorithm>

#include "model/quantity/expect.hpp"

namespace floorline {

namespace {

std::string text(std::int64_t number) { return std::to_string(number); }

class Layer {
 public:
  Layer(GraphBuilder& builder, const LayerRun& run)
      : b_(builder),
        run_(run),
        group_(builder.architecture.layers[static_cast<std::size_t>(run.group)]),
        a_(group_.attention) {
    FLOORLINE_EXPECT(a_.rope && group_.mlp.gated);
    q_heads_ = a_.q_heads / b_.layout.tp;
    kv_heads_ = std::max<std::int64_t>(1, a_.kv_heads / b_.layout.tp);
    intermediate_ = text((group_.mlp.intermediate + b_.layout.tp - 1) / b_.layout.tp);
  }

  LayerStream add(LayerStream in) {
    const std::size_t first = b_.op_count();
    TensorId attention = add_attention(in.normed);
    if (b_.layout.tp > 1) b_.all_reduce(named("attn_all_reduce"), attention);
    const LayerStream middle =
        add_norm("post_attn_norm", "post_attention_layernorm.weight", attention, in.residual);
    TensorId mlp = add_mlp(middle.normed);
    if (b_.layout.tp > 1) b_.all_reduce(named("mlp_all_reduce"), mlp);
    const LayerStream out = add_norm("next_norm", "input_layernorm.weight", mlp, middle.residual);
    Repeat repeat;
    repeat.name = named("layer");
    repeat.times = Expression(static_cast<double>(run_.count));
    repeat.at = b_.architecture.at;
    for (std::size_t op = first; op < b_.op_count(); ++op) {
      repeat.ops.push_back(static_cast<OperatorId>(op));
    }
    repeat.carry = {{out.normed, in.normed}, {out.residual, in.residual}};
    b_.graph.repeats.push_back(std::move(repeat));
    return out;
  }

 private:
  [[nodiscard]] std::string named(const char* name) const { return run_.prefix + name; }
  TensorId weight(const char* name) {
    return b_.weight(std::string("layers.") + name, run_.group, run_.prefix);
  }
  TensorId heads(const char* name, std::int64_t count) {
    return b_.activation(named(name), {b_.tokens, text(count * a_.head_dim)});
  }

  LayerStream add_norm(const std::string& name, const char* scale, TensorId x, TensorId residual) {
    const std::string full = run_.prefix + name;
    const LayerStream out{b_.activation(full + ".out", {b_.tokens, b_.hidden}),
                          b_.activation(full + ".residual", {b_.tokens, b_.hidden})};
    const TensorId weights = weight(scale);
    Operator& op =
        b_.add(full, OperatorKind::rmsnorm, {x, residual, weights}, {out.normed, out.residual});
    op.compute = b_.vector_precision();
    return out;
  }

  TensorId add_head_norm(const char* name, const char* scale, TensorId x, std::int64_t count) {
    const TensorId out =
        b_.activation(named(name) + ".out", {b_.tokens, text(count), text(a_.head_dim)});
    const TensorId weights = weight(scale);
    b_.add(named(name), OperatorKind::rmsnorm, {x, weights}, {out}).compute = b_.vector_precision();
    return out;
  }

  /// Tokens of the cache that some query of a sequence sees.
  [[nodiscard]] std::int64_t visible(std::int64_t context) const {
    return a_.window > 0 ? std::min(context, a_.window - 1) : context;
  }
  [[nodiscard]] std::string cached_tokens() const {
    if (b_.scenario.contexts.empty()) return "batch*(" + visible_context() + ")";
    std::int64_t tokens = 0;
    for (const ContextGroup& group : b_.scenario.contexts) {
      tokens += group.count * visible(group.context);
    }
    return text(tokens);
  }
  [[nodiscard]] std::string visible_context() const {
    return a_.window > 0 ? "min(context," + text(a_.window - 1) + ")" : "context";
  }

  void set_sequences(Operator& op) const {
    const Scenario& scenario = b_.scenario;
    if (scenario.contexts.empty()) {
      b_.set(op, Key::batch, "batch");
      b_.set(op, Key::q_len, "new");
      b_.set(op, Key::kv_len, visible_context() + "+new");
    }
    const auto new_tokens = static_cast<double>(scenario.new_tokens());
    for (const ContextGroup& group : scenario.contexts) {
      op.sequences.push_back({static_cast<double>(group.count), new_tokens,
                              static_cast<double>(visible(group.context)) + new_tokens});
    }
    b_.set(op, Key::q_heads, text(q_heads_));
    b_.set(op, Key::kv_heads, text(kv_heads_));
    b_.set(op, Key::head_dim, text(a_.head_dim));
    b_.set(op, Key::v_dim, text(a_.v_dim));
    b_.set(op, Key::causal, "1");
    if (a_.window > 0) b_.set(op, Key::window, text(a_.window));
  }

  TensorId add_attention(TensorId normed) {
    const std::string k_size = text(kv_heads_ * a_.head_dim);
    const std::string v_size = text(kv_heads_ * a_.v_dim);
    TensorId q = heads("q", q_heads_);
    TensorId k = heads("k", kv_heads_);
    const TensorId v_new = state("v_new", b_.tokens, v_size);
    b_.add_product(named("qkv_proj"),
                   {normed, weight("self_attn.q_proj.weight"), weight("self_attn.k_proj.weight"),
                    weight("self_attn.v_proj.weight")},
                   {q, k, v_new});
    if (a_.qk_norm) {
      q = add_head_norm("q_norm", "self_attn.q_norm.weight", q, q_heads_);
      k = add_head_norm("k_norm", "self_attn.k_norm.weight", k, kv_heads_);
    }
    const TensorId k_new = state("k_new", b_.tokens, k_size);
    const TensorId q_rot = heads("q_rot", q_heads_);
    b_.add(named("rope"), OperatorKind::rope, {q, k}, {q_rot, k_new}).compute =
        b_.vector_precision();
    const TensorId k_cache = state("k_cache", cached_tokens(), k_size);
    const TensorId v_cache = state("v_cache", cached_tokens(), v_size);
    const TensorId out = b_.activation(named("attn"), {b_.tokens, text(q_heads_ * a_.v_dim)});
    const MatrixPrecision precision = b_.product_precision({q_rot, k_cache});
    Operator& op = b_.add(named("attention"), OperatorKind::attention,
                          {q_rot, k_cache, v_cache, k_new, v_new}, {out});
    op.compute = precision.compute;
    op.accumulate = precision.accumulate;
    set_sequences(op);
    const TensorId projected = b_.activation(named("o_proj.out"), {b_.tokens, b_.hidden});
    b_.add_product(named("o_proj"), {out, weight("self_attn.o_proj.weight")}, {projected});
    return projected;
  }

  TensorId state(const char* name, const std::string& tokens, const std::string& size) {
    return b_.tensor(named(name), {tokens, size}, b_.kv_dtype, TensorRole::state);
  }

  TensorId add_mlp(TensorId normed) {
    const TensorId gate = b_.activation(named("gate"), {b_.tokens, intermediate_});
    const TensorId up = b_.activation(named("up"), {b_.tokens, intermediate_});
    b_.add_product(named("gate_up_proj"),
                   {normed, weight("mlp.gate_proj.weight"), weight("mlp.up_proj.weight")},
                   {gate, up});
    const TensorId active = b_.activation(named("activation.out"), {b_.tokens, intermediate_});
    Operator& op = b_.add(named("activation"), OperatorKind::elementwise, {gate, up}, {active});
    op.compute = b_.vector_precision();
    b_.set(op, Key::flops, "4");
    b_.set(op, Key::exps, "1");
    const TensorId out = b_.activation(named("down_proj.out"), {b_.tokens, b_.hidden});
    b_.add_product(named("down_proj"), {active, weight("mlp.down_proj.weight")}, {out});
    return out;
  }

  GraphBuilder& b_;
  const LayerRun& run_;
  const LayerGroup& group_;
  const AttentionShape& a_;
  std::int64_t q_heads_ = 0;
  std::int64_t kv_heads_ = 0;
  std::string intermediate_;
};

}  // namespace

LayerStream add_layers(GraphBuilder& builder, const LayerRun& run, LayerStream stream) {
  return Layer(builder, run).add(stream);
}

}  // namespace floorline
