// SPDX-License-Identifier: Apache-2.0
// Matrices, row-major. gemv: y[n] = sum over k of a[k] b[k,n]; neighbouring threads take
// neighbouring columns, `part` of `parts` takes a span of k, and parts are added afterwards.
// tile_element is the body of a product by square tiles held on chip.
#pragma once

#include "validation/experiment/kernel_bodies/reduction.hpp"

namespace floorline::bodies {

template <class T>
FLOORLINE_HOST_DEVICE inline float gemv_part(const T* a, const T* b, Index n, Span k,
                                             Index column) {
  float sum = 0;
  for (Index i = k.begin; i < k.end; ++i) sum += static_cast<float>(to_float(a[i])) * static_cast<float>(to_float(b[i * n + column]));
  return sum;
}
/// What one tile of k adds to an element: row of a's tile times column of b's, `depth` terms.
FLOORLINE_HOST_DEVICE inline float tile_element(const float* a_tile, const float* b_tile,
                                                Index width, Index depth, Index row, Index column) {
  float sum = 0;
  for (Index i = 0; i < depth; ++i) sum += a_tile[row * depth + i] * b_tile[i * width + column];
  return sum;
}
/// Element (row, column) of a tile that starts at (row0, column0); zero beyond the matrix.
template <class T>
FLOORLINE_HOST_DEVICE inline float tile_load(const T* x, Index rows, Index cols, Index row,
                                             Index column) {
  return row < rows && column < cols ? static_cast<float>(to_float(x[row * cols + column])) : 0.0F;
}
FLOORLINE_HOST_DEVICE inline Index tiles_over(Index length, Index tile) {
  return (length + tile - 1) / tile;
}

}  // namespace floorline::bodies
