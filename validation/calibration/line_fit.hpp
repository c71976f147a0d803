// SPDX-License-Identifier: Apache-2.0
// Fixed cost and rate from times at two or more sizes: t = t0 + x / R, by least squares of the
// relative residuals (quantity/line: a timing error grows with the time, so small sizes count as
// much as large ones), and n_half = t0 R.
// n_half is the size at which half of R is reached (Hockney and Jesshope, Parallel Computers 2,
// 1988). Sizes up to 2 S_keep are left out where caches are known: part of them never left the
// chip. A rate above the device's ceiling is refused as not physical: the fixed cost hides the
// slope, or x counts what was not moved. It ignores curvature: residuals show it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/quantity/quantity.hpp"
#include "model/quantity/resource.hpp"

namespace floorline {

struct MeasuredPoint {
  Amount size;  ///< bytes or FLOPs of one call
  Seconds time{0};
  std::string place;  ///< "file.csv:3"
  bool used = true;
  std::string why_not;  ///< "within 2 S_keep"
};

enum class LineRefusal : std::uint8_t {
  none,
  too_few,         ///< fewer than two sizes are left
  not_growing,     ///< time does not grow with size: no rate, only a fixed cost
  above_ceiling,   ///< R is faster than the device can be
  negative_fixed,  ///< t0 below zero: the times do not lie on a line
};
std::string_view name_of(LineRefusal refusal);

struct MeasuredLine {
  Seconds fixed{0};
  std::optional<AmountPerSecond> rate;  ///< absent where the times do not grow
  std::optional<Amount> half_size;      ///< n_half
  std::vector<double> residuals;        ///< of the used points, (t - fit) / t
  double largest_residual = 0;
  std::size_t used = 0;
  LineRefusal refusal = LineRefusal::none;
};

struct LineLimits {
  std::optional<Amount> more_than;  ///< 2 S_keep
  std::optional<AmountPerSecond> ceiling;
};

/// Marks the points that are left out and fits the others.
MeasuredLine fit_line(std::vector<MeasuredPoint>& points, const LineLimits& limits);

}  // namespace floorline
