// SPDX-License-Identifier: Apache-2.0
#include "validation/experiment/cuda/device_memory.hpp"

#include <cstdlib>

namespace floorline::cuda {

HostBuffer::HostBuffer(std::size_t size, bool pinned) : size_(size), pinned_(pinned) {
  if (size == 0) return;
  if (pinned) {
    check(cudaMallocHost(&data_, size), "cudaMallocHost");
  } else {
    data_ = std::malloc(size);
    if (data_ == nullptr) throw MeasurementError("out of host memory for a pageable buffer");
  }
}

HostBuffer::~HostBuffer() {
  if (pinned_) {
    cudaFreeHost(data_);
  } else {
    std::free(data_);
  }
}

}  // namespace floorline::cuda
