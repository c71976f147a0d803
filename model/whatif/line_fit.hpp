// SPDX-License-Identifier: Apache-2.0
// A calibrated line t = t0 + D/B through measured points, and what it expects of another D: what
// does not shrink with the bytes (launches, dequantisation, host) is in t0. Two points: the line
// through them; more: least squares with equal weights (quantity/line). An expectation, never a
// floor.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/quantity/quantity.hpp"

namespace floorline {

struct LinePoint {
  std::string name;  ///< as given: "base", a change, an amount of bytes
  Bytes traffic{0};
  Seconds time{0};
};

struct LineFit {
  std::vector<LinePoint> points;
  Seconds fixed{0};             ///< t0; below zero: the points do not share one fixed cost
  BytesPerSecond bandwidth{0};  ///< B
  Seconds worst_residual{0};    ///< zero for two points

  [[nodiscard]] Seconds at(Bytes traffic) const { return fixed + traffic / bandwidth; }
};

/// Throws InputError: fewer than two points, equal bytes, a time that does not rise with bytes.
LineFit fit_line(std::vector<LinePoint> points);

}  // namespace floorline
