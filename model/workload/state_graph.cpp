// SPDX-License-Identifier: Apache-2.0
// Layers that keep a state of fixed size, on one of tp ranks, T tokens:
//   in_proj     [T,h] × all parts            conv   a causal filter of `taps` over each channel,
//               2·taps FLOPs and silu (3, one exponential) an element; reads and writes the last
//               taps − 1 tokens of each sequence
//   ssm_scan or linear_attention             the state of each sequence read and written once
//   gated_norm  norm(out · silu(z))          out_proj [T,e] × [e,h]
// A sequence that starts from nothing (prefill without context) reads no state.
#include <algorithm>

#include "model/workload/layer_parts.hpp"

namespace floorline {

namespace {

std::string text(std::int64_t number) { return std::to_string(number); }

struct StatePart {
  const LayerPart& l;
  GraphBuilder& b;
  const StateShape& s;
  std::int64_t heads = 0;
  std::int64_t key_heads = 0;

  explicit StatePart(const LayerPart& layer)
      : l(layer),
        b(layer.b),
        s(layer.group.state),
        heads(s.heads / layer.b.layout.tp),
        key_heads(std::max<std::int64_t>(1, s.key_heads / layer.b.layout.tp)) {}

  [[nodiscard]] std::int64_t inner() const { return heads * s.value_dim; }
  [[nodiscard]] std::int64_t keys() const { return key_heads * s.key_dim; }
  [[nodiscard]] bool starts() const {
    return b.scenario.phase == Phase::prefill && b.scenario.contexts.empty() &&
           b.scenario.cached() == 0;
  }
  [[nodiscard]] TensorId state(const char* name, std::int64_t size, Precision dtype) const {
    return b.tensor(l.named(name), {"batch", text(size)}, dtype, TensorRole::state);
  }

  /// The filter over all channels; `parts` are replaced by what it gives.
  void conv(std::vector<TensorId>& parts, const std::vector<std::int64_t>& widths,
            std::vector<TensorId> weights) const {
    std::int64_t channels = 0;
    for (const std::int64_t width : widths) channels += width;
    std::vector<TensorId> inputs = parts;
    inputs.insert(inputs.end(), weights.begin(), weights.end());
    const std::int64_t kept = (s.conv_width - 1) * channels;
    if (!starts()) inputs.push_back(state("conv_state", kept, b.activation_dtype));
    std::vector<TensorId> outputs;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      outputs.push_back(l.rows("conv.out" + std::to_string(i), widths[i]));
    }
    parts = outputs;
    outputs.push_back(state("conv_state_new", kept, b.activation_dtype));
    Operator& op =
        b.add(l.named("conv"), OperatorKind::elementwise, std::move(inputs), std::move(outputs));
    op.compute = b.vector_precision();
    b.set(op, Key::n, b.tokens + "*" + text(channels));
    b.set(op, Key::flops, text(2 * s.conv_width + 3));
    b.set(op, Key::exps, "1");
  }

  void set_lengths(Operator& op) const {
    b.set(op, Key::batch, "batch");
    b.set(op, Key::q_len, "new");
    b.set(op, Key::heads, text(heads));
    b.set(op, Key::initial, starts() ? "0" : "1");
  }

  TensorId finish(TensorId out, TensorId z, const std::string& norm, const std::string& proj) {
    const TensorId normed = l.rows("gated_norm.out", inner());
    const TensorId scale = l.weight(norm);
    b.add(l.named("gated_norm"), OperatorKind::rmsnorm, {out, z, scale}, {normed}).compute =
        b.vector_precision();
    const TensorId projected = b.activation(l.named("out_proj.out"), {b.tokens, b.hidden});
    b.add_product(l.named("out_proj"), {normed, l.weight(proj)}, {projected});
    return projected;
  }
};

}  // namespace

TensorId add_mamba2(const LayerPart& layer, TensorId normed) {
  StatePart p(layer);
  GraphBuilder& b = p.b;
  const TensorId z = layer.rows("z", p.inner());
  const TensorId dt = layer.rows("dt", p.heads);
  std::vector<TensorId> parts{layer.rows("x", p.inner()), layer.rows("bc", 2 * p.keys())};
  b.add_product(layer.named("in_proj"),
                {normed, layer.weight("mixer.in_proj.zx.weight"),
                 layer.weight("mixer.in_proj.bc.weight"), layer.weight("mixer.in_proj.dt.weight")},
                {z, parts[0], parts[1], dt});
  p.conv(parts, {p.inner(), 2 * p.keys()},
         {layer.weight("mixer.conv1d.x.weight"), layer.weight("mixer.conv1d.bc.weight")});
  const std::int64_t size = p.heads * p.s.value_dim * p.s.key_dim;
  const TensorId out = layer.rows("ssm.out", p.inner());
  std::vector<TensorId> inputs{parts[0], parts[1], dt};
  if (!p.starts()) inputs.push_back(p.state("ssm_state", size, p.s.dtype));
  Operator& op = b.add(layer.named("ssm_scan"), OperatorKind::ssm_scan, std::move(inputs),
                       {out, p.state("ssm_state_new", size, p.s.dtype)});
  op.compute = b.vector_precision();
  p.set_lengths(op);
  b.set(op, Key::head_dim, text(p.s.value_dim));
  b.set(op, Key::state, text(p.s.key_dim));
  b.set(op, Key::groups, text(p.key_heads));
  return p.finish(out, z, "mixer.norm.weight", "mixer.out_proj.weight");
}

TensorId add_gated_delta_net(const LayerPart& layer, TensorId normed) {
  StatePart p(layer);
  GraphBuilder& b = p.b;
  const TensorId z = layer.rows("z", p.inner());
  const TensorId ba = layer.rows("ba", 2 * p.heads);
  std::vector<TensorId> parts{layer.rows("qk", 2 * p.keys()), layer.rows("v", p.inner())};
  b.add_product(layer.named("in_proj"),
                {normed, layer.weight("linear_attn.in_proj_qk.weight"),
                 layer.weight("linear_attn.in_proj_vz.weight"),
                 layer.weight("linear_attn.in_proj_ba.weight")},
                {parts[0], parts[1], z, ba});
  p.conv(
      parts, {2 * p.keys(), p.inner()},
      {layer.weight("linear_attn.conv1d.qk.weight"), layer.weight("linear_attn.conv1d.v.weight")});
  const std::int64_t size = p.heads * p.s.value_dim * p.s.key_dim;
  const TensorId out = layer.rows("delta.out", p.inner());
  std::vector<TensorId> inputs{parts[0], parts[1], ba};
  if (!p.starts()) inputs.push_back(p.state("delta_state", size, p.s.dtype));
  Operator& op = b.add(layer.named("linear_attention"), OperatorKind::linear_attention,
                       std::move(inputs), {out, p.state("delta_state_new", size, p.s.dtype)});
  op.compute = b.vector_precision();
  p.set_lengths(op);
  b.set(op, Key::head_dim, text(p.s.key_dim));
  b.set(op, Key::v_dim, text(p.s.value_dim));
  b.set(op, Key::q_heads, text(p.key_heads));
  b.set(op, Key::delta, "1");
  return p.finish(out, z, "linear_attn.norm.weight", "linear_attn.out_proj.weight");
}

}  // namespace floorline
