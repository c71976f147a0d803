// SPDX-License-Identifier: Apache-2.0
// Part of cpu_kernels.cpp: LayerNorm in one and in three kernels, with residual and dropout.
#pragma once

#include "validation/experiment/cpu/kernel_parts/lanes.hpp"
#include "validation/experiment/kernel_bodies/normalization.hpp"

namespace floorline::cpu::parts {

template <class T>
void residual(const KernelArguments& a, Index worker, Index workers) {
  const Span s = span_of(a.shape.rows * a.shape.cols, worker, workers);
  T* __restrict sum = scratch<T>(a, 2);
  b::residual_row(sum + s.begin, input<T>(a, 0) + s.begin, input<T>(a, 1) + s.begin,
                  s.end - s.begin, kAlone);
}
template <class T>
void dropout(const KernelArguments& a, Index worker, Index workers) {
  const Span s = span_of(a.shape.rows * a.shape.cols, worker, workers);
  b::dropout_row(output<T>(a) + s.begin, scratch<T>(a, 3) + s.begin, s.end - s.begin, s.begin,
                 a.shape.dropout_seed, a.shape.dropout_keep, kAlone);
}

/// The tensor that is normalized: x, or the residual sum when there is one (scratch 2 is given).
template <class T>
const T* norm_input(const KernelArguments& a) {
  return a.scratch[2] != nullptr ? scratch<T>(a, 2) : input<T>(a, 0);
}
template <class T>
T* norm_output(const KernelArguments& a) {
  return a.scratch[3] != nullptr ? scratch<T>(a, 3) : output<T>(a);
}
/// scale and shift are the last two inputs.
template <class W>
const W* scale_of(const KernelArguments& a) {
  return input<W>(a, a.in[3] != nullptr ? 2 : 1);
}
template <class W>
const W* shift_of(const KernelArguments& a) {
  return input<W>(a, a.in[3] != nullptr ? 3 : 2);
}

template <class T, class W, class A>
struct Norm {
  static void mean(const KernelArguments& a, Index worker, Index workers) {
    const Index cols = a.shape.cols;
    const Span rows = b::block_span(a.shape.rows, worker, workers);
    for (Index r = rows.begin; r < rows.end; ++r) {
      const A sum = lane_sum<A>(norm_input<T>(a) + r * cols, cols);
      scratch<float>(a, 0)[r] = static_cast<float>(sum / static_cast<A>(cols));
    }
  }
  static void variance(const KernelArguments& a, Index worker, Index workers) {
    const Index cols = a.shape.cols;
    const Span rows = b::block_span(a.shape.rows, worker, workers);
    for (Index r = rows.begin; r < rows.end; ++r) {
      const auto mean = static_cast<A>(scratch<float>(a, 0)[r]);
      scratch<float>(a, 1)[r] =
          static_cast<float>(lane_squares<A>(norm_input<T>(a) + r * cols, cols, mean));
    }
  }
  static void normalize(const KernelArguments& a, Index worker, Index workers) {
    const Index cols = a.shape.cols;
    const Span rows = b::block_span(a.shape.rows, worker, workers);
    for (Index r = rows.begin; r < rows.end; ++r) {
      const auto mean = static_cast<A>(scratch<float>(a, 0)[r]);
      const auto squares = static_cast<A>(scratch<float>(a, 1)[r]);
      const A inverse = b::inverse_deviation(squares, cols, a.shape.norm_epsilon);
      b::normalize_row<A>(norm_output<T>(a) + r * cols, norm_input<T>(a) + r * cols, scale_of<W>(a),
                          shift_of<W>(a), cols, mean, inverse, kAlone);
    }
  }
  static void layernorm(const KernelArguments& a, Index worker, Index workers) {
    const Index cols = a.shape.cols;
    const Span rows = b::block_span(a.shape.rows, worker, workers);
    for (Index r = rows.begin; r < rows.end; ++r) {
      const T* x = input<T>(a, 0) + r * cols;
      const A mean = lane_sum<A>(x, cols) / static_cast<A>(cols);
      const A inverse =
          b::inverse_deviation(lane_squares<A>(x, cols, mean), cols, a.shape.norm_epsilon);
      b::normalize_row<A>(output<T>(a) + r * cols, x, scale_of<W>(a), shift_of<W>(a), cols, mean,
                          inverse, kAlone);
    }
  }
  /// The row of sums stays in this worker's caches.
  static void residual_norm_one(const KernelArguments& a, Index worker, Index workers) {
    const Index cols = a.shape.cols;
    const Span rows = b::block_span(a.shape.rows, worker, workers);
    T* sum = reinterpret_cast<T*>(static_cast<char*>(a.on_chip) + worker * a.on_chip_stride);
    for (Index r = rows.begin; r < rows.end; ++r) {
      const Index first = r * cols;
      b::residual_row(sum, input<T>(a, 0) + first, input<T>(a, 1) + first, cols, kAlone);
      const A mean = lane_sum<A>(sum, cols) / static_cast<A>(cols);
      const A inverse =
          b::inverse_deviation(lane_squares<A>(sum, cols, mean), cols, a.shape.norm_epsilon);
      b::normalize_dropout_row<A>(output<T>(a) + first, sum, scale_of<W>(a), shift_of<W>(a), cols,
                                  mean, inverse, first, a.shape.dropout_seed, a.shape.dropout_keep,
                                  kAlone);
    }
  }
};

}  // namespace floorline::cpu::parts
