// SPDX-License-Identifier: Apache-2.0
// A model cut into stages over p ranks, m micro-batches a step: how long does the step take, and
// how much of it do ranks wait (the bubble)? Each rank runs the passes of micro_batch_order.hpp in
// that very order; a forward pass needs the one of the stage before, a backward pass the one of the
// stage after and its own forward. Stages may be unequal; a send between ranks may take time (on a
// link of its own each way, beside compute).
//   bubble share of total time, equal stages and free sends:
//     gpipe, 1f1b   (p-1) / (m+p-1)
//     interleaved   (p-1) / (v m+p-1)      Narayanan et al., arXiv 2104.04473, §2.2
// Ignored: gradient exchange and optimizer after the flush, recomputation unless it is in
// backward_time, stage-to-stage scatter/gather of tensor-parallel ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "model/timeline/kinds/built_kind.hpp"
#include "model/timeline/kinds/micro_batch_order.hpp"

namespace floorline {

class TableReader;

struct PipelineParallel {
  PipelineShape shape;
  std::vector<Seconds> forward;   ///< of a micro-batch, by global stage
  std::vector<Seconds> backward;  ///< likewise
  Seconds send{0};
};

PipelineParallel read_pipeline_parallel(TableReader& table, std::vector<std::string>& assumptions);
BuiltKind build(const PipelineParallel& step);

/// (p-1) / (v m+p-1), v = 1 unless interleaved.
double textbook_bubble_share(const PipelineShape& shape);

}  // namespace floorline
