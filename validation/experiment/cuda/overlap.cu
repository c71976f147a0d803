// SPDX-License-Identifier: Apache-2.0
// `count` pieces that are copied in, worked on (y = 2 x + 1) and copied out, dealt to `streams`
// streams in turn. Timed by the host's clock until every stream is empty.
#include <algorithm>
#include <chrono>
#include <cstring>

#include "validation/experiment/cuda/cuda_experiment.hpp"
#include "validation/experiment/cuda/device_grid.cuh"
#include "validation/experiment/kernel_bodies/pack.hpp"

namespace floorline::cuda {

namespace {

constexpr int kNanByte = 0xff;

__global__ void work_kernel(float* y, const float* x, Index n) {
  bodies::apply_packs<1>(this_thread(), y, x, x, n, bodies::WorkOp{});
}

class OverlapExperiment : public PreparedExperiment {
 public:
  OverlapExperiment(const ExperimentSpec& spec, const ExperimentData& data, std::int64_t sets)
      : spec_(spec), streams_(static_cast<std::size_t>(spec.sizes.streams)) {
    const std::vector<std::byte> bytes = to_storage(data.inputs.front(), Precision::fp32);
    n_ = static_cast<Index>(bytes.size() / sizeof(float));
    const bool pinned = spec.sizes.pinned != 0;
    for (std::int64_t set = 0; set < sets; ++set) {
      HostBuffer& in = host_in_.emplace_back(bytes.size(), pinned);
      std::memcpy(in.data(), bytes.data(), bytes.size());
      host_out_.emplace_back(bytes.size(), pinned);
      x_.emplace_back(bytes.size());
      y_.emplace_back(bytes.size());
    }
  }
  void call(std::int64_t set) override {
    enqueue(index(set));
    wait();
  }
  Seconds time_calls(std::int64_t first_set, std::int64_t calls) override {
    const auto start = std::chrono::steady_clock::now();
    for (std::int64_t i = 0; i < calls; ++i) call(first_set + i);
    return Seconds(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::vector<double> output(std::int64_t set) override {
    const HostBuffer& out = host_out_[index(set)];
    return from_storage({out.data(), out.data() + out.size()}, Precision::fp32);
  }
  void poison_output(std::int64_t set) override {
    const HostBuffer& out = host_out_[index(set)];
    std::memset(out.data(), kNanByte, out.size());
  }

 private:
  [[nodiscard]] std::size_t index(std::int64_t set) const {
    return static_cast<std::size_t>(set) % x_.size();
  }
  void wait() const {
    for (const Stream& stream : streams_) stream.wait();
  }
  void enqueue(std::size_t set) {
    const Index pieces = spec_.sizes.count;
    for (Index piece = 0; piece < pieces; ++piece) {
      const cudaStream_t stream = streams_[static_cast<std::size_t>(piece) % streams_.size()].get();
      run_piece(set, bodies::block_span(n_, piece, pieces), stream);
    }
  }
  void run_piece(std::size_t set, bodies::Span span, cudaStream_t stream) {
    const Index n = span.end - span.begin;
    if (n == 0) return;
    const std::size_t size = static_cast<std::size_t>(n) * sizeof(float);
    float* x = reinterpret_cast<float*>(x_[set].data()) + span.begin;
    float* y = reinterpret_cast<float*>(y_[set].data()) + span.begin;
    const float* in = reinterpret_cast<const float*>(host_in_[set].data()) + span.begin;
    float* out = reinterpret_cast<float*>(host_out_[set].data()) + span.begin;
    check(cudaMemcpyAsync(x, in, size, cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync in");
    const auto blocks = static_cast<unsigned>(
        std::min<Index>((n + kBlockThreads - 1) / kBlockThreads, Index{1} << 20));
    work_kernel<<<blocks, kBlockThreads, 0, stream>>>(y, x, n);
    check_launch("work");
    check(cudaMemcpyAsync(out, y, size, cudaMemcpyDeviceToHost, stream), "cudaMemcpyAsync out");
  }

  ExperimentSpec spec_;
  Index n_ = 0;
  std::vector<Stream> streams_;
  std::vector<HostBuffer> host_in_, host_out_;
  std::vector<DeviceBuffer> x_, y_;
};

}  // namespace

std::unique_ptr<PreparedExperiment> make_overlap(const ExperimentSpec& spec,
                                                 const ExperimentData& data,
                                                 const DeviceContext& /*device*/,
                                                 std::int64_t sets) {
  if (spec.kind != ExperimentKind::overlap) return nullptr;
  return std::make_unique<OverlapExperiment>(spec, data, sets);
}

}  // namespace floorline::cuda
