// SPDX-License-Identifier: Apache-2.0
// The longest dependency path of a graph: operator i starts when every input has been written.
// A repeat block of n iterations is not unrolled. One iteration maps the times at which its carried
// tensors are ready to the times at which it makes the next ones: x' = A ⊗ x in the (max, +)
// algebra, with one more row for everything that is ready from outside and one for the latest end
// so far. n iterations are Aⁿ, by squaring (Baccelli, Cohen, Olsder, Quadrat, "Synchronization and
// Linearity", 1992, §1.2).
#pragma once

#include <cstdint>

#include "model/floor/graph_floor.hpp"

namespace floorline {

enum class PathTime : std::uint8_t { cold, any_residency };

/// Every operator reads what the one before it wrote, every iteration of a block what the one
/// before handed on: the longest path is then the sum of all, whatever the times.
bool is_chain(const BoundGraph& graph);

/// Uses the scratch arrays of `floors`; allocates nothing after prepare().
Seconds longest_path(const BoundGraph& graph, GraphFloors& floors, PathTime which);

}  // namespace floorline
