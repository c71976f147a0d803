// SPDX-License-Identifier: Apache-2.0
// Arithmetic in fp16: the device's own instructions there, the same bits by rounding on the host (a
// sum, difference or product of two fp16 numbers, done in fp32 and then rounded, is the fp16
// result: fp32 holds the product exactly, and has more than twice the bits a sum needs).
#pragma once

#include "validation/experiment/kernel_bodies/number.hpp"
#if defined(__CUDACC__)
#include <cuda_fp16.h>
#endif

namespace floorline::bodies {

#if defined(__CUDA_ARCH__)
__device__ inline __half as_half(Fp16 x) { return __ushort_as_half(x.bits); }
__device__ inline Fp16 as_bits(__half x) { return {__half_as_ushort(x)}; }
__device__ inline Fp16 half_difference(Fp16 a, Fp16 b) {
  return as_bits(__hsub_rn(as_half(a), as_half(b)));
}
__device__ inline Fp16 half_product(Fp16 a, Fp16 b) {
  return as_bits(__hmul_rn(as_half(a), as_half(b)));
}
__device__ inline Fp16 half_sum(Fp16 a, Fp16 b) {
  return as_bits(__hadd_rn(as_half(a), as_half(b)));
}
#else
FLOORLINE_HOST_DEVICE inline Fp16 half_difference(Fp16 a, Fp16 b) {
  return Store<Fp16>::from(to_float(a) - to_float(b));
}
FLOORLINE_HOST_DEVICE inline Fp16 half_product(Fp16 a, Fp16 b) {
  return Store<Fp16>::from(to_float(a) * to_float(b));
}
FLOORLINE_HOST_DEVICE inline Fp16 half_sum(Fp16 a, Fp16 b) {
  return Store<Fp16>::from(to_float(a) + to_float(b));
}
#endif

}  // namespace floorline::bodies
