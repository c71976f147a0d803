// SPDX-License-Identifier: Apache-2.0
// Part of cpu_kernels.cpp, which names `parts` and `bodies` after its instruction set: pointers of
// the arguments, spans of workers, and sums whose kLanes lanes run side by side.
#pragma once

#include "validation/experiment/cpu/kernel_table.hpp"
#include "validation/experiment/kernel_bodies/reduction.hpp"

namespace floorline::cpu::parts {

namespace b = bodies;
using b::Span;

constexpr int kLanes = 64;
constexpr b::Lanes kAlone{0, 1};

template <class T>
const T* input(const KernelArguments& a, int i) {
  return static_cast<const T*>(a.in[i]);
}
template <class T>
T* output(const KernelArguments& a) {
  return static_cast<T*>(a.out);
}
template <class T>
T* scratch(const KernelArguments& a, int i) {
  return static_cast<T*>(a.scratch[i]);
}
/// Spans of whole cache lines of any format.
inline Span span_of(Index n, Index worker, Index workers) {
  constexpr Index kGrain = 64;
  const Span grains = b::block_span((n + kGrain - 1) / kGrain, worker, workers);
  const Index end = grains.end * kGrain;
  const Index begin = grains.begin * kGrain;
  return {begin < n ? begin : n, end < n ? end : n};
}

/// partial_sum of kLanes lanes, all lanes of one step at a time, then the tree.
template <class A, class T>
A lane_sum(const T* __restrict x, Index n) {
  A lane[kLanes] = {};
  Index i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int l = 0; l < kLanes; ++l) lane[l] += static_cast<A>(b::to_float(x[i + l]));
  }
  for (int l = 0; i + l < n; ++l) lane[l] += static_cast<A>(b::to_float(x[i + l]));
  return b::tree_sum(lane, kLanes);
}
template <class A, class T>
A lane_squares(const T* __restrict x, Index n, A mean) {
  A lane[kLanes] = {};
  Index i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int l = 0; l < kLanes; ++l) {
      const A d = static_cast<A>(b::to_float(x[i + l])) - mean;
      lane[l] += d * d;
    }
  }
  for (int l = 0; i + l < n; ++l) {
    const A d = static_cast<A>(b::to_float(x[i + l])) - mean;
    lane[l] += d * d;
  }
  return b::tree_sum(lane, kLanes);
}

}  // namespace floorline::cpu::parts
