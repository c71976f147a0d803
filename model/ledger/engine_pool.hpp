// SPDX-License-Identifier: Apache-2.0
// What an engine's start-up log would say of its cache pool, from a ledger and a budget:
//   rest    available = budget - weights - activations - other lines of the pool (vLLM; graphs from
//           0.21 on)
//   taken   available = (budget - context) x fraction - weights (SGLang)
//   free    available = fraction x (budget - everything else) (TensorRT-LLM)
// blocks = floor(available / bytes of a block); tokens, concurrency and the longest request follow.
// Every rank takes the least of all ranks. Lines that are ranges make all of it a range.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/ledger/inference_ledger.hpp"

namespace floorline {

/// What there is, before any fraction of it.
struct MemoryTotal {
  ByteCount bytes;
  std::optional<double> utilization;  ///< absent: the engine's own fraction
  std::string text;                   ///< "81559 MiB (h100_sxm)"
};
/// What a verdict is against: total x fraction for an engine that takes no more, else the total
/// (x the utilization without an engine).
Budget budget_of(const EngineProfile& engine, const MemoryTotal& total);

/// One end of the range.
struct PoolEnd {
  ByteCount available;
  std::int64_t blocks = 0;
  std::int64_t tokens = 0;
  double concurrency = 0;                   ///< requests of the longest length
  std::int64_t longest = 0;                 ///< request that fits alone, up to `max_len`
  std::optional<std::int64_t> longest_any;  ///< the same without that limit; absent: no limit found
};

struct EnginePool {
  ByteInterval weights;  ///< with the allocator's rounding and padding, as the log has it
  std::int64_t max_len = 0;
  std::int64_t block = 1;
  ByteCount block_bytes;
  std::int64_t groups = 1;
  PoolEnd low;  ///< with the high ends of other lines
  PoolEnd high;
  CacheBytes ideal;        ///< of one longest request if windows held only their window, no pages
  CacheBytes engine;       ///< of one longest request as the engine lays it out
  ByteCount need;          ///< of the scenario
  std::int64_t stage = 0;  ///< the stage with the least
};

/// Absent: the engine has no pool, nothing is cached, or there is no budget.
std::optional<EnginePool> engine_pool(const LedgerModel& model,
                                      const std::vector<RankLedger>& ranks,
                                      const std::optional<MemoryTotal>& total);

/// rank_ledgers(), with a line `reserve` where an engine (rules taken and free) keeps back more
/// than its other lines take: what fits in the pool and what fits in memory are then the same
/// question.
std::vector<RankLedger> engine_ledgers(const LedgerModel& model,
                                       const std::optional<MemoryTotal>& total);

}  // namespace floorline
