// SPDX-License-Identifier: Apache-2.0
// One step of the optimizer on one rank of one pipeline stage, as operators (phase = train):
//   forward   the operators of a prefill of all sequences, logits for every token, nothing cached
//   loss      cross_entropy: logits to their gradient                                 last stage
//   backward  of lm_head and the final norm; then of each layer, last one first: what follows,
//             norm, mixer, and the norm that the layer began with (backward_graph); the embedding
//   update    gradients over dp ranks, optimizer (optimizer_graph)
// What the forward pass makes and the backward pass reads is an intermediate: it crosses HBM in the
// serial floor and not in the fused one. recompute = full runs each layer's forward operators once
// more before its backward ones, selective its attention only; names begin with "recompute.".
// pp: a stage sends activations on and the gradient of its input back. Passes of an accumulated
// step are one pass over all their sequences: weights are read and exchanged once (weaker). Not
// modelled: dropout, gradient clipping, sums of bias gradients, statistics of a loss divided over
// vocabulary, the exchange of a tied table between first and last stage, saved statistics of rows.
#pragma once

#include <cstdint>
#include <vector>

#include "model/quantity/quantity.hpp"
#include "model/workload/architecture.hpp"
#include "model/workload/graph.hpp"
#include "model/workload/layout.hpp"
#include "model/workload/scenario.hpp"

namespace floorline {

/// Layers that training graphs do not cover.
void check_training_layers(const Architecture& architecture, Diagnostics& diagnostics);
/// Layouts and storages that training does not cover, symbols that it has no use for.
void check_training(const Architecture& architecture, const Scenario& scenario,
                    const ParallelLayout& layout, Diagnostics& diagnostics);

/// `scenario.phase` is train; checked before (model_graph).
OperatorGraph training_graph(const Architecture& architecture, const Scenario& scenario,
                             const ParallelLayout& layout, std::int64_t stage);

/// What published tables divide by (Chowdhery et al. 2022, arXiv 2204.02311, appendix B): with N
/// parameters, embedding included, and q_heads · head_dim summed over layers,
///   model     6·N + 12 · Σ heads·head_dim · sequence        no causal mask
///   hardware  the forward pass once more: 4/3 of it (full); attention's part once more (selective)
struct ConventionalFlops {
  Flops model{0};
  Flops hardware{0};
};
ConventionalFlops conventional_flops_per_token(const Architecture& architecture,
                                               const TrainingPlan& plan);

}  // namespace floorline
