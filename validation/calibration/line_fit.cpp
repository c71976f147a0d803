// SPDX-License-Identifier: Apache-2.0
#include "validation/calibration/line_fit.hpp"

#include <algorithm>
#include <cmath>

namespace floorline {

namespace {

struct Sums {
  double weight = 0, size = 0, time = 0;  // weighted means once finished
  double spread = 0, slope = 0;           // of sizes; of times over sizes
};

double weight_of(const MeasuredPoint& p) {
  const double t = p.time.in_base_units();
  return 1 / (t * t);
}

Sums sums_of(const std::vector<MeasuredPoint>& points) {
  Sums s;
  for (const MeasuredPoint& p : points) {
    if (!p.used) continue;
    const double w = weight_of(p);
    s.weight += w;
    s.size += w * p.size.in_base_units();
    s.time += w * p.time.in_base_units();
  }
  s.size /= s.weight;
  s.time /= s.weight;
  double product = 0;
  for (const MeasuredPoint& p : points) {
    if (!p.used) continue;
    const double dx = p.size.in_base_units() - s.size;
    s.spread += weight_of(p) * dx * dx;
    product += weight_of(p) * dx * (p.time.in_base_units() - s.time);
  }
  s.slope = product / s.spread;
  return s;
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
  MeasuredLine fit;
  const std::size_t sizes = mark(points, limits);
  fit.used = static_cast<std::size_t>(
      std::count_if(points.begin(), points.end(), [](const MeasuredPoint& p) { return p.used; }));
  if (sizes < 2) {
    fit.refusal = LineRefusal::too_few;
    return fit;
  }
  const Sums s = sums_of(points);
  const double slope = std::isfinite(s.slope) ? std::max(0.0, s.slope) : 0;
  fit.fixed = Seconds(s.time - slope * s.size);
  // Proportional times leave a fixed cost of rounding, of either sign.
  if (std::abs(fit.fixed.in_base_units()) < kRounding * s.time) fit.fixed = Seconds(0);
  add_residuals(points, slope, fit);
  if (!(slope > 0)) {
    fit.refusal = LineRefusal::not_growing;
    return fit;
  }
  fit.rate = AmountPerSecond(FlopsPerSecond(1 / slope));
  if (fit.fixed < Seconds(0)) {
    fit.refusal = LineRefusal::negative_fixed;
  } else if (limits.ceiling && *fit.rate > *limits.ceiling) {
    fit.refusal = LineRefusal::above_ceiling;
  } else {
    fit.half_size = *fit.rate * fit.fixed;
  }
  return fit;
}

}  // namespace floorline
