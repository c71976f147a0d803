// SPDX-License-Identifier: Apache-2.0
// Operator graph files, TOML or JSON (workloads/README.md documents every key). The JSON that
// `floorline graph` prints reads back to the same graph.
#pragma once

#include <string_view>

#include "model/input/document_node.hpp"
#include "model/workload/graph.hpp"

namespace floorline {

/// True for a document that says kind = "graph".
bool is_graph_document(const Node& document);
/// Throws InputError with all that is wrong.
OperatorGraph read_graph(const Node& document);

}  // namespace floorline
