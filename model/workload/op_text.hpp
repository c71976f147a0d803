// SPDX-License-Identifier: Apache-2.0
// One operator by flag: --op 'KIND key=value …'. Every numeric key becomes a symbol of the graph,
// so
// --set m=16 and a grid over m work. Keys of a kind: operator_kinds.hpp; everywhere: in, weight,
// out, kv (storage), compute, accumulate, sparse; form=fused|naive (attention), path (copy).
#pragma once

#include <string_view>

#include "model/workload/graph.hpp"

namespace floorline {

/// Throws InputError with all that is wrong, columns counted in `text`.
OperatorGraph parse_op_text(std::string_view text);

}  // namespace floorline
