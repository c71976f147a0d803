// SPDX-License-Identifier: Apache-2.0
// An experiment on the device: `sets` copies of its buffers and what one call enqueues. Kinds
// differ in enqueue() only; some also have scratch of their own.
#pragma once

#include <memory>
#include <vector>

#include "validation/experiment/backend.hpp"
#include "validation/experiment/cuda/device_memory.hpp"
#include "validation/experiment/cuda/storage.hpp"

namespace floorline::cuda {

class CublasLibrary;

/// What kernels need to know of the device they run on.
struct DeviceContext {
  int ordinal = 0;
  int multiprocessors = 1;
  const CublasLibrary* cublas = nullptr;
};

class CudaExperiment : public PreparedExperiment {
 public:
  CudaExperiment(const ExperimentSpec& spec, const DeviceContext& device, std::int64_t sets);
  void call(std::int64_t set) override;
  Seconds time_calls(std::int64_t first_set, std::int64_t calls) override;
  std::vector<double> output(std::int64_t set) override;
  void poison_output(std::int64_t set) override;

 protected:
  /// Enqueues one call on copy `set` in stream(); waits for nothing.
  virtual void enqueue(std::int64_t set) = 0;

  /// Uploads `values` in `precision` for every set, `offset` elements beside the alignment.
  /// Returns the number by which pointer() finds it.
  int add_input(const std::vector<float>& values, Precision precision);
  int add_indices(const std::vector<std::int32_t>& indices);
  void add_output(std::int64_t elements, Precision precision);
  /// Memory of one call that is neither: intermediates. One for each set: they rotate too.
  int add_scratch(std::int64_t elements, Precision precision);

  template <class T>
  [[nodiscard]] T* pointer(int buffer, std::int64_t set) const {
    return reinterpret_cast<T*>(
        buffers_[static_cast<std::size_t>(buffer)][static_cast<std::size_t>(set)].data() +
        offsets_[static_cast<std::size_t>(buffer)]);
  }
  template <class T>
  [[nodiscard]] T* out(std::int64_t set) const {
    return pointer<T>(output_, set);
  }
  [[nodiscard]] cudaStream_t stream() const { return stream_.get(); }
  [[nodiscard]] const ExperimentSpec& spec() const { return spec_; }
  [[nodiscard]] const DeviceContext& device() const { return device_; }
  [[nodiscard]] std::int64_t sets() const { return sets_; }
  /// Blocks of 256 threads for `threads` threads in all, a few on each multiprocessor at most.
  [[nodiscard]] unsigned blocks_for(std::int64_t threads) const;

 private:
  int add_buffer(std::size_t size, std::size_t offset, const void* contents);

  ExperimentSpec spec_;
  DeviceContext device_;
  std::int64_t sets_ = 1;
  Stream stream_;
  Event begin_, end_;
  std::vector<std::vector<DeviceBuffer>> buffers_;  ///< by buffer, by set
  std::vector<std::size_t> offsets_;                ///< bytes, by buffer
  int output_ = -1;
  std::size_t output_size_ = 0;
  Precision output_precision_ = Precision::fp32;
};

inline constexpr unsigned kBlockThreads = 256;

// One function a file of kernels; each makes the kinds that it has, and returns null for others.
std::unique_ptr<PreparedExperiment> make_stream(const ExperimentSpec&, const ExperimentData&,
                                                const DeviceContext&, std::int64_t sets);
std::unique_ptr<PreparedExperiment> make_reduction(const ExperimentSpec&, const ExperimentData&,
                                                   const DeviceContext&, std::int64_t sets);
std::unique_ptr<PreparedExperiment> make_normalization(const ExperimentSpec&, const ExperimentData&,
                                                       const DeviceContext&, std::int64_t sets);
std::unique_ptr<PreparedExperiment> make_softmax(const ExperimentSpec&, const ExperimentData&,
                                                 const DeviceContext&, std::int64_t sets);
std::unique_ptr<PreparedExperiment> make_matrix(const ExperimentSpec&, const ExperimentData&,
                                                const DeviceContext&, std::int64_t sets);
std::unique_ptr<PreparedExperiment> make_attention(const ExperimentSpec&, const ExperimentData&,
                                                   const DeviceContext&, std::int64_t sets);
std::unique_ptr<PreparedExperiment> make_chain(const ExperimentSpec&, const ExperimentData&,
                                               const DeviceContext&, std::int64_t sets);
std::unique_ptr<PreparedExperiment> make_host_copy(const ExperimentSpec&, const ExperimentData&,
                                                   const DeviceContext&, std::int64_t sets);
std::unique_ptr<PreparedExperiment> make_overlap(const ExperimentSpec&, const ExperimentData&,
                                                 const DeviceContext&, std::int64_t sets);
std::unique_ptr<PreparedExperiment> make_peer(const ExperimentSpec&, const ExperimentData&,
                                              const DeviceContext&, std::int64_t sets);

}  // namespace floorline::cuda
