// SPDX-License-Identifier: Apache-2.0
#include "validation/experiment/cuda/cublas_library.hpp"

#include <cublas_v2.h>
#include <dlfcn.h>

#include <array>

#include "validation/experiment/method.hpp"

namespace floorline::cuda {

namespace {

/// Of the C entry point; cublas_v2.h overloads the name.
using GemmStridedBatchedEx = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t,
                                                cublasOperation_t, int, int, int, const void*,
                                                const void*, cudaDataType, int, long long,
                                                const void*, cudaDataType, int, long long,
                                                const void*, void*, cudaDataType, int, long long,
                                                int, cublasComputeType_t, cublasGemmAlgo_t);

}  // namespace

struct CublasLibrary::Entries {
  void* object = nullptr;  ///< what dlopen gave
  cublasHandle_t handle = nullptr;
  decltype(&cublasCreate_v2) create = nullptr;
  decltype(&cublasDestroy_v2) destroy = nullptr;
  decltype(&cublasSetStream_v2) set_stream = nullptr;
  decltype(&cublasGetVersion_v2) get_version = nullptr;
  GemmStridedBatchedEx gemm = nullptr;
};

namespace {

constexpr std::array kNames{"libcublas.so.13", "libcublas.so.12", "libcublas.so.11",
                            "libcublas.so"};

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) throw MeasurementError(std::string("cuBLAS has no ") + name);
}

void check(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw MeasurementError(std::string("cuBLAS: ") + call + ": status " +
                         std::to_string(static_cast<int>(status)));
}

cudaDataType data_type(Precision precision) {
  switch (precision) {
    case Precision::fp64:
      return CUDA_R_64F;
    case Precision::fp16:
      return CUDA_R_16F;
    case Precision::bf16:
      return CUDA_R_16BF;
    default:
      return CUDA_R_32F;
  }
}

cublasComputeType_t compute_type(ProductArithmetic arithmetic) {
  switch (arithmetic) {
    case ProductArithmetic::fp64:
      return CUBLAS_COMPUTE_64F;
    case ProductArithmetic::fp16:
      return CUBLAS_COMPUTE_16F;
    case ProductArithmetic::tf32:
      return CUBLAS_COMPUTE_32F_FAST_TF32;
    case ProductArithmetic::fp32:
      // PEDANTIC keeps fp32 products off the tensor unit, whatever the environment says.
      return CUBLAS_COMPUTE_32F_PEDANTIC;
    default:
      return CUBLAS_COMPUTE_32F;
  }
}

/// Factors alpha and beta in the type that the compute type asks for.
struct Factors {
  double fp64;
  float fp32;
  std::uint16_t fp16;
  [[nodiscard]] const void* of(cublasComputeType_t type) const {
    if (type == CUBLAS_COMPUTE_64F) return &fp64;
    if (type == CUBLAS_COMPUTE_16F) return &fp16;
    return &fp32;
  }
};
constexpr std::uint16_t kHalfOne = 0x3c00;

}  // namespace

CublasLibrary::CublasLibrary() : entries_(std::make_unique<Entries>()) {
  Entries& e = *entries_;
  for (const char* name : kNames) {
    e.object = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (e.object != nullptr) break;
  }
  if (e.object == nullptr) throw MeasurementError("cuBLAS (libcublas.so) was not found");
  find(e.object, "cublasCreate_v2", e.create);
  find(e.object, "cublasDestroy_v2", e.destroy);
  find(e.object, "cublasSetStream_v2", e.set_stream);
  find(e.object, "cublasGetVersion_v2", e.get_version);
  find(e.object, "cublasGemmStridedBatchedEx", e.gemm);
  check(e.create(&e.handle), "cublasCreate");
}

// The library stays loaded: its own threads may still run.
CublasLibrary::~CublasLibrary() {
  if (entries_->handle != nullptr) entries_->destroy(entries_->handle);
}

void CublasLibrary::multiply(void* c, const void* a, const void* b, const ProductShape& shape,
                             const ProductPrecision& precision, CUstream_st* stream) const {
  const ProductArithmetic arithmetic = arithmetic_of(precision);
  if (arithmetic == ProductArithmetic::none) throw MeasurementError(why_no_product(precision));
  const cudaDataType in = data_type(precision.in);
  const cudaDataType out = data_type(precision.out);
  const cublasComputeType_t compute = compute_type(arithmetic);
  const Factors alpha{static_cast<double>(shape.scale), shape.scale, kHalfOne};
  const Factors beta{0, 0, 0};
  const Entries& e = *entries_;
  check(e.set_stream(e.handle, stream), "cublasSetStream");
  const auto m = static_cast<int>(shape.m);
  const auto n = static_cast<int>(shape.n);
  const auto k = static_cast<int>(shape.k);
  check(e.gemm(e.handle, shape.b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N, CUBLAS_OP_N, n, m, k,
               alpha.of(compute), b, in, shape.b_transposed ? k : n, shape.n * shape.k, a, in, k,
               shape.m * shape.k, beta.of(compute), c, out, n, shape.m * shape.n,
               static_cast<int>(shape.batch), compute, CUBLAS_GEMM_DEFAULT),
        "cublasGemmStridedBatchedEx");
}

std::string CublasLibrary::version() const {
  int version = 0;
  check(entries_->get_version(entries_->handle, &version), "cublasGetVersion");
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

}  // namespace floorline::cuda
