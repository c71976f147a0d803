// SPDX-License-Identifier: Apache-2.0
// How a measurement is made, the same for every backend (validation/experiment/README.md).
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "model/quantity/quantity.hpp"

namespace floorline {

enum class CacheWish : std::uint8_t { cold, warm };

struct Method {
  std::int64_t warm_up = 3;      ///< calls before the first sample
  double interval_width = 0.02;  ///< (high - low) / median at which sampling stops
  double coverage = 0.95;        ///< of the interval of the median
  std::int64_t least_samples = 10;
  std::int64_t most_samples = 2000;
  Seconds budget{2};           ///< time for the samples of one experiment
  Seconds sample_at_least{0};  ///< calls are gathered in a sample until it is this long; 0: 50
                               ///< timer resolutions
  std::uint64_t seed = 1;      ///< of the data
  CacheWish caches = CacheWish::cold;
  Bytes memory_cap{4e9};                         ///< most bytes that the rotation may take
  std::int64_t most_checked_work = 200'000'000;  ///< FLOPs the reference may take; then a sample
};
/// Short budgets and small rotations: the whole CPU suite in under a minute.
Method quick_method();

/// The machine cannot do it: no device, no driver, a call failed. Exit status 3.
class MeasurementError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace floorline
