// SPDX-License-Identifier: Apache-2.0
#include "model/workload/training_graph.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "model/quantity/expect.hpp"
#include "model/workload/backward_graph.hpp"
#include "model/workload/model_graph.hpp"
#include "model/workload/model_notes.hpp"
#include "model/workload/optimizer_graph.hpp"

namespace floorline {

namespace {

/// A prefill of all sequences of a step.
Scenario forward_of(const Scenario& scenario) {
  Scenario forward = scenario;
  forward.phase = Phase::prefill;
  forward.batch = scenario.sequences();
  forward.prompt = scenario.training.sequence;
  forward.context = 0;
  forward.contexts.clear();
  forward.logits = Logits::all;
  forward.kv_dtype.reset();
  return forward;
}

/// Operators that stand together: a repeat block, or what is before or behind all blocks.
struct Segment {
  const Repeat* block = nullptr;
  std::size_t first = 0;
  std::size_t end = 0;
  WeightClass owner;
  std::vector<TensorId> gradients;  ///< what the optimizer reads
};

class TrainingStep {
 public:
  TrainingStep(const Architecture& architecture, const Scenario& scenario,
               const ParallelLayout& layout, std::int64_t stage)
      : architecture_(architecture),
        scenario_(scenario),
        layout_(layout),
        stage_(stage),
        forward_(model_graph(architecture, forward_of(scenario), layout, stage)),
        editor_(graph_, architecture.at),
        update_(editor_, scenario.training, layout.dp),
        walk_(editor_, architecture, scenario.training.grad_dtype, layout.tp) {}

  OperatorGraph build() {
    begin();
    find_segments();
    for (Segment& segment : segments_) add_forward(segment);
    TensorId stream = add_end();
    for (std::size_t i = segments_.size() - 1; i-- > 1;)
      stream = add_backward(segments_[i], stream);
    add_start(stream);
    for (const Segment& segment : segments_) {
      if (segment.block != nullptr) add_update(segment);
    }
    if (!outer_.weights.empty()) update_.update(outer_, outer_gradients_);
    return std::move(graph_);
  }

 private:
  /// The forward graph's tensors, without a cache: keys and values are activations.
  void begin() {
    graph_.name = architecture_.name + " train";
    graph_.symbols = forward_.symbols;
    graph_.symbol_values = forward_.symbol_values;
    graph_.routing = forward_.routing;
    graph_.assumptions = model_assumptions(architecture_, scenario_, layout_);
    graph_.notes = model_notes(architecture_, scenario_);
    graph_.tensors = forward_.tensors;
    activation_ = activation_storage(architecture_, scenario_);
    std::set<TensorId> made;
    for (const Operator& op : forward_.ops) made.insert(op.outputs.begin(), op.outputs.end());
    for (std::size_t t = 0; t < graph_.tensors.size(); ++t) {
      Tensor& tensor = graph_.tensors[t];
      if (tensor.role == TensorRole::state) {
        tensor.role = TensorRole::intermediate;
        tensor.dtype = activation_;
        if (!made.contains(static_cast<TensorId>(t))) cache_.insert(static_cast<TensorId>(t));
      }
      if (tensor.name == "logits") tensor.role = TensorRole::intermediate;
    }
    for (Operator& op : forward_.ops) {
      std::erase_if(op.inputs, [&](TensorId id) { return cache_.contains(id); });
      const bool attends = op.kind == OperatorKind::attention && !scenario_.compute_dtype;
      if (attends) op.compute = activation_;
    }
    add_notes();
  }

  void add_notes() {
    const TrainingPlan& plan = scenario_.training;
    if (plan.recompute != Recompute::none) {
      graph_.notes.push_back("condition: recompute = " + std::string(name_of(plan.recompute)) +
                             ": what the backward pass computes again is part of these floors");
    }
    if (update_.gathers()) {
      graph_.notes.emplace_back(
          "condition: zero = 3: weights are gathered for the forward and again for the backward "
          "pass");
    }
    if (plan.accumulation > 1) {
      graph_.notes.emplace_back(
          "accumulated passes count as one over all their sequences: weights are read once "
          "(weaker)");
    }
    graph_.notes.emplace_back(
        "attention backward: 4 products a pair, as if scores were kept; a kernel that computes "
        "them "
        "again (FlashAttention) does five (weaker)");
    if (layout_.tp > 1) {
      graph_.assumptions.emplace_back(
          "tp: two more all_reduces in each layer's backward pass; statistics of the loss are not "
          "counted (weaker)");
    }
    if (layout_.pp > 1) {
      graph_.notes.emplace_back(
          "pp: the step is at least the slowest stage's work; filling and draining the pipeline "
          "are "
          "not counted (weaker)");
    }
  }

  void find_segments() {
    const auto close = [&](Segment segment, std::size_t end) {
      segment.end = end;
      segments_.push_back(std::move(segment));
    };
    std::size_t at = 0;
    for (const Repeat& block : forward_.repeats) {
      const std::size_t first = index(block.ops.front());
      close({nullptr, at, 0, {}, {}}, first);
      at = first + block.ops.size();
      Segment segment{&block, first, 0, {}, {}};
      if (forward_.repeats.size() > 1) segment.owner.prefix = block.name + ".";
      close(std::move(segment), at);
    }
    close({nullptr, at, 0, {}, {}}, forward_.ops.size());
    // Blocks follow one another without operators between them.
    std::erase_if(segments_, [&](const Segment& s) {
      return s.block == nullptr && s.first == s.end && s.first != 0 && s.end != forward_.ops.size();
    });
    outer_.prefix = "outer.";
    std::set<TensorId> seen;
    for (Segment& segment : segments_) {
      WeightClass& owner = segment.block != nullptr ? segment.owner : outer_;
      for (std::size_t i = segment.first; i < segment.end; ++i) {
        for (const TensorId in : forward_.ops[i].inputs) {
          const bool weight = editor_.tensor(in).role == TensorRole::weight;
          if (weight && seen.insert(in).second) owner.weights.push_back(in);
        }
      }
    }
  }

  void add_forward(Segment& segment) {
    const std::size_t first = graph_.ops.size();
    if (update_.gathers()) {
      WeightClass& owner = segment.block != nullptr ? segment.owner : outer_;
      const bool once = segment.block != nullptr || first == 0;
      if (once && !owner.weights.empty()) update_.gather(owner, owner.weights, "params_gather");
    }
    for (std::size_t i = segment.first; i < segment.end; ++i) graph_.ops.push_back(forward_.ops[i]);
    if (segment.block == nullptr) return;
    Repeat& block = editor_.repeat(segment.block->name, segment.block->times, first);
    block.carry = segment.block->carry;
  }

  /// The gradient of the last layer's sum: of the loss, or from the next stage.
  TensorId add_end() {
    const Segment& end = segments_.back();
    const Repeat& block = forward_.repeats.back();
    const Operator norm = forward_.ops[index(block.ops.back())];
    const TensorId sum = norm.outputs[1];
    const bool last = stage_ == layout_.pp - 1;
    if (!last) return editor_.like(sum, "grad_received", activation_, TensorRole::input);
    const std::optional<TensorId> logits = graph_.find_tensor("logits");
    FLOORLINE_EXPECT(logits.has_value());
    Tensor labels;
    labels.name = "labels";
    labels.shape = {editor_.tensor(*logits).shape.front()};
    labels.dtype = Precision::int32;
    labels.role = TensorRole::input;
    graph_.tensors.push_back(std::move(labels));
    const auto ids = static_cast<TensorId>(graph_.tensors.size() - 1);
    const TensorId made = editor_.like(*logits, "logits.grad", editor_.tensor(*logits).dtype);
    editor_.add("loss", OperatorKind::cross_entropy, {*logits, ids}, {made});
    walk_.set_gradient(*logits, made);
    for (std::size_t i = end.end; i-- > end.first;) walk_.add(forward_.ops[i]);
    const TensorId stream =
        walk_.add_norm(norm, walk_.gradient(norm.outputs[0]), sum, {}, "final_norm.backward");
    take_outer();
    return stream;
  }

  /// Gradients that the walk made outside blocks.
  void take_outer() {
    for (const WeightGradient& g : walk_.weights()) outer_gradients_.push_back(g.gradient);
    walk_.clear_weights();
  }

  /// Forward operators of a block once more, but for the norm that the next layer begins with.
  void add_recomputed(const Segment& segment) {
    const Recompute what = scenario_.training.recompute;
    std::map<TensorId, TensorId> again;
    for (std::size_t i = segment.first; what != Recompute::none && i + 1 < segment.end; ++i) {
      Operator op = forward_.ops[i];
      if (what == Recompute::selective && op.kind != OperatorKind::attention) continue;
      op.name = "recompute." + op.name;
      for (TensorId& in : op.inputs) {
        if (again.contains(in)) in = again[in];
        if (weights_again_.contains(in)) in = weights_again_[in];
      }
      for (TensorId& out : op.outputs) {
        const TensorId made =
            editor_.like(out, "recompute." + editor_.tensor(out).name, editor_.tensor(out).dtype);
        again[out] = made;
        walk_.replace(out, made);
        out = made;
      }
      graph_.ops.push_back(std::move(op));
    }
  }

  /// Zero 3: weights are gathered again.
  void add_gathered(Segment& segment) {
    weights_again_.clear();
    if (!update_.gathers()) return;
    std::vector<TensorId> into;
    for (const TensorId weight : segment.owner.weights) {
      const TensorId made = editor_.like(weight, editor_.tensor(weight).name + ".again",
                                         editor_.tensor(weight).dtype, TensorRole::weight);
      into.push_back(made);
      weights_again_[weight] = made;
      walk_.replace(weight, made);
    }
    update_.gather(segment.owner, into, "params_gather_again");
  }

  /// All layers of a block, the last one first. `stream`: the gradient of the last one's sum.
  TensorId add_backward(Segment& segment, TensorId stream) {
    const std::size_t first = graph_.ops.size();
    add_gathered(segment);
    add_recomputed(segment);
    const Operator norm = forward_.ops[segment.end - 1];
    const auto& carry = segment.block->carry;
    FLOORLINE_EXPECT(norm.outputs.size() == 2 && carry.size() == 2);
    walk_.set_gradient(norm.inputs[0], stream);
    walk_.set_gradient(norm.inputs[1], stream);
    for (std::size_t i = segment.end - 1; i-- > segment.first;) {
      walk_.add(forward_.ops[i]);
    }
    const TensorId normed = carry[0].second;
    const TensorId sum = carry[1].second;
    const TensorId made = walk_.add_norm(norm, walk_.gradient(normed), sum, {walk_.gradient(sum)},
                                         norm.name + ".backward");
    std::vector<TensorId> gradients;
    for (const WeightGradient& g : walk_.weights()) gradients.push_back(g.gradient);
    walk_.clear_weights();
    segment.gradients = update_.reduce(segment.owner, gradients);
    Repeat& block = editor_.repeat(segment.block->name + ".backward", segment.block->times, first);
    block.carry = {{made, stream}};
    return made;
  }

  void add_start(TensorId stream) {
    if (stage_ > 0) {
      const TensorId sent = editor_.like(stream, "grad_sent", activation_, TensorRole::output);
      editor_.add("send_grad", OperatorKind::send_recv, {stream}, {sent});
    } else {
      // The last operator is the first layer's norm, which stands at the end of the layer's
      // backward.
      const Segment& start = segments_.front();
      walk_.set_gradient(forward_.ops[start.end - 1].inputs[0], stream);
      for (std::size_t i = start.end - 1; i-- > start.first;) {
        walk_.add(forward_.ops[i]);
      }
      take_outer();
    }
    keep_one_gradient_each();
    outer_gradients_ = update_.reduce(outer_, outer_gradients_);
  }

  /// A tied table's rows from the embedding are added in place to lm_head's; the gradient of the
  /// final norm on a stage without its own first norm belongs to the block's norms.
  void keep_one_gradient_each() {
    std::int64_t left = 0;
    for (const TensorId weight : outer_.weights) left += editor_.elements(weight);
    std::vector<TensorId> kept;
    for (const TensorId gradient : outer_gradients_) {
      const std::int64_t n = editor_.elements(gradient);
      if (n > left) continue;
      left -= n;
      kept.push_back(gradient);
    }
    outer_gradients_ = std::move(kept);
  }

  void add_update(const Segment& segment) {
    const std::size_t first = graph_.ops.size();
    update_.update(segment.owner, segment.gradients);
    editor_.repeat(segment.block->name + ".update", segment.block->times, first);
  }

  const Architecture& architecture_;
  const Scenario& scenario_;
  const ParallelLayout& layout_;
  std::int64_t stage_;
  OperatorGraph forward_;
  OperatorGraph graph_;
  TrainingEditor editor_;
  WeightUpdate update_;
  BackwardWalk walk_;
  Precision activation_ = Precision::bf16;
  std::set<TensorId> cache_;
  std::vector<Segment> segments_;
  WeightClass outer_;
  std::vector<TensorId> outer_gradients_;
  std::map<TensorId, TensorId> weights_again_;
};

/// Tensors that no operator uses any more are left out.
OperatorGraph without_unused(OperatorGraph graph) {
  std::vector<int> place(graph.tensors.size(), -1);
  const auto each_use = [&](auto&& visit) {
    for (Operator& op : graph.ops) {
      for (TensorId& id : op.inputs) visit(id);
      for (TensorId& id : op.outputs) visit(id);
    }
    for (Repeat& repeat : graph.repeats) {
      for (auto& [made, read] : repeat.carry) {
        visit(made);
        visit(read);
      }
    }
  };
  each_use([&](TensorId id) { place[index(id)] = 0; });
  std::vector<Tensor> kept;
  for (std::size_t t = 0; t < place.size(); ++t) {
    if (place[t] < 0) continue;
    place[t] = static_cast<int>(kept.size());
    kept.push_back(std::move(graph.tensors[t]));
  }
  each_use([&](TensorId& id) { id = static_cast<TensorId>(place[index(id)]); });
  graph.tensors = std::move(kept);
  return graph;
}

/// The word for what is not covered in a kind of layer; empty: covered.
std::string not_covered(const LayerGroup& group) {
  const bool experts = group.feed_forward == FeedForward::experts ||
                       group.feed_forward == FeedForward::dense_and_experts;
  if (experts) return "experts";
  switch (group.mixer) {
    case Mixer::latent_attention:
      return "latent_attention";
    case Mixer::mamba2:
      return "mamba2";
    case Mixer::gated_delta_net:
      return "gated_delta_net";
    case Mixer::attention:
      if (group.attention.chunk > 0) return "chunked attention";
      if (group.attention.sinks) return "attention sinks";
      break;
    case Mixer::none:
      break;
  }
  return {};
}

}  // namespace

void check_training_layers(const Architecture& architecture, Diagnostics& diagnostics) {
  std::set<std::string> said;
  for (const LayerGroup& group : architecture.layers) {
    const std::string what = not_covered(group);
    if (what.empty() || !said.insert(what).second) continue;
    diagnostics.add({}, "phase",
                    "training is not understood yet for layers with " + what +
                        "; expected dense layers with attention (" + architecture.name + ")");
  }
}

void check_training(const Architecture& architecture, const Scenario& scenario,
                    const ParallelLayout& layout, Diagnostics& diagnostics) {
  const auto wrong = [&](const std::string& key, const std::string& message) {
    diagnostics.add({}, key, message + " (" + architecture.name + ")");
  };
  if (layout.cp > 1)
    wrong("cp", "context parallelism is not understood yet in training; expected 1");
  constexpr std::array<std::string_view, 7> kNoUse{"batch",  "prompt",          "context", "output",
                                                   "logits", "tokens_per_step", "kv_dtype"};
  for (const std::string& name : scenario.given) {
    if (std::find(kNoUse.begin(), kNoUse.end(), name) == kNoUse.end()) continue;
    wrong(name,
          "has no meaning in training; expected sequence, micro_batch or "
          "gradient_accumulation");
  }
  for (const NamedWeight& weight : architecture.weights) {
    if (weight.scale || weight.draft) continue;
    const Precision stored = weight_storage(weight, scenario);
    if (storage_bits(stored) >= storage_bits(Precision::bf16)) continue;
    wrong("weight_dtype", "training of weights stored as " + std::string(name_of(stored)) +
                              " is not understood yet; expected bf16, fp16 or fp32");
    return;
  }
}

OperatorGraph training_graph(const Architecture& architecture, const Scenario& scenario,
                             const ParallelLayout& layout, std::int64_t stage) {
  FLOORLINE_EXPECT(scenario.phase == Phase::train);
  return without_unused(TrainingStep(architecture, scenario, layout, stage).build());
}

ConventionalFlops conventional_flops_per_token(const Architecture& architecture,
                                               const TrainingPlan& plan) {
  double width = 0;
  for (const LayerGroup& group : architecture.layers) {
    width += static_cast<double>(group.count * group.attention.q_heads * group.attention.head_dim);
  }
  const double matrices = 6 * static_cast<double>(architecture.parameter_count().total);
  const double attention = 12 * width * static_cast<double>(plan.sequence);
  const double model = matrices + attention;
  switch (plan.recompute) {
    case Recompute::none:
      break;
    case Recompute::selective:
      return {Flops(model), Flops(model + attention / 3)};
    case Recompute::full:
      return {Flops(model), Flops(model * 4 / 3)};
  }
  return {Flops(model), Flops(model)};
}

}  // namespace floorline
