// SPDX-License-Identifier: Apache-2.0
// Architecture + scenario + layout → the operators of one step on one rank of one pipeline stage.
// Symbols of the graph, for rebind(): `batch`, `new` (new tokens of a sequence), `context` (tokens
// cached before the step; absent where the scenario gives each sequence its own).
//
//   embed [embed_all_reduce] input_norm                               first stage
//   layer × n:  mixer [attn_all_reduce] post_attn_norm feed-forward [mlp_all_reduce] next_norm
//     mixer: attention_graph.cpp, latent_graph.cpp, state_graph.cpp
//     feed-forward: feed_forward_graph.cpp, dense or routed experts
//   last_token (prefill) lm_head                                      last stage; send: all others
//
// A norm adds the residual first, reads and writes it, as engines' fused kernels do. The first
// layer has none to add, so the block begins after its input norm and ends in next_norm: the input
// norm of the layer that follows, after the last layer the final norm. All-reduces only if tp > 1.
// Layers of several kinds by turns are one repeat block as long as their pattern.
// Not modelled: gathering the logits over tp, biases' bytes, the table of rotary angles, sampling.
#pragma once

#include <cstdint>
#include <vector>

#include "model/workload/architecture.hpp"
#include "model/workload/graph.hpp"
#include "model/workload/layout.hpp"
#include "model/workload/scenario.hpp"

namespace floorline {

/// What contradicts: heads and tp, layers and pp, context lists and batch, globs that match
/// nothing.
void check_model(const Architecture& architecture, const Scenario& scenario,
                 const ParallelLayout& layout, Diagnostics& diagnostics);

/// Throws InputError (check_model; layers that training does not cover). `scenario.phase` is
/// decode, prefill or train (training_graph); generate_parts() makes the first two of generate.
/// `stage` counts from 0 to pp - 1.
OperatorGraph model_graph(const Architecture& architecture, const Scenario& scenario,
                          const ParallelLayout& layout, std::int64_t stage = 0);

/// Layers are divided evenly; where they do not divide, each of the first stages has one more.
struct StageLayers {
  std::int64_t first = 0;
  std::int64_t count = 0;
};
StageLayers stage_layers(std::int64_t layers, const ParallelLayout& layout, std::int64_t stage);

/// Stages whose graphs are equal are one entry: `stage` stands for `count` of them.
struct DistinctStage {
  std::int64_t stage = 0;
  std::int64_t count = 1;
};
std::vector<DistinctStage> distinct_stages(const Architecture& architecture,
                                           const ParallelLayout& layout);

}  // namespace floorline
