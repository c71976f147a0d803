// SPDX-License-Identifier: Apache-2.0
// One mapping that holds all copies of an experiment's buffers, each at the start of a page-aligned
// region, in huge pages where the kernel gives them: so many pages would else miss the TLB.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "validation/experiment/cpu/cpu_plan.hpp"
#include "validation/experiment/reference.hpp"

namespace floorline::cpu {

class Mapping {
 public:
  /// Throws MeasurementError when the memory cannot be had.
  explicit Mapping(std::size_t bytes);
  ~Mapping();
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  Mapping(Mapping&&) = delete;
  Mapping& operator=(Mapping&&) = delete;
  [[nodiscard]] char* data() const { return static_cast<char*>(memory_); }
  [[nodiscard]] std::size_t size() const { return bytes_; }

 private:
  std::size_t bytes_;
  void* memory_;
};
/// The last mapping that was given back, for the next experiment: pages cost more than they hold.
using SpareMapping = std::unique_ptr<Mapping>;

struct BufferOptions {
  std::int64_t sets = 1;
  std::int64_t workers = 1;
  /// Taken when it is large enough; memory is given back there.
  SpareMapping& spare;
};

class CpuBuffers {
 public:
  CpuBuffers(const ExperimentSpec& spec, const ExperimentData& data, const CpuPlan& plan,
             const BufferOptions& options);
  ~CpuBuffers();
  CpuBuffers(const CpuBuffers&) = delete;
  CpuBuffers& operator=(const CpuBuffers&) = delete;
  CpuBuffers(CpuBuffers&&) = delete;
  CpuBuffers& operator=(CpuBuffers&&) = delete;

  [[nodiscard]] const KernelArguments& arguments(std::int64_t set) const {
    return arguments_[static_cast<std::size_t>(set)];
  }
  [[nodiscard]] std::vector<double> output(std::int64_t set) const;
  void poison_output(std::int64_t set) const;

 private:
  void fill(const ExperimentData& data);

  ExperimentSpec spec_;
  std::int64_t output_size_ = 0;
  std::int64_t set_bytes_ = 0;
  SpareMapping& spare_;
  std::unique_ptr<Mapping> memory_;
  std::vector<KernelArguments> arguments_;
};

}  // namespace floorline::cpu
