// SPDX-License-Identifier: Apache-2.0
#include "validation/experiment/cpu/cpu_plan.hpp"

#include <cmath>

#include "validation/experiment/reference.hpp"

namespace floorline::cpu {

namespace {

bool is_norm(ExperimentKind kind) {
  return kind == ExperimentKind::layernorm || kind == ExperimentKind::layernorm_three ||
         kind == ExperimentKind::residual_norm || kind == ExperimentKind::residual_norm_one;
}

std::string why_not_kind(const ExperimentSpec& spec) {
  if (spec.need == Need::two_devices) return "needs two devices; this machine's CPUs are one";
  if (spec.need == Need::host_link) {
    return "needs a link between host and device; on a CPU both are the same memory";
  }
  if (spec.sizes.graph != 0) return "needs a graph of launches; a CPU has none";
  if (spec.sizes.vector != 0) {
    return "the compiler chooses the width of loads on a CPU: vector cannot be asked for";
  }
  if (spec.sizes.head_dim > kMostHeadDim) {
    return "head_dim beyond " + std::to_string(kMostHeadDim) + " has no CPU kernel";
  }
  return "";
}

std::string why_not_product(const ExperimentPrecision& p) {
  const bool native = p.in == Precision::fp32 || p.in == Precision::fp64;
  if (native && p.compute == p.in && p.accumulate == p.in) return "";
  return "matrix products on the CPU (Eigen) are fp32 or fp64 throughout; asked for " +
         std::string(name_of(p.in)) + " by " + std::string(name_of(p.compute)) +
         " accumulated in " + std::string(name_of(p.accumulate));
}

std::string why_not_arithmetic(const ExperimentSpec& spec) {
  const ExperimentPrecision& p = spec.precision;
  const bool chain = spec.kind == ExperimentKind::dependency_chain ||
                     spec.kind == ExperimentKind::independent_work ||
                     spec.kind == ExperimentKind::atomic_sum ||
                     spec.kind == ExperimentKind::two_stage_sum;
  if (chain && p.in != Precision::fp32) return "this CPU kernel is for fp32 only";
  const Precision arithmetic = p.in == Precision::fp64 ? Precision::fp64 : Precision::fp32;
  const bool between =
      spec.kind == ExperimentKind::layernorm_three || spec.kind == ExperimentKind::residual_norm;
  if (between && p.compute != Precision::fp32) {
    return "statistics that pass from kernel to kernel are fp32 here: compute=fp32 only";
  }
  const bool wide_norm = is_norm(spec.kind) && p.compute == Precision::fp64;
  if ((p.compute != arithmetic && !wide_norm) || p.accumulate != p.compute) {
    return "CPU kernels calculate in fp32 (of fp64 data, and of norms where asked, in fp64)";
  }
  if (p.in == Precision::fp64 && !is_norm(spec.kind) &&
      (spec.kind == ExperimentKind::softmax || spec.kind == ExperimentKind::gemv ||
       spec.kind == ExperimentKind::attention_naive ||
       spec.kind == ExperimentKind::attention_tiled)) {
    return "this CPU kernel calculates in fp32";
  }
  return "";
}

std::string why_not_precision(const ExperimentSpec& spec) {
  const ExperimentPrecision& p = spec.precision;
  Storage storage{};
  if (!storage_of(p.in, storage)) {
    return "no CPU kernel stores " + std::string(name_of(p.in));
  }
  const bool weight_matches =
      p.weight == p.in || (is_norm(spec.kind) && p.weight == Precision::fp32);
  if (p.out != p.in || !weight_matches) {
    return "CPU kernels have in, out and weight in one format (of norms the weight may be fp32)";
  }
  if (spec.kind == ExperimentKind::gemm) return why_not_product(p);
  return why_not_arithmetic(spec);
}

std::int64_t bytes_of(std::int64_t elements, Precision precision) {
  return elements * static_cast<std::int64_t>(storage_bits(precision)) / 8;
}

void plan_norm(const ExperimentSpec& spec, const LevelKernels& kernels, CpuPlan& plan) {
  const ExperimentPrecision& p = spec.precision;
  const ExperimentSizes& s = spec.sizes;
  Storage storage{};
  storage_of(p.in, storage);
  const auto at = static_cast<std::size_t>(storage);
  const NormKernels& norm =
      kernels.norm[at][p.weight == p.in ? 0 : 1][p.compute == Precision::fp64 ? 1 : 0];
  const StorageKernels& other = kernels.storage[at];
  const std::int64_t tensor = bytes_of(s.rows * s.cols, p.in);
  if (spec.kind == ExperimentKind::layernorm) {
    plan.kernels = {norm.layernorm};
  } else if (spec.kind == ExperimentKind::residual_norm_one) {
    plan.kernels = {norm.residual_norm_one};
    plan.on_chip_bytes = bytes_of(s.cols, p.in);
  } else {
    plan.kernels = {norm.mean, norm.variance, norm.normalize};
    plan.scratch[0] = plan.scratch[1] = 4 * s.rows;
  }
  if (spec.kind == ExperimentKind::residual_norm) {
    plan.kernels.insert(plan.kernels.begin(), other.residual);
    plan.kernels.push_back(other.dropout);
    plan.scratch[2] = plan.scratch[3] = tensor;
  }
}

void plan_attention(const ExperimentSpec& spec, const StorageKernels& kernels, CpuPlan& plan) {
  const ExperimentSizes& s = spec.sizes;
  if (spec.kind == ExperimentKind::attention_tiled) {
    plan.kernels = {kernels.attention_tiled};
    return;
  }
  plan.kernels = {kernels.scores, kernels.probabilities, kernels.values};
  plan.scratch[0] = plan.scratch[1] =
      bytes_of(s.batch * s.heads * s.q_len * s.kv_len, spec.precision.in);
}

void plan_kernels(const ExperimentSpec& spec, const LevelKernels& level, std::int64_t workers,
                  CpuPlan& plan) {
  Storage storage{};
  storage_of(spec.precision.in, storage);
  const StorageKernels& kernels = level.storage[static_cast<std::size_t>(storage)];
  switch (spec.kind) {
    case ExperimentKind::copy:
      plan.kernels = {kernels.copy};
      return;
    case ExperimentKind::triad:
      plan.kernels = {kernels.triad};
      return;
    case ExperimentKind::vector_add:
      plan.kernels = {kernels.add};
      return;
    case ExperimentKind::strided:
      plan.kernels = {kernels.strided};
      return;
    case ExperimentKind::gather:
      plan.kernels = {kernels.gather};
      return;
    case ExperimentKind::launch_chain:
      plan.kernels = {kernels.launch};
      plan.repeats = spec.sizes.count;
      return;
    case ExperimentKind::atomic_sum:
      plan.kernels = {kernels.sum_begin, kernels.sum_atomic};
      return;
    case ExperimentKind::two_stage_sum:
      plan.kernels = {kernels.sum_stage_one, kernels.sum_stage_two};
      plan.scratch[0] = 4 * workers;
      return;
    case ExperimentKind::softmax:
      plan.kernels = {kernels.softmax};
      return;
    case ExperimentKind::gemm:
      plan.kernels = {storage == Storage::fp64 ? level.product_fp64 : level.product_fp32};
      return;
    case ExperimentKind::gemv:
      plan.kernels = {kernels.gemv};
      return;
    case ExperimentKind::attention_naive:
    case ExperimentKind::attention_tiled:
      return plan_attention(spec, kernels, plan);
    case ExperimentKind::dependency_chain:
      plan.kernels = {level.chain};
      return;
    case ExperimentKind::independent_work:
      plan.kernels = {level.independent};
      return;
    default:
      plan_norm(spec, level, plan);
  }
}

}  // namespace

bool storage_of(Precision precision, Storage& storage) {
  switch (precision) {
    case Precision::fp32:
      storage = Storage::fp32;
      return true;
    case Precision::fp64:
      storage = Storage::fp64;
      return true;
    case Precision::bf16:
      storage = Storage::bf16;
      return true;
    case Precision::fp16:
      storage = Storage::fp16;
      return true;
    default:
      return false;
  }
}

CpuPlan plan_of(const ExperimentSpec& spec, const LevelKernels& kernels, std::int64_t workers) {
  CpuPlan plan;
  plan.why_not = why_not_kind(spec);
  if (plan.why_not.empty()) plan.why_not = why_not_precision(spec);
  if (plan.why_not.empty()) plan_kernels(spec, kernels, workers, plan);
  return plan;
}

KernelShape shape_of(const ExperimentSpec& spec) {
  const ExperimentSizes& s = spec.sizes;
  KernelShape shape;
  shape.n = s.n;
  shape.rows = s.rows;
  shape.cols = s.cols;
  shape.m = s.m;
  shape.k = s.k;
  shape.stride = s.stride;
  shape.count = s.count;
  shape.batch_heads = s.batch * s.heads;
  shape.q_len = s.q_len;
  shape.kv_len = s.kv_len;
  shape.dim = s.head_dim;
  shape.causal = s.causal != 0;
  if (s.head_dim > 0) shape.score_scale = 1 / std::sqrt(static_cast<float>(s.head_dim));
  shape.triad_scale = kTriadScale;
  shape.norm_epsilon = kNormEpsilon;
  shape.chain_factor = kChainFactor;
  shape.chain_offset = kChainOffset;
  shape.dropout_keep = kDropoutKeep;
  shape.dropout_seed = kDropoutSeed;
  return shape;
}

}  // namespace floorline::cpu
