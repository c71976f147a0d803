// SPDX-License-Identifier: Apache-2.0
#include "model/workload/training_editor.hpp"

#include "model/quantity/expect.hpp"

namespace floorline {

TensorId TrainingEditor::like(TensorId like, const std::string& name, Precision dtype,
                              TensorRole role) {
  Tensor made;
  made.name = name;
  made.shape = tensor(like).shape;
  made.dtype = dtype;
  made.role = role;
  made.at = at_;
  graph.tensors.push_back(std::move(made));
  return static_cast<TensorId>(graph.tensors.size() - 1);
}

TensorId TrainingEditor::vector(const std::string& name, std::int64_t elements, Precision dtype,
                                TensorRole role) {
  Tensor made;
  made.name = name;
  made.shape.emplace_back(static_cast<double>(elements));
  made.dtype = dtype;
  made.role = role;
  made.at = at_;
  graph.tensors.push_back(std::move(made));
  return static_cast<TensorId>(graph.tensors.size() - 1);
}

Operator& TrainingEditor::add(const std::string& name, OperatorKind kind,
                              std::vector<TensorId> inputs, std::vector<TensorId> outputs) {
  Operator op;
  op.name = name;
  op.kind = kind;
  op.inputs = std::move(inputs);
  op.outputs = std::move(outputs);
  op.at = at_;
  graph.ops.push_back(std::move(op));
  return graph.ops.back();
}

void TrainingEditor::set(Operator& op, Key key, const std::string& value) {
  Diagnostics diagnostics;
  op.attributes.push_back({key, Expression::parse(value, graph.symbols, at_, "", diagnostics)});
  FLOORLINE_EXPECT(diagnostics.empty());
}

void TrainingEditor::collective(const std::string& name, OperatorKind kind,
                                std::vector<TensorId> inputs, std::vector<TensorId> outputs,
                                std::int64_t bytes, std::int64_t ranks) {
  Operator& op = add(name, kind, std::move(inputs), std::move(outputs));
  set(op, Key::bytes, bytes);
  set(op, Key::ranks, ranks);
}

Repeat& TrainingEditor::repeat(const std::string& name, const Expression& times,
                               std::size_t first) {
  Repeat block;
  block.name = name;
  block.times = times;
  block.at = at_;
  for (std::size_t op = first; op < graph.ops.size(); ++op) {
    block.ops.push_back(static_cast<OperatorId>(op));
  }
  graph.repeats.push_back(std::move(block));
  return graph.repeats.back();
}

std::int64_t TrainingEditor::elements(TensorId id) const {
  double product = 1;
  for (const Expression& dim : tensor(id).shape) product *= dim.evaluate(graph.symbol_values);
  return static_cast<std::int64_t>(product);
}

std::int64_t TrainingEditor::last_dim(TensorId id) const {
  const Tensor& t = tensor(id);
  return t.shape.empty() ? 1
                         : static_cast<std::int64_t>(t.shape.back().evaluate(graph.symbol_values));
}

}  // namespace floorline
