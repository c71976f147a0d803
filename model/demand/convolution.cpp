// SPDX-License-Identifier: Apache-2.0
// 2-D convolution of n images [c, h, w] with k filters [c/groups, r, s]:
//   output rows P = ⌊(h + 2·pad − dilation·(r − 1) − 1)/stride⌋ + 1, columns Q likewise
//   F = 2 · n · k · (c/groups) · taps(h) · taps(w)     by the direct algorithm
// taps(h): pairs (output row, filter row) that fall on the image, not on its padding; P·r without
// any. Zeros that nobody stores are neither read nor multiplied.
// Winograd's minimal filtering (Winograd 1980; Lavin and Gray 2016) needs more than one product an
// output and input channel, and approaches it with growing tiles: F ≥ 2 · n · k · (c/groups) · P ·
// Q, transforms not counted. `any` counts as direct: a condition that is printed. Bytes: weights
// and output once; of the input the rows and columns that some tap falls on. Output o and tap i
// meet row o·stride + i·dilation − pad; with g = gcd(stride, dilation) two pairs meet the same row
// exactly when they differ by (dilation/g, −stride/g), so
//   distinct rows = taps(h) − pairs (o, i) that have such a neighbour (o − dilation/g, i +
//   stride/g)
// A naive "inputs + outputs" count reads pixels that a stride above the filter steps over.
// Not modelled: FFT algorithms, sectors of skipped pixels, tiles that do not fit.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/demand/operator_view.hpp"

namespace floorline {

namespace {

struct Side {
  double size;  ///< of the image
  double filter;
  double stride;
  double dilation;
  double pad;

  friend bool operator==(const Side&, const Side&) = default;
  [[nodiscard]] double outputs() const {
    const double span = dilation * (filter - 1) + 1;
    return std::max(0.0, std::floor((size + 2 * pad - span) / stride) + 1);
  }
};

// A filter longer than this is counted where it lies on the image whole: weaker.
constexpr double kMostTaps = 65536;

double common_divisor(double a, double b) {
  if (a == 1 || b == 1) return 1;
  return static_cast<double>(std::gcd(static_cast<std::int64_t>(a), static_cast<std::int64_t>(b)));
}

/// Outputs that see the image, and not its padding, through one tap.
struct Seen {
  double first;
  double end;
};

Seen seen_through(const Side& side, double tap, double outputs) {
  const double offset = side.pad - tap * side.dilation;  // output o is on the image from here on
  return {std::max(0.0, std::ceil(offset / side.stride)),
          std::min(outputs, std::floor((offset + side.size - 1) / side.stride) + 1)};
}

/// Outputs whose whole filter lies on the image.
double whole_outputs(const Side& side) {
  const double first = std::ceil(side.pad / side.stride);
  const double last =
      std::floor((side.size + side.pad - 1 - side.dilation * (side.filter - 1)) / side.stride);
  return std::max(0.0, last - first + 1);
}

bool is_empty(const Side& side) {
  return !(side.size > 0) || !(side.filter > 0) || side.stride < 1 || side.dilation < 1;
}

double taps_on_image(const Side& side) {
  if (is_empty(side)) return 0;
  if (side.pad == 0) return side.outputs() * side.filter;
  if (side.filter > kMostTaps) return whole_outputs(side) * side.filter;
  const double outputs = side.outputs();
  double taps = 0;
  for (double tap = 0; tap < side.filter; ++tap) {
    const Seen seen = seen_through(side, tap, outputs);
    taps += std::max(0.0, seen.end - seen.first);
  }
  return taps;
}

double distinct_positions(const Side& side) {
  if (is_empty(side)) return 0;
  const double outputs = side.outputs();
  if (side.dilation == 1 && side.stride <= side.filter) {  // one stretch, from the padding on
    const double end = outputs > 0 ? (outputs - 1) * side.stride + side.filter - side.pad : 0;
    return std::clamp(end, 0.0, side.size);
  }
  if (side.filter > kMostTaps) return whole_outputs(side) > 0 ? side.filter : 0;
  const double g = common_divisor(side.stride, side.dilation);
  const double step_back = side.dilation / g;
  const double tap_on = side.stride / g;
  double distinct = 0;
  for (double tap = 0; tap < side.filter; ++tap) {
    const Seen seen = seen_through(side, tap, outputs);
    distinct += std::max(0.0, seen.end - seen.first);
    if (tap + tap_on < side.filter)
      distinct -= std::max(0.0, seen.end - std::max(seen.first, step_back));
  }
  return distinct;
}

Side rows_of(const OperatorView& op) {
  return {op.key(Key::h, 1), op.key(Key::r, 1), op.key(Key::stride, 1), op.key(Key::dilation, 1),
          op.key(Key::pad, 0)};
}

Side cols_of(const OperatorView& op) {
  return {op.key(Key::w, 1), op.key(Key::s, 1), op.key(Key::stride, 1), op.key(Key::dilation, 1),
          op.key(Key::pad, 0)};
}

/// Most images and filters are square: then one side is enough.
template <class PerSide>
double on_both(const Side& rows, const Side& cols, PerSide per_side) {
  const double by_rows = per_side(rows);
  return by_rows * (rows == cols ? by_rows : per_side(cols));
}

}  // namespace

double conv_read_fraction(const OperatorView& op) {
  const Side rows = rows_of(op);
  const Side cols = cols_of(op);
  const double pixels = rows.size * cols.size;
  return pixels > 0 ? on_both(rows, cols, distinct_positions) / pixels : 0;
}

void conv_demand(const OperatorView& op, Demand& demand) {
  const Side rows = rows_of(op);
  const Side cols = cols_of(op);
  const double filters = op.key(Key::n, 1) * op.key(Key::k, 1) * op.key(Key::c, 1) /
                         std::max(1.0, op.key(Key::groups, 1));
  const bool winograd = op.op().algorithm == ConvAlgorithm::winograd;
  const double products =
      winograd ? rows.outputs() * cols.outputs() : on_both(rows, cols, taps_on_image);
  demand.flops = Flops(2 * filters * products);
  demand.add(op.matrix_unit(), Amount(demand.flops));
}

}  // namespace floorline
