// SPDX-License-Identifier: Apache-2.0
// A line t = t0 + x / R through points of size x and time t, by weighted least squares. With the
// weighted means x' and t':
//   1/R = sum w (x - x')(t - t') / sum w (x - x')^2     t0 = t' - x'/R
// Two points: the line through them, whatever the weights. It ignores curvature: residuals show it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "model/quantity/quantity.hpp"
#include "model/quantity/resource.hpp"

namespace floorline {

struct LineSample {
  Amount size;  ///< bytes or FLOPs
  Seconds time{0};
};

/// What an error of a time grows with.
enum class LineWeights : std::uint8_t {
  equal,     ///< nothing: w = 1, the residuals in seconds count
  relative,  ///< the time itself: w = 1 / t^2, small sizes count as much as large ones
};

struct Line {
  Seconds fixed{0};  ///< t0
  Seconds mean{0};   ///< t'
  double slope = 0;  ///< 1 / R in base units; not above zero: times do not grow with the size
};

/// Nothing where the sizes are equal, to kEqual of their mean.
std::optional<Line> fit(std::span<const LineSample> samples, LineWeights weights);

}  // namespace floorline
