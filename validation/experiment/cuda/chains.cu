// SPDX-License-Identifier: Apache-2.0
// launch_chain: `count` kernels, each y = x + 1 over n elements, one by one or as one graph.
// dependency_chain: one element a thread, each multiply-add waits for the last.
// independent_work: `streams` elements a thread (1, 2, 4, 8 or 16), so many chains in flight.
#include "validation/experiment/cuda/cuda_experiment.hpp"
#include "validation/experiment/cuda/device_grid.cuh"
#include "validation/experiment/kernel_bodies/chain.hpp"
#include "validation/experiment/kernel_bodies/elementwise.hpp"

namespace floorline::cuda {

namespace {

__global__ void small_kernel(float* y, const float* x, Index n) {
  bodies::for_each_element(this_thread(), n, 1, [=](Index i) { bodies::launch_element(y, x, i); });
}
__global__ void chain_kernel(float* y, const float* x, Index n, Index count) {
  bodies::for_each_element(this_thread(), n, 1, [=](Index i) {
    y[i] = bodies::chained(x[i], count, kChainFactor, kChainOffset);
  });
}
template <int Together>
__global__ void together_kernel(float* y, const float* x, Index n, Index count) {
  const bodies::Grid grid = this_thread();
  for (Index begin = grid.thread * Together; begin < n; begin += grid.threads * Together) {
    float v[Together];
    for (int j = 0; j < Together; ++j) v[j] = begin + j < n ? x[begin + j] : 0;
    bodies::chained_together<Together>(v, count, kChainFactor, kChainOffset);
    for (int j = 0; j < Together; ++j) {
      if (begin + j < n) y[begin + j] = v[j];
    }
  }
}

/// A captured chain; destroyed with its experiment.
class LaunchGraph {
 public:
  LaunchGraph() = default;
  LaunchGraph(const LaunchGraph&) = delete;
  LaunchGraph& operator=(const LaunchGraph&) = delete;
  LaunchGraph(LaunchGraph&& other) noexcept : exec_(std::exchange(other.exec_, nullptr)) {}
  LaunchGraph& operator=(LaunchGraph&&) = delete;
  ~LaunchGraph() {
    if (exec_ != nullptr) cudaGraphExecDestroy(exec_);
  }
  template <class Enqueue>
  void capture(cudaStream_t stream, const Enqueue& enqueue) {
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal),
          "cudaStreamBeginCapture");
    enqueue();
    cudaGraph_t graph = nullptr;
    check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
    const cudaError_t status = cudaGraphInstantiate(&exec_, graph, 0);
    cudaGraphDestroy(graph);
    check(status, "cudaGraphInstantiate");
  }
  void launch(cudaStream_t stream) const {
    check(cudaGraphLaunch(exec_, stream), "cudaGraphLaunch");
  }

 private:
  cudaGraphExec_t exec_ = nullptr;
};

class ChainExperiment : public CudaExperiment {
 public:
  ChainExperiment(const ExperimentSpec& experiment, const ExperimentData& data,
                  const DeviceContext& context, std::int64_t copies)
      : CudaExperiment(experiment, context, copies),
        input_(add_input(data.inputs.front(), Precision::fp32)) {
    add_output(data.output_size, Precision::fp32);
    if (experiment.kind != ExperimentKind::launch_chain || experiment.sizes.graph == 0) return;
    for (std::int64_t set = 0; set < sets(); ++set) {
      graphs_.emplace_back().capture(stream(), [&] { launches(set); });
    }
  }

 protected:
  void enqueue(std::int64_t set) override {
    const ExperimentSizes& s = spec().sizes;
    if (!graphs_.empty()) return graphs_[static_cast<std::size_t>(set)].launch(stream());
    if (spec().kind == ExperimentKind::launch_chain) return launches(set);
    const float* x = pointer<float>(input_, set);
    if (spec().kind == ExperimentKind::dependency_chain) {
      chain_kernel<<<blocks_for(s.n), kBlockThreads, 0, stream()>>>(out<float>(set), x, s.n,
                                                                    s.count);
      return check_launch("chain");
    }
    if (s.streams >= 16) return together<16>(set, x);
    if (s.streams >= 8) return together<8>(set, x);
    if (s.streams >= 4) return together<4>(set, x);
    s.streams >= 2 ? together<2>(set, x) : together<1>(set, x);
  }

 private:
  template <int Together>
  void together(std::int64_t set, const float* x) {
    const ExperimentSizes& s = spec().sizes;
    together_kernel<Together><<<blocks_for(s.n / Together), kBlockThreads, 0, stream()>>>(
        out<float>(set), x, s.n, s.count);
    check_launch("chains together");
  }
  void launches(std::int64_t set) {
    for (std::int64_t i = 0; i < spec().sizes.count; ++i) {
      small_kernel<<<blocks_for(spec().sizes.n), kBlockThreads, 0, stream()>>>(
          out<float>(set), pointer<float>(input_, set), spec().sizes.n);
      check_launch("small kernel");
    }
  }

  int input_;
  std::vector<LaunchGraph> graphs_;
};

}  // namespace

std::unique_ptr<PreparedExperiment> make_chain(const ExperimentSpec& spec,
                                               const ExperimentData& data,
                                               const DeviceContext& device, std::int64_t sets) {
  switch (spec.kind) {
    case ExperimentKind::launch_chain:
    case ExperimentKind::dependency_chain:
    case ExperimentKind::independent_work:
      return std::make_unique<ChainExperiment>(spec, data, device, sets);
    default:
      return nullptr;
  }
}

}  // namespace floorline::cuda
