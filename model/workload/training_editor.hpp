// SPDX-License-Identifier: Apache-2.0
// Adds tensors, operators and repeat blocks to the graph of a training step. Internal to
// training_graph.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/workload/graph.hpp"

namespace floorline {

class TrainingEditor {
 public:
  TrainingEditor(OperatorGraph& edited, Position at) : graph(edited), at_(std::move(at)) {}

  /// A tensor of the same shape as `like`.
  TensorId like(TensorId like, const std::string& name, Precision dtype,
                TensorRole role = TensorRole::intermediate);
  TensorId vector(const std::string& name, std::int64_t elements, Precision dtype, TensorRole role);
  /// The reference holds until the next operator is added.
  Operator& add(const std::string& name, OperatorKind kind, std::vector<TensorId> inputs,
                std::vector<TensorId> outputs);
  void set(Operator& op, Key key, const std::string& value);
  void set(Operator& op, Key key, std::int64_t value) { set(op, key, std::to_string(value)); }
  /// A collective whose message is stated.
  void collective(const std::string& name, OperatorKind kind, std::vector<TensorId> inputs,
                  std::vector<TensorId> outputs, std::int64_t bytes, std::int64_t ranks);
  /// All operators from number `first` on, `times` times.
  Repeat& repeat(const std::string& name, const Expression& times, std::size_t first);

  [[nodiscard]] const Tensor& tensor(TensorId id) const { return graph.tensors[index(id)]; }
  /// Of a tensor without symbols in its shape, such as a weight.
  [[nodiscard]] std::int64_t elements(TensorId id) const;
  [[nodiscard]] std::int64_t last_dim(TensorId id) const;

  OperatorGraph& graph;

 private:
  Position at_;
};

}  // namespace floorline
