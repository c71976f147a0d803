// SPDX-License-Identifier: Apache-2.0
#include "validation/experiment/cuda/product_kinds.hpp"

namespace floorline::cuda {

namespace {

bool stores(Precision precision) {
  return precision == Precision::fp64 || precision == Precision::fp32 ||
         precision == Precision::fp16 || precision == Precision::bf16;
}

std::string text(Precision precision) { return std::string(name_of(precision)); }

}  // namespace

ProductArithmetic arithmetic_of(const ProductPrecision& p) {
  if (!stores(p.in) || !stores(p.out)) return ProductArithmetic::none;
  if (p.in == Precision::fp64) {
    const bool all =
        p.out == Precision::fp64 && p.compute == Precision::fp64 && p.accumulate == Precision::fp64;
    return all ? ProductArithmetic::fp64 : ProductArithmetic::none;
  }
  if (p.out == Precision::fp64) return ProductArithmetic::none;
  if (p.accumulate == Precision::fp16) {
    const bool all =
        p.in == Precision::fp16 && p.out == Precision::fp16 && p.compute == Precision::fp16;
    return all ? ProductArithmetic::fp16 : ProductArithmetic::none;
  }
  if (p.accumulate != Precision::fp32) return ProductArithmetic::none;
  if (p.in == Precision::fp32) {
    if (p.out != Precision::fp32) return ProductArithmetic::none;
    if (p.compute == Precision::tf32) return ProductArithmetic::tf32;
    return p.compute == Precision::fp32 ? ProductArithmetic::fp32 : ProductArithmetic::none;
  }
  const bool same = p.compute == p.in && (p.out == p.in || p.out == Precision::fp32);
  return same ? ProductArithmetic::mixed : ProductArithmetic::none;
}

std::string why_no_product(const ProductPrecision& precision) {
  if (arithmetic_of(precision) != ProductArithmetic::none) return "";
  if (!stores(precision.in) || !stores(precision.out)) {
    return "this backend's products store fp64, fp32, fp16 and bf16 only, not " +
           text(stores(precision.in) ? precision.out : precision.in);
  }
  return "cuBLAS has no product of " + text(precision.in) + " computed in " +
         text(precision.compute) + ", accumulated in " + text(precision.accumulate) +
         " and stored as " + text(precision.out);
}

}  // namespace floorline::cuda
