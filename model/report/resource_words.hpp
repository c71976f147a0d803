// SPDX-License-Identifier: Apache-2.0
// Resources, amounts and rates in a reader's words.
#pragma once

#include <string>

#include "model/floor/floor.hpp"
#include "model/quantity/resource.hpp"

namespace floorline {

/// "HBM bandwidth", "bf16 tensor unit", "peer links, outgoing"…
std::string words_for(ResourceId id);
/// The same, saying so when two units share the work.
std::string words_for(const Term& term);
/// "tensor bf16", "HBM"…: where there is little room.
std::string short_words_for(ResourceId id);
/// "134.3 MB", "1.100 TFLOP", "4.2e9 operations", by the kind of the resource.
std::string amount_text(ResourceId id, Amount amount);
std::string rate_text(ResourceId id, AmountPerSecond rate);
/// What is asked of it: "HBM traffic", "work on the bf16 tensor unit".
std::string demand_words_for(ResourceId id);
/// 41.27 -> "41.3 %"; small shares keep one significant digit.
std::string percent_text(double fraction);
std::string factor_text(double factor);  ///< "2.33x"

}  // namespace floorline
