// SPDX-License-Identifier: Apache-2.0
// Bytes of weights on the fullest rank of one pipeline stage, tensor by tensor:
//   each instance  rank_shape (workload/architecture.hpp) x the storage of that tensor
//   embedding      first stage; where it is lm_head too, once a stage that needs it
//   norm, lm_head  last stage
//   vocabulary     rows rounded up to the engine's multiple, then divided
//   rotary table   positions x rotary elements x 2 B, once a stage, whole on every rank
// and what PyTorch's allocator adds (c10/cuda/CUDACachingAllocator): sizes are rounded up to 512 B;
// a tensor from 10 MiB on takes a segment of whole 2 MiB, and a rest of at most 1 MiB stays with
// it. From 1 to 10 MiB tensors share segments of 20 MiB and may keep a rest of up to 1 MiB: a
// range.
#pragma once

#include <string>
#include <vector>

#include "model/ledger/engine.hpp"
#include "model/workload/architecture.hpp"
#include "model/workload/layout.hpp"
#include "model/workload/scenario.hpp"

namespace floorline {

/// One pipeline stage, told by how many layers of each kind it has.
struct StageContent {
  std::vector<std::int64_t> layers;  ///< of each kind of Architecture::layers
  bool first = true;
  bool last = true;
};
/// What stage `stage` of `layout.pp` holds; `total`: of a model with that many layers, the order of
/// kinds repeated or cut.
StageContent stage_content(const Architecture& architecture, const ParallelLayout& layout,
                           std::int64_t stage, std::int64_t total);

struct PrecisionBytes {
  Precision storage = Precision::none;
  ByteCount bytes;
};

struct RankWeights {
  ByteCount bytes;                    ///< all of the below but rounding
  std::vector<PrecisionBytes> parts;  ///< by storage, in order of first use
  ByteCount scales;                   ///< of `parts`: scales and zero points
  ByteCount padding;                  ///< rows that the vocabulary is padded by
  ByteCount rotary;
  ByteCount draft;           ///< of multi-token prediction, not in `bytes` unless loaded
  ByteCount kernel_padding;  ///< at most, of block formats; not in `bytes`
  ByteInterval rounding;     ///< of the allocator, on top
};
RankWeights rank_weights(const Architecture& architecture, const Scenario& scenario,
                         const ParallelLayout& layout, const StageContent& stage,
                         const EngineProfile& engine, const LedgerSettings& settings);

}  // namespace floorline
