// SPDX-License-Identifier: Apache-2.0
// Distinct bytes of one call: inputs, outputs and intermediates, each once. Elements of all formats
// that experiments store are whole bytes.
#include <algorithm>

#include "validation/experiment/experiment.hpp"

namespace floorline {

namespace {

double size_of(Precision precision) { return storage_bits(precision) / 8; }

}  // namespace

Bytes footprint(const ExperimentSpec& spec) {
  const ExperimentSizes& s = spec.sizes;
  const double in = size_of(spec.precision.in);
  const double weight = size_of(spec.precision.weight);
  const double out = size_of(spec.precision.out);
  const auto n = static_cast<double>(s.n);
  const auto rows = static_cast<double>(s.rows);
  const auto cols = static_cast<double>(s.cols);
  const auto m = static_cast<double>(s.m);
  const auto k = static_cast<double>(s.k);
  const auto heads = static_cast<double>(s.batch) * static_cast<double>(s.heads);
  const auto q = static_cast<double>(s.q_len);
  const auto keys = static_cast<double>(s.kv_len);
  const auto dim = static_cast<double>(s.head_dim);
  switch (spec.kind) {
    case ExperimentKind::copy:
    case ExperimentKind::launch_chain:
    case ExperimentKind::dependency_chain:
    case ExperimentKind::independent_work:
      return Bytes(n * (in + out));
    case ExperimentKind::triad:
    case ExperimentKind::vector_add:
      return Bytes(n * (2 * in + out));
    case ExperimentKind::strided:
      return Bytes(n * (static_cast<double>(s.stride) * in + out));
    case ExperimentKind::gather:
      return Bytes(rows * in + n * (4 + out));
    case ExperimentKind::atomic_sum:
    case ExperimentKind::two_stage_sum:
      return Bytes(n * in + 4);
    case ExperimentKind::layernorm:
      return Bytes(rows * cols * (in + out) + 2 * cols * weight);
    case ExperimentKind::layernorm_three:
      return Bytes(rows * cols * (in + out) + 2 * cols * weight + 2 * rows * 4);
    case ExperimentKind::residual_norm:
      return Bytes(rows * cols * (4 * in + out) + 2 * cols * weight + 2 * rows * 4);
    case ExperimentKind::residual_norm_one:
      return Bytes(rows * cols * (2 * in + out) + 2 * cols * weight);
    case ExperimentKind::softmax:
      return Bytes(rows * cols * (in + out));
    case ExperimentKind::gemm:
      return Bytes(m * k * in + k * n * weight + m * n * out);
    case ExperimentKind::gemv:
      return Bytes(k * in + k * n * weight + n * out);
    case ExperimentKind::attention_naive:
      return Bytes(heads * (dim * (q * (in + out) + 2 * keys * in) + 2 * q * keys * in));
    case ExperimentKind::attention_tiled:
      return Bytes(heads * dim * (q * (in + out) + 2 * keys * in));
    case ExperimentKind::h2d:
    case ExperimentKind::d2h:
    case ExperimentKind::peer_copy:
    case ExperimentKind::all_reduce:
      return Bytes(static_cast<double>(s.bytes));
    case ExperimentKind::overlap:
      return Bytes(2 * static_cast<double>(s.bytes));
  }
  return Bytes(0);
}

Bytes touched(const ExperimentSpec& spec, Bytes sector) {
  const ExperimentSizes& s = spec.sizes;
  const double in = size_of(spec.precision.in);
  const auto n = static_cast<double>(s.n);
  const double outputs = n * size_of(spec.precision.out);
  if (spec.kind == ExperimentKind::strided) {
    const double step = static_cast<double>(s.stride) * in;
    return Bytes(n * std::min(step, std::max(in, sector.in_base_units())) + outputs);
  }
  if (spec.kind == ExperimentKind::gather) {
    return Bytes(std::min(n, static_cast<double>(s.rows)) * in + n * 4 + outputs);
  }
  return footprint(spec);
}

}  // namespace floorline
