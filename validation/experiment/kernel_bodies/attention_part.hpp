// SPDX-License-Identifier: Apache-2.0
// Tiled attention with several threads to a query, each with a part of the head's dimension: parts
// of a score are added up between them, and each keeps its part of the running output. Tiles hold
// floats on chip, a row of `stride` floats for each key.
#pragma once

#include "validation/experiment/kernel_bodies/attention.hpp"

namespace floorline::bodies {

template <int Part>
FLOORLINE_HOST_DEVICE inline float score_part(const float* q, const float* key) {
  float sum = 0;
  for (int d = 0; d < Part; ++d) sum += q[d] * key[d];
  return sum;
}
/// `keys` keys of a tile into the running row. `values` is where this part of the first key's value
/// starts. Scores of masked keys are kLeast; at least one key of the first tile must be visible.
template <int Part>
FLOORLINE_HOST_DEVICE inline void online_tile_part(RunningSoftmax& row, float* out,
                                                   const float* scores, const float* values,
                                                   int keys, int stride) {
  float maximum = row.maximum;
  for (int j = 0; j < keys; ++j) maximum = scores[j] > maximum ? scores[j] : maximum;
  const float old_scale = exponential(row.maximum - maximum);
  row.sum *= old_scale;
  row.maximum = maximum;
  for (int d = 0; d < Part; ++d) out[d] *= old_scale;
  for (int j = 0; j < keys; ++j) {
    const float weight = exponential(scores[j] - maximum);
    row.sum += weight;
    for (int d = 0; d < Part; ++d) out[d] += weight * values[j * stride + d];
  }
}
/// Where element d of a key's row lies: parts are one float further apart than they are long, so
/// that the threads of a query read different banks.
template <int Part>
FLOORLINE_HOST_DEVICE constexpr int tile_column(int d) {
  return d / Part * (Part + 1) + d % Part;
}

}  // namespace floorline::bodies
