// SPDX-License-Identifier: Apache-2.0
// What an experiment is: one description, run by every backend that can. The list is data
// (experiment_table.cpp); a hypothesis or a user names one as text, 'NAME key=value …', in the
// manner of --op:   layernorm rows=8192 cols=4096 in=fp32 out=fp32 weight=fp32
// Each names the operator graph that predicts it (prediction.hpp), its double-precision reference
// (reference.hpp), and the error that rounding may cause (ErrorBound).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/quantity/precision.hpp"
#include "model/quantity/quantity.hpp"

namespace floorline {

/// What is computed; a backend has one kernel, or one sequence of kernels, for each that it can.
enum class ExperimentKind : std::uint8_t {
  copy,               ///< y[i] = x[i]
  triad,              ///< y[i] = x[i] + 3 z[i]
  vector_add,         ///< y[i] = x[i] + z[i]
  strided,            ///< y[i] = x[i stride]
  gather,             ///< y[i] = x[index[i]], index random
  h2d,                ///< host to device, `pinned` or pageable
  d2h,                ///< device to host
  launch_chain,       ///< `count` kernels that each do next to nothing; `graph`: launched as one
  atomic_sum,         ///< sum of n by additions to one address
  two_stage_sum,      ///< sum of n by partial sums of blocks, then a sum of these
  layernorm_three,    ///< mean, variance, normalize as three kernels
  layernorm,          ///< the same as one kernel
  residual_norm,      ///< residual + LayerNorm + dropout, five kernels
  residual_norm_one,  ///< the same as one kernel
  softmax,            ///< over each row
  gemm,               ///< [m,k] x [k,n] by the platform's library
  gemv,               ///< one row times a [k,n] matrix, as decoding does
  attention_naive,    ///< scores, softmax and product through memory
  attention_tiled,    ///< one kernel, online softmax over tiles of keys
  overlap,            ///< `count` pieces copied in, worked on, copied out, on `streams` streams
  dependency_chain,   ///< n elements, each `count` multiply-adds that wait for each other
  independent_work,   ///< the same work with `streams` chains in flight for each worker
  peer_copy,          ///< from one device to the next
  all_reduce,         ///< sum over `ranks` devices
};
inline constexpr int kExperimentKindCount = 24;
std::string_view name_of(ExperimentKind kind);
std::optional<ExperimentKind> experiment_kind_from(std::string_view name);

/// Sizes and switches; a kind uses some of them and the others keep these values.
struct ExperimentSizes {
  std::int64_t n = 0;       ///< elements of the output; of gemm: columns
  std::int64_t rows = 0;    ///< of a normalization
  std::int64_t cols = 0;    ///< of a normalization
  std::int64_t m = 0;       ///< gemm
  std::int64_t k = 0;       ///< gemm, gemv
  std::int64_t stride = 1;  ///< strided: elements
  std::int64_t count = 1;   ///< kernels of a chain, pieces of an overlap, multiply-adds of a chain
  std::int64_t bytes = 0;   ///< of one copy or message
  std::int64_t batch = 1;   ///< attention
  std::int64_t heads = 1;
  std::int64_t q_len = 0;
  std::int64_t kv_len = 0;
  std::int64_t head_dim = 0;
  std::int64_t causal = 0;
  std::int64_t streams = 1;
  std::int64_t ranks = 1;
  std::int64_t pinned = 1;  ///< 0: pageable host memory
  std::int64_t graph = 0;   ///< 1: the chain is launched as one graph
  std::int64_t vector = 0;  ///< elements of one load of the hand-written kernels; 0: their choice
  std::int64_t offset = 0;  ///< elements by which the buffers start beside their alignment
  friend bool operator==(const ExperimentSizes&, const ExperimentSizes&) = default;
};

/// Storage, compute and accumulate precision: separate, as everywhere.
struct ExperimentPrecision {
  Precision in = Precision::fp32;
  Precision weight = Precision::fp32;
  Precision out = Precision::fp32;
  Precision compute = Precision::fp32;
  Precision accumulate = Precision::fp32;
  friend bool operator==(const ExperimentPrecision&, const ExperimentPrecision&) = default;
};

/// |got - reference| <= c sqrt(k) (eps(accumulate) unit + eps(operands))
///                      + roundings eps(stored) / 2 max(|reference|, stored_size)
/// sqrt(k) for random data instead of k: Higham and Mary, "A new approach to probabilistic rounding
/// error analysis" (2019). It ignores exponents' ranges: the data are in [-1, 1].
struct ErrorBound {
  double c = 2;          ///< how far from the expected size a sum of roundings may lie
  double k = 1;          ///< terms of the longest sum
  double unit = 1;       ///< the size that partial sums reach
  double roundings = 1;  ///< to the storage format, between inputs and output
  double stored_size = 0;
  Precision accumulate = Precision::fp32;
  Precision operands = Precision::none;  ///< operands are rounded to this first; none: they are not
  Precision stored = Precision::fp32;
  [[nodiscard]] double allowed(double reference) const;
};
/// The distance from 1 to the next number: fp64 2^-52, fp32 2^-23, tf32 and fp16 2^-10, bf16 2^-7,
/// fp8_e4m3 2^-3, fp8_e5m2 2^-2. Zero for whole numbers; narrower formats are not known here.
double epsilon_of(Precision precision);

/// What a backend must have, in the words of why_not().
enum class Need : std::uint8_t { nothing, host_link, launch_queue, two_devices };
std::string_view name_of(Need need);

struct ExperimentSpec {
  ExperimentKind kind = ExperimentKind::copy;
  std::string name;     ///< unique in the table: "layernorm_three"
  std::string variant;  ///< what tells it from its neighbours: "bf16 8192 x 4096"
  ExperimentSizes sizes;
  ExperimentPrecision precision;
  Need need = Need::nothing;
};

/// The text that gives `spec` back: 'layernorm rows=8192 …', only what its kind uses.
std::string text_of(const ExperimentSpec& spec);
/// Throws InputError that names every wrong word with its column. The first word is a kind.
ExperimentSpec parse_experiment(std::string_view text);
/// What may be rounded away in this experiment.
ErrorBound error_bound(const ExperimentSpec& spec);
/// Bytes of all distinct buffers of one call, outputs and intermediates included.
Bytes footprint(const ExperimentSpec& spec);
/// Of these, what a call surely touches with sectors of this size (strided and gather skip some):
/// what a rotation counts.
Bytes touched(const ExperimentSpec& spec, Bytes sector);

/// Sizes for a test of a second, for a CPU (tens of MiB), for a GPU (up to GiB).
enum class Scale : std::uint8_t { tiny, host, device };
/// Every experiment of the suite, in the order they run.
std::vector<ExperimentSpec> experiment_table(Scale scale);

}  // namespace floorline
