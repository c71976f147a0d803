// SPDX-License-Identifier: Apache-2.0
// One measured row's demand and floors, or why it is not judged.
#pragma once

#include <string>

#include "model/floor/floor.hpp"

namespace floorline {

struct RowVerdict {
  Demand demand;
  Floor cold;
  Floor any;               ///< any residency
  Seconds resolution{0};   ///< the true time may be longer by less than this
  std::string not_judged;  ///< empty: judged

  /// Faster than the floor at any residency.
  [[nodiscard]] bool refutes(Seconds time) const { return time + resolution < any.time(); }
};

}  // namespace floorline
