// SPDX-License-Identifier: Apache-2.0
// In which order does each rank of a pipeline-parallel run its forward and backward passes?
//   gpipe        all forwards, then all backwards (Huang et al., arXiv 1811.06965)
//   1f1b         p-1-r forwards on rank r, then one forward and one backward by turns, then the
//                backwards left (PipeDream-flush; Narayanan et al., arXiv 2104.04473, §2.2.1)
//   interleaved  v chunks of layers a rank (chunk c of rank r is global stage c p + r): groups of
//                p micro-batches run chunk after chunk; (v-1) p + 2 (p-1-r) forwards first, then as
//                1f1b (the same paper, §2.2.2). The micro-batches must be a multiple of p.
// Bubble over ideal time with equal stages: (p-1)/m for the first two, (p-1)/(v m) interleaved.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace floorline {

enum class MicroBatchOrder : std::uint8_t { gpipe, one_f_one_b, interleaved };
std::string_view name_of(MicroBatchOrder order);
std::optional<MicroBatchOrder> micro_batch_order_from(std::string_view name);

struct Pass {
  int stage = 0;  ///< global: chunk * ranks + rank
  int micro_batch = 0;
  bool backward = false;
  friend bool operator==(const Pass&, const Pass&) = default;
};

struct PipelineShape {
  int ranks = 1;
  int micro_batches = 1;
  int chunks = 1;  ///< a rank; 1 unless interleaved
  MicroBatchOrder order = MicroBatchOrder::one_f_one_b;
};

/// By rank, the passes in the order they run. What does not hold together (interleaved:
/// micro-batches no multiple of the ranks) is for the reader to refuse.
std::vector<std::vector<Pass>> passes_by_rank(const PipelineShape& shape);

/// The most micro-batches, times chunks, whose activations one rank holds at once: forwards done
/// whose backward has not ended.
std::vector<int> held_activations(const std::vector<std::vector<Pass>>& passes);

}  // namespace floorline
