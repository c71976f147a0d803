// SPDX-License-Identifier: Apache-2.0
// Any bytes as a pipeline file: an InputError, or a schedule that adds up.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "model/input/diagnostic.hpp"
#include "model/input/document_node.hpp"
#include "model/timeline/analysis.hpp"
#include "model/timeline/pipeline_file.hpp"

namespace {

using namespace floorline;

void require(bool holds) {
  if (!holds) std::abort();
}

/// Times that need a device or a table are one microsecond here; few items, to be quick.
ResolvedTimes times_of(const PipelineFile& file) {
  ResolvedTimes times;
  times.items = std::min<std::int64_t>(file.items.value_or(3), 20);
  for (const StageEntry& stage : file.stages) {
    Duration& time = times.stages.emplace_back();
    time.constant = microseconds(1);
    if (const auto* given = std::get_if<Seconds>(&stage.time)) time.constant = *given;
    if (const auto* d = std::get_if<Distribution>(&stage.time))
      time.per_item = draw(*d, times.items);
  }
  return times;
}

void require_timeline(const PipelineFile& file) {
  const Pipeline pipeline = build_pipeline(file, times_of(file));
  Schedule schedule = make_schedule(pipeline);
  if (schedule.deadlock) {
    require(!schedule.deadlock->cycle.empty());
    return;
  }
  const Timeline t = analyse(pipeline, std::move(schedule));
  Ticks path = t.critical_path.waits;
  for (const PathStep& step : t.critical_path.steps) path += step.end - step.start;
  require(path == t.schedule.makespan_ticks);
  for (const Ticks slack : task_slack(pipeline, t.schedule)) require(slack >= 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const Node document = parse_document({reinterpret_cast<const char*>(data), size}, "fuzz");
    require_timeline(read_pipeline(document));
  } catch (const InputError&) {  // a fine answer
  }
  return 0;
}
