// SPDX-License-Identifier: Apache-2.0
// A schedule as a text chart: a row a server (a row a resource where there are many servers), a
// column a slice of time, a letter the stage that ran longest in the slice. Long runs are folded to
// their beginning and their end.
#pragma once

#include <vector>

#include "model/report/document.hpp"
#include "model/timeline/analysis.hpp"
#include "model/timeline/pipeline.hpp"

namespace floorline {

/// One chart, or two of a long run.
std::vector<Table> gantt_tables(const Pipeline& pipeline, const Timeline& timeline);

}  // namespace floorline
