// SPDX-License-Identifier: Apache-2.0
// A pipeline as the scheduler needs it: times in ticks, who waits for whom in flat arrays.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "model/timeline/pipeline.hpp"
#include "model/timeline/schedule.hpp"

namespace floorline {

/// An edge seen from the stage that causes it.
struct Successor {
  std::uint32_t stage = 0;
  Wait wait = Wait::data;
  std::int64_t distance = 0;
};

/// Rows of unequal length in one array.
template <class T>
struct Rows {
  std::vector<T> all;
  std::vector<std::uint32_t> begin;  ///< one more than rows

  [[nodiscard]] std::span<const T> of(std::size_t row) const {
    return {all.data() + begin[row], begin[row + 1] - begin[row]};
  }
};

struct TaskGraph {
  std::size_t stages = 0;
  std::int64_t items = 0;
  double ticks_per_second = 1;
  Rows<Successor> on_finish;
  Rows<Successor> on_start;
  Rows<std::uint32_t> buffers_out;         ///< of a producer, indices of Pipeline::buffers
  Rows<std::uint32_t> buffers_in;          ///< of a consumer
  Rows<std::int64_t> distances;            ///< of a stage's dependencies, sorted
  std::vector<std::int64_t> max_distance;  ///< of a stage's dependencies; -1: it has none

  [[nodiscard]] Ticks time(std::size_t stage, std::int64_t item) const {
    const std::vector<Ticks>& varied = per_item[stage];
    return varied.empty() ? constant[stage] : varied[static_cast<std::size_t>(item)];
  }
  [[nodiscard]] Ticks earliest(std::size_t stage, std::int64_t item) const {
    const Ticks own = not_before[stage];
    if (arrivals.empty()) return own;
    return std::max(own, arrivals[static_cast<std::size_t>(item)]);
  }
  /// How many dependencies must be met before (stage, item) is ready.
  [[nodiscard]] std::uint32_t needs(std::size_t stage, std::int64_t item) const;

  std::vector<Ticks> constant;
  std::vector<std::vector<Ticks>> per_item;
  std::vector<Ticks> not_before;
  std::vector<Ticks> arrivals;
  bool arrivals_sorted = true;
};

/// Throws InputError: too many tasks, more time than 63 bits of ticks hold.
TaskGraph task_graph_of(const Pipeline& pipeline, const std::vector<double>& factor);

}  // namespace floorline
