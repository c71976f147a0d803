// SPDX-License-Identifier: Apache-2.0
#include "model/workload/graph_builder.hpp"

#include <algorithm>

#include "model/quantity/expect.hpp"

namespace floorline {

GraphBuilder::GraphBuilder(const Architecture& model, const Scenario& asked,
                           const ParallelLayout& spread)
    : architecture(model),
      scenario(asked),
      layout(spread),
      activation_dtype(activation_storage(model, asked)),
      kv_dtype(kv_storage(model, asked)),
      tokens(spread.cp > 1 ? "ceil(batch*new/" + std::to_string(spread.cp) + ")" : "batch*new"),
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
  const auto part = [&](const NamedWeight& w, TensorRole role) {
    const WeightShape shape = rank_shape(w, layout);
    const std::string rows = std::to_string(shape.rows);
    const std::string cols = std::to_string(shape.cols);
    const Precision dtype = weight_storage(w, scenario);
    if (w.experts > 0) {
      const std::string local = std::to_string((w.experts + layout.ep - 1) / layout.ep);
      return tensor(prefix + w.name, {local, rows, cols}, dtype, role);
    }
    if (w.cols == 1) return tensor(prefix + w.name, {rows}, dtype, role);
    return tensor(prefix + w.name, {rows, cols}, dtype, role);
  };
  const TensorId id = part(*weight, TensorRole::weight);
  if (!keeps_storage(*weight, scenario)) {
    WeightFacts asked{id, Precision::none, {}};
    for (const NamedWeight& scale : scales_asked_for(*weight, scenario))
      asked.scales.push_back(part(scale, TensorRole::scale));
    if (!asked.scales.empty()) facts_.push_back(std::move(asked));
    return id;
  }
  WeightFacts known{id, weight->compute, {}};
  // Scales stand behind their weight.
  for (const NamedWeight* w = weight + 1;
       w != architecture.weights.data() + architecture.weights.size() && w->scale; ++w) {
    known.scales.push_back(part(*w, TensorRole::scale));
  }
  if (known.compute != Precision::none || !known.scales.empty()) {
    facts_.push_back(std::move(known));
  }
  return id;
}

/// Products follow the making of their weights, so only the latest facts can be asked for.
const GraphBuilder::WeightFacts* GraphBuilder::facts(TensorId weight) const {
  constexpr std::size_t kLatest = 64;
  const std::size_t first = facts_.size() - std::min(facts_.size(), kLatest);
  for (std::size_t i = facts_.size(); i-- > first;) {
    if (facts_[i].tensor == weight) return &facts_[i];
  }
  return nullptr;
}

Precision GraphBuilder::implied_compute(TensorId weight) const {
  const WeightFacts* known = facts(weight);
  return known == nullptr ? Precision::none : known->compute;
}

std::vector<TensorId> GraphBuilder::scales_of(TensorId weight) const {
  const WeightFacts* known = facts(weight);
  return known == nullptr ? std::vector<TensorId>{} : known->scales;
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
  add_product_of(OperatorKind::gemm, name, std::move(inputs), std::move(outputs));
}

Operator& GraphBuilder::add_product_of(OperatorKind kind, const std::string& name,
                                       std::vector<TensorId> inputs,
                                       std::vector<TensorId> outputs) {
  const MatrixPrecision precision = product_precision(inputs);
  const std::size_t operands = inputs.size();
  for (std::size_t i = 1; i < operands; ++i) {
    const std::vector<TensorId> scales = scales_of(inputs[i]);
    inputs.insert(inputs.end(), scales.begin(), scales.end());
  }
  Operator& op = add(name, kind, std::move(inputs), std::move(outputs));
  op.compute = precision.compute;
  op.accumulate = precision.accumulate;
  return op;
}

MatrixPrecision GraphBuilder::product_precision(const std::vector<TensorId>& inputs) const {
  const auto stored = [&](std::size_t i) { return graph.tensors[index(inputs[i])].dtype; };
  std::size_t widest = 1;
  for (std::size_t i = 2; i < inputs.size(); ++i) {
    if (storage_bits(stored(i)) > storage_bits(stored(widest))) widest = i;
  }
  const Precision implied = implied_compute(inputs[widest]);
  if (implied == Precision::none) return matrix_precision(stored(0), stored(widest), scenario);
  return matrix_precision(implied, implied, scenario);
}

void GraphBuilder::all_reduce(const std::string& name, TensorId& summed) {
  const TensorId out = activation(name + ".out", {tokens, hidden});
  Operator& op = add(name, OperatorKind::all_reduce, {summed}, {out});
  set(op, Key::ranks, std::to_string(layout.tp));
  summed = out;
}

TensorId GraphBuilder::collective(const std::string& name, OperatorKind kind, TensorId in,
                                  Shape out, std::int64_t ranks) {
  const TensorId result = activation(name + ".out", out);
  graph.tensors[index(result)].dtype = graph.tensors[index(in)].dtype;
  Operator& op = add(name, kind, {in}, {result});
  set(op, Key::ranks, std::to_string(ranks));
  return result;
}

Precision GraphBuilder::vector_precision() const {
  const Precision fixed = scenario.compute_dtype.value_or(Precision::any);
  for (const Precision p : {Precision::fp64, Precision::fp32, Precision::bf16, Precision::fp16}) {
    if (fixed == p) return p;
  }
  return Precision::any;
}

}  // namespace floorline
