// SPDX-License-Identifier: Apache-2.0
// The memory of one rank of a model that serves, at three instants:
//   load     weights, the runtime's own
//   profile  and the widest step's activations, or its logits and sampler if these are larger
//   serve    and the caches, the captured graphs
// Activations stay counted while serving: a step runs beside the caches.
//   activations  tokens x bytes x (3 ff / tp + 3 h) of the widest layer; experts: top_k of them and
//                top_k rows of h more; mixers (q + 2 kv + q) d / tp + 3 h if these are wider
//   logits       rows x vocabulary x (stored + 4 B); engines: the sampler's range, on the last
//   stage
// Every stage has a ledger; ranks are never added up.
// Not counted: what a loader holds for a moment, vision and audio towers, what a driver reserves.
#pragma once

#include <string>
#include <vector>

#include "model/ledger/cache_need.hpp"
#include "model/ledger/engine.hpp"
#include "model/ledger/ledger.hpp"
#include "model/ledger/rank_weights.hpp"

namespace floorline {

struct LedgerModel {
  const Architecture* architecture = nullptr;
  Scenario scenario;
  ParallelLayout layout;
  const EngineProfile* engine = nullptr;
  LedgerSettings settings;
  std::int64_t layers = 0;  ///< 0: as many as the architecture has
  bool told = true;         ///< with formulas; a search goes without
  /// Lines that a user states: they replace those of their name. Activations and logits are not
  /// alive together, so stating one of them replaces whichever is counted.
  std::vector<LedgerEntry> given;
};

/// load, profile, serve.
inline constexpr std::size_t kLoad = 0;
inline constexpr std::size_t kProfile = 1;
inline constexpr std::size_t kServe = 2;
inline constexpr std::size_t kInferenceInstants = 3;

struct RankLedger {
  std::int64_t stage = 0;
  std::int64_t stages = 1;  ///< that are like it
  MemoryLedger ledger;
  RankWeights weights;
  CachePlan plan;
  std::vector<ContextGroup> sequences;
};

RankLedger rank_ledger(const LedgerModel& model, std::int64_t stage);
/// One of each kind of stage.
std::vector<RankLedger> rank_ledgers(const LedgerModel& model);
/// The one with the largest peak; the first of equals. Its need decides.
const RankLedger& worst_rank(const std::vector<RankLedger>& ranks);
Peak worst_peak(const LedgerModel& model);

/// What the settings contradict; empty: nothing.
std::vector<std::string> model_errors(const LedgerModel& model);
/// What was assumed and left out, for readers.
std::vector<std::string> ledger_notes(const LedgerModel& model, const RankLedger& rank);

}  // namespace floorline
