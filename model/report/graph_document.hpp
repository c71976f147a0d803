// SPDX-License-Identifier: Apache-2.0
// What `floorline graph` prints: what was understood of a workload. The JSON reads back as a graph.
#pragma once

#include <optional>

#include "model/report/document.hpp"
#include "model/workload/bound_graph.hpp"

namespace floorline {

struct GraphReport {
  std::string workload;
  const OperatorGraph* graph = nullptr;
  const BoundGraph* bound = nullptr;
  std::vector<std::string> set;
  int stage = 1;
  std::optional<double> parameters;  ///< of a model
  std::optional<double> active_parameters;
  std::vector<std::string> assumptions;
  std::vector<std::string> notes;
};
Document graph_document(const GraphReport& report);

/// The operator kinds with their keys.
Document kinds_document();

}  // namespace floorline
