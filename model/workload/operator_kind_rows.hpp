// SPDX-License-Identifier: Apache-2.0
// Parts of the table of operator kinds, in the order of OperatorKind. Internal to operator_kinds.
#pragma once

#include <vector>

#include "model/workload/operator_kinds.hpp"

namespace floorline {

/// conv, scan, gather, scatter
std::vector<KindInfo> access_kinds();
/// grouped_gemm, dispatch, combine
std::vector<KindInfo> routed_kinds();
KindInfo moe_keys();
/// ssm_scan, linear_attention
std::vector<KindInfo> recurrent_kinds();
/// attention_backward, norm_backward, cross_entropy, optimizer
std::vector<KindInfo> training_kinds();

}  // namespace floorline
