// SPDX-License-Identifier: Apache-2.0
// Softmax of a row, and the running (maximum, sum) pair of online softmax (Milakov and Gimelshein,
// arXiv:1805.02867): pairs of parts of a row merge in any order.
#pragma once

#include "validation/experiment/kernel_bodies/number.hpp"

namespace floorline::bodies {

/// e^x by Cody-Waite reduction and a polynomial (relative error below 2e-7 for x in [-87, 0]): no
/// library call, so compilers can put it in vectors. Below -87 it is 0. NaN stays NaN.
FLOORLINE_HOST_DEVICE inline float exponential(float x) {
  const float bounded = x < -87.0F ? -87.0F : x;
  const float k = __builtin_rintf(bounded * 1.44269504F);
  const float r = (bounded - k * 0.693359375F) - k * -2.12194440e-4F;
  float p = 1.9875691500e-4F;
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  const float value = p * r * r + r + 1.0F;
  const bool finite = k >= -127.0F && k <= 127.0F;
  const auto exponent = static_cast<std::uint32_t>(finite ? static_cast<std::int32_t>(k) + 127 : 0);
  const float scaled = value * float_of_bits(exponent << 23U);
  return x < -87.0F ? 0.0F : scaled;
}

inline constexpr float kLeast = -3.0e38F;  ///< a maximum of nothing; finite, so that no NaN arises

struct RunningSoftmax {
  float maximum = kLeast;
  float sum = 0;  ///< of exp(x - maximum)
};
FLOORLINE_HOST_DEVICE inline RunningSoftmax merged(RunningSoftmax a, RunningSoftmax b) {
  const float maximum = a.maximum > b.maximum ? a.maximum : b.maximum;
  return {maximum,
          a.sum * exponential(a.maximum - maximum) + b.sum * exponential(b.maximum - maximum)};
}
/// Lane's part of a row: its maximum first, then the sum, so that both loops are simple.
template <class T>
FLOORLINE_HOST_DEVICE inline RunningSoftmax partial_softmax(const T* x, Index cols, Lanes lanes) {
  RunningSoftmax part;
  for (Index c = lanes.lane; c < cols; c += lanes.lanes) {
    const auto v = static_cast<float>(to_float(x[c]));
    part.maximum = v > part.maximum ? v : part.maximum;
  }
  for (Index c = lanes.lane; c < cols; c += lanes.lanes) {
    part.sum += exponential(static_cast<float>(to_float(x[c])) - part.maximum);
  }
  return part;
}
template <class T>
FLOORLINE_HOST_DEVICE inline void softmax_row(T* y, const T* x, Index cols, RunningSoftmax row,
                                              Lanes lanes) {
  const float inverse = 1.0F / row.sum;
  for (Index c = lanes.lane; c < cols; c += lanes.lanes) {
    y[c] = stored<T>(exponential(static_cast<float>(to_float(x[c])) - row.maximum) * inverse);
  }
}

}  // namespace floorline::bodies
