// SPDX-License-Identifier: Apache-2.0
// gemm by cuBLAS; gemv by hand: each thread takes a few neighbouring columns and a span of k, a
// second kernel adds the spans.
#include <algorithm>

#include "validation/experiment/cuda/cublas_library.hpp"
#include "validation/experiment/cuda/cuda_experiment.hpp"
#include "validation/experiment/cuda/device_grid.cuh"
#include "validation/experiment/kernel_bodies/elementwise.hpp"
#include "validation/experiment/kernel_bodies/wide_matrix.hpp"

namespace floorline::cuda {

namespace {

constexpr Index kSpansAtMost = 128;

/// partial[span][column] of y = a B; blockIdx.y is the span.
template <int Width, class T, class W>
__global__ void gemv_kernel(float* partial, const T* a, const W* b, Index n, Index k) {
  const bodies::Span span = bodies::block_span(k, blockIdx.y, gridDim.y);
  const Index column = (static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x) * Width;
  if (column >= n) return;
  bodies::gemv_columns<Width>(partial + blockIdx.y * n, a, b, n, span, column);
}
template <class T>
__global__ void add_spans_kernel(T* y, const float* partial, Index n, Index spans) {
  bodies::for_each_element(this_thread(), n, 1, [=](Index column) {
    y[column] = bodies::Store<T>::from(bodies::sum_of_spans(partial, n, spans, column));
  });
}

class GemvExperiment : public CudaExperiment {
 public:
  GemvExperiment(const ExperimentSpec& experiment, const ExperimentData& data,
                 const DeviceContext& context, std::int64_t copies)
      : CudaExperiment(experiment, context, copies),
        a_(add_input(data.inputs[0], experiment.precision.in)),
        b_(add_input(data.inputs[1], experiment.precision.weight)),
        spans_(std::min(kSpansAtMost, std::max<Index>(experiment.sizes.k / 64, 1))),
        partial_(add_scratch(spans_ * experiment.sizes.n, Precision::fp32)) {
    add_output(data.output_size, experiment.precision.out);
  }

 protected:
  void enqueue(std::int64_t set) override {
    with_storage(spec().precision.in, [&](auto element) {
      using T = decltype(element);
      spec().precision.weight == spec().precision.in ? run<T, T>(set) : run<T, float>(set);
    });
    with_storage(spec().precision.out, [&](auto element) { add<decltype(element)>(set); });
  }

 private:
  template <class T, class W>
  void run(std::int64_t set) {
    constexpr int kWidth = 16 / sizeof(W);
    spec().sizes.n % kWidth == 0 ? launch<kWidth, T, W>(set) : launch<1, T, W>(set);
  }
  template <int Width, class T, class W>
  void launch(std::int64_t set) {
    const Index n = spec().sizes.n;
    const Index threads = (n + Width - 1) / Width;
    constexpr Index kThreads = 128;
    const dim3 blocks(static_cast<unsigned>((threads + kThreads - 1) / kThreads),
                      static_cast<unsigned>(spans_));
    gemv_kernel<Width><<<blocks, kThreads, 0, stream()>>>(
        pointer<float>(partial_, set), pointer<T>(a_, set), pointer<W>(b_, set), n, spec().sizes.k);
    check_launch("gemv");
  }
  template <class T>
  void add(std::int64_t set) {
    const Index n = spec().sizes.n;
    add_spans_kernel<T><<<blocks_for(n), kBlockThreads, 0, stream()>>>(
        out<T>(set), pointer<float>(partial_, set), n, spans_);
    check_launch("sum of spans");
  }

  int a_, b_;
  Index spans_;
  int partial_;
};

class GemmExperiment : public CudaExperiment {
 public:
  GemmExperiment(const ExperimentSpec& experiment, const ExperimentData& data,
                 const DeviceContext& context, std::int64_t copies)
      : CudaExperiment(experiment, context, copies),
        a_(add_input(data.inputs[0], experiment.precision.in)),
        b_(add_input(data.inputs[1], experiment.precision.in)) {
    add_output(data.output_size, experiment.precision.out);
  }

 protected:
  void enqueue(std::int64_t set) override {
    const ExperimentSizes& s = spec().sizes;
    const ExperimentPrecision& p = spec().precision;
    device().cublas->multiply(out<std::byte>(set), pointer<std::byte>(a_, set),
                              pointer<std::byte>(b_, set), {.m = s.m, .n = s.n, .k = s.k},
                              {p.in, p.out, p.compute, p.accumulate}, stream());
  }

 private:
  int a_, b_;
};

}  // namespace

std::unique_ptr<PreparedExperiment> make_matrix(const ExperimentSpec& spec,
                                                const ExperimentData& data,
                                                const DeviceContext& device, std::int64_t sets) {
  if (spec.kind == ExperimentKind::gemv) {
    return std::make_unique<GemvExperiment>(spec, data, device, sets);
  }
  if (spec.kind != ExperimentKind::gemm) return nullptr;
  return std::make_unique<GemmExperiment>(spec, data, device, sets);
}

}  // namespace floorline::cuda
