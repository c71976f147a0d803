// SPDX-License-Identifier: Apache-2.0
// One mapping that holds all copies of an experiment's buffers, each at the start of a page-aligned
// region, in huge pages where the kernel gives them: so many pages would else miss the TLB.
#pragma once

#include <cstdint>
#include <vector>

#include "validation/experiment/cpu/cpu_plan.hpp"
#include "validation/experiment/reference.hpp"

namespace floorline::cpu {

class CpuBuffers {
 public:
  /// Throws MeasurementError when the memory cannot be had.
  CpuBuffers(const ExperimentSpec& spec, const ExperimentData& data, const CpuPlan& plan,
             std::int64_t sets, std::int64_t workers);
  ~CpuBuffers();
  CpuBuffers(const CpuBuffers&) = delete;
  CpuBuffers& operator=(const CpuBuffers&) = delete;

  [[nodiscard]] const KernelArguments& arguments(std::int64_t set) const {
    return arguments_[static_cast<std::size_t>(set)];
  }
  [[nodiscard]] std::vector<float> output(std::int64_t set) const;
  void poison_output(std::int64_t set);

 private:
  void fill(const ExperimentData& data);

  ExperimentSpec spec_;
  std::int64_t output_size_ = 0;
  std::int64_t set_bytes_ = 0;
  void* memory_ = nullptr;
  std::size_t mapped_ = 0;
  std::vector<KernelArguments> arguments_;
};

}  // namespace floorline::cpu
