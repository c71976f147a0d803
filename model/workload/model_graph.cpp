// SPDX-License-Identifier: Apache-2.0
#include "model/workload/model_graph.hpp"

#include <algorithm>

#include "model/quantity/expect.hpp"
#include "model/workload/layer_graph.hpp"
#include "model/workload/model_notes.hpp"

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
  const TensorId scale = b.tensor(
      "first.input_layernorm.weight", {b.hidden},
      weight_storage(*b.architecture.find_weight("layers.input_layernorm.weight", 0), b.scenario),
      TensorRole::weight);
  const TensorId normed = b.activation("input_norm.out", {b.tokens, b.hidden});
  b.add("input_norm", OperatorKind::rmsnorm, {hidden, scale}, {normed}).compute =
      b.vector_precision();
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

/// The part of each group of layers that lies in the stage.
std::vector<LayerRun> runs_of(const Architecture& architecture, StageLayers stage) {
  std::vector<LayerRun> runs;
  std::int64_t first = 0;
  for (std::size_t g = 0; g < architecture.layers.size(); ++g) {
    const LayerGroup& group = architecture.layers[g];
    const std::int64_t from = std::max(first, stage.first);
    const std::int64_t to = std::min(first + group.count, stage.first + stage.count);
    const bool alone = architecture.layers.size() == 1;
    if (to > from) runs.push_back({static_cast<int>(g), to - from, alone ? "" : group.name + "."});
    first += group.count;
  }
  return runs;
}

void check_layout(const Architecture& architecture, const ParallelLayout& layout,
                  Diagnostics& diagnostics) {
  const auto wrong = [&](const char* key, const std::string& message) {
    diagnostics.add({}, key, message + " (" + architecture.name + ")");
  };
  const std::string tp = std::to_string(layout.tp);
  for (const LayerGroup& group : architecture.layers) {
    const std::int64_t q = group.attention.q_heads;
    const std::int64_t kv = group.attention.kv_heads;
    if (q % layout.tp != 0) {
      wrong("tp",
            tp + " does not divide " + std::to_string(q) + " query heads; expected a divisor");
    }
    if (kv % layout.tp != 0 && layout.tp % kv != 0) {
      wrong("tp", tp + " and " + std::to_string(kv) +
                      " KV heads do not divide each other; expected a divisor or a multiple");
    }
  }
  const std::int64_t layers = architecture.layer_count();
  if (layout.pp > layers) {
    wrong("pp", std::to_string(layout.pp) + " stages for " + std::to_string(layers) +
                    " layers; expected at least one layer a stage");
  }
  if (layout.ep > 1) wrong("ep", "this model has no experts to divide; expected 1");
  if (layout.cp > 1) wrong("cp", "context parallelism is not understood yet; expected 1");
}

}  // namespace

void check_model(const Architecture& architecture, const Scenario& scenario,
                 const ParallelLayout& layout, Diagnostics& diagnostics) {
  check_layout(architecture, layout, diagnostics);
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
  diagnostics.throw_if_any();
  FLOORLINE_EXPECT(scenario.phase != Phase::generate);
  FLOORLINE_EXPECT(stage >= 0 && stage < layout.pp);
  GraphBuilder builder(architecture, scenario, layout);
  LayerStream stream = is_first(stage) ? add_start(builder) : add_received(builder);
  for (const LayerRun& run :
       runs_of(architecture, stage_layers(architecture.layer_count(), layout, stage))) {
    stream = add_layers(builder, run, stream);
  }
  if (is_last(layout, stage)) {
    add_logits(builder, stream.normed);
  } else {
    add_send(builder, stream.residual);
  }
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
    const auto runs = [&](std::int64_t stage) {
      return runs_of(architecture, stage_layers(architecture.layer_count(), layout, stage));
    };
    const auto same = [](const LayerRun& x, const LayerRun& y) {
      return x.group == y.group && x.count == y.count;
    };
    const std::vector<LayerRun> of_a = runs(a);
    const std::vector<LayerRun> of_b = runs(b);
    return std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(), same);
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
