// SPDX-License-Identifier: Apache-2.0
// The graph of a measured row with every size 1, of --op text or of a graph file; sizes are
// symbols.
#pragma once

#include "model/workload/graph.hpp"
#include "validation/observation/row_graph.hpp"

namespace floorline {

enum class RowForm : std::uint8_t {
  one_operator,
  product_a_head,  ///< gemm, batch times
  experts,         ///< up and down
  gated_experts,   ///< gate, up and down
  latent_context,
  latent_decode,
};

/// `kind` is that of `one_operator`.
OperatorGraph graph_of(RowForm form, OperatorKind kind, const Reading& reading);

}  // namespace floorline
