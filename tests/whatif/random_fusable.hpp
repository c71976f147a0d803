// SPDX-License-Identifier: Apache-2.0
// Seeded graphs of operators that fusion knows, for the search's tests and bench.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/property/random_graph.hpp"

namespace floorline::testing {

/// Tensors of `rows` x 64 elements; operators of every kind that fusion knows and one that it does
/// not, each reading one or two tensors of before.
inline OperatorGraph random_fusable(Dice& dice, int operators, double cols = 64) {
  OperatorGraph graph;
  graph.name = "random";
  const double rows = 32 * dice.whole(1, 8);
  const auto tensor = [&](TensorRole role, double height) {
    Tensor t;
    t.name = "t" + std::to_string(graph.tensors.size());
    t.shape = {Expression(height), Expression(cols)};
    t.dtype = dice.chance(30) ? Precision::fp32 : Precision::bf16;
    t.role = role;
    graph.tensors.push_back(std::move(t));
    return static_cast<TensorId>(graph.tensors.size() - 1);
  };
  std::vector<TensorId> made{tensor(TensorRole::input, rows)};
  for (int i = 0; i < operators; ++i) {
    const auto pick = [&] {
      const int n = static_cast<int>(made.size());
      return made[static_cast<std::size_t>(
          dice.whole(dice.chance(60) ? std::max(0, n - 2) : 0, n - 1))];
    };
    Operator op;
    op.name = "op" + std::to_string(i);
    op.inputs = {pick()};
    const int kind = dice.whole(0, 9);
    if (kind < 5) {
      op.kind = OperatorKind::elementwise;
      op.attributes.push_back({Key::flops, Expression(static_cast<double>(dice.whole(0, 3000)))});
      if (const TensorId other = pick(); dice.chance(60) && other != op.inputs[0])
        op.inputs.push_back(other);
    } else if (kind < 7) {
      op.kind = OperatorKind::rmsnorm;
    } else if (kind < 9) {
      op.kind = OperatorKind::gemm;
      op.compute = Precision::bf16;
      op.accumulate = Precision::fp32;
      op.inputs.push_back(tensor(TensorRole::weight, cols));
    } else {
      op.kind = OperatorKind::transpose;
    }
    made.push_back(tensor(dice.chance(15) ? TensorRole::output : TensorRole::intermediate, rows));
    op.outputs = {made.back()};
    graph.ops.push_back(std::move(op));
  }
  std::vector<bool> read(graph.tensors.size(), false);
  for (const Operator& op : graph.ops) {
    for (const TensorId in : op.inputs) read[index(in)] = true;
  }
  for (std::size_t t = 0; t < read.size(); ++t) {
    if (!read[t] && graph.tensors[t].role == TensorRole::intermediate)
      graph.tensors[t].role = TensorRole::output;
  }
  return graph;
}

}  // namespace floorline::testing
