// SPDX-License-Identifier: Apache-2.0
#include "validation/calibration/line_fit.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "model/quantity/line.hpp"

namespace floorline {

namespace {

std::optional<Line> line_of(const std::vector<MeasuredPoint>& points) {
  std::vector<LineSample> samples;
  for (const MeasuredPoint& p : points) {
    if (p.used) samples.push_back({p.size, p.time});
  }
  return fit(samples, LineWeights::relative);
}

std::size_t mark(std::vector<MeasuredPoint>& points, const LineLimits& limits) {
  std::vector<double> sizes;
  for (MeasuredPoint& p : points) {
    if (limits.more_than && !(p.size > *limits.more_than)) {
      p.used = false;
      p.why_not = "not above 2 S_keep: part of it may have stayed on chip";
    } else {
      sizes.push_back(p.size.in_base_units());
    }
  }
  std::sort(sizes.begin(), sizes.end());
  return static_cast<std::size_t>(std::unique(sizes.begin(), sizes.end()) - sizes.begin());
}

void add_residuals(const std::vector<MeasuredPoint>& points, double slope, MeasuredLine& fit) {
  for (const MeasuredPoint& p : points) {
    if (!p.used) continue;
    const double fitted = fit.fixed.in_base_units() + slope * p.size.in_base_units();
    fit.residuals.push_back(1 - fitted / p.time.in_base_units());
    fit.largest_residual = std::max(fit.largest_residual, std::abs(fit.residuals.back()));
  }
}

constexpr double kRounding = 1e-12;

Seconds abs_of(Seconds s) { return s < Seconds(0) ? Seconds(0) - s : s; }

}  // namespace

std::string_view name_of(LineRefusal refusal) {
  switch (refusal) {
    case LineRefusal::none:
      return "none";
    case LineRefusal::too_few:
      return "too_few";
    case LineRefusal::not_growing:
      return "not_growing";
    case LineRefusal::above_ceiling:
      return "above_ceiling";
    case LineRefusal::negative_fixed:
      return "negative_fixed";
  }
  return "";
}

MeasuredLine fit_line(std::vector<MeasuredPoint>& points, const LineLimits& limits) {
  MeasuredLine result;
  const std::size_t sizes = mark(points, limits);
  result.used = static_cast<std::size_t>(
      std::count_if(points.begin(), points.end(), [](const MeasuredPoint& p) { return p.used; }));
  const std::optional<Line> line = sizes < 2 ? std::nullopt : line_of(points);
  if (!line) {
    result.refusal = LineRefusal::too_few;
    return result;
  }
  const bool grows = std::isfinite(line->slope) && line->slope > 0;
  const double slope = grows ? line->slope : 0;
  result.fixed = grows ? line->fixed : line->mean;
  // Proportional times leave a fixed cost of rounding, of either sign.
  if (abs_of(result.fixed) < line->mean * kRounding) result.fixed = Seconds(0);
  add_residuals(points, slope, result);
  if (!grows) {
    result.refusal = LineRefusal::not_growing;
    return result;
  }
  result.rate = AmountPerSecond(FlopsPerSecond(1 / slope));
  if (result.fixed < Seconds(0)) {
    result.refusal = LineRefusal::negative_fixed;
  } else if (limits.ceiling && *result.rate > *limits.ceiling) {
    result.refusal = LineRefusal::above_ceiling;
  } else {
    result.half_size = *result.rate * result.fixed;
  }
  return result;
}

}  // namespace floorline
