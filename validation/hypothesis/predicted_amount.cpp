// SPDX-License-Identifier: Apache-2.0
#include "validation/hypothesis/predicted_amount.hpp"

#include <array>

namespace floorline {

namespace {

using enum PredictedAmount;

constexpr std::array<PredictedAmountInfo, 12> kAmounts{{
    {time_ratio, "time_ratio", MeasurandKind::ratio, true, true, false,
     "time of the baseline over time of the variant"},
    {bytes_ratio, "bytes_ratio", MeasurandKind::ratio, true, true, true,
     "HBM bytes of the baseline over those of the variant"},
    {time, "time", MeasurandKind::time, false, true, false, "time of the variant"},
    {baseline_time, "baseline_time", MeasurandKind::time, true, false, false,
     "time of the baseline"},
    {hbm_bytes, "hbm_bytes", MeasurandKind::bytes, false, true, true, "HBM bytes of the variant"},
    {traffic_over_count, "traffic_over_count", MeasurandKind::ratio, false, true, true,
     "measured HBM bytes of the variant over the counted ones"},
    {floor_share, "floor_share", MeasurandKind::ratio, false, true, false,
     "cold floor of the variant over its time"},
    {baseline_floor_share, "baseline_floor_share", MeasurandKind::ratio, true, false, false,
     "cold floor of the baseline over its time"},
    {hbm_share, "hbm_share", MeasurandKind::ratio, false, true, false,
     "counted HBM bytes over time, as a share of HBM bandwidth (variant)"},
    {baseline_hbm_share, "baseline_hbm_share", MeasurandKind::ratio, true, false, false,
     "counted HBM bytes over time, as a share of HBM bandwidth (baseline)"},
    {bandwidth, "bandwidth", MeasurandKind::bandwidth, false, true, false,
     "counted HBM bytes of the variant over its time"},
    {flop_rate, "flop_rate", MeasurandKind::flop_rate, false, true, false,
     "counted FLOPs of the variant over its time"},
}};

}  // namespace

std::span<const PredictedAmountInfo> predicted_amounts() { return kAmounts; }

const PredictedAmountInfo& info_of(PredictedAmount amount) {
  return kAmounts[static_cast<std::size_t>(amount)];  // in the order of the enumerators: tested
}

std::optional<PredictedAmount> predicted_amount_named(std::string_view name) {
  for (const PredictedAmountInfo& info : kAmounts) {
    if (info.name == name) return info.amount;
  }
  return std::nullopt;
}

}  // namespace floorline
