// SPDX-License-Identifier: Apache-2.0
// LayerNorm of rows: mean and variance in fp32 whatever the storage, two passes over the row (no
// sum of squares, which cancels), and dropout whose mask comes from a counter: no bytes.
//   y = (x - mean) / sqrt(variance + epsilon) scale + shift
#pragma once

#include "validation/experiment/kernel_bodies/reduction.hpp"

namespace floorline::bodies {

// NOLINTBEGIN(readability-function-size): the arguments of kernels, which take no structs here

FLOORLINE_HOST_DEVICE inline float inverse_deviation(float square_sum, Index cols, float epsilon) {
  return 1.0F / __builtin_sqrtf(square_sum / static_cast<float>(cols) + epsilon);
}
FLOORLINE_HOST_DEVICE inline double inverse_deviation(double square_sum, Index cols,
                                                      float epsilon) {
  return 1.0 /
         __builtin_sqrt(square_sum / static_cast<double>(cols) + static_cast<double>(epsilon));
}
/// In A: float, or double where the arithmetic is to be fp64.
template <class A, class T, class W>
FLOORLINE_HOST_DEVICE inline A normalized(T x, A mean, A inverse, W scale, W shift) {
  return (static_cast<A>(to_float(x)) - mean) * inverse * static_cast<A>(to_float(scale)) +
         static_cast<A>(to_float(shift));
}
/// A hash of the element's number (Wang's integer hash): uniform enough to drop 1 in 8.
FLOORLINE_HOST_DEVICE inline std::uint32_t counter_hash(std::uint32_t x) {
  x = (x ^ 61U) ^ (x >> 16U);
  x *= 9U;
  x ^= x >> 4U;
  x *= 0x27d4eb2dU;
  return x ^ (x >> 15U);
}
/// 0 or 1 / keep, the factor of element i, in A.
template <class A = float>
FLOORLINE_HOST_DEVICE inline A dropout_factor(Index i, std::uint32_t seed, float keep) {
  const std::uint32_t hash = counter_hash(static_cast<std::uint32_t>(i) ^ seed);
  return static_cast<float>(hash >> 8U) < keep * 16777216.0F ? A{1} / static_cast<A>(keep) : A{0};
}

// The phases of a row; between them lanes exchange sums (tree, shuffle, or nothing when lanes = 1).
template <class A = float, class T, class W>
FLOORLINE_HOST_DEVICE inline void normalize_row(T* y, const T* x, const W* scale, const W* shift,
                                                Index cols, A mean, A inverse, Lanes lanes) {
  for (Index c = lanes.lane; c < cols; c += lanes.lanes) {
    y[c] = stored<T>(normalized<A>(x[c], mean, inverse, scale[c], shift[c]));
  }
}
/// sum = x + skip in the storage precision: what the next kernel, or the same one, reads again.
template <class T>
FLOORLINE_HOST_DEVICE inline void residual_row(T* sum, const T* x, const T* skip, Index cols,
                                               Lanes lanes) {
  for (Index c = lanes.lane; c < cols; c += lanes.lanes) {
    sum[c] = Store<T>::from(to_float(x[c]) + to_float(skip[c]));
  }
}
/// `first` is the number of the row's first element in the whole tensor.
template <class T>
FLOORLINE_HOST_DEVICE inline void dropout_row(T* y, const T* x, Index cols, Index first,
                                              std::uint32_t seed, float keep, Lanes lanes) {
  for (Index c = lanes.lane; c < cols; c += lanes.lanes) {
    y[c] = stored<T>(to_float(x[c]) * dropout_factor<Register<T>>(first + c, seed, keep));
  }
}
/// Normalize and dropout at once, from a row of sums kept on chip.
template <class A = float, class T, class W>
FLOORLINE_HOST_DEVICE inline void normalize_dropout_row(T* y, const T* sum, const W* scale,
                                                        const W* shift, Index cols, A mean,
                                                        A inverse, Index first, std::uint32_t seed,
                                                        float keep, Lanes lanes) {
  for (Index c = lanes.lane; c < cols; c += lanes.lanes) {
    const A normal = normalized<A>(sum[c], mean, inverse, scale[c], shift[c]);
    y[c] = stored<T>(normal * dropout_factor<A>(first + c, seed, keep));
  }
}

// NOLINTEND(readability-function-size)

}  // namespace floorline::bodies
