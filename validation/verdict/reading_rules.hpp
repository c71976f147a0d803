// SPDX-License-Identifier: Apache-2.0
// What the words of the collectors mean where the columns at their face say something else. No rule
// sets a row apart: each changes how a row is read, always to the weaker demand. A rule sees key
// and source columns and the device's fabric, and by its type neither time nor floor.
#pragma once

#include <span>
#include <string_view>

#include "model/device/on_chip.hpp"
#include "validation/observation/measured_rows.hpp"
#include "validation/observation/row_graph.hpp"

namespace floorline {

struct ReadingRule {
  std::string_view id;
  std::string_view rows;      ///< which rows, in their columns' words
  std::string_view reading;   ///< how they are read
  std::string_view evidence;  ///< why, from what is not the rows' own time
  bool (*covers)(const RowKeys& keys, const OnChip& chip);
  void (*apply)(Reading& reading);
};

inline constexpr std::size_t kMaxReadingRules = 10;
std::span<const ReadingRule> reading_rules();

/// plain_reading() corrected by every rule that covers the row, `left_out` aside.
Reading read_row(const RowKeys& keys, const OnChip& chip, const ReadingRule* left_out = nullptr);

}  // namespace floorline
