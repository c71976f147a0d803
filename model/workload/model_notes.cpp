// SPDX-License-Identifier: Apache-2.0
#include "model/workload/model_notes.hpp"

#include <algorithm>
#include <set>

#include "model/workload/model_graph.hpp"

namespace floorline {

namespace {

using Lines = std::vector<std::string>;

std::string text(std::int64_t number) { return std::to_string(number); }
std::string text(Precision precision) { return std::string(name_of(precision)); }

/// "bf16" or "bf16 and fp8_e4m3": what the layers' matrices are stored as.
std::string layer_storage(const Architecture& architecture, const Scenario& scenario) {
  std::set<std::string> names;
  for (const NamedWeight& weight : architecture.weights) {
    const bool matrix = weight.group >= 0 && weight.cols > 1;
    if (matrix) names.insert(text(weight_storage(weight, scenario)));
  }
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : " and ") + name;
  return all;
}

/// Once a pair of precisions: what products of the layers compute and accumulate in.
void add_products(const Architecture& architecture, const Scenario& scenario, Lines& lines) {
  const Precision activation = activation_storage(architecture, scenario);
  std::set<std::string> said;
  const auto say = [&](const char* what, Precision other) {
    const MatrixPrecision used = matrix_precision(activation, other, scenario);
    std::string line = std::string(what) + " " + text(activation) + " x " + text(other) +
                       ": compute " + text(used.compute) +
                       (scenario.compute_dtype ? "" : " (the wider operand)") + ", accumulate " +
                       text(used.accumulate) + (scenario.accumulate_dtype ? "" : " (default)");
    if (said.insert(line).second) lines.push_back(std::move(line));
  };
  for (const NamedWeight& weight : architecture.weights) {
    if (weight.cols > 1) say("products of", weight_storage(weight, scenario));
  }
  say("attention of", kv_storage(architecture, scenario));
}

void add_precisions(const Architecture& architecture, const Scenario& scenario, Lines& lines) {
  lines.push_back("stored: layers' matrices " + layer_storage(architecture, scenario) +
                  ", activations " + text(activation_storage(architecture, scenario)) +
                  ", KV cache " + text(kv_storage(architecture, scenario)));
  add_products(architecture, scenario, lines);
}

void add_tensor_parallel(const Architecture& architecture, const ParallelLayout& layout,
                         Lines& lines) {
  lines.emplace_back(
      "tp: the embedding is divided by vocabulary and summed by an all_reduce, two "
      "more in each layer, as Megatron-LM and vLLM do");
  lines.emplace_back(
      "tp: logits stay divided by vocabulary; gathering them is not counted (weaker)");
  const std::int64_t tp = layout.tp;
  if (architecture.vocab % tp != 0) {
    lines.push_back("tp: the vocabulary of " + text(architecture.vocab) +
                    " does not divide; the fullest rank has " +
                    text((architecture.vocab + tp - 1) / tp) + " rows");
  }
  for (const LayerGroup& group : architecture.layers) {
    if (group.mlp.intermediate % tp == 0) continue;
    lines.push_back("tp: the intermediate size of " + text(group.mlp.intermediate) +
                    " does not divide; the fullest rank has " +
                    text((group.mlp.intermediate + tp - 1) / tp));
  }
}

void add_pipeline(const Architecture& architecture, const ParallelLayout& layout, Lines& lines) {
  constexpr std::int64_t kMostListed = 16;
  const std::int64_t layers = architecture.layer_count();
  std::string counts;
  for (std::int64_t stage = 0; stage < std::min(layout.pp, kMostListed); ++stage) {
    counts += (stage > 0 ? ", " : "") + text(stage_layers(layers, layout, stage).count);
  }
  if (layout.pp > kMostListed) counts += "...";
  lines.push_back("pp: layers of the stages: " + counts +
                  " (divided evenly, the first stages take what is left over)");
  lines.emplace_back(
      "pp: a stage sends one tensor of tokens x hidden to a neighbour on the same "
      "node (weaker: engines send activations and residual, and may cross nodes)");
}

bool has_bias(const LayerGroup& group) {
  return group.attention.qkv_bias || group.attention.o_bias || group.mlp.bias;
}

}  // namespace

std::vector<std::string> model_assumptions(const Architecture& architecture,
                                           const Scenario& scenario, const ParallelLayout& layout) {
  Lines lines = defaults_used(scenario, layout);
  add_precisions(architecture, scenario, lines);
  if (layout.tp > 1) add_tensor_parallel(architecture, layout, lines);
  if (layout.pp > 1) add_pipeline(architecture, layout, lines);
  if (layout.dp > 1) {
    lines.push_back("dp: batch is that of one of " + text(layout.dp) + " replicas");
  }
  for (const LayerGroup& group : architecture.layers) {
    if (group.attention.window == 0) continue;
    lines.push_back("in " + text(group.count) + " layers a query sees the last " +
                    text(group.attention.window) + " tokens, itself included");
  }
  lines.insert(lines.end(), architecture.assumptions.begin(), architecture.assumptions.end());
  return lines;
}

std::vector<std::string> model_notes(const Architecture& architecture, const Scenario& scenario) {
  Lines notes;
  if (std::any_of(architecture.layers.begin(), architecture.layers.end(), has_bias)) {
    notes.emplace_back("biases count as parameters, not as bytes moved (weaker)");
  }
  const std::string stored = layer_storage(architecture, scenario);
  if (stored.find("int") != std::string::npos || stored.find("fp8") != std::string::npos) {
    notes.emplace_back("scales and zero points of quantized weights are not counted (weaker)");
  }
  std::int64_t longest = scenario.contexts.empty() ? scenario.cached() : 0;
  for (const ContextGroup& group : scenario.contexts) longest = std::max(longest, group.context);
  longest += scenario.new_tokens();
  if (architecture.max_positions > 0 && longest > architecture.max_positions) {
    notes.push_back("sequences of " + text(longest) + " tokens; the model is made for " +
                    text(architecture.max_positions) + " (max_position_embeddings)");
  }
  return notes;
}

}  // namespace floorline
