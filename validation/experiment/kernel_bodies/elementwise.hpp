// SPDX-License-Identifier: Apache-2.0
// Streams: element i of n, done by thread i mod threads (neighbours touch neighbours). `width` > 1
// gives each thread `width` neighbouring elements at a time, as wide loads do.
#pragma once

#include "validation/experiment/kernel_bodies/number.hpp"

namespace floorline::bodies {

/// Calls element(i) for every i that this thread does; together the threads do each once.
template <class Element>
FLOORLINE_HOST_DEVICE inline void for_each_element(Grid grid, Index n, Index width,
                                                   const Element& element) {
  for (Index begin = grid.thread * width; begin < n; begin += grid.threads * width) {
    const Index end = begin + width < n ? begin + width : n;
    for (Index i = begin; i < end; ++i) element(i);
  }
}

template <class T>
FLOORLINE_HOST_DEVICE inline void copy_element(T* y, const T* x, Index i) {
  y[i] = x[i];
}
template <class T>
FLOORLINE_HOST_DEVICE inline void triad_element(T* y, const T* x, const T* z, float scale,
                                                Index i) {
  y[i] = Store<T>::from(to_float(x[i]) + static_cast<Register<T>>(scale) * to_float(z[i]));
}
template <class T>
FLOORLINE_HOST_DEVICE inline void add_element(T* y, const T* x, const T* z, Index i) {
  y[i] = Store<T>::from(to_float(x[i]) + to_float(z[i]));
}
template <class T>
FLOORLINE_HOST_DEVICE inline void strided_element(T* y, const T* x, Index stride, Index i) {
  y[i] = x[i * stride];
}
template <class T>
FLOORLINE_HOST_DEVICE inline void gather_element(T* y, const T* x, const std::int32_t* index,
                                                 Index i) {
  y[i] = x[index[i]];
}
/// Next to nothing, and the same however often it runs: y = x + 1.
template <class T>
FLOORLINE_HOST_DEVICE inline void launch_element(T* y, const T* x, Index i) {
  y[i] = Store<T>::from(to_float(x[i]) + 1);
}
/// The work of the overlap experiment: y = 2 x + 1.
template <class T>
FLOORLINE_HOST_DEVICE inline void work_element(T* y, const T* x, Index i) {
  y[i] = Store<T>::from(2 * to_float(x[i]) + 1);
}

}  // namespace floorline::bodies
