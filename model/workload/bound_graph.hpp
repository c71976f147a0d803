// SPDX-License-Identifier: Apache-2.0
// An operator graph with numbers for its symbols: flat arrays, no strings. From here to the floors
// nothing is allocated. rebind() gives the same arrays new numbers.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "model/quantity/precision.hpp"
#include "model/quantity/quantity.hpp"
#include "model/workload/graph.hpp"

namespace floorline {

struct BoundTensor {
  double elements = 0;
  double last_dim = 1;
  Bytes bytes{0};     ///< elements × storage bits / 8
  double copies = 1;  ///< distinct instances over all iterations of its repeat block
  double width = 0;   ///< bytes of an element
  int shape = 0;      ///< in BoundGraph::shapes
  Precision dtype = Precision::none;
  TensorRole role = TensorRole::intermediate;
  int producer = -1;  ///< operator index, -1: none
  int rows_of = -1;   ///< the tensor whose rows these are, -1: memory of its own
};

/// Made by nothing in the graph: an input, a weight or a state.
inline bool enters(const BoundTensor& tensor) {
  return tensor.producer < 0 && tensor.role != TensorRole::intermediate;
}

/// Where a size of the graph is written first; the same text elsewhere is the same size.
struct SizePlace {
  int tensor = 0;
  int dim = 0;
};

/// Tensors of the same sizes in the same order have one.
struct BoundShape {
  double elements = 0;
  double last_dim = 1;
  int first_dim = 0, dim_count = 0;  ///< in BoundGraph::dims
};

/// One use of a tensor by an operator. A tensor named twice by one operator is read once.
struct TensorUse {
  int tensor = 0;
  bool again = false;
  /// Instances, over all iterations, that enter the graph by this reading or leave it by this
  /// writing: of inputs, weights and state; of outputs and state. 0: it stays inside.
  double crossing = 0;
};

struct BoundOperator {
  OperatorKind kind = OperatorKind::custom;
  Precision compute = Precision::any;
  Precision accumulate = Precision::any;
  bool sparse = false;
  CopyPath path = CopyPath::d2d;
  Access access = Access::regular;
  ConvAlgorithm algorithm = ConvAlgorithm::any;
  bool enters = false;  ///< some input of it enters the graph by it
  bool leaves = false;  ///< some output leaves it
  double times = 1;
  int repeat = -1;
  int first_input = 0, input_count = 0;
  int first_output = 0, output_count = 0;
  int first_sequence = 0, sequence_count = 0;
  int first_part = 0, part_count = 0;  ///< of kind fused, in BoundGraph::parts
  Flops stated_work{-1};               ///< < 0: none
  Bytes stated_traffic{-1};
  double work_scale = 1;
  double traffic_scale = 1;
  bool overridden = false;                     ///< work or traffic is stated or scaled
  std::array<double, kKeyCount> attributes{};  ///< NaN when absent
};

struct BoundRepeat {
  double times = 1;
  int first_op = 0, op_count = 0;
  int first_carry = 0, carry_count = 0;
};

struct BoundCarry {
  int made = 0;
  int read = 0;
};

struct BoundGraph {
  std::vector<double> sizes;           ///< each distinct size that some shape has
  std::vector<SizePlace> size_places;  ///< by size
  std::vector<int> dims;               ///< of all shapes: their sizes
  std::vector<BoundShape> shapes;
  std::vector<BoundTensor> tensors;
  std::vector<BoundOperator> ops;
  std::vector<BoundOperator> parts;  ///< of all fused operators
  std::vector<TensorUse> uses;
  std::vector<SequenceGroup> sequences;
  std::vector<BoundRepeat> repeats;
  std::vector<BoundCarry> carries;
  Routing routing = Routing::least;
  bool has_rows = false;  ///< some tensor is rows of another

  /// Where it lies: itself, or the tensor whose rows it is.
  [[nodiscard]] std::size_t storage(int tensor) const {
    const int whole = tensors[static_cast<std::size_t>(tensor)].rows_of;
    return static_cast<std::size_t>(whole < 0 ? tensor : whole);
  }
  [[nodiscard]] std::span<const TensorUse> inputs(const BoundOperator& op) const {
    return {uses.data() + op.first_input, static_cast<std::size_t>(op.input_count)};
  }
  [[nodiscard]] std::span<const TensorUse> outputs(const BoundOperator& op) const {
    return {uses.data() + op.first_output, static_cast<std::size_t>(op.output_count)};
  }
  [[nodiscard]] std::span<const SequenceGroup> sequences_of(const BoundOperator& op) const {
    return {sequences.data() + op.first_sequence, static_cast<std::size_t>(op.sequence_count)};
  }
  [[nodiscard]] std::span<const BoundOperator> parts_of(const BoundOperator& op) const {
    return {parts.data() + op.first_part, static_cast<std::size_t>(op.part_count)};
  }
};

/// What of a bound graph depends on some of its symbols, so that new values of these redo no more
/// than they have to.
struct Touched {
  std::vector<int> sizes;
  std::vector<int> shapes;
  std::vector<int> tensors;
  std::vector<int> ops;      ///< whose keys or stated amounts depend on them
  std::vector<int> repeats;  ///< whose number of iterations does
  std::vector<int> demands;  ///< operators whose keys, tensors or iterations do
  std::vector<int> checks;   ///< those of them whose keys or tensors might now contradict
};
Touched touched_by(const OperatorGraph& graph, const BoundGraph& bound, std::span<const int> slots);

/// What bind() also refuses, for arrays that were bound before: products whose tensors do not agree
/// with their k, uneven heads, carried tensors that differ.
bool agrees(const OperatorGraph& graph, const BoundGraph& bound);

/// Numbers for every shape and key. Throws InputError: a size that is negative, not a whole number
/// or beyond 2^53, a product whose tensors do not agree with its k, keys that contradict.
BoundGraph bind(const OperatorGraph& graph);
/// The same arrays with the numbers of `symbol_values` (by slot). False when a size is bad; nothing
/// is allocated.
bool rebind(const OperatorGraph& graph, std::span<const double> symbol_values, BoundGraph& bound);
/// The same where no other symbols than those of `touched` have new values since the last time.
bool rebind(const OperatorGraph& graph, std::span<const double> symbol_values,
            const Touched& touched, BoundGraph& bound);

}  // namespace floorline
