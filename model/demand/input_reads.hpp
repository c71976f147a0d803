// SPDX-License-Identifier: Apache-2.0
// How much of each of its inputs an operator has to read at least: keys that some query sees, rows
// of a table that the data touch, experts that the router picks, pixels under the filter, sectors.
#pragma once

#include <cstdint>

#include "model/device/on_chip.hpp"
#include "model/workload/bound_graph.hpp"

namespace floorline {

/// Ranks of an expert-parallel group share what the data decide. A rank that reads the mean exists
/// for the whole graph; the busiest rank of one operator need not be the busiest of the next.
enum class RankShare : std::uint8_t { busiest, mean };

class InputReads {
 public:
  InputReads(const BoundGraph& graph, const BoundOperator& op, const OnChip& chip,
             RankShare share = RankShare::busiest)
      : graph_(graph), op_(op), chip_(chip), share_(share) {
    if (reads_parts(op)) resolve();
  }
  /// Bytes of input number `i`. The union over several readers of one tensor is at least the
  /// largest of these.
  [[nodiscard]] Bytes bytes(int i) const {
    return whole_tensors_ ? graph_.tensors[static_cast<std::size_t>(tensor_of(i))].bytes
                          : part_bytes(i);
  }
  /// Every input is read in full.
  [[nodiscard]] bool whole_tensors() const { return whole_tensors_; }

 private:
  /// Kinds that may need less than all of an input.
  static bool reads_parts(const BoundOperator& op) {
    switch (op.kind) {
      case OperatorKind::attention:
      case OperatorKind::embedding:
      case OperatorKind::gather:
      case OperatorKind::scatter:
      case OperatorKind::conv:
      case OperatorKind::grouped_gemm:
      case OperatorKind::elementwise:
      case OperatorKind::fused:
        return true;
      default:
        return op.kind == OperatorKind::gemm && op.sparse;
    }
  }
  void resolve();
  [[nodiscard]] int tensor_of(int i) const {
    return graph_.uses[static_cast<std::size_t>(op_.first_input + i)].tensor;
  }
  [[nodiscard]] Bytes part_bytes(int i) const;

  const BoundGraph& graph_;
  const BoundOperator& op_;
  const OnChip& chip_;
  RankShare share_;
  double first_ = 1;           ///< part of input 0
  double later_ = 1;           ///< part of every other input
  bool whole_tensors_ = true;  ///< every input is read in full
  bool by_sector_ = false;     ///< elementwise with a stride or random access: all inputs
};

}  // namespace floorline
