// SPDX-License-Identifier: Apache-2.0
#include "model/demand/input_reads.hpp"

#include "model/demand/operator_view.hpp"
#include "model/demand/sectors.hpp"

namespace floorline {

namespace {

/// Two of four elements are stored. Their 2-bit positions come on top and are not counted (weaker).
constexpr double kSparseKept = 0.5;

bool touches_sectors(const OperatorView& op) {
  return op.op().access == Access::random || op.key(Key::stride, 1) > 1;
}

}  // namespace

void InputReads::resolve() {
  const OperatorView view(graph_, op_);
  switch (op_.kind) {
    case OperatorKind::attention:
      later_ = attention_read_fraction(view);
      break;
    case OperatorKind::embedding:
      later_ = embedding_read_fraction(view);
      break;
    case OperatorKind::gather:
      later_ = gather_read_fraction(view, chip_.sector);
      break;
    case OperatorKind::scatter:
      later_ = scatter_read_fraction(view);
      break;
    case OperatorKind::conv:
      first_ = conv_read_fraction(view);
      break;
    case OperatorKind::grouped_gemm:
      later_ = expert_read_fraction(view, share_);
      break;
    case OperatorKind::gemm:
      later_ = op_.sparse ? kSparseKept : 1;
      break;
    case OperatorKind::elementwise:
      by_sector_ = touches_sectors(view);
      break;
    default:
      break;
  }
  whole_tensors_ = first_ == 1 && later_ == 1 && !by_sector_ && op_.kind != OperatorKind::fused;
}

Bytes InputReads::part_bytes(int i) const {
  const OperatorView view(graph_, op_);
  if (op_.kind == OperatorKind::fused) return fused_read_bytes(view, i, chip_, share_);
  if (by_sector_) return elementwise_read_bytes(view, i, chip_.sector);
  const BoundTensor& tensor = view.input(i);
  if (i == 0) return tensor.bytes * first_;
  // Scores of the router stand beside the experts' weights.
  const bool weights =
      op_.kind != OperatorKind::grouped_gemm || tensor.role != TensorRole::intermediate;
  return weights ? tensor.bytes * later_ : tensor.bytes;
}

}  // namespace floorline
