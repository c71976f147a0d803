// SPDX-License-Identifier: Apache-2.0
// Times of a distribution. The standard's distributions differ from library to library, so they are
// written out: 53 random bits u in (0, 1] of mt19937_64;
//   exponential  -mean ln u
//   normal       Box and Muller (1958), mean + deviation sqrt(-2 ln u) cos(2 pi v), not below zero
//   lognormal    exp(m + s z) with s^2 = ln(1 + deviation^2 / mean^2), m = ln mean - s^2 / 2
#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "model/timeline/pipeline_file.hpp"

namespace floorline {

namespace {

class Draws {
 public:
  explicit Draws(std::int64_t seed) : bits_(static_cast<std::uint64_t>(seed)) {}
  double uniform() {
    constexpr double kScale = 1.0 / 9007199254740992.0;  // 2^-53
    return (static_cast<double>(bits_() >> 11U) + 1) * kScale;
  }
  double normal() {
    const double radius = std::sqrt(-2 * std::log(uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  std::mt19937_64 bits_;
};

double one(const Distribution& d, Draws& draws) {
  const double mean = d.mean.in_base_units();
  const double deviation = d.deviation.in_base_units();
  switch (d.kind) {
    case DistributionKind::uniform:
      return d.low.in_base_units() + (d.high - d.low).in_base_units() * draws.uniform();
    case DistributionKind::exponential:
      return -mean * std::log(draws.uniform());
    case DistributionKind::normal:
      return std::max(0.0, mean + deviation * draws.normal());
    case DistributionKind::lognormal: {
      if (!(mean > 0)) return 0;
      const double variance = std::log1p(deviation / mean * (deviation / mean));
      return std::exp(std::log(mean) - variance / 2 + std::sqrt(variance) * draws.normal());
    }
  }
  return mean;
}

}  // namespace

std::vector<Seconds> draw(const Distribution& distribution, std::int64_t items) {
  Draws draws(distribution.seed);
  std::vector<Seconds> times;
  times.reserve(static_cast<std::size_t>(items));
  for (std::int64_t i = 0; i < items; ++i) times.push_back(Seconds(one(distribution, draws)));
  return times;
}

}  // namespace floorline
