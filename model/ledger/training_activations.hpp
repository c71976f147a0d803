// SPDX-License-Identifier: Apache-2.0
// What one layer keeps of a token for its backward pass, tensor by tensor (a: bytes of an
// activation, h hidden, n query and k KV heads of this rank, d and v elements of a head, f
// intermediate, t tensor-parallel ranks, s tokens of a sequence):
//   a 4 h          what both norms and both products read; two more where results are normalized
//   a (n d + k d + k v)  q, k, v; queries and keys once more before a norm of heads
//   a n v          what the output product reads; a gate as wide besides
//   4 n            the scores' normalizer in fp32, flash; a n s of scores if they are kept (eager)
//   a 3 f          gate, up and their product; without a gate a 2 f
//   2 h            masks of both dropouts, one byte each; with eager 2 n s of masked scores besides
// Equal to Korthikanti et al. 2022 (arXiv 2205.05198) for GELU MLPs of 4 h and k = n: s b h (34 +
// 5 n s / h). Tensor parallelism divides all but the rows of h and their masks (10 of 34),
// sequence parallelism these too. recompute: selective keeps no scores (and no normalizer), full
// keeps a h, the layer's input, and the one layer that is computed again has all.
// Not counted: statistics of rows, fp32 copies of norms that compute in fp32.
#pragma once

#include "model/quantity/byte_count.hpp"
#include "model/workload/architecture.hpp"
#include "model/workload/layout.hpp"
#include "model/workload/scenario.hpp"

namespace floorline {

/// Bytes of one micro-batch in one layer.
struct LayerActivations {
  ByteCount kept;   ///< until the backward pass
  ByteCount whole;  ///< of a layer that is computed again, all that its backward pass reads
};
LayerActivations layer_activations(const Architecture& architecture, const LayerGroup& group,
                                   const Scenario& scenario, const ParallelLayout& layout);

/// Micro-batches whose activations a stage holds at once, in parts of a stage: `parts` of them,
/// each `1/per_stage` of a stage's layers.
struct InFlight {
  std::int64_t parts = 1;
  std::int64_t per_stage = 1;
};
InFlight in_flight(const TrainingPlan& plan, std::int64_t stages, std::int64_t stage);

}  // namespace floorline
