// SPDX-License-Identifier: Apache-2.0
// The elementwise part of LayerNorm computed in fp16; statistics stay in fp32. What it moves is
// what the fp32 one moves.
#pragma once

#include "validation/experiment/kernel_bodies/half_arithmetic.hpp"
#include "validation/experiment/kernel_bodies/normalization.hpp"

namespace floorline::bodies {

template <class T>
FLOORLINE_HOST_DEVICE inline Fp16 half_of(T x) {
  return Store<Fp16>::from(static_cast<float>(to_float(x)));
}
template <class T, class W>
FLOORLINE_HOST_DEVICE inline void normalize_row_in_half(T* y, const T* x, const W* scale,
                                                        const W* shift, Index cols, float mean,
                                                        float inverse, Lanes lanes) {
  const Fp16 half_mean = half_of(mean);
  const Fp16 half_inverse = half_of(inverse);
  for (Index c = lanes.lane; c < cols; c += lanes.lanes) {
    const Fp16 centred = half_difference(half_of(x[c]), half_mean);
    const Fp16 normal = half_product(centred, half_inverse);
    const Fp16 result = half_sum(half_product(normal, half_of(scale[c])), half_of(shift[c]));
    y[c] = Store<T>::from(to_float(result));
  }
}

}  // namespace floorline::bodies
