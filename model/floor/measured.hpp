// SPDX-License-Identifier: Apache-2.0
// A measured time against a floor. Only the any-residency floor may call it impossible: then F, D,
// P, B or the time is wrong, and the doubts say which to look at first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/quantity/quantity.hpp"
#include "model/quantity/unit_names.hpp"

namespace floorline {

enum class MeasuredVerdict : std::uint8_t {
  possible,    ///< at or above the cold floor
  warm,        ///< below the cold floor: some of it was on chip
  impossible,  ///< below the floor at any residency
};
std::string_view name_of(MeasuredVerdict verdict);

/// The work that a measured rate is divided into: F, D, and tokens for a model step.
struct MeasuredWork {
  Flops flops{0};
  Bytes bytes{0};
  double tokens = 0;
};

struct Measured {
  Seconds time{0};
  double ratio_cold = 0;
  std::optional<double> ratio_any;  ///< absent: no any-residency floor, or one of zero
  MeasuredVerdict verdict = MeasuredVerdict::possible;
};

/// "9.302ms" as it is; a rate ("17.6TFLOP/s", "2.2TB/s", "75.9 token/s") by the work it is of.
/// Throws InputError for any other unit, and for a rate of work that this workload does not have.
Seconds measured_time(std::string_view text, const MeasuredWork& work);
/// Whether `text` is a rate of tokens.
bool is_token_rate(std::string_view text);

/// `any` is absent when the device's caches are not known; compute floors then stand in for it.
/// `proven`: the cold floor rests on ceilings; below one that does not, nothing is said of caches.
Measured judge(Seconds time, Seconds cold, std::optional<Seconds> any, bool proven = true);

}  // namespace floorline
