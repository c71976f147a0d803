// SPDX-License-Identifier: Apache-2.0
// What rounding may do to each experiment. Data are uniform in [-1, 1): n random terms sum to about
// sqrt(n / 3), so `unit` of a sum is sqrt(n); a missing tile of 16 terms changes it by more.
#include <algorithm>
#include <cmath>

#include "validation/experiment/experiment.hpp"

namespace floorline {

namespace {

double terms(std::int64_t n) { return static_cast<double>(std::max<std::int64_t>(n, 1)); }

ErrorBound sum_bound(std::int64_t n) {
  return {.c = 4, .k = terms(n), .unit = std::sqrt(terms(n))};
}

/// Statistics of a row, then values of about sqrt(3) scaled and shifted by at most 1.
ErrorBound norm_bound(const ExperimentSizes& s) { return {.c = 8, .k = terms(s.cols), .unit = 2}; }

/// The row's sum is cols times the mean of e^x, 1.18; the largest term is e.
ErrorBound softmax_bound(const ExperimentSizes& s) {
  return {.c = 8, .k = terms(s.cols), .unit = 2.72 / (1.18 * terms(s.cols))};
}

ErrorBound bound_of_kind(const ExperimentSpec& spec) {
  const ExperimentSizes& s = spec.sizes;
  switch (spec.kind) {
    case ExperimentKind::triad:
    case ExperimentKind::vector_add:
    case ExperimentKind::overlap:
      return {.c = 2, .k = 1, .unit = 4};
    case ExperimentKind::atomic_sum:
    case ExperimentKind::two_stage_sum:
      return sum_bound(s.n);
    case ExperimentKind::layernorm:
    case ExperimentKind::layernorm_three:
      return norm_bound(s);
    case ExperimentKind::residual_norm:
    case ExperimentKind::residual_norm_one: {
      // The sum x + skip, its normal and the result are stored; all stay below 2.8 / 0.875.
      ErrorBound bound = norm_bound(s);
      bound.roundings = 3;
      bound.stored_size = 3.2;
      return bound;
    }
    case ExperimentKind::softmax:
      return softmax_bound(s);
    case ExperimentKind::gemm:
    case ExperimentKind::gemv:
      return sum_bound(s.k);
    case ExperimentKind::attention_naive:  // scores, probabilities and output are stored
      return {.c = 8, .k = terms(s.kv_len + s.head_dim), .roundings = 4, .stored_size = 1};
    case ExperimentKind::attention_tiled:  // probabilities may be rounded for the tensor unit
      return {.c = 8, .k = terms(s.kv_len + s.head_dim), .roundings = 2, .stored_size = 1};
    case ExperimentKind::dependency_chain:
    case ExperimentKind::independent_work:  // each step shrinks earlier errors to 3/4: at most 4
      return {.c = 4, .k = 1, .unit = 1};
    case ExperimentKind::all_reduce:
      return {.c = 2, .k = terms(s.ranks), .unit = terms(s.ranks)};
    default:  // copies of any kind are exact
      return {.c = 0, .roundings = 0};
  }
}

}  // namespace

double epsilon_of(Precision precision) {
  switch (precision) {
    case Precision::fp64:
      return 0x1p-52;
    case Precision::fp32:
      return 0x1p-23;
    case Precision::tf32:
    case Precision::fp16:
      return 0x1p-10;
    case Precision::bf16:
      return 0x1p-7;
    case Precision::fp8_e4m3:
      return 0x1p-3;
    case Precision::fp8_e5m2:
      return 0x1p-2;
    default:
      return 0;
  }
}

double ErrorBound::allowed(double reference) const {
  const double summed = c * std::sqrt(k) * (epsilon_of(accumulate) * unit + epsilon_of(operands));
  return summed + roundings * epsilon_of(stored) / 2 * std::max(std::abs(reference), stored_size);
}

ErrorBound error_bound(const ExperimentSpec& spec) {
  ErrorBound bound = bound_of_kind(spec);
  const ExperimentPrecision& p = spec.precision;
  bound.accumulate = epsilon_of(p.accumulate) > epsilon_of(p.compute) ? p.accumulate : p.compute;
  if (spec.kind == ExperimentKind::gemm || spec.kind == ExperimentKind::gemv) {
    bound.accumulate = p.accumulate;
    if (epsilon_of(p.compute) > epsilon_of(p.in)) bound.operands = p.compute;  // tf32 of fp32 data
  }
  bound.stored = p.out;
  return bound;
}

}  // namespace floorline
