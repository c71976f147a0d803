// SPDX-License-Identifier: Apache-2.0
// Wide loads: `Width` neighbouring elements that a thread reads or writes as one. Neighbouring
// threads take neighbouring packs; what is left beyond the last whole pack goes element by element.
// Buffers must start at a multiple of a pack's size; Width = 1 asks for nothing.
#pragma once

#include <cstddef>

#include "validation/experiment/kernel_bodies/elementwise.hpp"

namespace floorline::bodies {

template <class T, int Width>
struct alignas(sizeof(T) * Width) Pack {
  T lane[static_cast<std::size_t>(Width)];
};

struct CopyOp {
  static constexpr bool kTwoInputs = false;
  template <class T>
  FLOORLINE_HOST_DEVICE void operator()(T* y, const T* x, const T* /*z*/) const {
    copy_element(y, x, 0);
  }
};
struct TriadOp {
  static constexpr bool kTwoInputs = true;
  float scale = 1;
  template <class T>
  FLOORLINE_HOST_DEVICE void operator()(T* y, const T* x, const T* z) const {
    triad_element(y, x, z, scale, 0);
  }
};
struct AddOp {
  static constexpr bool kTwoInputs = true;
  template <class T>
  FLOORLINE_HOST_DEVICE void operator()(T* y, const T* x, const T* z) const {
    add_element(y, x, z, 0);
  }
};
struct WorkOp {
  static constexpr bool kTwoInputs = false;
  template <class T>
  FLOORLINE_HOST_DEVICE void operator()(T* y, const T* x, const T* /*z*/) const {
    work_element(y, x, 0);
  }
};

/// y[i] = op(x[i], z[i]) for all elements of this thread; z is not touched by an op of one input.
template <int Width, class T, class Op>
FLOORLINE_HOST_DEVICE inline void apply_packs(Grid grid, T* y, const T* x, const T* z, Index n,
                                              const Op& op) {
  using P = Pack<T, Width>;
  const Index packs = n / Width;
  for (Index p = grid.thread; p < packs; p += grid.threads) {
    const P px = *reinterpret_cast<const P*>(x + p * Width);
    P pz{};
    if constexpr (Op::kTwoInputs) pz = *reinterpret_cast<const P*>(z + p * Width);
    P py{};
    for (int j = 0; j < Width; ++j) op(&py.lane[j], &px.lane[j], &pz.lane[j]);
    *reinterpret_cast<P*>(y + p * Width) = py;
  }
  for (Index i = packs * Width + grid.thread; i < n; i += grid.threads) {
    op(y + i, x + i, Op::kTwoInputs ? z + i : x + i);
  }
}

/// Lane's part of copying a row of `cols` elements, by packs where the row allows it.
template <int Width, class T>
FLOORLINE_HOST_DEVICE inline void copy_row(T* y, const T* x, Index cols, Lanes lanes) {
  apply_packs<Width>(Grid{lanes.lane, lanes.lanes}, y, x, x, cols, CopyOp{});
}

}  // namespace floorline::bodies
