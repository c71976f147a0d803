// SPDX-License-Identifier: Apache-2.0
// The other way round: the largest batch, context, concurrency or number of layers that fits, the
// smallest tensor parallelism that does. What a rank needs grows with each of the first four, so
// the answer is found by halving; tp is tried upward, since replicated parts do not shrink with it.
//   batch        sequences; the step's activations and logits grow with them
//   concurrency  sequences in the cache; the step stays that of the scenario's batch
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/ledger/engine_pool.hpp"

namespace floorline {

enum class SolveFor : std::uint8_t { batch, context, concurrency, layers, tp };
std::string_view name_of(SolveFor what);
std::optional<SolveFor> solve_for(std::string_view name);

struct LedgerSolution {
  SolveFor what = SolveFor::batch;
  std::optional<std::int64_t> value;   ///< absent: none fits
  bool unlimited = false;              ///< the largest number that was tried fits
  ByteCount need;                      ///< with `value`; without one, with the least
  std::optional<ByteCount> next_need;  ///< with one more (tp: with the next smaller that divides)
};

LedgerSolution solve(const LedgerModel& model, const MemoryTotal& total, SolveFor what);

}  // namespace floorline
