// SPDX-License-Identifier: Apache-2.0
// How a model is spread over devices. `ranks` is all of them; amounts elsewhere are per rank.
#pragma once

#include <cstdint>

namespace floorline {

struct ParallelLayout {
  std::int64_t tp = 1;  ///< tensor parallel: every matrix divided
  std::int64_t pp = 1;  ///< pipeline parallel: layers divided into stages
  /// Experts are divided over ep ranks: a part of the tp ranks, which then divide each expert
  /// further; or whole replicas, each with its own tokens (data-parallel attention).
  std::int64_t ep = 1;
  std::int64_t dp = 1;  ///< replicas; the batch is that of one
  std::int64_t cp = 1;  ///< context parallel: tokens, or the cache of each sequence, divided

  [[nodiscard]] std::int64_t ranks() const { return tp * pp * dp * cp; }
  /// Ranks of one stage of one replica.
  [[nodiscard]] std::int64_t stage_ranks() const { return tp * cp; }
  /// Replicas whose tokens meet at the experts.
  [[nodiscard]] std::int64_t expert_replicas() const { return ep > tp ? ep / tp : 1; }
};

}  // namespace floorline
