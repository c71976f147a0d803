// SPDX-License-Identifier: Apache-2.0
// cuBLAS, loaded at run time: a program built with CUDA runs where the library is missing, and then
// says so. Row-major products: C = A B is C^T = B^T A^T to a column-major library.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "validation/experiment/cuda/product_kinds.hpp"

struct CUstream_st;

namespace floorline::cuda {

/// C[m,n] = A[m,k] B[k,n], or with `b_transposed` A[m,k] times the transpose of B[n,k]; `batch`
/// products whose matrices lie one after the other.
struct ProductShape {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t batch = 1;
  bool b_transposed = false;
  float scale = 1;
};
class CublasLibrary {
 public:
  /// Throws MeasurementError: not found, or an entry point is missing.
  CublasLibrary();
  CublasLibrary(const CublasLibrary&) = delete;
  CublasLibrary& operator=(const CublasLibrary&) = delete;
  ~CublasLibrary();

  void multiply(void* c, const void* a, const void* b, const ProductShape& shape,
                const ProductPrecision& precision, CUstream_st* stream) const;
  /// "13.1.0": what the loaded library says.
  [[nodiscard]] std::string version() const;

 private:
  struct Entries;
  std::unique_ptr<Entries> entries_;
};

}  // namespace floorline::cuda
