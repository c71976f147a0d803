// SPDX-License-Identifier: Apache-2.0
#include "validation/experiment/cuda/cuda_backend.hpp"

#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <optional>

#include "validation/experiment/cuda/cublas_library.hpp"
#include "validation/experiment/cuda/cuda_experiment.hpp"
#include "validation/experiment/cuda/cuda_limits.hpp"
#include "validation/experiment/cuda/nvml_library.hpp"

namespace floorline {

namespace {

using cuda::check;

constexpr double kEventResolution = 0.5e-6;  // cudaEventElapsedTime: "around 0.5 microseconds"
constexpr double kMemoryShare = 0.8;         // of what is free: libraries need the rest

/// Major.minor of the numbers that CUDA gives: 13000 is 13.0.
std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string host_text() {
  utsname name{};
  return uname(&name) == 0 ? std::string(name.sysname) + " " + name.release : "";
}

std::string pci_bus_id(int ordinal) {
  std::array<char, 32> text{};
  check(cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), ordinal),
        "cudaDeviceGetPCIBusId");
  return text.data();
}

int device_count() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess || count == 0) {
    throw MeasurementError(
        std::string("no CUDA device: ") +
        (status == cudaSuccess ? "the driver lists none" : cudaGetErrorString(status)) +
        "; the CPU backend (--backend cpu) needs none");
  }
  return count;
}

cuda::DeviceFacts facts_of(int ordinal) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, ordinal), "cudaGetDeviceProperties");
  return {.name = properties.name,
          .major = properties.major,
          .minor = properties.minor,
          .multiprocessors = properties.multiProcessorCount,
          .total_memory = properties.totalGlobalMem};
}

class CudaBackend : public Backend {
 public:
  CudaBackend(Machine machine, int ordinal) : machine_(std::move(machine)) {
    installation_.devices = device_count();
    if (ordinal < 0 || ordinal >= installation_.devices) {
      throw MeasurementError("there is no CUDA device " + std::to_string(ordinal) + "; there are " +
                             std::to_string(installation_.devices));
    }
    check(cudaSetDevice(ordinal), "cudaSetDevice");
    facts_ = facts_of(ordinal);
    refuse_contradictions();
    context_.ordinal = ordinal;
    context_.multiprocessors = facts_.multiprocessors;
    nvml_.emplace(pci_bus_id(ordinal));
    try {
      cublas_.emplace();
      context_.cublas = &*cublas_;
    } catch (const MeasurementError& error) {  // products then say so, one by one
      installation_.cublas = false;
      installation_.no_cublas = error.what();
    }
  }

  [[nodiscard]] std::string name() const override { return "cuda"; }
  [[nodiscard]] const Machine& machine() const override { return machine_; }
  [[nodiscard]] MeasuredOn measured_on() const override {
    int driver = 0;
    int runtime = 0;
    check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
    check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
    MeasuredOn on;
    on.backend = "cuda";
    on.device = facts_.name;
    on.driver = nvml_->driver_version();
    on.host = host_text();
    on.versions = {{"cuda_driver", version_text(driver)}, {"cuda_runtime", version_text(runtime)}};
    if (cublas_) on.versions.emplace_back("cublas", cublas_->version());
    return on;
  }
  [[nodiscard]] MachineState state() const override { return nvml_->state(); }
  [[nodiscard]] Scale scale() const override { return Scale::device; }
  [[nodiscard]] Seconds timer_resolution() const override { return Seconds(kEventResolution); }
  [[nodiscard]] Bytes memory_free() const override {
    std::size_t free = 0;
    std::size_t total = 0;
    check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    return Bytes(kMemoryShare * static_cast<double>(free));
  }
  [[nodiscard]] std::string why_not(const ExperimentSpec& spec) const override {
    return cuda::why_not_on_cuda(spec, installation_);
  }
  std::unique_ptr<PreparedExperiment> prepare(const ExperimentSpec& spec,
                                              const ExperimentData& data,
                                              std::int64_t sets) override {
    if (const std::string why = why_not(spec); !why.empty()) throw MeasurementError(why);
    constexpr std::array kMakers{cuda::make_stream,  cuda::make_reduction, cuda::make_normalization,
                                 cuda::make_softmax, cuda::make_matrix,    cuda::make_attention,
                                 cuda::make_chain,   cuda::make_host_copy, cuda::make_overlap,
                                 cuda::make_peer};
    for (const auto make : kMakers) {
      if (auto prepared = make(spec, data, context_, sets)) return prepared;
    }
    throw MeasurementError("the CUDA backend has no kernel for " + std::string(name_of(spec.kind)));
  }

 private:
  void refuse_contradictions() const {
    const std::vector<std::string> found = cuda::contradictions(machine_.device, facts_);
    if (found.empty()) return;
    std::string message = machine_.device.name + " does not describe " + facts_.name;
    for (const std::string& line : found) message += "; " + line;
    throw MeasurementError(message);
  }

  Machine machine_;
  cuda::Installation installation_;
  cuda::DeviceFacts facts_;
  cuda::DeviceContext context_;
  std::optional<cuda::NvmlLibrary> nvml_;
  std::optional<cuda::CublasLibrary> cublas_;
};

}  // namespace

std::string why_no_cuda() {
  try {
    device_count();
    return "";
  } catch (const MeasurementError& error) {
    return error.what();
  }
}

std::unique_ptr<Backend> make_cuda_backend(Machine machine, int ordinal) {
  return std::make_unique<CudaBackend>(std::move(machine), ordinal);
}

}  // namespace floorline
