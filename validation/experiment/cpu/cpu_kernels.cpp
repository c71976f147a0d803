// SPDX-License-Identifier: Apache-2.0
// Loops of the CPU experiments over the shared kernel bodies. Compiled once for each instruction
// set, always optimized (validation/CMakeLists.txt); FLOORLINE_CPU_LEVEL names the set and becomes
// part of every symbol, those of the bodies included.
//
// A worker takes a span of elements, rows or columns. Sums over a row run in kLanes lanes side by
// side, as a warp's would, so that compilers may use vectors without reordering anything.
#define FLOORLINE_PASTE_(a, b) a##b
#define FLOORLINE_PASTE(a, b) FLOORLINE_PASTE_(a, b)
#define bodies FLOORLINE_PASTE(bodies_, FLOORLINE_CPU_LEVEL)

#include "validation/experiment/cpu/kernel_table.hpp"
#include "validation/experiment/kernel_bodies/attention.hpp"
#include "validation/experiment/kernel_bodies/chain.hpp"
#include "validation/experiment/kernel_bodies/elementwise.hpp"
#include "validation/experiment/kernel_bodies/matrix.hpp"
#include "validation/experiment/kernel_bodies/normalization.hpp"

namespace floorline::cpu {

void FLOORLINE_PASTE(product_fp32_, FLOORLINE_CPU_LEVEL)(const KernelArguments&, Index, Index);
void FLOORLINE_PASTE(product_fp64_, FLOORLINE_CPU_LEVEL)(const KernelArguments&, Index, Index);

namespace {

namespace b = bodies;
using b::Span;

constexpr int kLanes = 64;
constexpr b::Lanes kAlone{0, 1};

template <class T>
const T* input(const KernelArguments& a, int i) {
  return static_cast<const T*>(a.in[i]);
}
template <class T>
T* output(const KernelArguments& a) {
  return static_cast<T*>(a.out);
}
template <class T>
T* scratch(const KernelArguments& a, int i) {
  return static_cast<T*>(a.scratch[i]);
}
/// Spans of whole cache lines of any format.
Span span_of(Index n, Index worker, Index workers) {
  constexpr Index kGrain = 64;
  const Span grains = b::block_span((n + kGrain - 1) / kGrain, worker, workers);
  const Index end = grains.end * kGrain;
  const Index begin = grains.begin * kGrain;
  return {begin < n ? begin : n, end < n ? end : n};
}

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

/// partial_sum of kLanes lanes, all lanes of one step at a time, then the tree.
template <class A, class T>
A lane_sum(const T* __restrict x, Index n) {
  A parts[kLanes] = {};
  Index i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int l = 0; l < kLanes; ++l) parts[l] += static_cast<A>(b::to_float(x[i + l]));
  }
  for (int l = 0; i + l < n; ++l) parts[l] += static_cast<A>(b::to_float(x[i + l]));
  return b::tree_sum(parts, kLanes);
}
template <class A, class T>
A lane_squares(const T* __restrict x, Index n, A mean) {
  A parts[kLanes] = {};
  Index i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int l = 0; l < kLanes; ++l) {
      const A d = static_cast<A>(b::to_float(x[i + l])) - mean;
      parts[l] += d * d;
    }
  }
  for (int l = 0; i + l < n; ++l) {
    const A d = static_cast<A>(b::to_float(x[i + l])) - mean;
    parts[l] += d * d;
  }
  return b::tree_sum(parts, kLanes);
}

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

// ---- normalization ----

template <class T>
void residual(const KernelArguments& a, Index worker, Index workers) {
  const Span s = span_of(a.shape.rows * a.shape.cols, worker, workers);
  T* __restrict sum = scratch<T>(a, 2);
  b::residual_row(sum + s.begin, input<T>(a, 0) + s.begin, input<T>(a, 1) + s.begin,
                  s.end - s.begin, kAlone);
}
template <class T>
void dropout(const KernelArguments& a, Index worker, Index workers) {
  const Span s = span_of(a.shape.rows * a.shape.cols, worker, workers);
  b::dropout_row(output<T>(a) + s.begin, scratch<T>(a, 3) + s.begin, s.end - s.begin, s.begin,
                 a.shape.dropout_seed, a.shape.dropout_keep, kAlone);
}

/// The tensor that is normalized: x, or the residual sum when there is one (scratch 2 is given).
template <class T>
const T* norm_input(const KernelArguments& a) {
  return a.scratch[2] != nullptr ? scratch<T>(a, 2) : input<T>(a, 0);
}
template <class T>
T* norm_output(const KernelArguments& a) {
  return a.scratch[3] != nullptr ? scratch<T>(a, 3) : output<T>(a);
}
/// scale and shift are the last two inputs.
template <class W>
const W* scale_of(const KernelArguments& a) {
  return input<W>(a, a.in[3] != nullptr ? 2 : 1);
}
template <class W>
const W* shift_of(const KernelArguments& a) {
  return input<W>(a, a.in[3] != nullptr ? 3 : 2);
}

template <class T, class W, class A>
struct Norm {
  static void mean(const KernelArguments& a, Index worker, Index workers) {
    const Index cols = a.shape.cols;
    const Span rows = b::block_span(a.shape.rows, worker, workers);
    for (Index r = rows.begin; r < rows.end; ++r) {
      const A sum = lane_sum<A>(norm_input<T>(a) + r * cols, cols);
      scratch<float>(a, 0)[r] = static_cast<float>(sum / static_cast<A>(cols));
    }
  }
  static void variance(const KernelArguments& a, Index worker, Index workers) {
    const Index cols = a.shape.cols;
    const Span rows = b::block_span(a.shape.rows, worker, workers);
    for (Index r = rows.begin; r < rows.end; ++r) {
      const auto mean = static_cast<A>(scratch<float>(a, 0)[r]);
      scratch<float>(a, 1)[r] =
          static_cast<float>(lane_squares<A>(norm_input<T>(a) + r * cols, cols, mean));
    }
  }
  static void normalize(const KernelArguments& a, Index worker, Index workers) {
    const Index cols = a.shape.cols;
    const Span rows = b::block_span(a.shape.rows, worker, workers);
    for (Index r = rows.begin; r < rows.end; ++r) {
      const auto mean = static_cast<A>(scratch<float>(a, 0)[r]);
      const auto squares = static_cast<A>(scratch<float>(a, 1)[r]);
      const A inverse = b::inverse_deviation(squares, cols, a.shape.norm_epsilon);
      b::normalize_row<A>(norm_output<T>(a) + r * cols, norm_input<T>(a) + r * cols, scale_of<W>(a),
                          shift_of<W>(a), cols, mean, inverse, kAlone);
    }
  }
  static void layernorm(const KernelArguments& a, Index worker, Index workers) {
    const Index cols = a.shape.cols;
    const Span rows = b::block_span(a.shape.rows, worker, workers);
    for (Index r = rows.begin; r < rows.end; ++r) {
      const T* x = input<T>(a, 0) + r * cols;
      const A mean = lane_sum<A>(x, cols) / static_cast<A>(cols);
      const A inverse =
          b::inverse_deviation(lane_squares<A>(x, cols, mean), cols, a.shape.norm_epsilon);
      b::normalize_row<A>(output<T>(a) + r * cols, x, scale_of<W>(a), shift_of<W>(a), cols, mean,
                          inverse, kAlone);
    }
  }
  /// The row of sums stays in this worker's caches.
  static void residual_norm_one(const KernelArguments& a, Index worker, Index workers) {
    const Index cols = a.shape.cols;
    const Span rows = b::block_span(a.shape.rows, worker, workers);
    T* sum = reinterpret_cast<T*>(static_cast<char*>(a.on_chip) + worker * a.on_chip_stride);
    for (Index r = rows.begin; r < rows.end; ++r) {
      const Index first = r * cols;
      b::residual_row(sum, input<T>(a, 0) + first, input<T>(a, 1) + first, cols, kAlone);
      const A mean = lane_sum<A>(sum, cols) / static_cast<A>(cols);
      const A inverse =
          b::inverse_deviation(lane_squares<A>(sum, cols, mean), cols, a.shape.norm_epsilon);
      b::normalize_dropout_row<A>(output<T>(a) + first, sum, scale_of<W>(a), shift_of<W>(a), cols,
                                  mean, inverse, first, a.shape.dropout_seed, a.shape.dropout_keep,
                                  kAlone);
    }
  }
};

// ---- softmax and attention ----

/// partial_softmax of kLanes lanes side by side, merged to one.
template <class T>
b::RunningSoftmax lane_softmax(const T* __restrict x, Index n) {
  float most[kLanes];
  for (float& m : most) m = b::kLeast;
  Index i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int l = 0; l < kLanes; ++l) {
      const auto v = static_cast<float>(b::to_float(x[i + l]));
      most[l] = v > most[l] ? v : most[l];
    }
  }
  float maximum = b::kLeast;
  for (const float m : most) maximum = m > maximum ? m : maximum;
  for (Index j = i; j < n; ++j) {
    const auto v = static_cast<float>(b::to_float(x[j]));
    maximum = v > maximum ? v : maximum;
  }
  float sums[kLanes] = {};
  for (i = 0; i + kLanes <= n; i += kLanes) {
    for (int l = 0; l < kLanes; ++l) {
      sums[l] += b::exponential(static_cast<float>(b::to_float(x[i + l])) - maximum);
    }
  }
  for (int l = 0; i + l < n; ++l) {
    sums[l] += b::exponential(static_cast<float>(b::to_float(x[i + l])) - maximum);
  }
  return {maximum, b::tree_sum(sums, kLanes)};
}

template <class T>
void softmax_rows(T* y, const T* x, Index rows, Index cols, Index worker, Index workers) {
  const Span span = b::block_span(rows, worker, workers);
  for (Index r = span.begin; r < span.end; ++r) {
    const T* row = x + r * cols;
    b::softmax_row(y + r * cols, row, cols, lane_softmax(row, cols), kAlone);
  }
}
template <class T>
void softmax(const KernelArguments& a, Index worker, Index workers) {
  softmax_rows(output<T>(a), input<T>(a, 0), a.shape.rows, a.shape.cols, worker, workers);
}

b::AttentionShape attention_shape(const KernelShape& s) {
  return {s.batch_heads, s.q_len, s.kv_len, s.dim, s.causal, s.score_scale};
}
/// score() with the dimension in lanes.
template <class T>
float lane_score(const T* __restrict q, const T* __restrict k, const b::AttentionShape& shape) {
  constexpr int kFew = 16;
  float parts[kFew] = {};
  Index d = 0;
  for (; d + kFew <= shape.dim; d += kFew) {
    for (int l = 0; l < kFew; ++l) {
      parts[l] +=
          static_cast<float>(b::to_float(q[d + l])) * static_cast<float>(b::to_float(k[d + l]));
    }
  }
  for (int l = 0; d + l < shape.dim; ++l) {
    parts[l] +=
        static_cast<float>(b::to_float(q[d + l])) * static_cast<float>(b::to_float(k[d + l]));
  }
  return b::tree_sum(parts, kFew) * shape.score_scale;
}
template <class T>
void scores(const KernelArguments& a, Index worker, Index workers) {
  const b::AttentionShape shape = attention_shape(a.shape);
  const Span rows = b::block_span(shape.batch_heads * shape.q_len, worker, workers);
  for (Index r = rows.begin; r < rows.end; ++r) {
    const Index seen = b::visible_keys(shape, r % shape.q_len);
    const T* q = input<T>(a, 0) + r * shape.dim;
    const T* k = input<T>(a, 1) + r / shape.q_len * shape.kv_len * shape.dim;
    T* row = scratch<T>(a, 0) + r * shape.kv_len;
    for (Index key = 0; key < seen; ++key) {
      row[key] = b::stored<T>(lane_score(q, k + key * shape.dim, shape));
    }
    for (Index key = seen; key < shape.kv_len; ++key) row[key] = b::stored<T>(-60000.0F);
  }
}
template <class T>
void probabilities(const KernelArguments& a, Index worker, Index workers) {
  softmax_rows(scratch<T>(a, 1), scratch<T>(a, 0), a.shape.batch_heads * a.shape.q_len,
               a.shape.kv_len, worker, workers);
}
template <class T>
void values(const KernelArguments& a, Index worker, Index workers) {
  const b::AttentionShape shape = attention_shape(a.shape);
  const Span rows = b::block_span(shape.batch_heads * shape.q_len, worker, workers);
  float sum[kMostHeadDim];
  for (Index r = rows.begin; r < rows.end; ++r) {
    const T* p = scratch<T>(a, 1) + r * shape.kv_len;
    const T* v = input<T>(a, 2) + r / shape.q_len * shape.kv_len * shape.dim;
    for (Index d = 0; d < shape.dim; ++d) sum[d] = 0;
    for (Index key = 0; key < shape.kv_len; ++key) {
      const auto weight = static_cast<float>(b::to_float(p[key]));
      for (Index d = 0; d < shape.dim; ++d) {
        sum[d] += weight * static_cast<float>(b::to_float(v[key * shape.dim + d]));
      }
    }
    for (Index d = 0; d < shape.dim; ++d) output<T>(a)[r * shape.dim + d] = b::stored<T>(sum[d]);
  }
}
template <class T>
void attention_tiled(const KernelArguments& a, Index worker, Index workers) {
  const b::AttentionShape shape = attention_shape(a.shape);
  const Span rows = b::block_span(shape.batch_heads * shape.q_len, worker, workers);
  float out[kMostHeadDim];
  float tile[kTileKeys];
  for (Index r = rows.begin; r < rows.end; ++r) {
    const Index head = r / shape.q_len * shape.kv_len * shape.dim;
    const T* q = input<T>(a, 0) + r * shape.dim;
    const T* k = input<T>(a, 1) + head;
    const T* v = input<T>(a, 2) + head;
    const Index seen = b::visible_keys(shape, r % shape.q_len);
    b::RunningSoftmax running;
    for (Index d = 0; d < shape.dim; ++d) out[d] = 0;
    for (Index begin = 0; begin < seen; begin += kTileKeys) {
      const Index end = begin + kTileKeys < seen ? begin + kTileKeys : seen;
      for (Index key = begin; key < end; ++key) {
        tile[key - begin] = lane_score(q, k + key * shape.dim, shape);
      }
      b::online_tile(running, out, tile, v, begin, end, shape.dim);
    }
    for (Index d = 0; d < shape.dim; ++d) {
      output<T>(a)[r * shape.dim + d] = b::stored<T>(out[d] / running.sum);
    }
  }
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
    FLOORLINE_PASTE(product_fp64_, FLOORLINE_CPU_LEVEL)};

}  // namespace

const LevelKernels* FLOORLINE_PASTE(kernels_, FLOORLINE_CPU_LEVEL)() { return &kKernels; }

}  // namespace floorline::cpu
