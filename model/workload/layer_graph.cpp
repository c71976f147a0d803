// SPDX-License-Identifier: Apache-2.0
// A layer is what mixes tokens, a norm, what follows, and the norm of the next layer; or one of the
// two and that norm. What tp ranks hold in parts is summed before each norm. With sandwich norms
// (Gemma) what either gives is normalized before the residual is added.
#include "model/workload/layer_graph.hpp"

#include <algorithm>
#include <map>

#include "model/quantity/expect.hpp"
#include "model/workload/layer_parts.hpp"

namespace floorline {

namespace {

class Layer {
 public:
  explicit Layer(const LayerPart& part) : l_(part), b_(part.b) {}

  LayerStream add(LayerStream in) {
    const bool mixes = l_.group.mixer != Mixer::none;
    const bool follows = l_.group.feed_forward != FeedForward::none;
    LayerStream at = in;
    if (mixes) {
      TensorId out = mixed(in.normed);
      if (b_.layout.tp > 1) b_.all_reduce(l_.named("attn_all_reduce"), out);
      out = sandwich("mixer_out_norm", "post_attention_layernorm.weight", out);
      const char* const scale =
          l_.group.sandwich_norms ? "pre_feedforward_layernorm" : "post_attention_layernorm";
      at = follows ? add_norm("post_attn_norm", scale, out, in.residual)
                   : add_norm("next_norm", "input_layernorm", out, in.residual);
    }
    if (!follows) return at;
    FeedForwardResult result = add_feed_forward(l_, at.normed);
    if (b_.layout.tp > 1 && !result.summed) b_.all_reduce(l_.named("mlp_all_reduce"), result.out);
    result.out = sandwich("mlp_out_norm", "post_feedforward_layernorm.weight", result.out);
    return add_norm("next_norm", "input_layernorm", result.out, at.residual);
  }

 private:
  TensorId mixed(TensorId normed) {
    switch (l_.group.mixer) {
      case Mixer::attention:
        return add_attention(l_, normed);
      case Mixer::latent_attention:
        return add_latent_attention(l_, normed);
      case Mixer::mamba2:
        return add_mamba2(l_, normed);
      case Mixer::gated_delta_net:
        return add_gated_delta_net(l_, normed);
      case Mixer::none:
        break;
    }
    return normed;
  }

  TensorId sandwich(const char* name, const char* scale, TensorId x) {
    if (!l_.group.sandwich_norms) return x;
    return l_.norm(name, scale, x, {b_.tokens, b_.hidden});
  }

  LayerStream add_norm(const std::string& name, const std::string& scale, TensorId x,
                       TensorId residual) {
    const std::string full = l_.named(name);
    const LayerStream out{b_.activation(full + ".out", {b_.tokens, b_.hidden}),
                          b_.activation(full + ".residual", {b_.tokens, b_.hidden})};
    const bool rms = l_.group.norm == NormKind::rmsnorm;
    std::vector<TensorId> inputs{x, residual, l_.weight(scale + ".weight")};
    if (!rms) inputs.push_back(l_.weight(scale + ".bias"));
    Operator& op = b_.add(full, rms ? OperatorKind::rmsnorm : OperatorKind::layernorm,
                          std::move(inputs), {out.normed, out.residual});
    op.compute = b_.vector_precision();
    return out;
  }

  const LayerPart& l_;
  GraphBuilder& b_;
};

struct Pattern {
  std::size_t length = 1;
  std::size_t times = 1;
};

Pattern best_pattern(const std::vector<int>& order, std::size_t from) {
  constexpr std::size_t kLongest = 32;
  Pattern best;
  for (std::size_t length = 1; length <= kLongest && from + 2 * length <= order.size(); ++length) {
    std::size_t same = 0;
    while (from + length + same < order.size() &&
           order[from + same] == order[from + length + same]) {
      ++same;
    }
    const std::size_t times = 1 + same / length;
    if (times > 1 && length * times > best.length * best.times) best = {length, times};
  }
  return best;
}

std::string block_name(const LayerRun& run) {
  std::string name;
  std::string last;
  for (const std::string& prefix : run.prefixes) {
    if (prefix.empty() || run.groups.empty()) continue;
    const std::string kind = prefix.substr(0, prefix.size() - 1);
    if (kind != last) name += (name.empty() ? "" : "+") + kind;
    last = kind;
  }
  return name.empty() ? "layer" : name + ".layer";
}

}  // namespace

std::vector<LayerRun> runs_of(const Architecture& architecture, const std::vector<int>& order) {
  std::vector<LayerRun> runs;
  std::map<std::string, int> used;
  for (std::size_t at = 0; at < order.size();) {
    const Pattern pattern = best_pattern(order, at);
    LayerRun run;
    run.times = static_cast<std::int64_t>(pattern.times);
    for (std::size_t i = 0; i < pattern.length; ++i) {
      const int group = order[at + i];
      const std::string& name = architecture.layers[static_cast<std::size_t>(group)].name;
      const int again = ++used[name];
      const bool alone = architecture.layers.size() == 1;
      std::string prefix = again > 1 ? name + std::to_string(again) : name;
      if (alone && again == 1) prefix.clear();
      run.groups.push_back(group);
      run.prefixes.push_back(prefix.empty() ? "" : prefix + ".");
    }
    runs.push_back(std::move(run));
    at += pattern.length * pattern.times;
  }
  return runs;
}

LayerStream add_layers(GraphBuilder& builder, const LayerRun& run, LayerStream stream) {
  const std::size_t first = builder.op_count();
  const LayerStream in = stream;
  for (std::size_t i = 0; i < run.groups.size(); ++i) {
    const auto g = static_cast<std::size_t>(run.groups[i]);
    const LayerPart part{builder, builder.architecture.layers[g], run.groups[i], run.prefixes[i]};
    stream = Layer(part).add(stream);
  }
  Repeat repeat;
  repeat.name = block_name(run);
  repeat.times = Expression(static_cast<double>(run.times));
  repeat.at = builder.architecture.at;
  for (std::size_t op = first; op < builder.op_count(); ++op) {
    repeat.ops.push_back(static_cast<OperatorId>(op));
  }
  repeat.carry = {{stream.normed, in.normed}, {stream.residual, in.residual}};
  builder.graph.repeats.push_back(std::move(repeat));
  return stream;
}

}  // namespace floorline
