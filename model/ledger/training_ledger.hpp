// SPDX-License-Identifier: Apache-2.0
// Memory of one rank in a training step. P parameters of this rank of a replica (tensor-parallel
// share of its pipeline stage), N = dp ranks, w and g the storage of weights and gradients:
//   weights      P w; ZeRO-3 (FSDP) ⌈P/N⌉ w, and whole layers while they are used
//   gradients    P g; ZeRO-2 and 3 ⌈P/N⌉ g
//   optimizer    P × (master 4 + moments 4 + 4) for adamw, by kind; from ZeRO-1 on ⌈P/N⌉
// With 16-bit weights: 16 bytes a parameter (DeepSpeed, grad_dtype = bf16), 18 (Megatron, fp32);
// distributed optimizer 6 + 12/N; ZeRO-1 4 + 12/N, ZeRO-2 2 + 14/N, ZeRO-3 16/N (Rajbhandari et al.
// 2020, arXiv 1910.02054).
//   activations  what a layer keeps for its backward pass (training_activations.hpp), × tokens of a
//                micro-batch × layers × micro-batches in flight
//   logits       of one micro-batch on the last stage, its part of the vocabulary: stored and in
//                fp32 after the forward pass, then the gradients of both
// Instants: forward (end of the last forward pass before a backward one), backward (its begin: all
// activations and all gradients, which Megatron, DeepSpeed and FSDP keep in buffers of that size),
// step. Among pipeline stages the one with the largest peak is given.
// Not counted: CUDA context, communicators, what an allocator reserves beyond (1 to 11 %), DDP's
// second copy of gradients without gradient_as_bucket_view, temporaries of the optimizer.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "model/input/diagnostic.hpp"
#include "model/ledger/ledger.hpp"
#include "model/quantity/precision.hpp"
#include "model/workload/architecture.hpp"
#include "model/workload/layout.hpp"
#include "model/workload/scenario.hpp"

namespace floorline {

/// Parameters of one rank before ZeRO divides them, by how they are stored.
struct TrainedParameters {
  std::array<std::int64_t, kPrecisionCount> elements{};

  [[nodiscard]] std::int64_t count() const;
  /// Stored in less than 32 bits: an optimizer keeps an fp32 master of them.
  [[nodiscard]] std::int64_t narrow() const;
  /// One of `ranks` equal parts, each storage rounded up.
  [[nodiscard]] TrainedParameters share(std::int64_t ranks) const;
  [[nodiscard]] ByteCount stored() const;
};
TrainedParameters trained_parameters(const Architecture& architecture, const Scenario& scenario,
                                     const ParallelLayout& layout, std::int64_t stage);

/// Adds weights, gradients and optimizer to a ledger with the instants of training.
void add_parameter_lines(const TrainedParameters& parameters, const TrainingPlan& plan,
                         std::int64_t dp, MemoryLedger& ledger);
/// forward, backward, step.
std::vector<std::string> training_instants();

struct TrainingLedger {
  MemoryLedger ledger;
  std::int64_t stage = 0;  ///< of the pipeline, from 0
  std::vector<std::string> assumptions;
  std::vector<std::string> notes;
};

/// Schedules and layouts that contradict; check_model has been asked before.
void check_training_memory(const Architecture& architecture, const Scenario& scenario,
                           const ParallelLayout& layout, Diagnostics& diagnostics);

/// Of the stage that needs most. `scenario.phase` is train; checked before.
TrainingLedger training_ledger(const Architecture& architecture, const Scenario& scenario,
                               const ParallelLayout& layout);
/// Of one stage.
MemoryLedger training_ledger_of_stage(const Architecture& architecture, const Scenario& scenario,
                                      const ParallelLayout& layout, std::int64_t stage);

}  // namespace floorline
