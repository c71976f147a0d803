// SPDX-License-Identifier: Apache-2.0
// Seeded random graphs and devices, for properties.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "model/workload/graph.hpp"

namespace floorline::testing {

/// The same numbers from the same seed with every library.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  /// A whole number from low to high, both included.
  int whole(int low, int high) {
    return low + static_cast<int>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }
  double real(double low, double high) {
    return low + (high - low) * (static_cast<double>(engine_() >> 11U) * 0x1.0p-53);
  }
  bool chance(int percent) { return whole(1, 100) <= percent; }

 private:
  std::mt19937_64 engine_;
};

inline TensorId add_tensor(OperatorGraph& graph, const std::string& name, double elements,
                           TensorRole role) {
  Tensor tensor;
  tensor.name = name;
  tensor.shape.emplace_back(elements);
  tensor.dtype = Precision::int8;
  tensor.role = role;
  graph.tensors.push_back(std::move(tensor));
  return static_cast<TensorId>(graph.tensors.size() - 1);
}

/// Work on one of three units, so that resources and not only times differ.
inline Operator random_operator(Dice& dice, const std::string& name) {
  Operator op;
  op.name = name;
  if (dice.chance(20)) {
    op.kind = OperatorKind::copy;
    op.path = dice.chance(50) ? CopyPath::h2d : CopyPath::d2h;
    return op;
  }
  op.kind = OperatorKind::custom;
  op.compute = dice.chance(50) ? Precision::bf16 : Precision::fp32;
  op.accumulate = Precision::fp32;
  op.attributes.push_back({Key::flops, Expression(static_cast<double>(dice.whole(0, 400)) * 1e6)});
  return op;
}

/// Operators that read inputs, weights or what earlier ones made. `repeats`: some of them in repeat
/// blocks with carried tensors, times 0 to 9 (or `most` if given).
OperatorGraph random_graph(Dice& dice, bool repeats, int most_times = 9);

/// The same graph without repeat blocks: each iteration written out, carried tensors linked.
OperatorGraph unrolled(const OperatorGraph& graph);

}  // namespace floorline::testing
