// SPDX-License-Identifier: Apache-2.0
#include "model/whatif/line_fit.hpp"

#include <algorithm>

#include "model/input/diagnostic.hpp"
#include "model/quantity/unit_names.hpp"

namespace floorline {

namespace {

[[noreturn]] void refuse(const std::string& why) {
  throw InputError(Diagnostic{position_in("command line"), "--point", why});
}

Seconds distance(Seconds a, Seconds b) { return a > b ? a - b : b - a; }

}  // namespace

LineFit fit_line(std::vector<LinePoint> points) {
  if (points.size() < 2) refuse("one point gives no line; expected two or more");
  const double n = static_cast<double>(points.size());
  Bytes mean_traffic(0);
  Seconds mean_time(0);
  for (const LinePoint& p : points) {
    mean_traffic += p.traffic / n;
    mean_time += p.time / n;
  }
  double spread = 0;
  double rise = 0;
  for (const LinePoint& p : points) {
    const double d = (p.traffic - mean_traffic).in_base_units();
    spread += d * d;
    rise += d * (p.time - mean_time).in_base_units();
  }
  constexpr double kEqual = 1e-9;
  const double scale = mean_traffic.in_base_units() * kEqual;
  if (!(spread > scale * scale)) {
    refuse("the points move the same bytes (" + to_text(points.front().traffic) +
           "); a line needs different ones");
  }
  if (!(rise > 0))
    refuse("the time does not rise with the bytes: bytes do not explain these times");
  LineFit fit;
  fit.bandwidth = BytesPerSecond(spread / rise);
  fit.fixed = mean_time - mean_traffic / fit.bandwidth;
  if (points.size() > 2) {
    for (const LinePoint& p : points)
      fit.worst_residual = std::max(fit.worst_residual, distance(p.time, fit.at(p.traffic)));
  }
  fit.points = std::move(points);
  return fit;
}

}  // namespace floorline
