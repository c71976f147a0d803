// SPDX-License-Identifier: Apache-2.0
// How far above the cold floor real kernels end: percentiles of measured / floor by device, kind
// and size class. A floor of zero would be sound, so this counts as much as soundness. A median
// above 1 is what real kernels lose, and what the floor leaves out; a ratio below 1 is a warm row.
// Classes: large work, F > 1e11; memory-bound, the memory term binds and D > 4 x L2 (a row may be
// in both); the rest, mostly launch gaps. Collectives by message: 16 MiB and more, 1 MiB and more,
// less.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "validation/observation/measured_rows.hpp"
#include "validation/verdict/row_verdict.hpp"

namespace floorline {

enum class SizeClass : std::uint8_t {
  large_work,
  memory_bound,
  rest,
  large_message,
  medium_message,
  small_message,
};
std::string_view name_of(SizeClass size);

/// Of `sorted` values, linear between the two nearest ranks: q = 0.5 of {1, 2} is 1.5.
double percentile(std::span<const double> sorted, double q);

struct Percentiles {
  std::size_t rows = 0;
  double p10 = 0, p50 = 0, p90 = 0;
};
Percentiles percentiles(std::vector<double> values);

struct TightnessGroup {
  std::string gpu;
  RowKind kind = RowKind::gemm;
  std::string variant;  ///< dtype, op or impl; empty: all together
  SizeClass size = SizeClass::rest;
  Percentiles ratio;
};

class Tightness {
 public:
  /// `kept` is S_keep of the device.
  void add(const MeasuredRow& row, const RowVerdict& verdict, Bytes kept);
  /// Sorted by device, kind, variant, class.
  [[nodiscard]] std::vector<TightnessGroup> groups() const;

 private:
  void add(const RowKeys& keys, SizeClass size, double ratio);
  using GroupKey = std::tuple<std::string, RowKind, std::string, SizeClass>;
  std::map<GroupKey, std::vector<double>> ratios_;
};

/// The most that the median of a group may be.
struct TightnessTarget {
  std::string_view gpu;
  RowKind kind;
  std::string_view variant;
  SizeClass size;
  double median;
};
std::span<const TightnessTarget> tightness_targets();

}  // namespace floorline
