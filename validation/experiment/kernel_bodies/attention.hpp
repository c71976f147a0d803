// SPDX-License-Identifier: Apache-2.0
// Attention, q, k, v and out as [batch, heads, length, dim]. Scores are q.k / sqrt(dim). Causal:
// query i of q_len sees keys 0 … kv_len - q_len + i.
//   naive   scores to memory, softmax of each row, product with v
//   tiled   for each query, tiles of keys with a running maximum, sum and output (online softmax;
//           Dao et al., arXiv:2205.14135): the scores never leave the chip
#pragma once

#include "validation/experiment/kernel_bodies/softmax.hpp"

namespace floorline::bodies {

struct AttentionShape {
  Index batch_heads = 1;
  Index q_len = 0;
  Index kv_len = 0;
  Index dim = 0;
  bool causal = false;
  float score_scale = 1;  ///< 1 / sqrt(dim)
};

FLOORLINE_HOST_DEVICE inline Index visible_keys(const AttentionShape& shape, Index query) {
  if (!shape.causal) return shape.kv_len;
  const Index seen = shape.kv_len - shape.q_len + query + 1;
  return seen < 0 ? 0 : seen;
}
template <class T>
FLOORLINE_HOST_DEVICE inline float score(const T* q, const T* k, const AttentionShape& shape) {
  float sum = 0;
  for (Index d = 0; d < shape.dim; ++d) sum += static_cast<float>(to_float(q[d])) * static_cast<float>(to_float(k[d]));
  return sum * shape.score_scale;
}
/// Score of (row, key), row = head * q_len + query; masked keys score the least.
template <class T>
FLOORLINE_HOST_DEVICE inline float score_at(const T* q, const T* k, const AttentionShape& shape,
                                            Index row, Index key) {
  const Index head = row / shape.q_len;
  if (key >= visible_keys(shape, row % shape.q_len)) return kLeast;
  return score(q + row * shape.dim, k + (head * shape.kv_len + key) * shape.dim, shape);
}
/// Element d of the output row from its probabilities.
template <class P, class T>
FLOORLINE_HOST_DEVICE inline float weighted_value(const P* probability, const T* v,
                                                  const AttentionShape& shape, Index head,
                                                  Index d) {
  float sum = 0;
  for (Index key = 0; key < shape.kv_len; ++key) {
    sum += static_cast<float>(to_float(probability[key])) *
           static_cast<float>(to_float(v[(head * shape.kv_len + key) * shape.dim + d]));
  }
  return sum;
}
/// One key into a running row: `out` has `dim` elements, scaled by exp(old - new maximum) when the
/// maximum grows.
template <class T>
FLOORLINE_HOST_DEVICE inline void online_update(RunningSoftmax& row, float* out, float key_score,
                                                const T* value, Index dim) {
  const float maximum = key_score > row.maximum ? key_score : row.maximum;
  const float old_scale = exponential(row.maximum - maximum);
  const float weight = exponential(key_score - maximum);
  row.sum = row.sum * old_scale + weight;
  row.maximum = maximum;
  for (Index d = 0; d < dim; ++d) out[d] = out[d] * old_scale + weight * static_cast<float>(to_float(value[d]));
}
/// Keys [begin, end) of one tile into the running row: one rescaling a tile. `scores` holds the
/// tile's scores (end - begin floats).
template <class T>
FLOORLINE_HOST_DEVICE inline void online_tile(RunningSoftmax& row, float* out, float* scores,
                                              const T* value, Index begin, Index end, Index dim) {
  float maximum = row.maximum;
  for (Index j = 0; j < end - begin; ++j) maximum = scores[j] > maximum ? scores[j] : maximum;
  const float old_scale = exponential(row.maximum - maximum);
  row.sum *= old_scale;
  row.maximum = maximum;
  for (Index d = 0; d < dim; ++d) out[d] *= old_scale;
  for (Index j = 0; j < end - begin; ++j) {
    const float weight = exponential(scores[j] - maximum);
    row.sum += weight;
    const T* v = value + (begin + j) * dim;
    for (Index d = 0; d < dim; ++d) out[d] += weight * static_cast<float>(to_float(v[d]));
  }
}

}  // namespace floorline::bodies
