// SPDX-License-Identifier: Apache-2.0
#include "validation/experiment/cuda/cuda_backend.hpp"

namespace floorline {

std::string why_no_cuda() {
  return "the CUDA backend is not built in: nvcc was not found when this program was configured";
}

std::unique_ptr<Backend> make_cuda_backend(Machine /*machine*/, int /*ordinal*/) {
  throw MeasurementError(why_no_cuda());
}

}  // namespace floorline
