// SPDX-License-Identifier: Apache-2.0
#include "model/timeline/kinds/micro_batch_order.hpp"

#include <algorithm>
#include <array>

#include "model/quantity/expect.hpp"

namespace floorline {

namespace {

constexpr std::array<std::string_view, 3> kOrders{"gpipe", "1f1b", "interleaved"};

/// The k-th forward or backward of a rank. Without interleaving there is one chunk and k counts
/// micro-batches.
Pass numbered(const PipelineShape& shape, int rank, int k, bool backward) {
  if (shape.order != MicroBatchOrder::interleaved) return {rank, k, backward};
  const int group = shape.ranks * shape.chunks;
  const int turn = (k % group) / shape.ranks;
  const int chunk = backward ? shape.chunks - 1 - turn : turn;
  const int micro_batch = k / group * shape.ranks + k % shape.ranks;
  return {chunk * shape.ranks + rank, micro_batch, backward};
}

int forwards_first(const PipelineShape& shape, int rank) {
  const int after = shape.ranks - 1 - rank;
  const int all = shape.micro_batches * shape.chunks;
  switch (shape.order) {
    case MicroBatchOrder::gpipe:
      return all;
    case MicroBatchOrder::one_f_one_b:
      return std::min(after, all);
    case MicroBatchOrder::interleaved:
      return std::min(2 * after + (shape.chunks - 1) * shape.ranks, all);
  }
  return all;
}

std::vector<Pass> passes_of(const PipelineShape& shape, int rank) {
  const int all = shape.micro_batches * shape.chunks;
  const int first = forwards_first(shape, rank);
  std::vector<Pass> passes;
  passes.reserve(2 * static_cast<std::size_t>(all));
  for (int k = 0; k < first; ++k) passes.push_back(numbered(shape, rank, k, false));
  for (int k = first; k < all; ++k) {
    passes.push_back(numbered(shape, rank, k, false));
    passes.push_back(numbered(shape, rank, k - first, true));
  }
  for (int k = all - first; k < all; ++k) passes.push_back(numbered(shape, rank, k, true));
  return passes;
}

}  // namespace

std::string_view name_of(MicroBatchOrder order) { return kOrders[static_cast<std::size_t>(order)]; }

std::optional<MicroBatchOrder> micro_batch_order_from(std::string_view name) {
  for (std::size_t i = 0; i < kOrders.size(); ++i) {
    if (kOrders[i] == name) return static_cast<MicroBatchOrder>(i);
  }
  return std::nullopt;
}

std::vector<std::vector<Pass>> passes_by_rank(const PipelineShape& shape) {
  FLOORLINE_EXPECT(shape.ranks > 0 && shape.micro_batches > 0 && shape.chunks > 0);
  std::vector<std::vector<Pass>> all;
  for (int rank = 0; rank < shape.ranks; ++rank) all.push_back(passes_of(shape, rank));
  return all;
}

std::vector<int> held_activations(const std::vector<std::vector<Pass>>& passes) {
  std::vector<int> most;
  for (const std::vector<Pass>& rank : passes) {
    int held = 0;
    int peak = 0;
    for (const Pass& pass : rank) {
      held += pass.backward ? -1 : 1;
      peak = std::max(peak, held);
    }
    most.push_back(peak);
  }
  return most;
}

}  // namespace floorline
