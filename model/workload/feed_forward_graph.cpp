// SPDX-License-Identifier: Apache-2.0
// What follows the mixer, on one rank, T tokens, f this rank's part of an intermediate size:
//   gate_up_proj  [T,h] × [h,2·f]   activation   down_proj [T,f] × [f,h]
//   activation    silu(gate)·up. With silu(x) = y·tanh(y) + y, y = x/2: one product, one
//                 exponential, one multiply-add, one product: 4 FLOPs and 1 exponential an element.
//                 gelu by tanh: 8 and 1. Without gate, squared ReLU: 2.
// Experts: router [T,h] × [h,E], router_scores (1 FLOP, 1 exponential a score), then grouped
// products over the rows that this rank's experts get, ⌈T·top_k/ep⌉ on the busiest rank at least,
// and combine, their weighted sum. Shared experts see every token.
//   ep ≤ tp   all tp ranks have all tokens: nothing is sent, partial sums meet in one all_reduce
//   ep > tp   tokens of ep/tp replicas meet: dispatch to the ranks of their experts, combine sends
//             back; with tp > 1 each rank of a replica sends its share and an all_gather follows
// Not modelled: the choice of the top k, the gate of a shared expert's own product (one column).
#include "model/workload/layer_parts.hpp"

namespace floorline {

namespace {

std::string text(std::int64_t number) { return std::to_string(number); }

struct Work {
  const char* flops;
  const char* exps;
};

Work work_of(Activation activation, bool gated) {
  switch (activation) {
    case Activation::silu:
      return gated ? Work{"4", "1"} : Work{"3", "1"};
    case Activation::gelu:
      return gated ? Work{"8", "1"} : Work{"7", "1"};
    case Activation::relu2:
      return gated ? Work{"3", "0"} : Work{"2", "0"};
  }
  return {"0", "0"};
}

/// What a dense MLP, a shared expert and routed experts have in common.
struct Network {
  std::string prefix;   ///< of operators: "", "shared_", "expert_"
  std::string weights;  ///< "mlp.", "mlp.experts."
  std::string rows;
  std::int64_t width = 0;
  bool gated = true;
  Activation activation = Activation::silu;
};

class FeedForwardPart {
 public:
  explicit FeedForwardPart(const LayerPart& layer)
      : l_(layer), b_(layer.b), e_(layer.group.experts) {}

  FeedForwardResult add(TensorId normed) {
    switch (l_.group.feed_forward) {
      case FeedForward::dense:
        return {add_mlp(normed), false};
      case FeedForward::experts:
        return add_experts(normed, {});
      case FeedForward::dense_and_experts:
        return add_experts(normed, {add_mlp(normed)});
      case FeedForward::none:
        break;
    }
    return {normed, true};
  }

 private:
  [[nodiscard]] std::int64_t divided(std::int64_t size) const {
    return (size + b_.layout.tp - 1) / b_.layout.tp;
  }

  TensorId add_mlp(TensorId normed) {
    const MlpShape& m = l_.group.mlp;
    return add_network({"", "mlp.", b_.tokens, divided(m.intermediate), m.gated, m.activation},
                       normed);
  }

  TensorId add_activation(const Network& net, const std::vector<TensorId>& inputs) {
    const std::string name = l_.named(net.prefix + "activation");
    const TensorId out = b_.activation(name + ".out", {net.rows, text(net.width)});
    Operator& op = b_.add(name, OperatorKind::elementwise, inputs, {out});
    op.compute = b_.vector_precision();
    const Work work = work_of(net.activation, net.gated);
    b_.set(op, Key::flops, work.flops);
    b_.set(op, Key::exps, work.exps);
    return out;
  }

  /// The first product's operands and results: gate and up, or up alone.
  struct Wide {
    std::vector<TensorId> inputs;
    std::vector<TensorId> outputs;
  };
  Wide wide_product(const Network& net, TensorId x) {
    Wide wide{{x}, {}};
    if (net.gated) {
      wide.outputs.push_back(
          b_.activation(l_.named(net.prefix + "gate"), {net.rows, text(net.width)}));
      wide.inputs.push_back(l_.weight(net.weights + "gate_proj.weight"));
    }
    wide.outputs.push_back(b_.activation(l_.named(net.prefix + "up"), {net.rows, text(net.width)}));
    wide.inputs.push_back(l_.weight(net.weights + "up_proj.weight"));
    return wide;
  }
  [[nodiscard]] static std::string wide_name(const Network& net) {
    return net.prefix + (net.gated ? "gate_up_proj" : "up_proj");
  }

  TensorId add_network(const Network& net, TensorId x) {
    const Wide wide = wide_product(net, x);
    b_.add_product(l_.named(wide_name(net)), wide.inputs, wide.outputs);
    const TensorId active = add_activation(net, wide.outputs);
    const TensorId out =
        b_.activation(l_.named(net.prefix + "down_proj.out"), {net.rows, b_.hidden});
    b_.add_product(l_.named(net.prefix + "down_proj"),
                   {active, l_.weight(net.weights + "down_proj.weight")}, {out});
    return out;
  }

  /// Tokens of all ranks that share experts.
  [[nodiscard]] std::string group_tokens() const {
    const std::int64_t replicas = b_.layout.expert_replicas();
    return replicas > 1 ? b_.tokens + "*" + text(replicas) : b_.tokens;
  }
  void set_routing(Operator& op, std::int64_t ep) const {
    b_.set(op, Key::tokens, group_tokens());
    b_.set(op, Key::top_k, text(e_.top_k));
    b_.set(op, Key::experts, text(e_.experts));
    b_.set(op, Key::ep, text(ep));
  }

  TensorId add_routed_network(TensorId x) {
    const std::int64_t ep = b_.layout.ep;
    const std::int64_t shares = ep < b_.layout.tp ? b_.layout.tp / ep : 1;
    const Network net{"expert_",
                      "mlp.experts.",
                      "ceil(" + group_tokens() + "*" + text(e_.top_k) + "/" + text(ep) + ")",
                      (e_.intermediate + shares - 1) / shares,
                      e_.gated,
                      e_.activation};
    const Wide wide = wide_product(net, x);
    Operator& first = b_.add_product_of(OperatorKind::grouped_gemm, l_.named(wide_name(net)),
                                        wide.inputs, wide.outputs);
    set_routing(first, ep);
    b_.set(first, Key::k, b_.hidden);
    const TensorId active = add_activation(net, wide.outputs);
    const TensorId out = b_.activation(l_.named("expert_down_proj.out"), {net.rows, b_.hidden});
    const TensorId down = l_.weight("mlp.experts.down_proj.weight");
    Operator& second = b_.add_product_of(OperatorKind::grouped_gemm, l_.named("expert_down_proj"),
                                         {active, down}, {out});
    set_routing(second, ep);
    b_.set(second, Key::k, text(net.width));
    return out;
  }

  void add_router(TensorId normed) {
    const TensorId logits = l_.rows("router.out", e_.experts);
    b_.add_product(l_.named("router"), {normed, l_.weight("mlp.gate.weight")}, {logits});
    const TensorId scores = l_.rows("router_scores.out", e_.experts);
    Operator& op = b_.add(l_.named("router_scores"), OperatorKind::elementwise, {logits}, {scores});
    op.compute = b_.vector_precision();
    b_.set(op, Key::flops, "1");
    b_.set(op, Key::exps, "1");
  }

  FeedForwardResult add_experts(TensorId normed, std::vector<TensorId> others) {
    add_router(normed);
    if (e_.shared_intermediate > 0) {
      others.push_back(add_network({"shared_", "mlp.shared_experts.", b_.tokens,
                                    divided(e_.shared_intermediate), e_.gated, e_.activation},
                                   normed));
    }
    return b_.layout.ep > b_.layout.tp ? over_replicas(normed, others) : within(normed, others);
  }

  TensorId add_combine(TensorId rows, const std::vector<TensorId>& others,
                       const std::string& tokens, std::int64_t ep) {
    std::vector<TensorId> inputs{rows};
    for (const TensorId other : others) inputs.push_back(other);
    const TensorId out = b_.activation(l_.named("combine.out"), {tokens, b_.hidden});
    Operator& op = b_.add(l_.named("combine"), OperatorKind::combine, std::move(inputs), {out});
    op.compute = b_.vector_precision();
    set_routing(op, ep);
    b_.set(op, Key::hidden, b_.hidden);
    return out;
  }

  FeedForwardResult within(TensorId normed, const std::vector<TensorId>& others) {
    const TensorId rows = add_routed_network(normed);
    return {add_combine(rows, others, b_.tokens, 1), false};
  }

  FeedForwardResult over_replicas(TensorId normed, const std::vector<TensorId>& others) {
    const ParallelLayout& layout = b_.layout;
    const std::string ep = text(layout.ep);
    const std::string local = text(e_.experts / layout.ep);
    const std::string rows = "ceil(" + group_tokens() + "*" + text(e_.top_k) + "/" + ep + ")";
    const TensorId arrived =
        b_.activation(l_.named("dispatch.out"),
                      {"ceil(" + rows + "/min(" + text(e_.top_k) + "," + local + "))", b_.hidden});
    Operator& op = b_.add(l_.named("dispatch"), OperatorKind::dispatch, {normed}, {arrived});
    set_routing(op, layout.ep);
    b_.set(op, Key::hidden, b_.hidden);
    TensorId out = add_combine(add_routed_network(arrived), {},
                               "ceil(" + group_tokens() + "/" + ep + ")", layout.ep);
    if (layout.tp > 1) {
      out = b_.collective(l_.named("expert_gather"), OperatorKind::all_gather, out,
                          {b_.tokens, b_.hidden}, layout.tp);
    }
    for (TensorId other : others) {
      if (layout.tp > 1) b_.all_reduce(l_.named("shared_all_reduce"), other);
      const TensorId sum = b_.activation(l_.named("expert_sum.out"), {b_.tokens, b_.hidden});
      b_.add(l_.named("expert_sum"), OperatorKind::elementwise, {out, other}, {sum}).compute =
          b_.vector_precision();
      out = sum;
    }
    return {out, true};
  }

  const LayerPart& l_;
  GraphBuilder& b_;
  const ExpertShape& e_;
};

}  // namespace

FeedForwardResult add_feed_forward(const LayerPart& layer, TensorId normed) {
  return FeedForwardPart(layer).add(normed);
}

}  // namespace floorline
