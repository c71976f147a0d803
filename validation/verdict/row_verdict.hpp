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
  std::string not_judged;  ///< empty: judged
};

}  // namespace floorline
