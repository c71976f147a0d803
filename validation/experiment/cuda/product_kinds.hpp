// SPDX-License-Identifier: Apache-2.0
// Which matrix products cuBLAS has (cuBLAS documentation, cublasGemmEx, table of types), as far as
// the experiments ask: known without the library.
#pragma once

#include <string>

#include "model/quantity/precision.hpp"

namespace floorline::cuda {

enum class ProductArithmetic { none, fp64, fp32, tf32, fp16, mixed };

struct ProductPrecision {
  Precision in = Precision::fp32;
  Precision out = Precision::fp32;
  Precision compute = Precision::fp32;     ///< tf32: of fp32 data
  Precision accumulate = Precision::fp32;  ///< fp16: of fp16 data
};
/// "" when the library has such a product, else why not.
std::string why_no_product(const ProductPrecision& precision);

/// `none` when there is no such product. `mixed`: 16-bit operands summed in fp32.
ProductArithmetic arithmetic_of(const ProductPrecision& precision);

}  // namespace floorline::cuda
