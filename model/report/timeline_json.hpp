// SPDX-License-Identifier: Apache-2.0
// The JSON of a timeline, as the output contract has it.
#pragma once

#include "model/report/timeline_document.hpp"

namespace floorline {

constexpr std::size_t kMostPathSteps = 20'000;  ///< listed in JSON

void add_timeline_json(const TimelineReport& report, Json& json);

}  // namespace floorline
