// SPDX-License-Identifier: Apache-2.0
// Floors before over floors after: what a change would buy if the work ran at its floor. No
// promise: of a real time the only sound statement is in whatif.hpp (speedup_at_most).
#pragma once

#include <optional>

#include "model/whatif/situation.hpp"

namespace floorline {

struct Ratio {
  std::optional<double> cold;  ///< absent: nothing is left after the change
  std::optional<double> any;   ///< absent too where caches are not known
};

struct Ratios {
  Ratio serial, critical_path, fused;
};

inline std::optional<double> ratio_of(Seconds before, Seconds after) {
  if (!(after > Seconds(0)) || !(before > Seconds(0))) return std::nullopt;
  return before / after;
}

/// Of a fusion at any residency. Floors of single kernels each leave out what S_keep may hold, the
/// one kernel's leaves it out once: where that alone makes the floor after the higher one nothing
/// follows, least of all a slower kernel, and there is no ratio.
inline std::optional<double> fusion_ratio_any(Seconds before, Seconds after) {
  constexpr double kEqual = 1 - 1e-9;
  const std::optional<double> ratio = ratio_of(before, after);
  return ratio && *ratio < kEqual ? std::nullopt : ratio;
}

inline Ratios ratios_of(const Outcome& before, const Outcome& after) {
  const bool known = before.evaluation.floors.any_known && after.evaluation.floors.any_known;
  const auto ratio = [known](const ResidencyTimes& b, const ResidencyTimes& a) {
    return Ratio{ratio_of(b.cold, a.cold), known ? ratio_of(b.any, a.any) : std::nullopt};
  };
  return {ratio(before.whole.serial, after.whole.serial),
          ratio(before.whole.critical_path, after.whole.critical_path),
          ratio(before.whole.fused, after.whole.fused)};
}

}  // namespace floorline
