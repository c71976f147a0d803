// SPDX-License-Identifier: Apache-2.0
// A schedule as Chrome trace JSON, which Perfetto and chrome://tracing open: one track a server (so
// no two events of a track cross), times in us to the ns from 0, flow arrows along the critical
// path, names and order of the tracks as metadata events.
#pragma once

#include <string>
#include <vector>

#include "model/report/timeline_document.hpp"

namespace floorline {

/// Throws InputError above kMostTasksWritten tasks.
std::string chrome_trace(const TimelineReport& report);

}  // namespace floorline
