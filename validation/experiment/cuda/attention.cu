// SPDX-License-Identifier: Apache-2.0
// naive: scores, softmax and product through memory, products by cuBLAS.
// tiled: one kernel with online softmax over tiles of 32 keys in shared memory, four threads a
// query. Its arithmetic is fp32 on the vector unit: a tensor floor is far from it.
#include <cmath>

#include "validation/experiment/cuda/cublas_library.hpp"
#include "validation/experiment/cuda/cuda_experiment.hpp"
#include "validation/experiment/cuda/device_grid.cuh"
#include "validation/experiment/kernel_bodies/attention_part.hpp"

namespace floorline::cuda {

namespace {

constexpr int kTileKeys = 32;
constexpr int kParts = 4;  ///< threads of a query
constexpr int kTileThreads = 128;
constexpr int kTileQueries = kTileThreads / kParts;

bodies::AttentionShape shape_of(const ExperimentSpec& spec) {
  const ExperimentSizes& s = spec.sizes;
  return {.batch_heads = s.batch * s.heads,
          .q_len = s.q_len,
          .kv_len = s.kv_len,
          .dim = s.head_dim,
          .causal = s.causal != 0,
          .score_scale = 1.0F / std::sqrt(static_cast<float>(s.head_dim))};
}

/// Probabilities of one row of scores, in place; a block does one row at a time.
template <class T>
__global__ void masked_softmax_kernel(T* scores, bodies::AttentionShape shape) {
  __shared__ bodies::RunningSoftmax parts[kBlockThreads];
  for (Index r = blockIdx.x; r < shape.batch_heads * shape.q_len; r += gridDim.x) {
    T* row = scores + r * shape.kv_len;
    const Index seen = bodies::visible_keys(shape, r % shape.q_len);
    const bodies::RunningSoftmax whole =
        block_softmax(bodies::partial_softmax(row, seen, this_lane()), parts);
    bodies::softmax_row(row, row, seen, whole, this_lane());
    for (Index key = seen + threadIdx.x; key < shape.kv_len; key += blockDim.x) {
      row[key] = bodies::Store<T>::from(0);
    }
  }
}

template <int Part, class T>
struct TileRows {
  static constexpr int kStride = kParts * (Part + 1);
  float rows[kTileKeys * kStride];
  /// Keys begin … begin + 32 of one head, zero beyond its last key and dimension.
  __device__ void load(const T* head, const bodies::AttentionShape& shape, Index begin) {
    for (int i = static_cast<int>(threadIdx.x); i < kTileKeys * kParts * Part; i += kTileThreads) {
      const int key = i / (kParts * Part);
      const int d = i % (kParts * Part);
      const bool inside = begin + key < shape.kv_len && d < shape.dim;
      rows[key * kStride + bodies::tile_column<Part>(d)] =
          inside ? bodies::to_float(head[(begin + key) * shape.dim + d]) : 0.0F;
    }
  }
};

template <int Part, class T>
__global__ void tiled_kernel(T* out, const T* q, const T* k, const T* v,
                             bodies::AttentionShape shape) {
  __shared__ TileRows<Part, T> keys;
  __shared__ TileRows<Part, T> values;
  const Index head = blockIdx.y;
  const int part = static_cast<int>(threadIdx.x) % kParts;
  const Index query = static_cast<Index>(blockIdx.x) * kTileQueries + threadIdx.x / kParts;
  const bool inside = query < shape.q_len;
  const Index first = (head * shape.q_len + query) * shape.dim + part * Part;
  float own_q[Part];
  float own_out[Part] = {};
  for (int d = 0; d < Part; ++d) {
    own_q[d] = inside && part * Part + d < shape.dim ? bodies::to_float(q[first + d]) : 0.0F;
  }
  const Index seen = inside ? bodies::visible_keys(shape, query) : shape.kv_len;
  const Index last = min(static_cast<Index>(blockIdx.x + 1) * kTileQueries, shape.q_len) - 1;
  const Index seen_by_block = bodies::visible_keys(shape, last);
  bodies::RunningSoftmax row;
  for (Index begin = 0; begin < seen_by_block; begin += kTileKeys) {
    __syncthreads();
    keys.load(k + head * shape.kv_len * shape.dim, shape, begin);
    values.load(v + head * shape.kv_len * shape.dim, shape, begin);
    __syncthreads();
    float scores[kTileKeys];
    for (int j = 0; j < kTileKeys; ++j) {
      const float* key = keys.rows + j * TileRows<Part, T>::kStride + part * (Part + 1);
      float sum = bodies::score_part<Part>(own_q, key);
      sum += __shfl_xor_sync(0xffffffffU, sum, 1);
      sum += __shfl_xor_sync(0xffffffffU, sum, 2);
      scores[j] = begin + j < seen ? sum * shape.score_scale : bodies::kLeast;
    }
    bodies::online_tile_part<Part>(row, own_out, scores, values.rows + part * (Part + 1), kTileKeys,
                                   TileRows<Part, T>::kStride);
  }
  for (int d = 0; d < Part; ++d) {
    if (inside && part * Part + d < shape.dim) {
      out[first + d] = bodies::Store<T>::from(own_out[d] / row.sum);
    }
  }
}

class AttentionExperiment : public CudaExperiment {
 public:
  AttentionExperiment(const ExperimentSpec& experiment, const ExperimentData& data,
                      const DeviceContext& context, std::int64_t copies)
      : CudaExperiment(experiment, context, copies), shape_(shape_of(experiment)) {
    for (int i = 0; i < 3; ++i) {
      qkv_[i] = add_input(data.inputs[static_cast<std::size_t>(i)], experiment.precision.in);
    }
    add_output(data.output_size, experiment.precision.out);
    if (experiment.kind != ExperimentKind::attention_naive) return;
    scores_ =
        add_scratch(shape_.batch_heads * shape_.q_len * shape_.kv_len, experiment.precision.in);
  }

 protected:
  void enqueue(std::int64_t set) override {
    with_storage(spec().precision.in, [&](auto element) {
      using T = decltype(element);
      spec().kind == ExperimentKind::attention_naive ? naive<T>(set) : tiled<T>(set);
    });
  }

 private:
  template <class T>
  void naive(std::int64_t set) {
    const Precision in = spec().precision.in;
    const ProductPrecision precision{in, in, in, in == Precision::fp64 ? in : Precision::fp32};
    T* scores = pointer<T>(scores_, set);
    device().cublas->multiply(scores, pointer<T>(qkv_[0], set), pointer<T>(qkv_[1], set),
                              {.m = shape_.q_len,
                               .n = shape_.kv_len,
                               .k = shape_.dim,
                               .batch = shape_.batch_heads,
                               .b_transposed = true,
                               .scale = shape_.score_scale},
                              precision, stream());
    masked_softmax_kernel<T><<<blocks_for(shape_.batch_heads * shape_.q_len * kBlockThreads),
                               kBlockThreads, 0, stream()>>>(scores, shape_);
    check_launch("softmax of scores");
    device().cublas->multiply(
        out<T>(set), scores, pointer<T>(qkv_[2], set),
        {.m = shape_.q_len, .n = shape_.dim, .k = shape_.kv_len, .batch = shape_.batch_heads},
        precision, stream());
  }
  template <class T>
  void tiled(std::int64_t set) {
    if (shape_.dim <= 16) return launch_tiled<4, T>(set);
    if (shape_.dim <= 64) return launch_tiled<16, T>(set);
    launch_tiled<32, T>(set);
  }
  template <int Part, class T>
  void launch_tiled(std::int64_t set) {
    const dim3 blocks(static_cast<unsigned>((shape_.q_len + kTileQueries - 1) / kTileQueries),
                      static_cast<unsigned>(shape_.batch_heads));
    tiled_kernel<Part, T><<<blocks, kTileThreads, 0, stream()>>>(
        out<T>(set), pointer<T>(qkv_[0], set), pointer<T>(qkv_[1], set), pointer<T>(qkv_[2], set),
        shape_);
    check_launch("tiled attention");
  }

  bodies::AttentionShape shape_;
  int qkv_[3] = {-1, -1, -1};
  int scores_ = -1;
};

}  // namespace

std::unique_ptr<PreparedExperiment> make_attention(const ExperimentSpec& spec,
                                                   const ExperimentData& data,
                                                   const DeviceContext& device, std::int64_t sets) {
  if (spec.kind != ExperimentKind::attention_naive &&
      spec.kind != ExperimentKind::attention_tiled) {
    return nullptr;
  }
  return std::make_unique<AttentionExperiment>(spec, data, device, sets);
}

}  // namespace floorline::cuda
