// SPDX-License-Identifier: Apache-2.0
// Matrix products by Eigen, one level of instructions a compilation. Eigen's own symbols carry the
// level's name too. Each worker computes a block of rows or of columns, whichever there are more
// of; Eigen blocks it for the caches.
#define FLOORLINE_PASTE_(a, b) a##b
#define FLOORLINE_PASTE(a, b) FLOORLINE_PASTE_(a, b)
#define Eigen FLOORLINE_PASTE(Eigen_, FLOORLINE_CPU_LEVEL)
#define EIGEN_DONT_PARALLELIZE
#define EIGEN_NO_DEBUG

#include <Eigen/Core>

#include "validation/experiment/cpu/kernel_table.hpp"

namespace floorline::cpu {

namespace {

template <class T>
void product(const KernelArguments& a, Index worker, Index workers) {
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const KernelShape& s = a.shape;
  const Eigen::Map<const Matrix> x(static_cast<const T*>(a.in[0]), s.m, s.k);
  const Eigen::Map<const Matrix> w(static_cast<const T*>(a.in[1]), s.k, s.n);
  Eigen::Map<Matrix> y(static_cast<T*>(a.out), s.m, s.n);
  const bool by_rows = s.m >= s.n;
  const Index length = by_rows ? s.m : s.n;
  const Index grain = length >= 16 * workers ? 16 : 1;
  const Index size = ((length + workers - 1) / workers + grain - 1) / grain * grain;
  const Index begin = worker * size < length ? worker * size : length;
  const Index count = begin + size < length ? size : length - begin;
  if (count == 0) return;
  if (by_rows) {
    y.middleRows(begin, count).noalias() = x.middleRows(begin, count) * w;
  } else {
    y.middleCols(begin, count).noalias() = x * w.middleCols(begin, count);
  }
}

}  // namespace

void FLOORLINE_PASTE(product_fp32_, FLOORLINE_CPU_LEVEL)(const KernelArguments&, Index, Index);
void FLOORLINE_PASTE(product_fp64_, FLOORLINE_CPU_LEVEL)(const KernelArguments&, Index, Index);

void FLOORLINE_PASTE(product_fp32_, FLOORLINE_CPU_LEVEL)(const KernelArguments& a, Index worker,
                                                         Index workers) {
  product<float>(a, worker, workers);
}
void FLOORLINE_PASTE(product_fp64_, FLOORLINE_CPU_LEVEL)(const KernelArguments& a, Index worker,
                                                         Index workers) {
  product<double>(a, worker, workers);
}

}  // namespace floorline::cpu
