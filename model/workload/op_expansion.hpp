// SPDX-License-Identifier: Apache-2.0
// One --op text that stands for several operators: naive attention and a mixture of experts.
// Symbols are the keys of the text. Internal to op_text.
#pragma once

#include <string>
#include <vector>

#include "model/workload/graph.hpp"

namespace floorline {

/// Precisions as --op gives them.
struct OpPrecisions {
  Precision in = Precision::bf16;
  Precision weight = Precision::bf16;
  Precision kv = Precision::bf16;
  Precision out = Precision::bf16;
  Precision compute = Precision::any;
  Precision accumulate = Precision::any;
  bool sparse = false;
};

class OpExpansion {
 public:
  OpExpansion(OperatorGraph& graph, const OpPrecisions& precisions, Position at,
              Diagnostics& diagnostics)
      : graph_(graph), precisions_(precisions), at_(at), diagnostics_(diagnostics) {}

  TensorId tensor(const std::string& name, const std::vector<std::string>& shape, Precision dtype,
                  TensorRole role);
  Operator& add(OperatorKind kind, const std::string& name, std::vector<TensorId> inputs,
                std::vector<TensorId> outputs);
  void set(Operator& op, Key key, const std::string& value);

  /// Scores, softmax and weighted sum as three kernels.
  void naive_attention();
  void naive_attention_unmasked();
  /// Router, dispatch, expert products, activation, combine on one rank.
  void mixture_of_experts();

 private:
  [[nodiscard]] bool is_set(const char* symbol) const {
    return graph_.symbol(symbol).value_or(0) > 0;
  }
  TensorId between(const std::string& name, const std::vector<std::string>& shape) {
    return tensor(name, shape, precisions_.in, TensorRole::intermediate);
  }
  void set_routing(Operator& op);

  OperatorGraph& graph_;
  OpPrecisions precisions_;
  Position at_;
  Diagnostics& diagnostics_;
};

}  // namespace floorline
