// SPDX-License-Identifier: Apache-2.0
#include "model/workload/graph_builder.hpp"

#include "model/quantity/expect.hpp"

namespace floorline {

GraphBuilder::GraphBuilder(const Architecture& model, const Scenario& asked,
                           const ParallelLayout& spread)
    : architecture(model),
      scenario(asked),
      layout(spread),
      activation_dtype(activation_storage(model, asked)),
      kv_dtype(kv_storage(model, asked)),
      hidden(std::to_string(model.hidden)) {
  graph.name = model.name + " " + std::string(name_of(asked.phase));
  graph.set_symbol("batch", static_cast<double>(asked.sequences()));
  graph.set_symbol("new", static_cast<double>(asked.new_tokens()));
  if (asked.contexts.empty()) graph.set_symbol("context", static_cast<double>(asked.cached()));
}

Expression GraphBuilder::size(const std::string& text) const {
  Diagnostics diagnostics;
  Expression expression = Expression::parse(text, graph.symbols, architecture.at, "", diagnostics);
  FLOORLINE_EXPECT(diagnostics.empty());
  return expression;
}

TensorId GraphBuilder::tensor(const std::string& name, Shape shape, Precision dtype,
                              TensorRole role) {
  Tensor tensor;
  tensor.name = name;
  for (const std::string& dimension : shape) tensor.shape.push_back(size(dimension));
  tensor.dtype = dtype;
  tensor.role = role;
  tensor.at = architecture.at;
  graph.tensors.push_back(std::move(tensor));
  return static_cast<TensorId>(graph.tensors.size() - 1);
}

TensorId GraphBuilder::weight(const std::string& name, int group, const std::string& prefix) {
  const NamedWeight* weight = architecture.find_weight(name, group);
  FLOORLINE_EXPECT(weight != nullptr);
  const WeightShape shape = rank_shape(*weight, layout.tp);
  const Precision dtype = weight_storage(*weight, scenario);
  if (weight->cols == 1) {
    return tensor(prefix + name, {std::to_string(shape.rows)}, dtype, TensorRole::weight);
  }
  return tensor(prefix + name, {std::to_string(shape.rows), std::to_string(shape.cols)}, dtype,
                TensorRole::weight);
}

Operator& GraphBuilder::add(const std::string& name, OperatorKind kind,
                            std::vector<TensorId> inputs, std::vector<TensorId> outputs) {
  Operator op;
  op.name = name;
  op.kind = kind;
  op.inputs = std::move(inputs);
  op.outputs = std::move(outputs);
  op.at = architecture.at;
  graph.ops.push_back(std::move(op));
  return graph.ops.back();
}

void GraphBuilder::set(Operator& op, Key key, const std::string& value) const {
  op.attributes.push_back({key, size(value)});
}

void GraphBuilder::add_product(const std::string& name, std::vector<TensorId> inputs,
                               std::vector<TensorId> outputs) {
  const MatrixPrecision precision = product_precision(inputs);
  Operator& op = add(name, OperatorKind::gemm, std::move(inputs), std::move(outputs));
  op.compute = precision.compute;
  op.accumulate = precision.accumulate;
}

MatrixPrecision GraphBuilder::product_precision(const std::vector<TensorId>& inputs) const {
  const auto stored = [&](std::size_t i) { return graph.tensors[index(inputs[i])].dtype; };
  Precision other = stored(1);
  for (std::size_t i = 2; i < inputs.size(); ++i) {
    if (storage_bits(stored(i)) > storage_bits(other)) other = stored(i);
  }
  return matrix_precision(stored(0), other, scenario);
}

void GraphBuilder::all_reduce(const std::string& name, TensorId& summed) {
  const TensorId out = activation(name + ".out", {tokens, hidden});
  Operator& op = add(name, OperatorKind::all_reduce, {summed}, {out});
  set(op, Key::ranks, std::to_string(layout.tp));
  summed = out;
}

Precision GraphBuilder::vector_precision() const {
  const Precision fixed = scenario.compute_dtype.value_or(Precision::any);
  for (const Precision p : {Precision::fp64, Precision::fp32, Precision::bf16, Precision::fp16}) {
    if (fixed == p) return p;
  }
  return Precision::any;
}

}  // namespace floorline
