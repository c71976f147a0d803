// SPDX-License-Identifier: Apache-2.0
// copy, triad, vector_add by packs of `vector` elements (0: 16 bytes), strided reads, gather.
#include "validation/experiment/cuda/cuda_experiment.hpp"
#include "validation/experiment/cuda/device_grid.cuh"
#include "validation/experiment/kernel_bodies/pack.hpp"

namespace floorline::cuda {

namespace {

template <int Width, class T, class Op>
__global__ void packs_kernel(T* y, const T* x, const T* z, Index n, Op op) {
  bodies::apply_packs<Width>(this_thread(), y, x, z, n, op);
}
template <class T>
__global__ void strided_kernel(T* y, const T* x, Index n, Index stride) {
  bodies::for_each_element(this_thread(), n, 1,
                           [=](Index i) { bodies::strided_element(y, x, stride, i); });
}
template <class T>
__global__ void gather_kernel(T* y, const T* x, const std::int32_t* index, Index n) {
  bodies::for_each_element(this_thread(), n, 1,
                           [=](Index i) { bodies::gather_element(y, x, index, i); });
}

constexpr std::size_t kPackSize = 16;  ///< the widest load of a thread on devices up to 9.0

class StreamExperiment : public CudaExperiment {
 public:
  StreamExperiment(const ExperimentSpec& experiment, const ExperimentData& data,
                   const DeviceContext& context, std::int64_t copies)
      : CudaExperiment(experiment, context, copies) {
    for (const std::vector<float>& input : data.inputs) {
      inputs_.push_back(add_input(input, experiment.precision.in));
    }
    if (experiment.kind == ExperimentKind::gather) indices_ = add_indices(data.indices);
    add_output(data.output_size, experiment.precision.out);
  }

 protected:
  void enqueue(std::int64_t set) override {
    with_storage(spec().precision.in, [&](auto element) { run<decltype(element)>(set); });
  }

 private:
  template <class T>
  void run(std::int64_t set) {
    const Index n = spec().sizes.n;
    const T* x = pointer<T>(inputs_.front(), set);
    const T* z = inputs_.size() > 1 ? pointer<T>(inputs_[1], set) : x;
    switch (spec().kind) {
      case ExperimentKind::triad:
        return apply<T>(set, x, z, bodies::TriadOp{kTriadScale});
      case ExperimentKind::vector_add:
        return apply<T>(set, x, z, bodies::AddOp{});
      case ExperimentKind::strided:
        strided_kernel<T>
            <<<blocks_for(n), kBlockThreads, 0, stream()>>>(out<T>(set), x, n, spec().sizes.stride);
        return check_launch("strided");
      case ExperimentKind::gather:
        gather_kernel<T><<<blocks_for(n), kBlockThreads, 0, stream()>>>(
            out<T>(set), x, pointer<std::int32_t>(indices_, set), n);
        return check_launch("gather");
      default:
        return apply<T>(set, x, z, bodies::CopyOp{});
    }
  }
  template <class T, class Op>
  void apply(std::int64_t set, const T* x, const T* z, Op op) {
    const std::int64_t asked = spec().sizes.vector;
    switch (asked > 0 ? asked : spec().sizes.offset > 0 ? 1 : std::int64_t{kPackSize / sizeof(T)}) {
      case 2:
        return launch<2>(set, x, z, op);
      case 4:
        return launch<4>(set, x, z, op);
      case 8:
        if constexpr (8 * sizeof(T) <= kPackSize) return launch<8>(set, x, z, op);
        break;
      default:
        break;
    }
    launch<1>(set, x, z, op);
  }
  template <int Width, class T, class Op>
  void launch(std::int64_t set, const T* x, const T* z, Op op) {
    const Index n = spec().sizes.n;
    packs_kernel<Width>
        <<<blocks_for(n / Width), kBlockThreads, 0, stream()>>>(out<T>(set), x, z, n, op);
    check_launch("stream");
  }

  std::vector<int> inputs_;
  int indices_ = -1;
};

}  // namespace

std::unique_ptr<PreparedExperiment> make_stream(const ExperimentSpec& spec,
                                                const ExperimentData& data,
                                                const DeviceContext& device, std::int64_t sets) {
  switch (spec.kind) {
    case ExperimentKind::copy:
    case ExperimentKind::triad:
    case ExperimentKind::vector_add:
    case ExperimentKind::strided:
    case ExperimentKind::gather:
      return std::make_unique<StreamExperiment>(spec, data, device, sets);
    default:
      return nullptr;
  }
}

}  // namespace floorline::cuda
