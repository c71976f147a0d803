// SPDX-License-Identifier: Apache-2.0
#include "validation/experiment/cuda/cuda_limits.hpp"

#include <cmath>

#include "validation/experiment/cuda/product_kinds.hpp"
#include "validation/experiment/cuda/storage.hpp"

namespace floorline::cuda {

namespace {

constexpr std::int64_t kMostHeadDimension = 128;  // of the tiled kernel's shared memory
constexpr double kMemoryTolerance = 0.05;         // reserved memory differs between drivers

std::string text(Precision precision) { return std::string(name_of(precision)); }

std::string why_no_storage(const ExperimentPrecision& p) {
  for (const Precision precision : {p.in, p.weight, p.out}) {
    if (!can_store(precision) || precision == Precision::tf32) {
      return "this backend's kernels store fp64, fp32, fp16 and bf16 only, not " + text(precision);
    }
  }
  return "";
}

bool is_stream(ExperimentKind kind) {
  return kind == ExperimentKind::copy || kind == ExperimentKind::triad ||
         kind == ExperimentKind::vector_add || kind == ExperimentKind::strided ||
         kind == ExperimentKind::gather;
}

/// The hand-written kernels read and write one format and compute in fp32 (streams of fp64 in
/// fp64, LayerNorm as one kernel also in fp16).
std::string why_no_kernel(const ExperimentSpec& spec) {
  const ExperimentPrecision& p = spec.precision;
  if (const std::string why = why_no_storage(p); !why.empty()) return why;
  if (p.weight != p.in && p.weight != Precision::fp32) {
    return "its kernel stores weights as the data or as fp32, not " + text(p.weight);
  }
  const bool one_number = spec.kind == ExperimentKind::gemv ||
                          spec.kind == ExperimentKind::atomic_sum ||
                          spec.kind == ExperimentKind::two_stage_sum;
  if (p.in != p.out && !one_number) {
    return "its kernel writes the format that it reads; out=" + text(p.out) +
           " differs from in=" + text(p.in);
  }
  const bool fp64_stream = is_stream(spec.kind) && p.in == Precision::fp64;
  if (fp64_stream) return "";
  if (p.in == Precision::fp64) return "its kernel computes in fp32; fp64 data would be rounded";
  const bool half = spec.kind == ExperimentKind::layernorm && p.compute == Precision::fp16;
  if ((p.compute != Precision::fp32 && !half) || p.accumulate != Precision::fp32) {
    return "its kernel computes and accumulates in fp32, not " + text(p.compute) + " and " +
           text(p.accumulate);
  }
  return "";
}

std::string why_no_gemm(const ExperimentSpec& spec, const Installation& installation) {
  const ExperimentPrecision& p = spec.precision;
  if (!installation.cublas) return installation.no_cublas;
  if (p.weight != p.in) return "cuBLAS multiplies two matrices of one format";
  return why_no_product({p.in, p.out, p.compute, p.accumulate});
}

std::string why_no_attention(const ExperimentSpec& spec, const Installation& installation) {
  if (spec.kind == ExperimentKind::attention_naive && !installation.cublas) {
    return installation.no_cublas;
  }
  if (spec.kind == ExperimentKind::attention_tiled && spec.sizes.head_dim > kMostHeadDimension) {
    return "its kernel holds head_dim <= 128 on chip";
  }
  return why_no_kernel(spec);
}

std::string differs(const std::string& what, const std::string& file, const std::string& driver) {
  return what + ": the device file says " + file + ", the driver " + driver;
}

}  // namespace

std::string why_not_on_cuda(const ExperimentSpec& spec, const Installation& installation) {
  switch (spec.kind) {
    case ExperimentKind::peer_copy:
    case ExperimentKind::all_reduce: {
      const std::int64_t needed =
          spec.kind == ExperimentKind::all_reduce ? std::max<std::int64_t>(spec.sizes.ranks, 2) : 2;
      if (installation.devices >= needed) return "";
      return "needs " + std::to_string(needed) + " devices; there " +
             (installation.devices == 1 ? "is " : "are ") + std::to_string(installation.devices);
    }
    case ExperimentKind::gemm:
      return why_no_gemm(spec, installation);
    case ExperimentKind::attention_naive:
    case ExperimentKind::attention_tiled:
      return why_no_attention(spec, installation);
    default:
      return why_no_kernel(spec);
  }
}

std::vector<std::string> contradictions(const DeviceSpec& device, const DeviceFacts& facts) {
  std::vector<std::string> found;
  const std::string capability = std::to_string(facts.major) + "." + std::to_string(facts.minor);
  if (!device.compute_capability.empty() && device.compute_capability != capability) {
    found.push_back(differs("compute capability", device.compute_capability, capability));
  }
  if (device.units && static_cast<int>(std::lround(device.units->value)) != facts.multiprocessors) {
    found.push_back(differs("multiprocessors", std::to_string(std::lround(device.units->value)),
                            std::to_string(facts.multiprocessors)));
  }
  if (device.hbm.driver_capacity) {
    const double stated = device.hbm.driver_capacity->value.in_base_units();
    const auto seen = static_cast<double>(facts.total_memory);
    if (std::abs(seen - stated) > kMemoryTolerance * stated) {
      found.push_back(differs("memory", std::to_string(std::llround(stated)) + " bytes",
                              std::to_string(facts.total_memory) + " bytes"));
    }
  }
  return found;
}

}  // namespace floorline::cuda
