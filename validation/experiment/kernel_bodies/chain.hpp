// SPDX-License-Identifier: Apache-2.0
// The same multiply-adds waiting for each other, or many at once: v = v a + b, `count` times. With
// a = 0.75 and b = 0.125 values tend to 0.5 and never leave [-1, 1].
#pragma once

#include "validation/experiment/kernel_bodies/number.hpp"

namespace floorline::bodies {

/// V is float, or a vector of floats that goes through one register.
template <class V>
FLOORLINE_HOST_DEVICE inline V chained(V v, Index count, float a, float b) {
  for (Index i = 0; i < count; ++i) v = v * a + b;
  return v;
}
/// Width values side by side; each step of one does not wait for the others.
template <unsigned Width, class V>
FLOORLINE_HOST_DEVICE inline void chained_together(V* v, Index count, float a, float b) {
  V local[Width];
  for (unsigned j = 0; j < Width; ++j) local[j] = v[j];
  for (Index i = 0; i < count; ++i) {
    for (unsigned j = 0; j < Width; ++j) local[j] = local[j] * a + b;
  }
  for (unsigned j = 0; j < Width; ++j) v[j] = local[j];
}

}  // namespace floorline::bodies
