// SPDX-License-Identifier: Apache-2.0
// Several operators as one kernel: what they hand to one another stays on chip, so
//   D = each distinct input byte of the whole once + each output byte of the whole once
//   F of each unit = the sum of the parts' work on that unit
// An input that several parts read counts once, as the largest part any of them needs (a window of
// attention's keys, half of a sparse operand). Naive sums of the parts' own traffic count what one
// part writes and the next reads twice.
// Not modelled: bytes that a finite on-chip memory forces beyond these (design §5: compulsory only
// for fused groups), rows computed again. Both would only add.
#include "model/demand/operator_view.hpp"

namespace floorline {

void fused_demand(const OperatorView& op, const OnChip& chip, Demand& demand) {
  for (const BoundOperator& part : op.graph().parts_of(op.op())) {
    const Demand own = demand_of(op.graph(), part, chip);
    for (const DemandEntry& entry : own.list()) {
      // The port carries what the whole reads, counted by the caller.
      if (entry.resource.unit != Unit::l1_port) demand.add(entry.resource, entry.amount);
    }
    demand.flops += own.flops;
  }
}

Bytes fused_read_bytes(const OperatorView& op, int i, const OnChip& chip, RankShare share) {
  const BoundGraph& graph = op.graph();
  const int tensor = graph.inputs(op.op())[static_cast<std::size_t>(i)].tensor;
  Bytes most(0);
  for (const BoundOperator& part : graph.parts_of(op.op())) {
    const InputReads reads(graph, part, chip, share);
    for (int k = 0; k < part.input_count; ++k) {
      if (graph.inputs(part)[static_cast<std::size_t>(k)].tensor == tensor) {
        most = std::max(most, reads.bytes(k));
      }
    }
  }
  return most;
}

}  // namespace floorline
