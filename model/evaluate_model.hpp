// SPDX-License-Identifier: Apache-2.0
// A whole model on a machine: the floors of its stages and what they say of a step, a first token,
// a token, a request. All of it from fused floors at any residency, which hold whatever is on chip
// and however kernels overlap:
//   step    with pipeline stages the sum over stages: a token passes them one after another
//           training: the slowest stage, since passes of a step follow one another through them
//   ceiling tokens a second: the slowest stage takes that long for every step of all replicas
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/evaluate.hpp"
#include "model/rewrite/assignment.hpp"
#include "model/workload/architecture.hpp"
#include "model/workload/layout.hpp"
#include "model/workload/scenario.hpp"
#include "model/workload/training_graph.hpp"

namespace floorline {

struct ModelWorkload {
  Architecture architecture;
  Scenario scenario;
  ParallelLayout layout;
  std::vector<Assignment> graph_settings;  ///< op.NAME.bytes, op.NAME.flops
};

/// The three floors of a step through all stages, or of several steps.
struct WholeTimes {
  ResidencyTimes serial, critical_path, fused;
  WholeTimes& operator+=(const WholeTimes& other);
};

/// What a measured time or token rate of a model is judged against. A time is that of one step (of
/// generate: of the whole request) through all stages; a rate is that of all replicas, where the
/// slowest stage is what every step has to wait for.
struct ModelJudging {
  WholeTimes whole;  ///< through all stages, of generate: of all steps
  ResidencyTimes latency;
  ResidencyTimes throughput;
  Seconds latency_proven{0};  ///< any residency, of rates with a ceiling only
  Seconds throughput_proven{0};
  Seconds latency_serial{0};  ///< cold, if kernels do not overlap
  Seconds throughput_serial{0};
  double tokens = 0;       ///< of all replicas in that time
  Flops work_per_rank{0};  ///< average over the ranks of a replica
  Bytes traffic_per_rank{0};
};

/// FLOPs of one token of a training step, all ranks of a replica. Products and attention only.
struct TrainingWork {
  Flops model{0};     ///< forward and backward pass
  Flops hardware{0};  ///< what is computed again included, as `recompute` says
  Flops scores{0};    ///< more in a kernel that computes attention's scores again (FlashAttention)
  ConventionalFlops conventional;
};

struct ModelFloors {
  std::string phase;
  Seconds step{0};
  double tokens_per_step = 0;       ///< of one replica
  double tokens_per_s_ceiling = 0;  ///< all replicas
  std::optional<Seconds> ttft;      ///< prefill and generate
  std::optional<Seconds> tpot;      ///< decode and generate (mean over its steps)
  std::optional<Seconds> request;   ///< generate: prefill and all decode steps
  Flops work_per_token{0};          ///< all ranks of a replica
  double parameters = 0;
  double active_parameters = 0;
  std::optional<TrainingWork> training;
  /// One token's K and V (or latent) in the cache of one rank, over all layers, as if none had a
  /// window; an indexer's keys are not among them. Zero in training.
  Bytes cache_per_token{0};
  Bytes resident{0};  ///< weights, their scales, and state (KV cache, optimizer) of the rank shown
  ModelJudging judging;
};

struct ModelEvaluation {
  Evaluation shown;  ///< the stage that limits; of generate, its last decode step
  ModelFloors floors;
  double ranks = 1;
  std::vector<std::string> notes;
};

/// Throws InputError: what contradicts in model, scenario and layout; rates the device lacks.
ModelEvaluation evaluate_model(const ModelWorkload& workload, const Machine& machine);

/// What a step of the replicas makes at most: all of them wait for the slowest stage.
double token_ceiling(double replicas, double tokens_of_one, Seconds slowest_stage);

/// See ModelFloors::cache_per_token.
Bytes cache_per_token(const ModelWorkload& workload);

/// The graph of one pipeline stage with the workload's settings; of generate, of its decode steps.
OperatorGraph stage_graph(const ModelWorkload& workload, const Scenario& scenario,
                          std::int64_t stage);

}  // namespace floorline
