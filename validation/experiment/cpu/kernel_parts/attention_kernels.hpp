// SPDX-License-Identifier: Apache-2.0
// Part of cpu_kernels.cpp: softmax of rows, attention through memory and by tiles.
#pragma once

#include "validation/experiment/cpu/kernel_parts/lanes.hpp"
#include "validation/experiment/kernel_bodies/attention.hpp"

namespace floorline::cpu::parts {

/// partial_softmax of kLanes lanes side by side, merged to one.
template <class T>
b::RunningSoftmax lane_softmax(const T* __restrict x, Index n) {
  float most[kLanes];
  for (float& m : most) m = b::kLeast;
  Index i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int l = 0; l < kLanes; ++l) {
      const auto v = static_cast<float>(b::to_float(x[i + l]));
      most[l] = v > most[l] ? v : most[l];
    }
  }
  float maximum = b::kLeast;
  for (const float m : most) maximum = m > maximum ? m : maximum;
  for (Index j = i; j < n; ++j) {
    const auto v = static_cast<float>(b::to_float(x[j]));
    maximum = v > maximum ? v : maximum;
  }
  float sums[kLanes] = {};
  for (i = 0; i + kLanes <= n; i += kLanes) {
    for (int l = 0; l < kLanes; ++l) {
      sums[l] += b::exponential(static_cast<float>(b::to_float(x[i + l])) - maximum);
    }
  }
  for (int l = 0; i + l < n; ++l) {
    sums[l] += b::exponential(static_cast<float>(b::to_float(x[i + l])) - maximum);
  }
  return {maximum, b::tree_sum(sums, kLanes)};
}

template <class T>
void softmax_rows(T* y, const T* x, Index rows, Index cols, Index worker, Index workers) {
  const Span span = b::block_span(rows, worker, workers);
  for (Index r = span.begin; r < span.end; ++r) {
    const T* row = x + r * cols;
    b::softmax_row(y + r * cols, row, cols, lane_softmax(row, cols), kAlone);
  }
}
template <class T>
void softmax(const KernelArguments& a, Index worker, Index workers) {
  softmax_rows(output<T>(a), input<T>(a, 0), a.shape.rows, a.shape.cols, worker, workers);
}

inline b::AttentionShape attention_shape(const KernelShape& s) {
  return {s.batch_heads, s.q_len, s.kv_len, s.dim, s.causal, s.score_scale};
}
/// score() with the dimension in lanes.
template <class T>
float lane_score(const T* __restrict q, const T* __restrict k, const b::AttentionShape& shape) {
  constexpr int kFew = 16;
  float lane[kFew] = {};
  Index d = 0;
  for (; d + kFew <= shape.dim; d += kFew) {
    for (int l = 0; l < kFew; ++l) {
      lane[l] +=
          static_cast<float>(b::to_float(q[d + l])) * static_cast<float>(b::to_float(k[d + l]));
    }
  }
  for (int l = 0; d + l < shape.dim; ++l) {
    lane[l] +=
        static_cast<float>(b::to_float(q[d + l])) * static_cast<float>(b::to_float(k[d + l]));
  }
  return b::tree_sum(lane, kFew) * shape.score_scale;
}
template <class T>
void scores(const KernelArguments& a, Index worker, Index workers) {
  const b::AttentionShape shape = attention_shape(a.shape);
  const Span rows = b::block_span(shape.batch_heads * shape.q_len, worker, workers);
  for (Index r = rows.begin; r < rows.end; ++r) {
    const Index seen = b::visible_keys(shape, r % shape.q_len);
    const T* q = input<T>(a, 0) + r * shape.dim;
    const T* k = input<T>(a, 1) + r / shape.q_len * shape.kv_len * shape.dim;
    T* row = scratch<T>(a, 0) + r * shape.kv_len;
    for (Index key = 0; key < seen; ++key) {
      row[key] = b::stored<T>(lane_score(q, k + key * shape.dim, shape));
    }
    for (Index key = seen; key < shape.kv_len; ++key) row[key] = b::stored<T>(-60000.0F);
  }
}
template <class T>
void probabilities(const KernelArguments& a, Index worker, Index workers) {
  softmax_rows(scratch<T>(a, 1), scratch<T>(a, 0), a.shape.batch_heads * a.shape.q_len,
               a.shape.kv_len, worker, workers);
}
template <class T>
void values(const KernelArguments& a, Index worker, Index workers) {
  const b::AttentionShape shape = attention_shape(a.shape);
  const Span rows = b::block_span(shape.batch_heads * shape.q_len, worker, workers);
  float sum[kMostHeadDim];
  for (Index r = rows.begin; r < rows.end; ++r) {
    const T* p = scratch<T>(a, 1) + r * shape.kv_len;
    const T* v = input<T>(a, 2) + r / shape.q_len * shape.kv_len * shape.dim;
    for (Index d = 0; d < shape.dim; ++d) sum[d] = 0;
    for (Index key = 0; key < shape.kv_len; ++key) {
      const auto weight = static_cast<float>(b::to_float(p[key]));
      for (Index d = 0; d < shape.dim; ++d) {
        sum[d] += weight * static_cast<float>(b::to_float(v[key * shape.dim + d]));
      }
    }
    for (Index d = 0; d < shape.dim; ++d) output<T>(a)[r * shape.dim + d] = b::stored<T>(sum[d]);
  }
}
template <class T>
void attention_tiled(const KernelArguments& a, Index worker, Index workers) {
  const b::AttentionShape shape = attention_shape(a.shape);
  const Span rows = b::block_span(shape.batch_heads * shape.q_len, worker, workers);
  float out[kMostHeadDim];
  float tile[kTileKeys];
  for (Index r = rows.begin; r < rows.end; ++r) {
    const Index head = r / shape.q_len * shape.kv_len * shape.dim;
    const T* q = input<T>(a, 0) + r * shape.dim;
    const T* k = input<T>(a, 1) + head;
    const T* v = input<T>(a, 2) + head;
    const Index seen = b::visible_keys(shape, r % shape.q_len);
    b::RunningSoftmax running;
    for (Index d = 0; d < shape.dim; ++d) out[d] = 0;
    for (Index begin = 0; begin < seen; begin += kTileKeys) {
      const Index end = begin + kTileKeys < seen ? begin + kTileKeys : seen;
      for (Index key = begin; key < end; ++key) {
        tile[key - begin] = lane_score(q, k + key * shape.dim, shape);
      }
      b::online_tile(running, out, tile, v, begin, end, shape.dim);
    }
    for (Index d = 0; d < shape.dim; ++d) {
      output<T>(a)[r * shape.dim + d] = b::stored<T>(out[d] / running.sum);
    }
  }
}

}  // namespace floorline::cpu::parts
