// SPDX-License-Identifier: Apache-2.0
#include "model/workload/model_graph.hpp"

#include <algorithm>
#include <functional>

#include "model/quantity/expect.hpp"
#include "model/workload/layer_graph.hpp"
#include "model/workload/model_notes.hpp"
#include "model/workload/training_graph.hpp"

namespace floorline {

namespace {

bool is_first(std::int64_t stage) { return stage == 0; }
bool is_last(const ParallelLayout& layout, std::int64_t stage) { return stage == layout.pp - 1; }

/// Token rows to activations, then the first layer's norm, which has no residual to add.
LayerStream add_start(GraphBuilder& b) {
  const TensorId ids = b.tensor("ids", {b.tokens}, Precision::int32, TensorRole::input);
  const TensorId table = b.weight("embed_tokens.weight", -1);
  TensorId hidden = b.activation("embed.out", {b.tokens, b.hidden});
  b.add("embed", OperatorKind::embedding, {ids, table}, {hidden});
  if (b.layout.tp > 1) b.all_reduce("embed_all_reduce", hidden);
  const bool rms = b.architecture.layers.front().norm == NormKind::rmsnorm;
  std::vector<TensorId> inputs{hidden};
  for (const char* name : {"input_layernorm.weight", "input_layernorm.bias"}) {
    const NamedWeight* weight = b.architecture.find_weight(std::string("layers.") + name, 0);
    if (weight == nullptr) continue;
    inputs.push_back(b.tensor(std::string("first.") + name, {b.hidden},
                              weight_storage(*weight, b.scenario), TensorRole::weight));
  }
  const TensorId normed = b.activation("input_norm.out", {b.tokens, b.hidden});
  b.add("input_norm", rms ? OperatorKind::rmsnorm : OperatorKind::layernorm, std::move(inputs),
        {normed})
      .compute = b.vector_precision();
  return {normed, hidden};
}

/// A later stage receives one tensor. Its norm was counted in the stage before.
LayerStream add_received(GraphBuilder& b) {
  const TensorId normed = b.activation("received.normed", {b.tokens, b.hidden});
  return {normed,
          b.tensor("received", {b.tokens, b.hidden}, b.activation_dtype, TensorRole::input)};
}

void add_send(GraphBuilder& b, TensorId residual) {
  const TensorId sent =
      b.tensor("sent", {b.tokens, b.hidden}, b.activation_dtype, TensorRole::output);
  b.add("send", OperatorKind::send_recv, {residual}, {sent});
}

/// The rows that get logits, and the product with this rank's part of the vocabulary.
void add_logits(GraphBuilder& b, TensorId normed) {
  const Logits rows = b.scenario.logits_rows();
  if (rows == Logits::none) return;
  std::string count = b.tokens;
  if (rows == Logits::last) {
    count = "batch";
    const TensorId ids = b.tensor("last_ids", {count}, Precision::int32, TensorRole::input);
    const TensorId last = b.activation("last_token.out", {count, b.hidden});
    Operator& op = b.add("last_token", OperatorKind::embedding, {ids, normed}, {last});
    b.set(op, Key::distinct, count);
    normed = last;
  }
  const char* const head =
      b.architecture.tied_embeddings ? "embed_tokens.weight" : "lm_head.weight";
  const std::optional<TensorId> shared = b.graph.find_tensor(head);
  const TensorId weight = shared ? *shared : b.weight(head, -1);
  const std::string vocab =
      std::to_string(rank_shape(*b.architecture.find_weight(head, -1), b.layout.tp).rows);
  const TensorId logits =
      b.tensor("logits", {count, vocab}, b.activation_dtype, TensorRole::output);
  b.add_product("lm_head", {normed, weight}, {logits});
}

/// Kinds of the layers of a stage.
std::vector<int> stage_order(const Architecture& architecture, StageLayers stage) {
  const std::vector<int> order = architecture.layer_order();
  return {order.begin() + stage.first, order.begin() + stage.first + stage.count};
}

using Complaint = std::function<void(const char* key, const std::string& message)>;

void check_heads(const LayerGroup& group, const ParallelLayout& layout, const Complaint& wrong) {
  const std::string tp = std::to_string(layout.tp);
  const std::int64_t q = group.attention.q_heads;
  const std::int64_t kv = group.attention.kv_heads;
  const bool state = group.mixer == Mixer::mamba2 || group.mixer == Mixer::gated_delta_net;
  if (state && group.state.heads % layout.tp != 0) {
    wrong("tp", tp + " does not divide " + std::to_string(group.state.heads) +
                    " state heads; expected a divisor");
  }
  if (group.mixer == Mixer::none || state) return;
  if (q % layout.tp != 0) {
    wrong("tp", tp + " does not divide " + std::to_string(q) + " query heads; expected a divisor");
  }
  if (group.mixer != Mixer::attention) return;
  if (kv % layout.tp != 0 && layout.tp % kv != 0) {
    wrong("tp", tp + " and " + std::to_string(kv) +
                    " KV heads do not divide each other; expected a divisor or a multiple");
  }
}

void check_experts(const Architecture& architecture, const ParallelLayout& layout,
                   const Complaint& wrong) {
  const std::string ep = std::to_string(layout.ep);
  if (layout.ep == 1) return;
  if (!architecture.has_experts()) {
    wrong("ep", "this model has no experts to divide; expected 1");
    return;
  }
  const bool part = layout.ep <= layout.tp && layout.tp % layout.ep == 0;
  const bool whole = layout.ep > layout.tp && layout.ep % layout.tp == 0 &&
                     layout.dp % (layout.ep / layout.tp) == 0;
  if (!part && !whole) {
    wrong("ep", ep + " is neither a divisor of tp = " + std::to_string(layout.tp) +
                    " nor a multiple of it that divides tp x dp = " +
                    std::to_string(layout.tp * layout.dp) + "; expected one of the two");
  }
  for (const LayerGroup& group : architecture.layers) {
    if (group.experts.experts % layout.ep == 0) continue;
    wrong("ep", ep + " does not divide " + std::to_string(group.experts.experts) +
                    " experts; expected a divisor");
    break;
  }
}

void check_context_parallel(const Architecture& architecture, const ParallelLayout& layout,
                            const Complaint& wrong) {
  if (layout.cp == 1) return;
  for (const LayerGroup& group : architecture.layers) {
    const bool plain = group.mixer == Mixer::attention && group.attention.chunk == 0;
    const bool latent = group.mixer == Mixer::latent_attention && group.latent.index_heads == 0;
    if (plain || latent || group.mixer == Mixer::none) continue;
    const char* const what = group.attention.chunk > 0      ? "chunked attention"
                             : group.latent.index_heads > 0 ? "an indexer"
                             : group.mixer == Mixer::mamba2 ? "mamba2"
                                                            : "gated_delta_net";
    wrong("cp", std::string("context parallelism is not understood yet for layers with ") + what +
                    "; expected 1");
    return;
  }
}

void check_layout(const Architecture& architecture, const ParallelLayout& layout,
                  Diagnostics& diagnostics) {
  const auto wrong = [&](const char* key, const std::string& message) {
    diagnostics.add({}, key, message + " (" + architecture.name + ")");
  };
  for (const LayerGroup& group : architecture.layers) check_heads(group, layout, wrong);
  const std::int64_t layers = architecture.layer_count();
  if (layout.pp > layers) {
    wrong("pp", std::to_string(layout.pp) + " stages for " + std::to_string(layers) +
                    " layers; expected at least one layer a stage");
  }
  check_experts(architecture, layout, wrong);
  check_context_parallel(architecture, layout, wrong);
}

}  // namespace

void check_model(const Architecture& architecture, const Scenario& scenario,
                 const ParallelLayout& layout, Diagnostics& diagnostics) {
  check_layout(architecture, layout, diagnostics);
  if (scenario.phase == Phase::train) check_training(architecture, scenario, layout, diagnostics);
  const auto batch = std::find(scenario.given.begin(), scenario.given.end(), "batch");
  if (!scenario.contexts.empty()) {
    if (batch != scenario.given.end() && scenario.batch != scenario.sequences()) {
      diagnostics.add({}, "batch",
                      std::to_string(scenario.batch) +
                          " contradicts context, which "
                          "lists " +
                          std::to_string(scenario.sequences()) +
                          " sequences; "
                          "expected one of the two");
    }
    if (scenario.phase == Phase::generate) {
      diagnostics.add({}, "context",
                      "a list does not go with phase = generate; expected one length");
    }
  }
  for (const WeightDtype& rule : scenario.weight_dtypes) {
    const auto matches = [&](const NamedWeight& weight) {
      return glob_matches(rule.glob, weight.name);
    };
    if (std::any_of(architecture.weights.begin(), architecture.weights.end(), matches)) continue;
    diagnostics.add({}, "weight_dtype." + rule.glob,
                    "no weight of " + architecture.name +
                        " has such a name; expected one like layers.mlp.down_proj.weight");
  }
}

OperatorGraph model_graph(const Architecture& architecture, const Scenario& scenario,
                          const ParallelLayout& layout, std::int64_t stage) {
  Diagnostics diagnostics;
  check_model(architecture, scenario, layout, diagnostics);
  if (scenario.phase == Phase::train) check_training_layers(architecture, diagnostics);
  diagnostics.throw_if_any();
  FLOORLINE_EXPECT(scenario.phase != Phase::generate);
  if (scenario.phase == Phase::train) {
    return training_graph(architecture, scenario, layout, stage);
  }
  FLOORLINE_EXPECT(stage >= 0 && stage < layout.pp);
  GraphBuilder builder(architecture, scenario, layout);
  LayerStream stream = is_first(stage) ? add_start(builder) : add_received(builder);
  const StageLayers layers = stage_layers(architecture.layer_count(), layout, stage);
  for (const LayerRun& run : runs_of(architecture, stage_order(architecture, layers))) {
    stream = add_layers(builder, run, stream);
  }
  if (is_last(layout, stage)) {
    add_logits(builder, stream.normed);
  } else {
    add_send(builder, stream.residual);
  }
  builder.graph.routing = scenario.routing;
  builder.graph.assumptions = model_assumptions(architecture, scenario, layout);
  builder.graph.notes = model_notes(architecture, scenario);
  return std::move(builder.graph);
}

StageLayers stage_layers(std::int64_t layers, const ParallelLayout& layout, std::int64_t stage) {
  const std::int64_t each = layers / layout.pp;
  const std::int64_t more = layers % layout.pp;
  return {stage * each + std::min(stage, more), each + (stage < more ? 1 : 0)};
}

std::vector<DistinctStage> distinct_stages(const Architecture& architecture,
                                           const ParallelLayout& layout) {
  const auto equal_middles = [&](std::int64_t a, std::int64_t b) {
    const std::int64_t layers = architecture.layer_count();
    return stage_order(architecture, stage_layers(layers, layout, a)) ==
           stage_order(architecture, stage_layers(layers, layout, b));
  };
  std::vector<DistinctStage> stages;
  for (std::int64_t stage = 0; stage < layout.pp; ++stage) {
    const bool middle = !is_first(stage) && !is_last(layout, stage);
    if (middle && stages.back().stage > 0 && equal_middles(stages.back().stage, stage)) {
      ++stages.back().count;
    } else {
      stages.push_back({stage, 1});
    }
  }
  return stages;
}

}  // namespace floorline
