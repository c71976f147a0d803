// SPDX-License-Identifier: Apache-2.0
// Does the loader keep the GPU busy, and what would? One training or inference loop:
//
//   workers     load + collate, num_workers at once; batch i is begun when batch
//               i - num_workers x prefetch_factor was taken (index queues of PyTorch's DataLoader)
//   pin thread  copies the batch to pinned memory (pin_memory), beside everything else
//   host        takes the batch, issues the copy, launches the step, in program order
//   h2d engine  latency + bytes / bandwidth
//   GPU         the step, after its batch is there
//
// num_workers = 0: loading (and pinning) is work of the host thread itself. Copy semantics of
// design §8: a pageable copy, or a pinned one without non_blocking, blocks the host to its end; the
// host runs ahead only if pinned and non_blocking. On the compute stream (copy_stream = false) a
// copy also waits for the step before it, so it overlaps nothing. synchronize = true: the host
// waits for each step (loss.item(), a print) before it takes the next batch.
// Ignored: start-up of workers, uneven batches (measured times per item: a general pipeline file),
// what a worker pool costs the host thread, device memory of batches copied ahead.
#pragma once

#include <cstdint>
#include <optional>

#include "model/timeline/kinds/built_kind.hpp"

namespace floorline {

class TableReader;

struct DataLoading {
  std::int64_t batches = 100;
  std::int64_t num_workers = 0;
  std::int64_t prefetch_factor = 2;
  double scaling_efficiency = 1;  ///< of the pool, measured
  Seconds load{0};                ///< one batch, one worker, collate included
  bool pin_memory = false;
  Seconds pin{0};
  bool non_blocking = false;
  bool copy_stream = false;
  std::optional<Seconds> copy;  ///< absent: no copy
  Seconds launch{0};            ///< host time of a step
  Seconds step{0};
  bool synchronize = false;
};

DataLoading read_data_loading(TableReader& table, std::vector<std::string>& assumptions);
BuiltKind build(const DataLoading& loading);

}  // namespace floorline
