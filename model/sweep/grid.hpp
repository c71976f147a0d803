// SPDX-License-Identifier: Apache-2.0
// The variables of a sweep and the values they take: NAME=a,b,c or NAME=first..last:+step or
// :*factor
// (`*=` scales what is there). Values of a range are made when asked for, so a grid of 10^12 points
// takes no memory. The first variable moves slowest.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/rewrite/assignment.hpp"

namespace floorline {

class GridAxis {
 public:
  /// Throws InputError: no values, a range that never ends or has none, numbers that are not.
  static GridAxis parse(std::string_view text);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] bool scales() const { return scale_; }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::string text(std::uint64_t i) const;
  /// NaN when value i is no plain number.
  [[nodiscard]] double number(std::uint64_t i) const;
  [[nodiscard]] Assignment assignment(std::uint64_t i) const { return {name_, text(i), scale_}; }
  /// Every value is a plain number.
  [[nodiscard]] bool numeric() const { return numeric_; }

 private:
  void read_list(std::string_view values);
  void read_range(std::string_view values);

  std::string name_;
  bool scale_ = false;
  bool numeric_ = true;
  std::uint64_t count_ = 0;
  std::vector<std::string> texts_;  ///< of a list
  std::vector<double> numbers_;     ///< of a list, or of a range of factors
  double first_ = 0;                ///< of a range of steps
  double step_ = 0;
};

/// Points from `first` up to, not including, `last`.
struct PointRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

class Grid {
 public:
  /// `devices` is one more variable, slowest of all. Throws InputError: a variable twice, more than
  /// 2^53 points.
  Grid(std::vector<GridAxis> axes, std::uint64_t devices);

  [[nodiscard]] const std::vector<GridAxis>& axes() const { return axes_; }
  [[nodiscard]] std::uint64_t points() const { return points_; }
  /// Which value each axis has at a point; returns the device.
  std::uint64_t place(std::uint64_t point, std::vector<std::uint64_t>& digits) const;
  /// Part `part` of `parts`, counted from 1: the parts one after another are the whole.
  [[nodiscard]] PointRange part(std::uint64_t part, std::uint64_t parts) const;

 private:
  std::vector<GridAxis> axes_;
  std::uint64_t points_ = 1;
};

}  // namespace floorline
