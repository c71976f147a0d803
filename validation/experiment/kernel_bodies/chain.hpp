// SPDX-License-Identifier: Apache-2.0
// The same multiply-adds waiting for each other, or many at once: v = v a + b, `count` times. With
// a = 0.75 and b = 0.125 values tend to 0.5 and never leave [-1, 1].
#pragma once

#include "validation/experiment/kernel_bodies/number.hpp"

namespace floorline::bodies {

FLOORLINE_HOST_DEVICE inline float chained(float v, Index count, float a, float b) {
  for (Index i = 0; i < count; ++i) v = v * a + b;
  return v;
}
/// Width elements side by side; each step of one does not wait for the others.
template <int Width>
FLOORLINE_HOST_DEVICE inline void chained_together(float* v, Index count, float a, float b) {
  for (Index i = 0; i < count; ++i) {
    for (int j = 0; j < Width; ++j) v[j] = v[j] * a + b;
  }
}

}  // namespace floorline::bodies
