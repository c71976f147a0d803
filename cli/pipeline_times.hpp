// SPDX-License-Identifier: Apache-2.0
// What the times of a pipeline file come to: floors of operators and workloads on a device, bytes
// over its links, columns of tables, draws.
#pragma once

#include <string>
#include <vector>

#include "cli/options.hpp"
#include "model/report/timeline_document.hpp"
#include "model/timeline/pipeline_file.hpp"

namespace floorline {

struct TimesContext {
  std::string folder;  ///< of the pipeline file: tables are looked up there first
  std::string workload_path;
  DeviceOptions device;
  std::vector<Assignment> device_settings;
};

struct TimesFound {
  ResolvedTimes times;
  std::vector<StageSource> sources;  ///< parallel to the file's stages
  std::vector<std::string> notes;
  std::vector<std::string> devices;  ///< used, once each
  bool flag_used = false;            ///< --device: some stage takes its time from it
  bool clocks_used = false;          ///< --sm-clock, --mem-clock-scale: some stage is a floor
};

/// Throws InputError with all that is wrong.
TimesFound resolve_times(const PipelineFile& file, const TimesContext& context);

}  // namespace floorline
