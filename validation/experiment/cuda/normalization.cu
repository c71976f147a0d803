// SPDX-License-Identifier: Apache-2.0
// LayerNorm as mean, variance and normalize kernels, and as one kernel that holds the row in shared
// memory; the same between a residual sum and dropout. A block does one row at a time.
#include "validation/experiment/cuda/cuda_experiment.hpp"
#include "validation/experiment/cuda/device_grid.cuh"
#include "validation/experiment/kernel_bodies/half_normalization.hpp"
#include "validation/experiment/kernel_bodies/pack.hpp"

namespace floorline::cuda {

namespace {

template <class T>
__global__ void mean_kernel(float* mean, const T* x, Index rows, Index cols) {
  __shared__ float parts[kBlockThreads];
  for (Index r = blockIdx.x; r < rows; r += gridDim.x) {
    const float sum = block_sum(bodies::partial_sum(x + r * cols, cols, this_lane()), parts);
    if (threadIdx.x == 0) mean[r] = sum / static_cast<float>(cols);
  }
}
template <class T>
__global__ void inverse_kernel(float* inverse, const T* x, const float* mean, Index rows,
                               Index cols) {
  __shared__ float parts[kBlockThreads];
  for (Index r = blockIdx.x; r < rows; r += gridDim.x) {
    const float part = bodies::partial_squares(x + r * cols, cols, mean[r], this_lane());
    const float squares = block_sum(part, parts);
    if (threadIdx.x == 0) {
      inverse[r] = bodies::inverse_deviation(squares, cols, kNormEpsilon);
    }
  }
}
template <class T, class W>
__global__ void normalize_kernel(T* y, const T* x, const W* scale, const W* shift,
                                 const float* mean, const float* inverse, Index rows, Index cols) {
  for (Index r = blockIdx.x; r < rows; r += gridDim.x) {
    bodies::normalize_row(y + r * cols, x + r * cols, scale, shift, cols, mean[r], inverse[r],
                          this_lane());
  }
}
template <class T>
__global__ void residual_kernel(T* sum, const T* x, const T* skip, Index rows, Index cols) {
  for (Index r = blockIdx.x; r < rows; r += gridDim.x) {
    bodies::residual_row(sum + r * cols, x + r * cols, skip + r * cols, cols, this_lane());
  }
}
template <class T>
__global__ void dropout_kernel(T* y, const T* x, Index rows, Index cols) {
  for (Index r = blockIdx.x; r < rows; r += gridDim.x) {
    bodies::dropout_row(y + r * cols, x + r * cols, cols, r * cols, kDropoutSeed, kDropoutKeep,
                        this_lane());
  }
}
/// Mean and inverse deviation of a row that is on chip.
template <class T>
__device__ void row_statistics(const T* row, Index cols, float* parts, float& mean,
                               float& inverse) {
  mean = block_sum(bodies::partial_sum(row, cols, this_lane()), parts) / static_cast<float>(cols);
  const float squares = block_sum(bodies::partial_squares(row, cols, mean, this_lane()), parts);
  inverse = bodies::inverse_deviation(squares, cols, kNormEpsilon);
}
template <int Width, bool Half, class T, class W>
__global__ void layernorm_kernel(T* y, const T* x, const W* scale, const W* shift, Index rows,
                                 Index cols) {
  extern __shared__ __align__(16) unsigned char shared[];
  __shared__ float parts[kBlockThreads];
  T* row = reinterpret_cast<T*>(shared);
  for (Index r = blockIdx.x; r < rows; r += gridDim.x) {
    bodies::copy_row<Width>(row, x + r * cols, cols, this_lane());
    __syncthreads();
    float mean = 0;
    float inverse = 0;
    row_statistics(row, cols, parts, mean, inverse);
    if constexpr (Half) {
      bodies::normalize_row_in_half(y + r * cols, row, scale, shift, cols, mean, inverse,
                                    this_lane());
    } else {
      bodies::normalize_row(y + r * cols, row, scale, shift, cols, mean, inverse, this_lane());
    }
    __syncthreads();
  }
}
template <class T, class W>
__global__ void residual_norm_kernel(T* y, const T* x, const T* skip, const W* scale,
                                     const W* shift, Index rows, Index cols) {
  extern __shared__ __align__(16) unsigned char shared[];
  __shared__ float parts[kBlockThreads];
  T* row = reinterpret_cast<T*>(shared);
  for (Index r = blockIdx.x; r < rows; r += gridDim.x) {
    bodies::residual_row(row, x + r * cols, skip + r * cols, cols, this_lane());
    __syncthreads();
    float mean = 0;
    float inverse = 0;
    row_statistics(row, cols, parts, mean, inverse);
    bodies::normalize_dropout_row(y + r * cols, row, scale, shift, cols, mean, inverse, r * cols,
                                  kDropoutSeed, kDropoutKeep, this_lane());
    __syncthreads();
  }
}

class NormExperiment : public CudaExperiment {
 public:
  NormExperiment(const ExperimentSpec& experiment, const ExperimentData& data,
                 const DeviceContext& context, std::int64_t copies)
      : CudaExperiment(experiment, context, copies) {
    const bool residual = experiment.kind == ExperimentKind::residual_norm ||
                          experiment.kind == ExperimentKind::residual_norm_one;
    const std::size_t tensors = residual ? 2 : 1;  // x, skip; then scale and shift
    for (std::size_t i = 0; i < data.inputs.size(); ++i) {
      const ExperimentPrecision& p = experiment.precision;
      inputs_.push_back(add_input(data.inputs[i], i < tensors ? p.in : p.weight));
    }
    add_output(data.output_size, experiment.precision.out);
    const bool in_parts = experiment.kind == ExperimentKind::residual_norm ||
                          experiment.kind == ExperimentKind::layernorm_three;
    if (!in_parts) return;
    mean_ = add_scratch(experiment.sizes.rows, Precision::fp32);
    inverse_ = add_scratch(experiment.sizes.rows, Precision::fp32);
    if (!residual) return;
    sum_ = add_scratch(data.output_size, experiment.precision.in);
    normal_ = add_scratch(data.output_size, experiment.precision.in);
  }

 protected:
  void enqueue(std::int64_t set) override {
    with_storage(spec().precision.in, [&](auto element) {
      using T = decltype(element);
      spec().precision.weight == spec().precision.in ? run<T, T>(set) : run<T, float>(set);
    });
  }

 private:
  template <class T, class W>
  void run(std::int64_t set) {
    const T* x = pointer<T>(inputs_.front(), set);
    const W* scale = pointer<W>(inputs_[inputs_.size() - 2], set);
    const W* shift = pointer<W>(inputs_.back(), set);
    switch (spec().kind) {
      case ExperimentKind::layernorm_three:
        return three(out<T>(set), x, scale, shift, set);
      case ExperimentKind::residual_norm:
        return five(out<T>(set), x, scale, shift, set);
      case ExperimentKind::residual_norm_one:
        return residual_one(out<T>(set), x, scale, shift, set);
      default:
        break;
    }
    constexpr int kWidth = 16 / sizeof(T);
    const std::int64_t asked = spec().sizes.vector;
    const bool wide = asked != 1 && cols() % kWidth == 0;  // else rows start beside a pack
    if (spec().precision.compute == Precision::fp16) {
      wide ? one<kWidth, true>(out<T>(set), x, scale, shift)
           : one<1, true>(out<T>(set), x, scale, shift);
    } else {
      wide ? one<kWidth, false>(out<T>(set), x, scale, shift)
           : one<1, false>(out<T>(set), x, scale, shift);
    }
  }
  template <class T, class W>
  void three(T* y, const T* x, const W* scale, const W* shift, std::int64_t set) {
    float* mean = pointer<float>(mean_, set);
    float* inverse = pointer<float>(inverse_, set);
    mean_kernel<T><<<blocks(), kBlockThreads, 0, stream()>>>(mean, x, rows(), cols());
    check_launch("mean");
    inverse_kernel<T><<<blocks(), kBlockThreads, 0, stream()>>>(inverse, x, mean, rows(), cols());
    check_launch("variance");
    normalize_kernel<T, W><<<blocks(), kBlockThreads, 0, stream()>>>(y, x, scale, shift, mean,
                                                                     inverse, rows(), cols());
    check_launch("normalize");
  }
  template <class T, class W>
  void five(T* y, const T* x, const W* scale, const W* shift, std::int64_t set) {
    T* sum = pointer<T>(sum_, set);
    T* normal = pointer<T>(normal_, set);
    residual_kernel<T><<<blocks(), kBlockThreads, 0, stream()>>>(
        sum, x, pointer<T>(inputs_[1], set), rows(), cols());
    check_launch("residual");
    three(normal, sum, scale, shift, set);
    dropout_kernel<T><<<blocks(), kBlockThreads, 0, stream()>>>(y, normal, rows(), cols());
    check_launch("dropout");
  }
  template <int Width, bool Half, class T, class W>
  void one(T* y, const T* x, const W* scale, const W* shift) {
    const std::size_t shared = shared_row(sizeof(T), layernorm_kernel<Width, Half, T, W>);
    layernorm_kernel<Width, Half, T, W>
        <<<blocks(), kBlockThreads, shared, stream()>>>(y, x, scale, shift, rows(), cols());
    check_launch("layernorm");
  }
  template <class T, class W>
  void residual_one(T* y, const T* x, const W* scale, const W* shift, std::int64_t set) {
    const std::size_t shared = shared_row(sizeof(T), residual_norm_kernel<T, W>);
    residual_norm_kernel<T, W><<<blocks(), kBlockThreads, shared, stream()>>>(
        y, x, pointer<T>(inputs_[1], set), scale, shift, rows(), cols());
    check_launch("residual and norm");
  }
  template <class Kernel>
  [[nodiscard]] std::size_t shared_row(std::size_t element, Kernel* kernel) const {
    const std::size_t size = static_cast<std::size_t>(cols()) * element;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(size)),
          "cudaFuncSetAttribute of a normalization: a row must fit in shared memory");
    return size;
  }
  [[nodiscard]] Index rows() const { return spec().sizes.rows; }
  [[nodiscard]] Index cols() const { return spec().sizes.cols; }
  [[nodiscard]] unsigned blocks() const { return blocks_for(rows() * kBlockThreads); }

  std::vector<int> inputs_;
  int mean_ = -1, inverse_ = -1, sum_ = -1, normal_ = -1;
};

}  // namespace

std::unique_ptr<PreparedExperiment> make_normalization(const ExperimentSpec& spec,
                                                       const ExperimentData& data,
                                                       const DeviceContext& device,
                                                       std::int64_t sets) {
  switch (spec.kind) {
    case ExperimentKind::layernorm:
    case ExperimentKind::layernorm_three:
    case ExperimentKind::residual_norm:
    case ExperimentKind::residual_norm_one:
      return std::make_unique<NormExperiment>(spec, data, device, sets);
    default:
      return nullptr;
  }
}

}  // namespace floorline::cuda
