// SPDX-License-Identifier: Apache-2.0
// An observation as JSON: how it was measured and on what, beside the numbers.
#pragma once

#include <string_view>

#include "model/report/document.hpp"
#include "validation/observation/sample.hpp"

namespace floorline {

Json observation_json(const Observation& observation);
/// "_s", "_bytes", "" … after the name of a number of this kind.
std::string_view key_suffix(MeasurandKind kind);

}  // namespace floorline
