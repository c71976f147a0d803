// SPDX-License-Identifier: Apache-2.0
// Softmax over rows, a block for each row, the row held in shared memory.
#include "validation/experiment/cuda/cuda_experiment.hpp"
#include "validation/experiment/cuda/device_grid.cuh"
#include "validation/experiment/kernel_bodies/pack.hpp"

namespace floorline::cuda {

namespace {

template <int Width, class T>
__global__ void softmax_kernel(T* y, const T* x, Index rows, Index cols) {
  extern __shared__ __align__(16) unsigned char shared[];
  __shared__ bodies::RunningSoftmax parts[kBlockThreads];
  T* row = reinterpret_cast<T*>(shared);
  for (Index r = blockIdx.x; r < rows; r += gridDim.x) {
    bodies::copy_row<Width>(row, x + r * cols, cols, this_lane());
    __syncthreads();
    const bodies::RunningSoftmax whole =
        block_softmax(bodies::partial_softmax(row, cols, this_lane()), parts);
    bodies::softmax_row(y + r * cols, row, cols, whole, this_lane());
    __syncthreads();
  }
}

class SoftmaxExperiment : public CudaExperiment {
 public:
  SoftmaxExperiment(const ExperimentSpec& experiment, const ExperimentData& data,
                    const DeviceContext& context, std::int64_t copies)
      : CudaExperiment(experiment, context, copies),
        input_(add_input(data.inputs.front(), experiment.precision.in)) {
    add_output(data.output_size, experiment.precision.out);
  }

 protected:
  void enqueue(std::int64_t set) override {
    with_storage(spec().precision.in, [&](auto element) { run<decltype(element)>(set); });
  }

 private:
  template <class T>
  void run(std::int64_t set) {
    constexpr int kWidth = 16 / sizeof(T);
    const Index cols = spec().sizes.cols;
    cols % kWidth == 0 ? launch<kWidth, T>(set) : launch<1, T>(set);
  }
  template <int Width, class T>
  void launch(std::int64_t set) {
    const Index rows = spec().sizes.rows;
    const Index cols = spec().sizes.cols;
    const std::size_t shared = static_cast<std::size_t>(cols) * sizeof(T);
    check(
        cudaFuncSetAttribute(softmax_kernel<Width, T>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(shared)),
        "cudaFuncSetAttribute of softmax: a row must fit in shared memory");
    softmax_kernel<Width, T><<<blocks_for(rows * kBlockThreads), kBlockThreads, shared, stream()>>>(
        out<T>(set), pointer<T>(input_, set), rows, cols);
    check_launch("softmax");
  }

  int input_;
};

}  // namespace

std::unique_ptr<PreparedExperiment> make_softmax(const ExperimentSpec& spec,
                                                 const ExperimentData& data,
                                                 const DeviceContext& device, std::int64_t sets) {
  if (spec.kind != ExperimentKind::softmax) return nullptr;
  return std::make_unique<SoftmaxExperiment>(spec, data, device, sets);
}

}  // namespace floorline::cuda
