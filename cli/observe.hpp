// SPDX-License-Identifier: Apache-2.0
// floorline validate --observe: measurements that others made, against floors.
#pragma once

#include <string>

#include "cli/options.hpp"

namespace floorline {

struct ObserveOptions {
  std::string path;     ///< a CSV, or a folder of measured rows
  std::string mapping;  ///< of a CSV
  std::string models;   ///< of a folder
  DeviceOptions device;
  OutputOptions output;
};

/// 0: no row is below its floor; 1: one is. Throws InputError, MeasurementError (no rows there).
int observe(const ObserveOptions& options);

}  // namespace floorline
