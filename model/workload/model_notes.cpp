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
    const bool matrix = weight.group >= 0 && weight.rows > 1 && weight.cols > 1 && !weight.scale;
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
  const auto say = [&](const std::string& what, const MatrixPrecision& used, const char* why) {
    std::string line = what + ": compute " + text(used.compute) +
                       (scenario.compute_dtype ? "" : why) + ", accumulate " +
                       text(used.accumulate) + (scenario.accumulate_dtype ? "" : " (default)");
    if (said.insert(line).second) lines.push_back(std::move(line));
  };
  const auto pair = [&](const char* what, Precision other) {
    say(std::string(what) + " " + text(activation) + " x " + text(other),
        matrix_precision(activation, other, scenario), " (the wider operand)");
  };
  for (const NamedWeight& weight : architecture.weights) {
    if (weight.cols <= 1 || weight.scale || weight.draft) continue;
    const Precision stored = weight_storage(weight, scenario);
    if (weight.compute == Precision::none || !keeps_storage(weight, scenario)) {
      pair("products of", stored);
    } else {
      say("products of " + text(activation) + " x " + text(stored),
          matrix_precision(weight.compute, weight.compute, scenario),
          " (as the checkpoint's format implies)");
    }
  }
  pair("attention of",
       scenario.phase == Phase::train ? activation : kv_storage(architecture, scenario));
}

void add_precisions(const Architecture& architecture, const Scenario& scenario, Lines& lines) {
  lines.push_back("stored: layers' matrices " + layer_storage(architecture, scenario) +
                  ", activations " + text(activation_storage(architecture, scenario)) +
                  (scenario.phase == Phase::train
                       ? ""
                       : ", KV cache " + text(kv_storage(architecture, scenario))));
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
    const bool has_mlp = group.feed_forward == FeedForward::dense ||
                         group.feed_forward == FeedForward::dense_and_experts;
    if (!has_mlp || group.mlp.intermediate % tp == 0) continue;
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
  return group.attention.qkv_bias || group.attention.o_bias || group.mlp.bias || group.experts.bias;
}

void add_experts(const Architecture& architecture, const Scenario& scenario,
                 const ParallelLayout& layout, Lines& lines) {
  if (!architecture.has_experts()) return;
  if (scenario.routing == Routing::least) {
    lines.emplace_back(
        "routing = least: distinct experts that any data could cause at least; every expert is "
        "used as often as the mean by the busiest rank");
  }
  if (layout.ep > layout.tp) {
    lines.push_back("ep: tokens of " + text(layout.expert_replicas()) +
                    " replicas meet at the experts (data-parallel attention), all of equal batch");
  } else if (layout.ep > 1) {
    lines.emplace_back(
        "ep: the tp ranks have all tokens, so none are sent; partial sums meet in the all_reduce");
  }
}

void add_latent(const Architecture& architecture, const Scenario& scenario, Lines& lines) {
  const auto is_latent = [](const LayerGroup& group) {
    return group.mixer == Mixer::latent_attention;
  };
  if (std::none_of(architecture.layers.begin(), architecture.layers.end(), is_latent)) return;
  lines.push_back("latent attention: " +
                  (scenario.mla == LatentForm::least
                       ? std::string("the form with less work (mla = least)")
                       : std::string(name_of(scenario.mla))) +
                  "; latents and their projection are read once; the cache is on every tp rank");
}

void add_windows(const Architecture& architecture, Lines& lines) {
  for (const LayerGroup& group : architecture.layers) {
    if (group.mixer != Mixer::attention) continue;
    if (group.attention.window > 0) {
      lines.push_back("in " + text(group.count) + " layers a query sees the last " +
                      text(group.attention.window) + " tokens, itself included");
    }
    if (group.attention.chunk > 0) {
      lines.push_back("in " + text(group.count) + " layers a query sees its chunk of " +
                      text(group.attention.chunk) + " tokens");
    }
  }
}

}  // namespace

std::vector<std::string> model_assumptions(const Architecture& architecture,
                                           const Scenario& scenario, const ParallelLayout& layout) {
  Lines lines = defaults_used(scenario, layout);
  add_precisions(architecture, scenario, lines);
  if (scenario.weight_group_size > 0 &&
      (scenario.weight_dtype || !scenario.weight_dtypes.empty())) {
    const bool zeros = scenario.weight_zero_dtype != Precision::none;
    lines.push_back("matrices stored narrower than their checkpoint: a scale in " +
                    text(scenario.weight_scale_dtype) + " for each " +
                    text(scenario.weight_group_size) + " elements of a row, " +
                    (zeros ? "a zero point in " + text(scenario.weight_zero_dtype) + " with it"
                           : std::string("no zero points (weight_zero_dtype)")));
  }
  if (layout.tp > 1) add_tensor_parallel(architecture, layout, lines);
  if (layout.pp > 1) add_pipeline(architecture, layout, lines);
  if (layout.dp > 1) {
    const char* const what = scenario.phase == Phase::train ? "micro_batch" : "batch";
    lines.push_back("dp: " + std::string(what) + " is that of one of " + text(layout.dp) +
                    " replicas");
  }
  if (layout.cp > 1) {
    lines.emplace_back(
        scenario.phase == Phase::decode
            ? "cp: each sequence's cache is divided; queries are gathered, results summed by parts"
            : "cp: new tokens are divided; keys and values of the new tokens are gathered");
  }
  add_experts(architecture, scenario, layout, lines);
  add_latent(architecture, scenario, lines);
  add_windows(architecture, lines);
  lines.insert(lines.end(), architecture.assumptions.begin(), architecture.assumptions.end());
  return lines;
}

std::optional<std::string> length_note(const Architecture& architecture, const Scenario& scenario) {
  std::int64_t longest = scenario.contexts.empty() ? scenario.cached() : 0;
  for (const ContextGroup& group : scenario.contexts) longest = std::max(longest, group.context);
  longest += scenario.new_tokens();
  if (architecture.max_positions <= 0 || longest <= architecture.max_positions) return std::nullopt;
  return "sequences of " + text(longest) + " tokens; the model is made for " +
         text(architecture.max_positions) + " (max_position_embeddings)";
}

std::vector<std::string> model_notes(const Architecture& architecture, const Scenario& scenario) {
  Lines notes;
  if (std::any_of(architecture.layers.begin(), architecture.layers.end(), has_bias)) {
    notes.emplace_back("biases count as parameters, not as bytes moved (weaker)");
  }
  const std::string stored = layer_storage(architecture, scenario);
  const bool asked = scenario.weight_dtype || !scenario.weight_dtypes.empty();
  const bool narrow =
      stored.find("int") != std::string::npos || stored.find("fp8") != std::string::npos;
  if (asked && narrow && scenario.weight_group_size == 0) {
    notes.emplace_back(
        "scales and zero points of quantized weights are not counted (weaker); "
        "weight_group_size=N counts them");
  }
  if (auto note = length_note(architecture, scenario)) notes.push_back(std::move(*note));
  return notes;
}

}  // namespace floorline
