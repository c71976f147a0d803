// SPDX-License-Identifier: Apache-2.0
#include "model/workload/needed_keys.hpp"

namespace floorline {

/// What the tensors of a kind do not say.
std::vector<Key> needed_keys(const Operator& op) {
  switch (op.kind) {
    case OperatorKind::attention:
    case OperatorKind::attention_backward:
      if (!op.sequences.empty()) return {Key::q_heads, Key::head_dim};
      return {Key::q_heads, Key::head_dim, Key::q_len, Key::kv_len};
    case OperatorKind::all_reduce:
    case OperatorKind::all_gather:
    case OperatorKind::reduce_scatter:
    case OperatorKind::all_to_all:
    case OperatorKind::broadcast:
      return {Key::ranks};
    case OperatorKind::conv:
      return {Key::n, Key::c, Key::h, Key::w, Key::k, Key::r, Key::s};
    case OperatorKind::grouped_gemm:
    case OperatorKind::dispatch:
    case OperatorKind::combine:
      return {Key::tokens, Key::top_k, Key::experts};
    case OperatorKind::ssm_scan:
      return {Key::batch, Key::q_len, Key::heads, Key::head_dim, Key::state};
    case OperatorKind::linear_attention:
      return {Key::batch, Key::q_len, Key::heads, Key::head_dim};
    case OperatorKind::host:
      return {Key::time};
    default:
      return {};
  }
}

}  // namespace floorline
