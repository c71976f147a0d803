// SPDX-License-Identifier: Apache-2.0
// The tables of a timeline for people.
#pragma once

#include "model/report/timeline_document.hpp"

namespace floorline {

Table stage_table(const TimelineReport& report);
/// No rows where all were given.
Table source_table(const TimelineReport& report);
Table resource_table(const TimelineReport& report);
/// Steps that repeat are folded: "load" ten times is one row.
Table path_table(const TimelineReport& report);
Table copy_table(const TimelineReport& report);

}  // namespace floorline
