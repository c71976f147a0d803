// SPDX-License-Identifier: Apache-2.0
// The data of an experiment and its results in double precision: what correct means. Data are
// seeded, uniform in [-1, 1), and already rounded to the storage precision, so that the reference
// sees exactly what the kernel sees (float holds every fp32, tf32, bf16, fp16 and fp8 value; fp64
// buffers hold floats too). Order of the inputs, row-major everywhere:
//   copy, strided      x                        softmax           x
//   triad, vector_add  x, z                     *_sum             x
//   gather             x, and indices           gemm, gemv        a [m,k], b [k,n]
//   layernorm*         x, scale, shift          attention_*       q, k, v, each [batch, heads, len,
//   dim] residual_norm*     x, skip, scale, shift    softmax           x h2d, d2h, peer_copy  bytes
//   as x (n = bytes / 4, fp32)    overlap   x; y = 2 x + 1 (working kernel) all_reduce         x of
//   rank 0; rank r has x + r dependency_chain, independent_work   x; v = x, `count` times v = v a +
//   b, a and b as below
// The output is one array: y, or one sum.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "validation/experiment/experiment.hpp"

namespace floorline {

struct ExperimentData {
  std::vector<std::vector<float>> inputs;
  std::vector<std::int32_t> indices;  ///< gather only: a random permutation, so all distinct
  std::int64_t output_size = 0;       ///< elements
};

/// Dropout and chains: constants that kernels and reference share.
inline constexpr float kTriadScale = 3.0F;
inline constexpr float kNormEpsilon = 1e-5F;
inline constexpr float kChainFactor = 0.75F;
inline constexpr float kChainOffset = 0.125F;
inline constexpr std::uint32_t kDropoutSeed = 0x9e3779b9U;
inline constexpr float kDropoutKeep = 0.875F;  ///< probability that an element stays

ExperimentData make_data(const ExperimentSpec& spec, std::uint64_t seed);

/// The results at `elements` (indices of the output array) in double precision.
std::vector<double> reference(const ExperimentSpec& spec, const ExperimentData& data,
                              const std::vector<std::int64_t>& elements);
/// FLOPs that reference() needs for all elements: whether all are compared, or a sample.
double reference_work(const ExperimentSpec& spec);

/// `value` rounded to the nearest number of the precision (ties to even), as a float.
float rounded_to(float value, Precision precision);

}  // namespace floorline
