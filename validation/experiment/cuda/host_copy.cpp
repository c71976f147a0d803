// SPDX-License-Identifier: Apache-2.0
// Copies between host and device, page-locked or pageable. Timed by the host's clock from the first
// enqueue until the stream is empty: staging of a pageable copy is part of it.
#include <chrono>
#include <cstring>

#include "validation/experiment/cuda/cuda_experiment.hpp"

namespace floorline::cuda {

namespace {

constexpr int kNanByte = 0xff;

class HostCopyExperiment : public PreparedExperiment {
 public:
  HostCopyExperiment(const ExperimentSpec& spec, const ExperimentData& data, std::int64_t sets)
      : to_device_(spec.kind == ExperimentKind::h2d) {
    const std::vector<std::byte> bytes = to_storage(data.inputs.front(), Precision::fp32);
    size_ = bytes.size();
    for (std::int64_t set = 0; set < sets; ++set) {
      HostBuffer& host = host_.emplace_back(size_, spec.sizes.pinned != 0);
      DeviceBuffer& device = device_.emplace_back(size_);
      std::memcpy(host.data(), bytes.data(), size_);
      check(cudaMemcpy(device.data(), bytes.data(), size_, cudaMemcpyHostToDevice),
            "cudaMemcpy of an input");
    }
  }
  void call(std::int64_t set) override {
    enqueue(index(set));
    stream_.wait();
  }
  Seconds time_calls(std::int64_t first_set, std::int64_t calls) override {
    const auto start = std::chrono::steady_clock::now();
    for (std::int64_t i = 0; i < calls; ++i) enqueue(index(first_set + i));
    stream_.wait();
    return Seconds(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::vector<double> output(std::int64_t set) override {
    std::vector<std::byte> bytes(size_);
    if (to_device_) {
      check(cudaMemcpy(bytes.data(), device_[index(set)].data(), size_, cudaMemcpyDeviceToHost),
            "cudaMemcpy of the output");
    } else {
      std::memcpy(bytes.data(), host_[index(set)].data(), size_);
    }
    return from_storage(bytes, Precision::fp32);
  }
  void poison_output(std::int64_t set) override {
    if (!to_device_) {
      std::memset(host_[index(set)].data(), kNanByte, size_);
      return;
    }
    check(cudaMemset(device_[index(set)].data(), kNanByte, size_), "cudaMemset");
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }

 private:
  [[nodiscard]] std::size_t index(std::int64_t set) const {
    return static_cast<std::size_t>(set) % host_.size();
  }
  void enqueue(std::size_t set) {
    std::byte* host = host_[set].data();
    std::byte* device = device_[set].data();
    check(to_device_ ? cudaMemcpyAsync(device, host, size_, cudaMemcpyHostToDevice, stream_.get())
                     : cudaMemcpyAsync(host, device, size_, cudaMemcpyDeviceToHost, stream_.get()),
          "cudaMemcpyAsync");
  }

  bool to_device_;
  std::size_t size_ = 0;
  Stream stream_;
  std::vector<HostBuffer> host_;
  std::vector<DeviceBuffer> device_;
};

}  // namespace

std::unique_ptr<PreparedExperiment> make_host_copy(const ExperimentSpec& spec,
                                                   const ExperimentData& data,
                                                   const DeviceContext& /*device*/,
                                                   std::int64_t sets) {
  if (spec.kind != ExperimentKind::h2d && spec.kind != ExperimentKind::d2h) return nullptr;
  return std::make_unique<HostCopyExperiment>(spec, data, sets);
}

}  // namespace floorline::cuda
