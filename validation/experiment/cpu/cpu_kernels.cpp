// SPDX-License-Identifier: Apache-2.0
// Loops of the CPU experiments over the shared kernel bodies. Compiled once for each instruction
// set, always optimized (validation/CMakeLists.txt); FLOORLINE_CPU_LEVEL names the set and becomes
// part of every symbol, those of the bodies and of kernel_parts/ included.
//
// A worker takes a span of elements, rows or columns. Sums over a row run in kLanes lanes side by
// side, as a warp's would, so that compilers may use vectors without reordering anything.
#define FLOORLINE_PASTE_(a, b) a##b
#define FLOORLINE_PASTE(a, b) FLOORLINE_PASTE_(a, b)
#define bodies FLOORLINE_PASTE(bodies_, FLOORLINE_CPU_LEVEL)
#define parts FLOORLINE_PASTE(parts_, FLOORLINE_CPU_LEVEL)

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "validation/experiment/cpu/kernel_parts/attention_kernels.hpp"
#include "validation/experiment/cpu/kernel_parts/norm_kernels.hpp"
#include "validation/experiment/cpu/kernel_table.hpp"
#include "validation/experiment/kernel_bodies/chain.hpp"
#include "validation/experiment/kernel_bodies/elementwise.hpp"
#include "validation/experiment/kernel_bodies/matrix.hpp"

namespace floorline::cpu {

void FLOORLINE_PASTE(product_fp32_, FLOORLINE_CPU_LEVEL)(const KernelArguments&, Index, Index);
void FLOORLINE_PASTE(product_fp64_, FLOORLINE_CPU_LEVEL)(const KernelArguments&, Index, Index);

namespace {

using namespace parts;

// ---- streams ----

template <class T>
void copy(const KernelArguments& a, Index worker, Index workers) {
  const Span s = span_of(a.shape.n, worker, workers);
  T* __restrict y = output<T>(a);
  const T* __restrict x = input<T>(a, 0);
  for (Index i = s.begin; i < s.end; ++i) b::copy_element(y, x, i);
}
template <class T>
void triad(const KernelArguments& a, Index worker, Index workers) {
  const Span s = span_of(a.shape.n, worker, workers);
  T* __restrict y = output<T>(a);
  const T* __restrict x = input<T>(a, 0);
  const T* __restrict z = input<T>(a, 1);
  const float scale = a.shape.triad_scale;
  for (Index i = s.begin; i < s.end; ++i) b::triad_element(y, x, z, scale, i);
}
template <class T>
void add(const KernelArguments& a, Index worker, Index workers) {
  const Span s = span_of(a.shape.n, worker, workers);
  T* __restrict y = output<T>(a);
  const T* __restrict x = input<T>(a, 0);
  const T* __restrict z = input<T>(a, 1);
  for (Index i = s.begin; i < s.end; ++i) b::add_element(y, x, z, i);
}
template <class T>
void strided(const KernelArguments& a, Index worker, Index workers) {
  const Span s = span_of(a.shape.n, worker, workers);
  T* __restrict y = output<T>(a);
  const T* __restrict x = input<T>(a, 0);
  const Index stride = a.shape.stride;
  for (Index i = s.begin; i < s.end; ++i) b::strided_element(y, x, stride, i);
}
template <class T>
void gather(const KernelArguments& a, Index worker, Index workers) {
  const Span s = span_of(a.shape.n, worker, workers);
  T* __restrict y = output<T>(a);
  const T* __restrict x = input<T>(a, 0);
  const std::int32_t* __restrict index = a.index;
  for (Index i = s.begin; i < s.end; ++i) b::gather_element(y, x, index, i);
}
template <class T>
void launch(const KernelArguments& a, Index worker, Index workers) {
  const Span s = span_of(a.shape.n, worker, workers);
  T* __restrict y = output<T>(a);
  const T* __restrict x = input<T>(a, 0);
  for (Index i = s.begin; i < s.end; ++i) b::launch_element(y, x, i);
}

// ---- sums ----

template <class T>
void sum_begin(const KernelArguments& a, Index worker, Index) {
  if (worker == 0) *output<float>(a) = 0;
}
/// One atomic addition an element, all to one address: compare and exchange until it holds.
template <class T>
void sum_atomic(const KernelArguments& a, Index worker, Index workers) {
  const Span s = span_of(a.shape.n, worker, workers);
  const T* x = input<T>(a, 0);
  auto* total = static_cast<std::uint32_t*>(a.out);
  for (Index i = s.begin; i < s.end; ++i) {
    const auto value = static_cast<float>(b::to_float(x[i]));
    std::uint32_t old = __atomic_load_n(total, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(total, &old,
                                        b::bits_of_float(b::float_of_bits(old) + value), true,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
  }
}
template <class T>
void sum_stage_one(const KernelArguments& a, Index worker, Index workers) {
  const Span s = span_of(a.shape.n, worker, workers);
  scratch<float>(a, 0)[worker] = lane_sum<float>(input<T>(a, 0) + s.begin, s.end - s.begin);
}
template <class T>
void sum_stage_two(const KernelArguments& a, Index worker, Index workers) {
  if (worker == 0) *output<float>(a) = lane_sum<float>(scratch<float>(a, 0), workers);
}

// ---- products of one row, and chains ----

/// gemv_part of neighbouring columns side by side: a row of the matrix at a time.
template <class T>
void gemv(const KernelArguments& a, Index worker, Index workers) {
  constexpr Index kColumns = 1024;
  const Span s = span_of(a.shape.n, worker, workers);
  const T* x = input<T>(a, 0);
  const T* w = input<T>(a, 1);
  float sum[kColumns];
  for (Index first = s.begin; first < s.end; first += kColumns) {
    const Index count = first + kColumns < s.end ? kColumns : s.end - first;
    for (Index c = 0; c < count; ++c) sum[c] = 0;
    for (Index i = 0; i < a.shape.k; ++i) {
      const auto factor = static_cast<float>(b::to_float(x[i]));
      const T* __restrict row = w + i * a.shape.n + first;
      for (Index c = 0; c < count; ++c) sum[c] += factor * static_cast<float>(b::to_float(row[c]));
    }
    for (Index c = 0; c < count; ++c) output<T>(a)[first + c] = b::stored<T>(sum[c]);
  }
}

#if defined(__AVX512F__)
constexpr int kVectorFloats = 16;
#elif defined(__AVX__)
constexpr int kVectorFloats = 8;
#else
constexpr int kVectorFloats = 4;
#endif
typedef float Vector __attribute__((vector_size(kVectorFloats * sizeof(float))));
constexpr unsigned kTogether = 8;

/// Blocks of Width vectors; what is left over goes one float at a time.
template <unsigned Width>
void chains(const KernelArguments& a, Index worker, Index workers) {
  const Span s = span_of(a.shape.n, worker, workers);
  constexpr Index kBlock = Index{Width} * kVectorFloats;
  const float* x = input<float>(a, 0);
  float* y = output<float>(a);
  const KernelShape& shape = a.shape;
  Index i = s.begin;
  for (; i + kBlock <= s.end; i += kBlock) {
    Vector block[Width];
    __builtin_memcpy(block, x + i, sizeof block);
    b::chained_together<Width>(block, shape.count, shape.chain_factor, shape.chain_offset);
    __builtin_memcpy(y + i, block, sizeof block);
  }
  for (; i < s.end; ++i)
    y[i] = b::chained(x[i], shape.count, shape.chain_factor, shape.chain_offset);
}

// ---- the memory probe: one worker's own buffers ----

void stream_store(float* to, Vector value) {
#if defined(__AVX512F__)
  _mm512_stream_ps(to, value);
#elif defined(__AVX__)
  _mm256_stream_ps(to, value);
#elif defined(__x86_64__)
  _mm_stream_ps(to, value);
#else
  __builtin_memcpy(to, &value, sizeof value);
#endif
}
void stream_end() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}
/// n is a multiple of 64 floats, buffers start at cache lines.
void probe_read(const KernelArguments& a, Index, Index) {
  *scratch<float>(a, 0) = lane_sum<float>(input<float>(a, 0), a.shape.n);
}
void probe_write(const KernelArguments& a, Index, Index) {
  const Vector value = Vector{} + 1.0F;
  for (Index i = 0; i < a.shape.n; i += kVectorFloats) stream_store(output<float>(a) + i, value);
  stream_end();
}
void probe_copy(const KernelArguments& a, Index, Index) {
  for (Index i = 0; i < a.shape.n; i += kVectorFloats) {
    Vector value;
    __builtin_memcpy(&value, input<float>(a, 0) + i, sizeof value);
    stream_store(output<float>(a) + i, value);
  }
  stream_end();
}

template <class T>
constexpr StorageKernels storage_kernels() {
  return {copy<T>,     triad<T>,           add<T>,        strided<T>,       gather<T>,
          launch<T>,   sum_begin<T>,       sum_atomic<T>, sum_stage_one<T>, sum_stage_two<T>,
          residual<T>, dropout<T>,         softmax<T>,    scores<T>,        probabilities<T>,
          values<T>,   attention_tiled<T>, gemv<T>};
}
template <class T, class W, class A>
constexpr NormKernels norm_kernels() {
  using N = Norm<T, W, A>;
  return {N::mean, N::variance, N::normalize, N::layernorm, N::residual_norm_one};
}

#define FLOORLINE_TEXT_(a) #a
#define FLOORLINE_TEXT(a) FLOORLINE_TEXT_(a)

constexpr LevelKernels kKernels{
    FLOORLINE_TEXT(FLOORLINE_CPU_LEVEL),
    {storage_kernels<float>(), storage_kernels<double>(), storage_kernels<b::Bf16>(),
     storage_kernels<b::Fp16>()},
    {{{norm_kernels<float, float, float>(), norm_kernels<float, float, double>()},
      {norm_kernels<float, float, float>(), norm_kernels<float, float, double>()}},
     {{norm_kernels<double, double, double>(), norm_kernels<double, double, double>()},
      {norm_kernels<double, float, double>(), norm_kernels<double, float, double>()}},
     {{norm_kernels<b::Bf16, b::Bf16, float>(), norm_kernels<b::Bf16, b::Bf16, double>()},
      {norm_kernels<b::Bf16, float, float>(), norm_kernels<b::Bf16, float, double>()}},
     {{norm_kernels<b::Fp16, b::Fp16, float>(), norm_kernels<b::Fp16, b::Fp16, double>()},
      {norm_kernels<b::Fp16, float, float>(), norm_kernels<b::Fp16, float, double>()}}},
    chains<1>,
    chains<kTogether>,
    FLOORLINE_PASTE(product_fp32_, FLOORLINE_CPU_LEVEL),
    FLOORLINE_PASTE(product_fp64_, FLOORLINE_CPU_LEVEL),
    probe_read,
    probe_write,
    probe_copy};

}  // namespace

const LevelKernels* FLOORLINE_PASTE(kernels_, FLOORLINE_CPU_LEVEL)() { return &kKernels; }

}  // namespace floorline::cpu
