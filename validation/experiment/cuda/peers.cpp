// SPDX-License-Identifier: Apache-2.0
// Between devices: a copy from device 0 to device 1, and a sum over devices 0 … ranks - 1 by NCCL,
// where rank r starts with x + r. Timed by the host's clock until every stream is empty.
#include <chrono>

#include "validation/experiment/cuda/cuda_experiment.hpp"
#include "validation/experiment/cuda/nccl_library.hpp"

namespace floorline::cuda {

namespace {

constexpr int kNanByte = 0xff;

void use_device(int ordinal) { check(cudaSetDevice(ordinal), "cudaSetDevice"); }

/// Buffers and a stream that live on one device; made while it is the current one.
struct Rank {
  explicit Rank(int device) : ordinal((use_device(device), device)) {}
  int ordinal;
  Stream stream;
  std::vector<DeviceBuffer> in, out;  ///< by set
};

class PeerExperiment : public PreparedExperiment {
 public:
  PeerExperiment(const ExperimentSpec& spec, const ExperimentData& data, int home,
                 std::int64_t sets)
      : home_(home), sum_(spec.kind == ExperimentKind::all_reduce) {
    const int ranks = sum_ ? static_cast<int>(spec.sizes.ranks) : 2;
    for (int r = 0; r < ranks; ++r) add_rank(r, data.inputs.front(), sets);
    if (sum_) group_ = std::make_unique<NcclGroup>(ranks);
    if (!sum_) enable_peers();
    use_device(home_);
  }
  void call(std::int64_t set) override {
    enqueue(index(set));
    wait();
  }
  Seconds time_calls(std::int64_t first_set, std::int64_t calls) override {
    const auto start = std::chrono::steady_clock::now();
    for (std::int64_t i = 0; i < calls; ++i) enqueue(index(first_set + i));
    wait();
    return Seconds(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::vector<double> output(std::int64_t set) override {
    std::vector<std::byte> bytes(size_);
    check(
        cudaMemcpy(bytes.data(), ranks_[1]->out[index(set)].data(), size_, cudaMemcpyDeviceToHost),
        "cudaMemcpy of the output");
    return from_storage(bytes, Precision::fp32);
  }
  void poison_output(std::int64_t set) override {
    for (const auto& rank : ranks_) {
      use_device(rank->ordinal);
      check(cudaMemset(rank->out[index(set)].data(), kNanByte, size_), "cudaMemset");
      check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    }
    use_device(home_);
  }

 private:
  void add_rank(int ordinal, std::vector<float> x, std::int64_t sets) {
    for (float& v : x) v += static_cast<float>(sum_ ? ordinal : 0);
    const std::vector<std::byte> bytes = to_storage(x, Precision::fp32);
    size_ = bytes.size();
    Rank& rank = *ranks_.emplace_back(std::make_unique<Rank>(ordinal));
    for (std::int64_t set = 0; set < sets; ++set) {
      check(cudaMemcpy(rank.in.emplace_back(size_).data(), bytes.data(), size_,
                       cudaMemcpyHostToDevice),
            "cudaMemcpy of an input");
      rank.out.emplace_back(size_);
    }
  }
  /// Without peer access the copy goes through the host: said by the link, not hidden.
  void enable_peers() {
    int possible = 0;
    check(cudaDeviceCanAccessPeer(&possible, 0, 1), "cudaDeviceCanAccessPeer");
    if (possible == 0) throw MeasurementError("devices 0 and 1 have no peer access to each other");
    use_device(0);
    const cudaError_t status = cudaDeviceEnablePeerAccess(1, 0);
    if (status == cudaErrorPeerAccessAlreadyEnabled) {
      cudaGetLastError();
      return;
    }
    check(status, "cudaDeviceEnablePeerAccess");
  }
  [[nodiscard]] std::size_t index(std::int64_t set) const {
    return static_cast<std::size_t>(set) % ranks_.front()->in.size();
  }
  void enqueue(std::size_t set) {
    if (!sum_) {
      check(cudaMemcpyPeerAsync(ranks_[1]->out[set].data(), 1, ranks_[0]->in[set].data(), 0, size_,
                                ranks_[0]->stream.get()),
            "cudaMemcpyPeerAsync");
      return;
    }
    std::vector<const float*> in;
    std::vector<float*> out;
    std::vector<CUstream_st*> streams;
    for (const auto& rank : ranks_) {
      in.push_back(reinterpret_cast<const float*>(rank->in[set].data()));
      out.push_back(reinterpret_cast<float*>(rank->out[set].data()));
      streams.push_back(rank->stream.get());
    }
    group_->all_reduce(in, out, size_ / sizeof(float), streams);
  }
  void wait() const {
    for (const auto& rank : ranks_) rank->stream.wait();
  }

  int home_;
  bool sum_;
  std::size_t size_ = 0;
  std::vector<std::unique_ptr<Rank>> ranks_;
  std::unique_ptr<NcclGroup> group_;
};

}  // namespace

std::unique_ptr<PreparedExperiment> make_peer(const ExperimentSpec& spec,
                                              const ExperimentData& data,
                                              const DeviceContext& device, std::int64_t sets) {
  if (spec.kind != ExperimentKind::peer_copy && spec.kind != ExperimentKind::all_reduce) {
    return nullptr;
  }
  return std::make_unique<PeerExperiment>(spec, data, device.ordinal, sets);
}

}  // namespace floorline::cuda
