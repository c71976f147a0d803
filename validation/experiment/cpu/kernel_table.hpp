// SPDX-License-Identifier: Apache-2.0
// The CPU kernels as plain functions, once for each instruction set that they are compiled for
// (cpu_kernels.cpp, cpu_products.cpp). Those files include nothing but this and the kernel bodies:
// an inline function compiled for AVX-512 must never be the copy that other code links to.
#pragma once

#include <cstdint>

namespace floorline::cpu {

using Index = std::int64_t;

struct KernelShape {
  Index n = 0, rows = 0, cols = 0, m = 0, k = 0, stride = 1, count = 1;
  Index batch_heads = 0, q_len = 0, kv_len = 0, dim = 0;
  bool causal = false;
  float score_scale = 1;
  float triad_scale = 0, norm_epsilon = 0, chain_factor = 0, chain_offset = 0, dropout_keep = 1;
  std::uint32_t dropout_seed = 0;
};

/// Pointers of one set of buffers; a kernel knows the types from the table it is found in.
struct KernelArguments {
  const void* in[4] = {};
  const std::int32_t* index = nullptr;
  void* out = nullptr;
  void* scratch[4] = {};    ///< tensors between kernels, or partial results
  void* on_chip = nullptr;  ///< `on_chip_stride` bytes a worker, small enough for its caches
  Index on_chip_stride = 0;
  KernelShape shape;
};

/// What worker `worker` of `workers` does of one kernel.
using Kernel = void (*)(const KernelArguments&, Index worker, Index workers);

/// Kernels that only need to know how elements are stored.
struct StorageKernels {
  Kernel copy, triad, add, strided, gather, launch;
  Kernel sum_begin, sum_atomic, sum_stage_one, sum_stage_two;
  Kernel residual, dropout, softmax;
  Kernel scores, probabilities, values, attention_tiled;
  Kernel gemv;
};
/// By storage, by weight storage, by arithmetic.
struct NormKernels {
  Kernel mean, variance, normalize, layernorm, residual_norm_one;
};

enum class Storage : std::uint8_t { fp32, fp64, bf16, fp16 };
inline constexpr int kStorageCount = 4;
inline constexpr int kTileKeys = 64;       ///< of tiled attention
inline constexpr int kMostHeadDim = 1024;  ///< its running output is on the stack

struct LevelKernels {
  const char* level;
  StorageKernels storage[kStorageCount];
  NormKernels norm[kStorageCount][2][2];  ///< [storage][weight: 0 same, 1 fp32][0 fp32, 1 fp64]
  Kernel chain, independent;              ///< fp32
  Kernel product_fp32, product_fp64;      ///< Eigen
  /// The memory probe's: n floats at in[0] read; out written; in[0] copied to out. Writes go past
  /// the caches where the instruction set can.
  Kernel probe_read, probe_write, probe_copy;
};

/// The widest set that this processor has. `level` "baseline", "avx2" or "avx512" asks for one of
/// them; nullptr when the program or the processor lacks it.
const LevelKernels& best_kernels();
const LevelKernels* kernels_of_level(const char* level);

}  // namespace floorline::cpu
