// SPDX-License-Identifier: Apache-2.0
// What the tensors of an operator graph hold at each operator, in execution order.
// An intermediate lives from the operator that makes it to the last one that reads it, both
// included (no operator works in place, none needs workspace); the peak of intermediates is the
// largest sum alive at one operator. Inputs, outputs, weights and state are there all the time:
//   weights  weights and scales, one an iteration of their repeat block; a weight that an operator
//            makes (gathered over ranks) is an intermediate
//   state    read and written; what an operator writes beside a state of the same size that it
//            reads, and what an optimizer writes, is that state or weight updated in place
// Rows of a tensor have no memory of their own: the whole is there from its first rows on.
// Repeat blocks are folded: an iteration's tensors die in it, what it carries lives on into the
// next, what is read behind the block is the last one's. Training: a block with backward operators
// or the optimizer reads, of a block repeated as often, each iteration's own tensors, the last one
// first; they are kept from the one block to the other, an instance an iteration.
// Iterations that only repeat what their neighbours do are not walked; their kept tensors count,
// and sums that grow or shrink by the same amount each iteration are largest at the ends.
// Not modelled: an allocator's rounding, reuse in place, rotations of more than two carried reads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/quantity/byte_count.hpp"
#include "model/workload/bound_graph.hpp"

namespace floorline {

struct GraphMemory {
  ByteCount weights;
  ByteCount state;
  ByteCount inputs;
  ByteCount outputs;
  ByteCount peak_intermediates;
  int at = -1;  ///< operator at which intermediates peak, the first; -1: none

  /// All of them together, at the peak.
  [[nodiscard]] ByteCount peak() const {
    return weights + state + inputs + outputs + peak_intermediates;
  }
};

/// Reused between calls on graphs of the same size, nothing is allocated.
struct LivenessScratch {
  __extension__ using WideBytes = __int128;  ///< a sum over iterations that are not walked
  struct Instance {
    int tensor = 0;
    int born = 0;  ///< step
    int last = 0;
    std::int64_t count = 1;  ///< equal ones, of iterations that are not walked
  };
  std::vector<Instance> instances;
  std::vector<int> now;           ///< by tensor: the instance its name stands for, -1: none
  std::vector<int> home;          ///< by tensor: the block that makes it or carries it on, -1: none
  std::vector<int> first_kept;    ///< by tensor: its first slot in `kept`, -1: not kept
  std::vector<int> kept_tensors;  ///< in the order of their blocks
  std::vector<int> kept;       ///< by iteration: instance of a kept tensor; then those not walked
  std::vector<int> moved;      ///< instances that a carry hands on
  std::vector<char> training;  ///< by block: has backward operators or the optimizer
  std::vector<int> step_op;    ///< operator of each step
  std::vector<WideBytes> balance;  ///< by step: change of the sum before it
};

GraphMemory memory_of(const BoundGraph& graph);
/// Weights and state of memory_of(), without the walk that finds the peak of intermediates.
Bytes resident_bytes(const BoundGraph& graph);
/// The tensors of that sum, whatever their sizes: for who asks again with other sizes.
std::vector<int> resident_tensors(const BoundGraph& graph);
Bytes resident_bytes(const BoundGraph& graph, std::span<const int> tensors);
GraphMemory memory_of(const BoundGraph& graph, LivenessScratch& scratch);

/// A tensor alive at the peak of intermediates.
struct AliveTensor {
  int tensor = 0;
  std::int64_t instances = 1;
  ByteCount bytes;  ///< of all instances
};
/// Largest first.
std::vector<AliveTensor> alive_at_peak(const BoundGraph& graph);

/// Bytes of one instance: elements × storage bits, rounded up to whole bytes.
ByteCount byte_count(const BoundTensor& tensor);

}  // namespace floorline
