// SPDX-License-Identifier: Apache-2.0
// Adds tensors and operators of a model to a graph: sizes are texts over its symbols, weights are
// this rank's part, precisions follow the scenario. Internal to model_graph and layer_graph.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "model/workload/architecture.hpp"
#include "model/workload/graph.hpp"
#include "model/workload/layout.hpp"
#include "model/workload/scenario.hpp"

namespace floorline {

class GraphBuilder {
 public:
  /// All three must outlive the builder.
  GraphBuilder(const Architecture& model, const Scenario& asked, const ParallelLayout& spread);

  using Shape = std::initializer_list<std::string>;
  TensorId tensor(const std::string& name, Shape shape, Precision dtype, TensorRole role);
  /// A tensor between operators, at the storage precision of activations.
  TensorId activation(const std::string& name, Shape shape) {
    return tensor(name, shape, activation_dtype, TensorRole::intermediate);
  }
  /// This rank's part of a weight; the tensor is "PREFIX" + the weight's name. Experts are
  /// [experts of the rank, rows, columns].
  TensorId weight(const std::string& name, int group, const std::string& prefix = "");

  /// The reference holds until the next operator is added.
  Operator& add(const std::string& name, OperatorKind kind, std::vector<TensorId> inputs,
                std::vector<TensorId> outputs);
  void set(Operator& op, Key key, const std::string& value) const;
  [[nodiscard]] Expression expression(const std::string& text) const { return size(text); }
  /// A matrix product, at the precision of product_precision(). Scales of its weights are read too.
  void add_product(const std::string& name, std::vector<TensorId> inputs,
                   std::vector<TensorId> outputs);
  /// The same with another kind; `inputs` are the first operand and weights.
  Operator& add_product_of(OperatorKind kind, const std::string& name, std::vector<TensorId> inputs,
                           std::vector<TensorId> outputs);
  /// Of the first input and the widest of the others, unless the weights' formats imply another.
  [[nodiscard]] MatrixPrecision product_precision(const std::vector<TensorId>& inputs) const;
  /// The precision that products with a weight compute in, as its format implies; none: the wider
  /// operand.
  [[nodiscard]] Precision implied_compute(TensorId weight) const;
  /// Scales and zero points that go with a weight made lately; products read them by themselves.
  [[nodiscard]] std::vector<TensorId> scales_of(TensorId weight) const;
  /// The sum of [tokens, hidden] over tp ranks; `summed` is read and becomes the result.
  void all_reduce(const std::string& name, TensorId& summed);
  /// A collective of `ranks` ranks that makes a tensor of another shape.
  TensorId collective(const std::string& name, OperatorKind kind, TensorId in, Shape out,
                      std::int64_t ranks);
  /// Arithmetic that is no matrix product: the precision the user fixes, if vector units may have
  /// it, else the fastest that the device has.
  [[nodiscard]] Precision vector_precision() const;
  [[nodiscard]] std::size_t op_count() const { return graph.ops.size(); }

  const Architecture& architecture;
  const Scenario& scenario;
  const ParallelLayout& layout;
  const Precision activation_dtype;
  const Precision kv_dtype;
  const std::string tokens;  ///< of this rank, outside attention
  const std::string hidden;
  OperatorGraph graph;

 private:
  [[nodiscard]] Expression size(const std::string& text) const;

  struct WeightFacts {
    TensorId tensor{};
    Precision compute = Precision::none;
    std::vector<TensorId> scales;
  };
  [[nodiscard]] const WeightFacts* facts(TensorId weight) const;
  std::vector<WeightFacts> facts_;  ///< of weights with scales or an implied precision
};

}  // namespace floorline
