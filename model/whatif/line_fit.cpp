// SPDX-License-Identifier: Apache-2.0
#include "model/whatif/line_fit.hpp"

#include <algorithm>

#include "model/input/diagnostic.hpp"
#include "model/quantity/line.hpp"
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
  std::vector<LineSample> samples;
  for (const LinePoint& p : points) samples.push_back({Amount(p.traffic), p.time});
  const std::optional<Line> line = fit(samples, LineWeights::equal);
  if (!line) {
    refuse("the points move the same bytes (" + to_text(points.front().traffic) +
           "); a line needs different ones");
  }
  if (!(line->slope > 0))
    refuse("the time does not rise with the bytes: bytes do not explain these times");
  LineFit result;
  result.bandwidth = BytesPerSecond(1 / line->slope);
  result.fixed = line->fixed;
  if (points.size() > 2) {
    for (const LinePoint& p : points)
      result.worst_residual =
          std::max(result.worst_residual, distance(p.time, result.at(p.traffic)));
  }
  result.points = std::move(points);
  return result;
}

}  // namespace floorline
