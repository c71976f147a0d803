// SPDX-License-Identifier: Apache-2.0
#include "validation/experiment/cuda/cuda_experiment.hpp"

#include <algorithm>

#include "model/quantity/expect.hpp"

namespace floorline::cuda {

namespace {

constexpr int kNanByte = 0xff;  ///< all ones is a NaN of every format that is stored
constexpr std::int64_t kBlocksPerMultiprocessor = 16;

}  // namespace

CudaExperiment::CudaExperiment(const ExperimentSpec& spec, const DeviceContext& device,
                               std::int64_t sets)
    : spec_(spec), device_(device), sets_(std::max<std::int64_t>(sets, 1)) {}

void CudaExperiment::call(std::int64_t set) {
  enqueue(set % sets_);
  stream_.wait();
}

Seconds CudaExperiment::time_calls(std::int64_t first_set, std::int64_t calls) {
  begin_.record(stream());
  for (std::int64_t i = 0; i < calls; ++i) enqueue((first_set + i) % sets_);
  end_.record(stream());
  check(cudaEventSynchronize(end_.get()), "cudaEventSynchronize");
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, begin_.get(), end_.get()), "cudaEventElapsedTime");
  return Seconds(static_cast<double>(milliseconds) / 1e3);
}

std::vector<double> CudaExperiment::output(std::int64_t set) {
  std::vector<std::byte> bytes(output_size_);
  check(cudaMemcpy(bytes.data(), out<std::byte>(set % sets_), output_size_, cudaMemcpyDeviceToHost),
        "cudaMemcpy of the output");
  return from_storage(bytes, output_precision_);
}

void CudaExperiment::poison_output(std::int64_t set) {
  check(cudaMemset(out<std::byte>(set % sets_), kNanByte, output_size_), "cudaMemset");
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

int CudaExperiment::add_buffer(std::size_t size, std::size_t offset, const void* contents) {
  std::vector<DeviceBuffer>& copies = buffers_.emplace_back();
  offsets_.push_back(offset);
  for (std::int64_t set = 0; set < sets_; ++set) {
    DeviceBuffer& buffer = copies.emplace_back(size + offset);
    if (contents == nullptr) continue;
    check(cudaMemcpy(buffer.data() + offset, contents, size, cudaMemcpyHostToDevice),
          "cudaMemcpy of an input");
  }
  return static_cast<int>(buffers_.size()) - 1;
}

int CudaExperiment::add_input(const std::vector<float>& values, Precision precision) {
  const std::vector<std::byte> bytes = to_storage(values, precision);
  const auto offset = static_cast<std::size_t>(spec_.sizes.offset) * size_of(precision);
  return add_buffer(bytes.size(), offset, bytes.data());
}

int CudaExperiment::add_indices(const std::vector<std::int32_t>& indices) {
  return add_buffer(indices.size() * sizeof(std::int32_t), 0, indices.data());
}

void CudaExperiment::add_output(std::int64_t elements, Precision precision) {
  FLOORLINE_EXPECT(output_ < 0);
  output_precision_ = precision;
  output_size_ = static_cast<std::size_t>(elements) * size_of(precision);
  const auto offset = static_cast<std::size_t>(spec_.sizes.offset) * size_of(precision);
  output_ = add_buffer(output_size_, offset, nullptr);
}

int CudaExperiment::add_scratch(std::int64_t elements, Precision precision) {
  return add_buffer(static_cast<std::size_t>(elements) * size_of(precision), 0, nullptr);
}

unsigned CudaExperiment::blocks_for(std::int64_t threads) const {
  const std::int64_t wanted = (threads + kBlockThreads - 1) / kBlockThreads;
  const std::int64_t most = kBlocksPerMultiprocessor * device_.multiprocessors;
  return static_cast<unsigned>(std::clamp<std::int64_t>(wanted, 1, most));
}

}  // namespace floorline::cuda
