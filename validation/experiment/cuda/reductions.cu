// SPDX-License-Identifier: Apache-2.0
// The sum of n numbers: by one addition an element to one address, which the L2 does one after the
// other, or by partial sums of blocks and a sum of these.
#include "validation/experiment/cuda/cuda_experiment.hpp"
#include "validation/experiment/cuda/device_grid.cuh"
#include "validation/experiment/kernel_bodies/elementwise.hpp"

namespace floorline::cuda {

namespace {

template <class T>
__global__ void atomic_sum_kernel(float* sum, const T* x, Index n) {
  bodies::for_each_element(this_thread(), n, 1, [=](Index i) {
    atomicAdd(sum, static_cast<float>(bodies::to_float(x[i])));
  });
}
template <class T>
__global__ void block_sums_kernel(float* sums, const T* x, Index n) {
  __shared__ float parts[kBlockThreads];
  const bodies::Span span = bodies::block_span(n, blockIdx.x, gridDim.x);
  const float part = bodies::partial_sum(x + span.begin, span.end - span.begin, this_lane());
  const float sum = block_sum(part, parts);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

class SumExperiment : public CudaExperiment {
 public:
  SumExperiment(const ExperimentSpec& experiment, const ExperimentData& data,
                const DeviceContext& context, std::int64_t copies)
      : CudaExperiment(experiment, context, copies),
        input_(add_input(data.inputs.front(), experiment.precision.in)),
        blocks_(blocks_for(experiment.sizes.n)),
        partial_(add_scratch(blocks_, Precision::fp32)) {
    add_output(1, Precision::fp32);
  }

 protected:
  void enqueue(std::int64_t set) override {
    with_storage(spec().precision.in, [&](auto element) { run<decltype(element)>(set); });
  }

 private:
  template <class T>
  void run(std::int64_t set) {
    const T* x = pointer<T>(input_, set);
    const Index n = spec().sizes.n;
    if (spec().kind == ExperimentKind::atomic_sum) {
      check(cudaMemsetAsync(out<float>(set), 0, sizeof(float), stream()), "cudaMemsetAsync");
      atomic_sum_kernel<T><<<blocks_, kBlockThreads, 0, stream()>>>(out<float>(set), x, n);
    } else {
      float* partial = pointer<float>(partial_, set);
      block_sums_kernel<T><<<blocks_, kBlockThreads, 0, stream()>>>(partial, x, n);
      check_launch("block sums");
      block_sums_kernel<float>
          <<<1, kBlockThreads, 0, stream()>>>(out<float>(set), partial, blocks_);
    }
    check_launch("sum");
  }

  int input_;
  unsigned blocks_;
  int partial_;
};

}  // namespace

std::unique_ptr<PreparedExperiment> make_reduction(const ExperimentSpec& spec,
                                                   const ExperimentData& data,
                                                   const DeviceContext& device, std::int64_t sets) {
  if (spec.kind != ExperimentKind::atomic_sum && spec.kind != ExperimentKind::two_stage_sum) {
    return nullptr;
  }
  return std::make_unique<SumExperiment>(spec, data, device, sets);
}

}  // namespace floorline::cuda
