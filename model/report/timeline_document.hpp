// SPDX-License-Identifier: Apache-2.0
// A timeline as a document: what ends when, what waits for what, what a faster stage would buy.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/report/document.hpp"
#include "model/timeline/analysis.hpp"
#include "model/timeline/pipeline.hpp"

namespace floorline {

/// t = latency + bytes / bandwidth; half of the bandwidth is reached at latency x bandwidth bytes.
struct CopyFigures {
  Bytes bytes{0};
  BytesPerSecond bandwidth{0};
  std::optional<Seconds> latency;
};

/// Where a stage's time is from.
struct StageSource {
  std::string stage;
  std::string text;
  bool is_floor = false;
  std::optional<CopyFigures> copy;
};

/// One more line of the answer, from a pipeline kind. `key` carries its unit.
struct TimelineFact {
  std::string key;
  std::string label;
  double value = 0;
  std::string text;
};

struct TimelineReport {
  std::string workload;
  std::vector<std::string> set;
  std::vector<std::string> devices;
  const Pipeline* pipeline = nullptr;
  const Timeline* timeline = nullptr;
  std::vector<StageSource> sources;
  std::vector<TimelineFact> facts;
  std::vector<std::string> assumptions;
  std::vector<std::string> notes;
  int top = 0;              ///< rows of each table; 0: as many as are useful
  bool task_table = false;  ///< csv: one row a task
};

Document timeline_document(const TimelineReport& report);

/// Most tasks of a csv or a trace.
constexpr std::size_t kMostTasksWritten = 1'000'000;

/// "server busy: load, item 8"
std::string waited_for_text(const Pipeline& pipeline, const PathStep& step);

}  // namespace floorline
