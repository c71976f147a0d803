// SPDX-License-Identifier: Apache-2.0
#include "validation/verdict/amount.hpp"

namespace floorline {

namespace {

using enum PredictedAmount;

struct Value {
  double value = 0;
  std::optional<Interval> interval;
};

Value quotient(const Value& a, const Value& b) {
  Value q{a.value / b.value, {}};
  if (a.interval && b.interval && b.interval->low > 0) {
    q.interval = Interval{a.interval->low / b.interval->high, a.interval->high / b.interval->low};
  }
  return q;
}

Value exact(double value) { return {value, Interval{value, value}}; }

const std::optional<Observation>& source_of(const PredictedAmountInfo& info,
                                            const CaseObservations& observed) {
  return info.from_bytes ? observed.hbm_bytes : observed.time;
}

std::optional<Value> observed_value(const PredictedAmountInfo& info, const JudgedCase& c,
                                    double tolerance) {
  const std::optional<Observation>& o = source_of(info, *c.observed);
  if (!o || !(o->summary.median > 0)) return std::nullopt;
  return Value{o->summary.median, interval_of(*o, tolerance)};
}

bool is_hbm_share(PredictedAmount amount) {
  return amount == hbm_share || amount == baseline_hbm_share;
}

}  // namespace

ObservedAmount observed_amount(PredictedAmount amount, const JudgedCase& baseline,
                               const JudgedCase& variant, double tolerance) {
  const PredictedAmountInfo& info = info_of(amount);
  const char* what = info.from_bytes ? "HBM bytes were" : "time was";
  std::optional<Value> before;
  std::optional<Value> after;
  if (info.needs_baseline) {
    before = observed_value(info, baseline, tolerance);
    if (!before) return {{}, {}, std::string("the baseline's ") + what + " not observed"};
  }
  if (info.needs_variant) {
    after = observed_value(info, variant, tolerance);
    if (!after) return {{}, {}, std::string("the variant's ") + what + " not observed"};
  }
  const CaseFloors& floors = info.needs_variant ? *variant.floors : *baseline.floors;
  const Value& own = after ? *after : *before;
  Value v;
  switch (amount) {
    case time_ratio:
    case bytes_ratio:
      v = quotient(*before, *after);
      break;
    case time:
    case baseline_time:
    case PredictedAmount::hbm_bytes:
      v = own;
      break;
    case traffic_over_count:
      if (!(floors.hbm_counted > Bytes(0))) return {{}, {}, "no HBM bytes are counted"};
      v = quotient(own, exact(floors.hbm_counted.in_base_units()));
      break;
    case floor_share:
    case baseline_floor_share:
      v = quotient(exact(floors.cold.in_base_units()), own);
      break;
    case hbm_share:
    case baseline_hbm_share:
      if (!floors.hbm_rate) return {{}, {}, "the device's HBM bandwidth is not known"};
      v = quotient(exact(floors.hbm_counted / *floors.hbm_rate / Seconds(1)), own);
      break;
    case bandwidth:
      v = quotient(exact(floors.hbm_counted.in_base_units()), own);
      break;
    case flop_rate:
      v = quotient(exact(floors.work.in_base_units()), own);
      break;
  }
  ObservedAmount result{v.value, v.interval, ""};
  if (!v.interval) result.missing = "too few samples for an interval of the median";
  return result;
}

std::optional<double> engine_amount(PredictedAmount amount, const CaseFloors& baseline,
                                    const CaseFloors& variant) {
  const auto positive = [](double value) {
    return value > 0 ? std::optional<double>(value) : std::nullopt;
  };
  switch (amount) {
    case time_ratio:
      if (!(variant.cold > Seconds(0))) return std::nullopt;
      return positive(baseline.cold / variant.cold);
    case bytes_ratio:
      if (!(variant.hbm_counted > Bytes(0))) return std::nullopt;
      return positive(baseline.hbm_counted / variant.hbm_counted);
    case time:
      return positive(variant.cold.in_base_units());
    case baseline_time:
      return positive(baseline.cold.in_base_units());
    case PredictedAmount::hbm_bytes:
      return positive(variant.hbm_counted.in_base_units());
    case traffic_over_count:
      return 1;  // cold, each byte crosses once
    default:
      break;
  }
  // Shares and rates at the floor: the most that they could be.
  const CaseFloors& c = info_of(amount).needs_variant ? variant : baseline;
  if (!(c.cold > Seconds(0))) return std::nullopt;
  if (amount == floor_share || amount == baseline_floor_share) return 1;
  if (is_hbm_share(amount)) {
    if (!c.hbm_rate) return std::nullopt;
    return c.hbm_counted / c.cold / *c.hbm_rate;
  }
  if (amount == bandwidth) return positive((c.hbm_counted / c.cold).in_base_units());
  return positive((c.work / c.cold).in_base_units());
}

}  // namespace floorline
