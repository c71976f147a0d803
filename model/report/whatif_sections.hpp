// SPDX-License-Identifier: Apache-2.0
// The sections of `floorline whatif` for people.
#pragma once

#include "model/report/whatif_document.hpp"

namespace floorline {

Section head_section(const WhatifInputs& inputs, const Whatif& result);
/// Before, after and their ratio; what binds; memory.
Section floors_section(const Whatif& result);
/// Each change alone, where the binding moves, and whether they interact.
Section changes_section(const Whatif& result);
Section measured_section(const WhatifInputs& inputs, const Whatif& result);
Section amdahl_section(const AmdahlPrediction& prediction);
Section line_section(const Whatif& result, const LineAnswer& line);
/// All single changes, or the first few.
Section ranking_section(const Whatif& result, const WhatifInputs& inputs);

}  // namespace floorline
