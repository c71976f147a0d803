// SPDX-License-Identifier: Apache-2.0
// Ways into floorline timeline besides a pipeline of stages: a kind of few keys, an operator graph.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "model/report/timeline_document.hpp"
#include "model/timeline/pipeline.hpp"
#include "model/timeline/schedule.hpp"

namespace floorline {

struct Node;

/// A pipeline ready to be placed in time, whatever way it was written.
struct AskedTimeline {
  Pipeline pipeline;
  TimelineReport report;
  std::map<std::string, Position> places{};  ///< of stages in the file, by name
  /// Answers that need the schedule; may be empty.
  std::function<std::vector<TimelineFact>(const Pipeline&, const Schedule&)> after;
};

/// A file with the table of a pipeline kind.
AskedTimeline ask_pipeline_kind(const Node& document);

/// A graph file or a model on one device; residency: "cold" or "any". Throws all that is wrong,
/// after what `wrong` holds already.
AskedTimeline ask_operator_graph(const WorkloadOptions& workload, const DeviceOptions& device,
                                 const std::string& residency, Diagnostics& wrong);

}  // namespace floorline
