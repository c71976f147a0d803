// SPDX-License-Identifier: Apache-2.0
// The operator graph as written: symbols, tensors with shapes as expressions, operators, repeat
// blocks. Every way in (file, --op, model) gives this one type; bind() makes numbers of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/expression/expression.hpp"
#include "model/quantity/precision.hpp"
#include "model/quantity/sourced.hpp"
#include "model/workload/operator_kinds.hpp"
#include "model/workload/routing.hpp"

namespace floorline {

enum class TensorId : int {};
enum class OperatorId : int {};
constexpr std::size_t index(TensorId id) { return static_cast<std::size_t>(id); }
constexpr std::size_t index(OperatorId id) { return static_cast<std::size_t>(id); }

/// `scale`: scales and zero points of a quantized weight, read beside it and no factor of a
/// product.
enum class TensorRole : std::uint8_t { weight, input, output, intermediate, state, scale };
std::string_view name_of(TensorRole role);
std::optional<TensorRole> tensor_role_from(std::string_view name);

struct Tensor {
  std::string name;
  std::vector<Expression> shape;
  Precision dtype = Precision::bf16;  ///< storage
  TensorRole role = TensorRole::intermediate;
  /// Inside a repeat block: one tensor for all iterations. Weights and state are one an iteration
  /// unless this says otherwise; inputs and outputs are shared.
  bool shared = false;
  /// Rows of that tensor, without memory of its own; in a repeat block each iteration has its own.
  /// Several such tensors are different rows, unless each is all of it (sums that grow in place).
  std::optional<TensorId> rows_of;
  Position at;
};

/// `count` sequences with q_len new tokens each and kv_len keys, the new ones included.
struct SequenceGroup {
  double count = 1;
  double q_len = 1;
  double kv_len = 1;
};

struct Attribute {
  Key key;
  Expression value;
};

struct Operator {
  std::string name;
  OperatorKind kind = OperatorKind::custom;
  std::vector<TensorId> inputs;
  std::vector<TensorId> outputs;
  std::vector<Attribute> attributes;
  Precision compute = Precision::any;
  Precision accumulate = Precision::any;
  bool sparse = false;  ///< operands are really 2:4 sparse
  CopyPath path = CopyPath::d2d;
  Access access = Access::regular;
  ConvAlgorithm algorithm = ConvAlgorithm::any;
  /// Attention over sequences of unequal length, in one kernel; replaces batch, q_len, kv_len.
  std::vector<SequenceGroup> sequences;
  std::optional<Expression> stated_work;     ///< op.NAME.flops
  std::optional<Expression> stated_traffic;  ///< op.NAME.bytes, HBM bytes in all
  double work_scale = 1;                     ///< op.NAME.flops*=…
  double traffic_scale = 1;
  /// Of kind fused: the operators that one kernel does, producers first. What they hand to one
  /// another and is no output of this operator stays on chip.
  std::vector<Operator> parts;
  Position at;
};

struct Repeat {
  std::string name;
  Expression times;
  std::vector<OperatorId> ops;
  /// (made, read next): what one iteration makes is what the next one reads.
  std::vector<std::pair<TensorId, TensorId>> carry;
  Position at;
};

struct OperatorGraph {
  std::string name;
  SymbolTable symbols;
  std::vector<double> symbol_values;  ///< by slot
  std::vector<Tensor> tensors;
  std::vector<Operator> ops;  ///< in execution order: producers before consumers
  std::vector<Repeat> repeats;
  Routing routing = Routing::least;
  std::vector<std::string> assumptions;
  std::vector<std::string> notes;

  /// Adds a symbol, or gives it a new value.
  void set_symbol(std::string_view symbol, double value);
  [[nodiscard]] std::optional<double> symbol(std::string_view symbol) const;
  [[nodiscard]] std::optional<OperatorId> find_op(std::string_view op) const;
  [[nodiscard]] std::optional<TensorId> find_tensor(std::string_view tensor) const;
};

/// What can be checked without numbers: producers before consumers, one producer a tensor, repeat
/// blocks contiguous and disjoint, carried tensors made inside. Adds to `diagnostics`.
void check_graph(const OperatorGraph& graph, Diagnostics& diagnostics);

}  // namespace floorline
