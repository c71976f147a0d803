// SPDX-License-Identifier: Apache-2.0
// Data-parallel training: gradients leave in buckets while the backward pass still runs. How much
// of the all-reduce stays exposed?
//   forward -> backward of layer n-1 … 0 -> optimizer, on the GPU
//   bucket k   all_reduce of bucket_bytes of gradients, once the layer that completes them is done;
//              one at a time on the link (gradients are spread evenly over the layers, the last
//              bucket holds what is left)
//   optimizer  after the last bucket
// overlap = false: no bucket starts before the whole backward is done.
// exposed share = time per step in which the GPU waits / time per step; MFU of the step with
// communication = that without x (1 - share).
// Ignored: kernels slowed by a running collective, buckets of uneven tensors, stragglers.
#pragma once

#include <cstdint>
#include <optional>

#include "model/timeline/kinds/collectives.hpp"

namespace floorline {

struct TrainingStep {
  std::int64_t steps = 4;
  std::int64_t layers = 1;
  Seconds forward{0};   ///< of all layers
  Seconds backward{0};  ///< of all layers
  Seconds optimizer{0};
  Bytes gradients{0};
  Bytes bucket{0};
  bool overlap = true;
  CollectiveKeys collective;
  std::optional<double> mfu;  ///< of a step without communication
};

TrainingStep read_training_step(TableReader& table, std::vector<std::string>& assumptions);
BuiltKind build(const TrainingStep& step);

}  // namespace floorline
