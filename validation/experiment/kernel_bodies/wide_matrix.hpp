// SPDX-License-Identifier: Apache-2.0
// gemv with `Width` neighbouring columns a thread, whose numbers of b are one wide load, and the
// sum of the spans of k afterwards. n must be a multiple of Width.
#pragma once

#include "validation/experiment/kernel_bodies/pack.hpp"
#include "validation/experiment/kernel_bodies/reduction.hpp"

namespace floorline::bodies {

/// partial[column … column + Width) = sum over the span of a[k] b[k, column …].
template <int Width, class T, class W>
FLOORLINE_HOST_DEVICE inline void gemv_columns(float* partial, const T* a, const W* b, Index n,
                                               Span span, Index column) {
  float sum[static_cast<std::size_t>(Width)] = {};
  for (Index k = span.begin; k < span.end; ++k) {
    const auto row = *reinterpret_cast<const Pack<W, Width>*>(b + k * n + column);
    const auto factor = static_cast<float>(to_float(a[k]));
    for (int j = 0; j < Width; ++j) sum[j] += factor * static_cast<float>(to_float(row.lane[j]));
  }
  for (int j = 0; j < Width; ++j) partial[column + j] = sum[j];
}
FLOORLINE_HOST_DEVICE inline float sum_of_spans(const float* partial, Index n, Index spans,
                                                Index column) {
  float sum = 0;
  for (Index s = 0; s < spans; ++s) sum += partial[s * n + column];
  return sum;
}

}  // namespace floorline::bodies
