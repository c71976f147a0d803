// SPDX-License-Identifier: Apache-2.0
// Where a thread is, in the terms of kernel_bodies, and the sums that the threads of a block share.
#pragma once

#include "validation/experiment/kernel_bodies/reduction.hpp"
#include "validation/experiment/kernel_bodies/softmax.hpp"

namespace floorline::cuda {

using bodies::Index;

__device__ inline bodies::Grid this_thread() {
  return {static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x,
          static_cast<Index>(gridDim.x) * blockDim.x};
}
__device__ inline bodies::Lanes this_lane() {
  return {static_cast<Index>(threadIdx.x), static_cast<Index>(blockDim.x)};
}

/// The sum of every thread's `part`, seen by all; `parts` has blockDim.x floats.
__device__ inline float block_sum(float part, float* parts) {
  const bodies::Lanes lanes = this_lane();
  parts[lanes.lane] = part;
  for (Index half = bodies::first_half(lanes.lanes); half > 0; half /= 2) {
    __syncthreads();
    bodies::tree_step(parts, half, lanes.lanes, lanes.lane);
  }
  __syncthreads();
  const float sum = parts[0];
  __syncthreads();  // parts may be used again
  return sum;
}

/// Every thread's part of a softmax, merged; `parts` has blockDim.x pairs.
__device__ inline bodies::RunningSoftmax block_softmax(bodies::RunningSoftmax part,
                                                       bodies::RunningSoftmax* parts) {
  const bodies::Lanes lanes = this_lane();
  parts[lanes.lane] = part;
  for (Index half = bodies::first_half(lanes.lanes); half > 0; half /= 2) {
    __syncthreads();
    if (lanes.lane < half && lanes.lane + half < lanes.lanes) {
      parts[lanes.lane] = bodies::merged(parts[lanes.lane], parts[lanes.lane + half]);
    }
  }
  __syncthreads();
  const bodies::RunningSoftmax whole = parts[0];
  __syncthreads();
  return whole;
}

}  // namespace floorline::cuda
