// SPDX-License-Identifier: Apache-2.0
#include "model/quantity/precision.hpp"

namespace floorline {

std::optional<Precision> precision_from(std::string_view name) {
  if (name == "fp8") return Precision::fp8_e4m3;
  for (const PrecisionInfo& p : kPrecisions) {
    if (p.id != Precision::none && p.name == name) return p.id;
  }
  return std::nullopt;
}

}  // namespace floorline
