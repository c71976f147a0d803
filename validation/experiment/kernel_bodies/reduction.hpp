// SPDX-License-Identifier: Apache-2.0
// Sums by parts: each lane adds every lanes-th element, then the parts are added in a tree. The
// tree's rounding grows with log2(lanes), each lane's with n / lanes.
#pragma once

#include "validation/experiment/kernel_bodies/number.hpp"

namespace floorline::bodies {

/// Lane's part of the sum of x[0 … n), added in A.
template <class A = float, class T>
FLOORLINE_HOST_DEVICE inline A partial_sum(const T* x, Index n, Lanes lanes) {
  A sum = 0;
  for (Index i = lanes.lane; i < n; i += lanes.lanes) sum += static_cast<A>(to_float(x[i]));
  return sum;
}
/// Lane's part of the sum of (x - mean)^2.
template <class A = float, class T>
FLOORLINE_HOST_DEVICE inline A partial_squares(const T* x, Index n, A mean, Lanes lanes) {
  A sum = 0;
  for (Index i = lanes.lane; i < n; i += lanes.lanes) {
    const A d = static_cast<A>(to_float(x[i])) - mean;
    sum += d * d;
  }
  return sum;
}
/// One step of the tree over parts[0 … 2 half): between steps all lanes wait for each other.
template <class A>
FLOORLINE_HOST_DEVICE inline void tree_step(A* parts, Index half, Index count, Index lane) {
  if (lane < half && lane + half < count) parts[lane] += parts[lane + half];
}
/// The first `half` of a tree over `count` parts: the smallest power of two not below count / 2.
FLOORLINE_HOST_DEVICE inline Index first_half(Index count) {
  Index half = 1;
  while (2 * half < count) half *= 2;
  return half;
}
/// The whole tree by one thread, for a CPU thread and for tests of the steps.
template <class A>
FLOORLINE_HOST_DEVICE inline A tree_sum(A* parts, Index count) {
  for (Index half = first_half(count); half > 0; half /= 2) {
    for (Index lane = 0; lane < half; ++lane) tree_step(parts, half, count, lane);
  }
  return parts[0];
}
/// Elements [begin, end) of stage one's block, blocks of equal size but the last.
struct Span {
  Index begin = 0;
  Index end = 0;
};
FLOORLINE_HOST_DEVICE inline Span block_span(Index n, Index block, Index blocks) {
  const Index size = (n + blocks - 1) / blocks;
  const Index begin = block * size < n ? block * size : n;
  return {begin, begin + size < n ? begin + size : n};
}

}  // namespace floorline::bodies
