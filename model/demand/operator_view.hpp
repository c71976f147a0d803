// SPDX-License-Identifier: Apache-2.0
// What the demand functions see of an operator: keys with defaults, tensor sizes, and the resource
// that does arithmetic of a given precision. Internal to model/demand.
#pragma once

#include <cmath>

#include "model/demand/demand.hpp"
#include "model/demand/input_reads.hpp"

namespace floorline {

class OperatorView {
 public:
  OperatorView(const BoundGraph& graph, const BoundOperator& op) : graph_(graph), op_(op) {}

  [[nodiscard]] double key(Key key, double fallback) const {
    const double value = op_.attributes[static_cast<std::size_t>(key)];
    return std::isnan(value) ? fallback : value;
  }
  [[nodiscard]] const BoundTensor& input(int i) const {
    return graph_
        .tensors[static_cast<std::size_t>(graph_.inputs(op_)[static_cast<std::size_t>(i)].tensor)];
  }
  [[nodiscard]] const BoundTensor& output(int i) const {
    return graph_
        .tensors[static_cast<std::size_t>(graph_.outputs(op_)[static_cast<std::size_t>(i)].tensor)];
  }
  [[nodiscard]] int input_count() const { return op_.input_count; }
  [[nodiscard]] int output_count() const { return op_.output_count; }
  [[nodiscard]] double output_elements() const {
    double elements = 0;
    for (int i = 0; i < op_.output_count; ++i) elements += output(i).elements;
    return elements;
  }
  [[nodiscard]] const BoundOperator& op() const { return op_; }
  [[nodiscard]] const BoundGraph& graph() const { return graph_; }

  /// The unit for matrix products at the operator's compute precision (design §5, Units).
  [[nodiscard]] ResourceId matrix_unit() const {
    const Precision in = op_.compute;
    if (in == Precision::fp32 || in == Precision::fp64) return {Unit::product, in};
    return {Unit::tensor, in, op_.accumulate, op_.sparse};
  }
  /// Element-wise arithmetic.
  [[nodiscard]] ResourceId vector_unit() const { return {Unit::vector, op_.compute}; }
  /// Sums and scalings, which the tensor unit may share.
  [[nodiscard]] ResourceId linear_unit() const { return {Unit::linear, op_.compute}; }

 private:
  const BoundGraph& graph_;
  const BoundOperator& op_;
};

// One function a kind or group of kinds; each documents its derivation. Traffic has been filled
// in from the tensors (each distinct input read, each output written once) before they are called.
void gemm_demand(const OperatorView& op, const OnChip& chip, Demand& demand);
void attention_demand(const OperatorView& op, Demand& demand);
double attention_read_fraction(const OperatorView& op);
void elementwise_demand(const OperatorView& op, Demand& demand);
void quantize_demand(const OperatorView& op, Demand& demand);
void rope_demand(const OperatorView& op, Demand& demand);
void reduce_demand(const OperatorView& op, Demand& demand);
void softmax_demand(const OperatorView& op, Demand& demand);
void layernorm_demand(const OperatorView& op, Demand& demand);
void rmsnorm_demand(const OperatorView& op, Demand& demand);
double embedding_read_fraction(const OperatorView& op);
void copy_demand(const OperatorView& op, Demand& demand);
void collective_demand(const OperatorView& op, const OnChip& chip, Demand& demand);
void custom_demand(const OperatorView& op, Demand& demand);
void conv_demand(const OperatorView& op, Demand& demand);
double conv_read_fraction(const OperatorView& op);
void scan_demand(const OperatorView& op, Demand& demand);
double gather_read_fraction(const OperatorView& op, Bytes sector);
double scatter_read_fraction(const OperatorView& op);
void scatter_demand(const OperatorView& op, const OnChip& chip, Demand& demand);
Bytes elementwise_read_bytes(const OperatorView& op, int i, Bytes sector);
Bytes fused_read_bytes(const OperatorView& op, int i, const OnChip& chip, RankShare share);
double expert_read_fraction(const OperatorView& op, RankShare share);
void grouped_gemm_demand(const OperatorView& op, Demand& demand);
void dispatch_demand(const OperatorView& op, const OnChip& chip, Demand& demand);
void combine_demand(const OperatorView& op, const OnChip& chip, Demand& demand);
void ssm_scan_demand(const OperatorView& op, Demand& demand);
void linear_attention_demand(const OperatorView& op, Demand& demand);
void host_demand(const OperatorView& op, Demand& demand);
void attention_backward_demand(const OperatorView& op, Demand& demand);
void norm_backward_demand(const OperatorView& op, Demand& demand);
void optimizer_demand(const OperatorView& op, Demand& demand);
void fused_demand(const OperatorView& op, const OnChip& chip, Demand& demand);
/// Unmasked (query, key) pairs of all sequences and query heads.
double attention_pairs(const OperatorView& op);

}  // namespace floorline
