// SPDX-License-Identifier: Apache-2.0
// The amounts that a hypothesis may predict, one row each: its name in files, what kind of number
// it is, and which of the two cases it is about. All are computed from what was measured and from
// what the engine counts for the same operator graph:
//   time_ratio          t(baseline) / t(variant)                       above 1: the change helped
//   bytes_ratio         D(baseline) / D(variant), HBM bytes measured
//   time, baseline_time t of that case
//   hbm_bytes           D(variant), HBM bytes measured
//   traffic_over_count  D(variant) measured / D counted                above 1: more than the count
//   floor_share, baseline_floor_share    cold floor / t                1: at the floor
//   hbm_share, baseline_hbm_share        counted bytes / t / B         B: the device's HBM rate
//   bandwidth           counted HBM bytes / t of the variant
//   flop_rate           F / t of the variant
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "validation/observation/sample.hpp"

namespace floorline {

enum class PredictedAmount : std::uint8_t {
  time_ratio,
  bytes_ratio,
  time,
  baseline_time,
  hbm_bytes,
  traffic_over_count,
  floor_share,
  baseline_floor_share,
  hbm_share,
  baseline_hbm_share,
  bandwidth,
  flop_rate,
};

struct PredictedAmountInfo {
  PredictedAmount amount;
  std::string_view name;
  MeasurandKind kind;
  bool needs_baseline;  ///< a time (or bytes) of the baseline must be observed
  bool needs_variant;   ///< the same of the variant
  bool from_bytes;      ///< rests on measured HBM bytes, not on times
  std::string_view meaning;
};

std::span<const PredictedAmountInfo> predicted_amounts();
const PredictedAmountInfo& info_of(PredictedAmount amount);
std::optional<PredictedAmount> predicted_amount_named(std::string_view name);

}  // namespace floorline
