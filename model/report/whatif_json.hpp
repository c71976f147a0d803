// SPDX-License-Identifier: Apache-2.0
// The JSON parts of `floorline whatif` (design: output contracts).
#pragma once

#include "model/report/whatif_document.hpp"

namespace floorline {

Json json_of(const Ratio& ratio);
Json json_of(const Ratios& ratios);
Json json_of(const SingleChange& change);
Json json_of(const RankedChange& change);
Json json_of(const MeasuredAnswer& answer, const std::string& given);
Json json_of(const AmdahlPrediction& prediction);
Json json_of(const LineAnswer& line);
/// { binding, runner_up, fused_binding } before and after.
Json bindings_json(const Whatif& result);
Json model_json(const ModelFloors& model);
/// Peak of everything alive, before and after; null for a kernel by numbers.
/// Why a measured time bounds no speed-up.
std::string no_speedup_reason(const MeasuredAnswer& measured);
Json peak_memory_json(const Whatif& result);

}  // namespace floorline
