// SPDX-License-Identifier: Apache-2.0
// The points of a line fit from a table: a column of sizes, and one of times or of rates, which
// become times by t = x / rate.
#pragma once

#include <string>
#include <vector>

#include "validation/calibration/line_fit.hpp"
#include "validation/observation/csv_table.hpp"

namespace floorline {

struct LineColumns {
  AmountKind kind = AmountKind::bytes;  ///< of x
  std::string size;                     ///< column of x
  std::string time;                     ///< column of times, or
  std::string rate;                     ///< of rates
  std::string unit;  ///< of that column; empty: by its name's end (_s, _ms, _us, _ns)
};

/// Throws InputError with every cell that is no number above zero, and columns that are not there.
std::vector<MeasuredPoint> line_points(const CsvTable& table, const LineColumns& columns);

}  // namespace floorline
