// SPDX-License-Identifier: Apache-2.0
// The keys of a pipeline file that say how long a stage takes.
#pragma once

#include <string>
#include <vector>

#include "model/timeline/pipeline_file.hpp"

namespace floorline {

class Diagnostics;
class TableReader;

/// Exactly one of time, times, bytes, op, workload, csv, distribution.
TimeSource read_stage_time(TableReader& table, const std::string& resource);
std::vector<Seconds> read_times(const Node& list, const std::string& path,
                                Diagnostics& diagnostics);
CsvColumn read_csv_column(TableReader& table);
/// Above zero.
std::optional<BytesPerSecond> read_bandwidth(TableReader& table, const char* key);

}  // namespace floorline
