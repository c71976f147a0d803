// SPDX-License-Identifier: Apache-2.0
// The backward operators of a forward operator, from the gradients of what it writes to those of
// what it reads. One class walks one part of the graph in reverse:
//   gemm y = x·W        X.dx  dX = Σ dYᵢ·Wᵢᵀ (one product, summed over all weights that read x)
//                       X.dw  dWᵢ = Xᵀ·dYᵢ, stored as grad_dtype. F of each: that of the forward
//                       pass X.dx_all_reduce where tp ranks divide the outputs
//   attention           attention_backward from Q, K, V, O, dO
//   rmsnorm, layernorm  norm_backward; the residual's gradient is added there, and what was added
//   in
//                       the forward pass gets the sum as its gradient, without a tensor of its own
//   rope                the same turn backward
//   elementwise         at least the forward arithmetic; reads its inputs and the gradient again
//   all_reduce          nothing: each rank has the gradient of the sum
// What was computed again is read in its place (replace()). Other kinds are an error.
// Not modelled: gradients of biases (a sum over tokens), summing a replicated norm's gradient over
// tp.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/workload/architecture.hpp"
#include "model/workload/training_editor.hpp"

namespace floorline {

struct WeightGradient {
  TensorId weight{};
  TensorId gradient{};
};

class BackwardWalk {
 public:
  BackwardWalk(TrainingEditor& editor, const Architecture& architecture, Precision grad_dtype,
               std::int64_t tp)
      : e_(editor), architecture_(architecture), grad_dtype_(grad_dtype), tp_(tp) {}

  /// From here on operators read `with` where the forward pass read `saved`.
  void replace(TensorId saved, TensorId with) { replaced_[saved] = with; }
  void set_gradient(TensorId of, TensorId gradient) { gradients_[of] = gradient; }
  [[nodiscard]] TensorId gradient(TensorId of) const;
  /// Adds the backward operators of a copy of a forward operator. Throws InputError.
  void add(const Operator& op);
  /// The norm that a layer begins with: `op` is the same norm of the layer before, whose sum was
  /// `sum`; gives the gradient of the sum.
  TensorId add_norm(const Operator& op, TensorId normed_gradient, TensorId sum,
                    const std::vector<TensorId>& added, const std::string& name);
  [[nodiscard]] const std::vector<WeightGradient>& weights() const { return weights_; }
  void clear_weights() { weights_.clear(); }

 private:
  [[nodiscard]] TensorId saved(TensorId id) const;
  [[nodiscard]] bool has_gradient(TensorId of) const { return gradients_.contains(of); }
  [[nodiscard]] bool divides_outputs(TensorId weight) const;
  TensorId new_gradient(TensorId of, const std::string& name = "");
  TensorId weight_gradient(TensorId weight, const std::string& suffix = ".grad");
  /// A second gradient of one tensor is added to the first.
  void give(TensorId of, TensorId gradient);
  void add_product(const Operator& op);
  void add_attention(const Operator& op);
  void add_any_norm(const Operator& op);
  void add_rope(const Operator& op);
  void add_elementwise(const Operator& op);
  void add_embedding(const Operator& op);

  TrainingEditor& e_;
  const Architecture& architecture_;
  Precision grad_dtype_;
  std::int64_t tp_;
  std::map<TensorId, TensorId> gradients_;
  std::map<TensorId, TensorId> replaced_;
  std::vector<WeightGradient> weights_;
};

}  // namespace floorline
