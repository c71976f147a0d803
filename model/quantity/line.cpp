// SPDX-License-Identifier: Apache-2.0
#include "model/quantity/line.hpp"

#include <cmath>

namespace floorline {

namespace {

double weight_of(const LineSample& s, LineWeights weights) {
  if (weights == LineWeights::equal) return 1;
  const double t = s.time.in_base_units();
  return 1 / (t * t);
}

}  // namespace

std::optional<Line> fit(std::span<const LineSample> samples, LineWeights weights) {
  constexpr double kEqual = 1e-9;
  double weight = 0;
  double size = 0;
  double time = 0;
  for (const LineSample& s : samples) {
    const double w = weight_of(s, weights);
    weight += w;
    size += w * s.size.in_base_units();
    time += w * s.time.in_base_units();
  }
  size /= weight;
  time /= weight;
  double spread = 0;
  double rise = 0;
  for (const LineSample& s : samples) {
    const double w = weight_of(s, weights);
    const double dx = s.size.in_base_units() - size;
    spread += w * dx * dx;
    rise += w * dx * (s.time.in_base_units() - time);
  }
  const double least = size * kEqual;
  if (samples.size() < 2 || !(spread > weight * least * least)) return std::nullopt;
  const double slope = rise / spread;
  return Line{Seconds(time - slope * size), Seconds(time), slope};
}

}  // namespace floorline
