// SPDX-License-Identifier: Apache-2.0
// Operators of a graph run chunk after chunk of their rows, each as the kernels it was, so that of
// what they hand to one another only a chunk is alive (Liger's fused linear and cross-entropy: Hsu
// et al. 2024, section 3). With c of R rows, n = ceil(R / c):
//   work          that of the operators: every row is computed once
//   rows          read and written once, as before
//   whole inputs  (weights) are read by every chunk: n times, unless they stay on chip
//   sums over rows (gradients of weights) are written n times and read n - 1 times
// The first chunk, R - (n - 1) c rows, stands alone: it starts the sums; the others are a repeat
// block. Not modelled: that smaller products use a GPU less well; both only add.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/rewrite/fuse.hpp"
#include "model/rewrite/fuse_rules.hpp"
#include "model/workload/bound_graph.hpp"

namespace floorline {

/// How a group of operators is split by rows: the first dimension of what its first operator makes.
class RowSplit {
 public:
  /// Both must outlive it.
  RowSplit(const OperatorGraph& graph, const BoundGraph& bound, std::span<const OperatorId> group);

  /// What stands against it besides what stands against any group.
  [[nodiscard]] std::vector<FusionRefusal> refusals() const;
  [[nodiscard]] double rows() const { return rows_; }
  [[nodiscard]] const std::string& rows_text() const { return text_; }
  /// A chunk has its own rows of it.
  [[nodiscard]] bool by_rows(TensorId tensor) const;
  /// A product that sums over the rows: each chunk adds to its result.
  [[nodiscard]] bool sums_rows(OperatorId op) const;

 private:
  using Refusals = std::vector<FusionRefusal>;
  void check_product(OperatorId id, Refusals& all) const;
  void check_rowwise(OperatorId id, Refusals& all) const;
  void check_sums(Refusals& all) const;
  void check_made_whole(Refusals& all) const;
  [[nodiscard]] std::string named(TensorId t) const {
    return "\"" + graph_.tensors[index(t)].name + "\"";
  }
  [[nodiscard]] std::string named(OperatorId op) const {
    return "\"" + graph_.ops[index(op)].name + "\"";
  }

  const OperatorGraph& graph_;
  const BoundGraph& bound_;
  std::vector<OperatorId> group_;
  std::string text_;  ///< R as an expression
  double rows_ = 0;
};

struct ChunkedGraph {
  OperatorGraph graph;
  std::string symbol;               ///< whose value is the rows of a chunk
  std::vector<int> whole;           ///< by tensor of `graph`: the tensor of the old one
  std::vector<OperatorId> members;  ///< operators of the first chunk and of the block
};

/// The group must be legal, and `rows` below those of the split.
ChunkedGraph chunked_graph(const OperatorGraph& graph, const RowSplit& split,
                           std::span<const OperatorId> group, double rows);

}  // namespace floorline
