// SPDX-License-Identifier: Apache-2.0
// A measured time beside the floors: ratios, rates, utilization, verdict and what to doubt.
#pragma once

#include "model/report/bound_document.hpp"

namespace floorline {

Json measured_json(const BoundReport& report, const Measured& measured);
Section measured_section(const BoundReport& report, const Measured& measured);

}  // namespace floorline
