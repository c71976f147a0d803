// SPDX-License-Identifier: Apache-2.0
// The index arithmetic of the CUDA kernels, run here thread by thread: every element against the
// double-precision reference, within the error bound that a device's results are held to.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "validation/experiment/cuda/storage.hpp"
#include "validation/experiment/kernel_bodies/attention_part.hpp"
#include "validation/experiment/kernel_bodies/half_normalization.hpp"
#include "validation/experiment/kernel_bodies/wide_matrix.hpp"
#include "validation/experiment/reference.hpp"
#include "validation/experiment/runner.hpp"

using namespace floorline;
using bodies::Index;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// Every element of `output` within its bound of the reference.
void check_output(const ExperimentSpec& spec, const ExperimentData& data,
                  const std::vector<float>& results) {
  const std::vector<double> output(results.begin(), results.end());
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < data.output_size; ++i) all.push_back(i);
  const Comparison comparison = compare_output(spec, data, output, all);
  INFO(text_of(spec), ": ", comparison.message);
  CHECK(comparison.correctness.passed);
}

template <class T>
std::vector<T> elements(const std::vector<float>& values) {
  std::vector<T> out(values.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = bodies::Store<T>::from(values[i]);
  return out;
}
template <class T>
std::vector<float> floats(const std::vector<T>& values) {
  std::vector<float> out(values.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = bodies::to_float(values[i]);
  return out;
}

/// Aligned to a pack of 16 bytes, as device memory is.
template <class T>
struct alignas(16) Buffer {
  T data[64] = {};
};

/// x = i, z = 2 i: x + 3 z = 7 i, all exact.
template <int Width>
void check_packs(Index n, Index threads) {
  Buffer<float> x, y, z;
  for (Index i = 0; i < 64; ++i) {
    x.data[i] = static_cast<float>(i);
    z.data[i] = static_cast<float>(2 * i);
    y.data[i] = kNan;
  }
  for (Index t = 0; t < threads; ++t) {
    bodies::apply_packs<Width>(bodies::Grid{t, threads}, y.data, x.data, z.data, n,
                               bodies::TriadOp{3});
  }
  CAPTURE(n);
  CAPTURE(threads);
  for (Index i = 0; i < n; ++i) CHECK(y.data[i] == static_cast<float>(7 * i));
  for (Index i = n; i < 64; ++i) CHECK(std::isnan(y.data[i]));  // nothing beyond the end
}

}  // namespace

TEST_SUITE_BEGIN("validation");

TEST_CASE("packs and what is left after them cover every element and nothing else") {
  for (const Index n : {0, 1, 3, 4, 5, 8, 15, 16, 17, 31, 33, 63}) {
    for (const Index threads : {1, 2, 3, 7, 64}) {
      check_packs<1>(n, threads);
      check_packs<2>(n, threads);
      check_packs<4>(n, threads);
    }
  }
}

TEST_CASE("gemv by columns and spans of k is the reference's product") {
  const ExperimentSpec spec = parse_experiment("gemv n=48 k=90 in=bf16");
  const ExperimentData data = make_data(spec, 7);
  const auto a = elements<bodies::Bf16>(data.inputs[0]);
  const auto b = elements<bodies::Bf16>(data.inputs[1]);
  constexpr Index kSpans = 4;
  constexpr int kWidth = 8;
  std::vector<float> partial(48 * kSpans, kNan);
  for (Index s = 0; s < kSpans; ++s) {
    for (Index column = 0; column < 48; column += kWidth) {
      bodies::gemv_columns<kWidth>(partial.data() + s * 48, a.data(), b.data(), 48,
                                   bodies::block_span(90, s, kSpans), column);
    }
  }
  std::vector<float> y(48);
  for (Index c = 0; c < 48; ++c) {
    y[static_cast<std::size_t>(c)] =
        rounded_to(bodies::sum_of_spans(partial.data(), 48, kSpans, c), Precision::bf16);
  }
  check_output(spec, data, y);
  // Leaving one span out, as a kernel that skips a tile would, is seen.
  for (Index c = 0; c < 48; ++c) {
    y[static_cast<std::size_t>(c)] = bodies::sum_of_spans(partial.data(), 48, kSpans - 1, c);
  }
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < 48; ++i) all.push_back(i);
  const std::vector<double> broken(y.begin(), y.end());
  CHECK_FALSE(compare_output(spec, data, broken, all).correctness.passed);
}

namespace {

constexpr int kParts = 4;
constexpr int kKeys = 32;

template <int Part>
std::vector<float> tile_of(const float* head, const bodies::AttentionShape& shape, Index begin) {
  std::vector<float> rows(kKeys * kParts * (Part + 1), kNan);
  for (int key = 0; key < kKeys; ++key) {
    for (int d = 0; d < kParts * Part; ++d) {
      const bool inside = begin + key < shape.kv_len && d < shape.dim;
      rows[static_cast<std::size_t>(key * kParts * (Part + 1) + bodies::tile_column<Part>(d))] =
          inside ? head[(begin + key) * shape.dim + d] : 0.0F;
    }
  }
  return rows;
}

/// One query as four threads do it: parts of a score are added, each keeps its part of the output.
template <int Part>
void tiled_query(std::vector<float>& out, const ExperimentData& data,
                 const bodies::AttentionShape& shape, Index head, Index query) {
  const float* q = data.inputs[0].data() + (head * shape.q_len + query) * shape.dim;
  const float* k = data.inputs[1].data() + head * shape.kv_len * shape.dim;
  const float* v = data.inputs[2].data() + head * shape.kv_len * shape.dim;
  float own_q[kParts][static_cast<std::size_t>(Part)] = {};
  float own_out[kParts][static_cast<std::size_t>(Part)] = {};
  for (int d = 0; d < shape.dim; ++d) own_q[d / Part][d % Part] = q[d];
  bodies::RunningSoftmax rows[kParts];
  const Index seen = bodies::visible_keys(shape, query);
  for (Index begin = 0; begin < shape.kv_len; begin += kKeys) {
    const std::vector<float> keys = tile_of<Part>(k, shape, begin);
    const std::vector<float> values = tile_of<Part>(v, shape, begin);
    float scores[kKeys];
    for (int j = 0; j < kKeys; ++j) {
      const float* key = keys.data() + j * kParts * (Part + 1);
      float sum = 0;
      for (int p = 0; p < kParts; ++p) {
        sum += bodies::score_part<Part>(own_q[p], key + p * (Part + 1));
      }
      scores[j] = begin + j < seen ? sum * shape.score_scale : bodies::kLeast;
    }
    for (int p = 0; p < kParts; ++p) {
      bodies::online_tile_part<Part>(rows[p], own_out[p], scores, values.data() + p * (Part + 1),
                                     kKeys, kParts * (Part + 1));
    }
  }
  for (int d = 0; d < shape.dim; ++d) {
    out[static_cast<std::size_t>((head * shape.q_len + query) * shape.dim + d)] =
        own_out[d / Part][d % Part] / rows[d / Part].sum;
  }
}

void check_tiled(const char* text) {
  const ExperimentSpec spec = parse_experiment(text);
  const ExperimentData data = make_data(spec, 11);
  const ExperimentSizes& s = spec.sizes;
  const bodies::AttentionShape shape{
      .batch_heads = s.batch * s.heads,
      .q_len = s.q_len,
      .kv_len = s.kv_len,
      .dim = s.head_dim,
      .causal = s.causal != 0,
      .score_scale = 1.0F / std::sqrt(static_cast<float>(s.head_dim))};
  std::vector<float> out(static_cast<std::size_t>(data.output_size), kNan);
  for (Index head = 0; head < shape.batch_heads; ++head) {
    for (Index query = 0; query < shape.q_len; ++query) {
      tiled_query<16>(out, data, shape, head, query);
    }
  }
  check_output(spec, data, out);
}

}  // namespace

TEST_CASE("tiled attention with four threads a query is the reference's") {
  check_tiled("attention_tiled heads=2 q_len=5 kv_len=70 head_dim=64");
  check_tiled("attention_tiled heads=1 q_len=3 kv_len=33 head_dim=24");  // parts that are padded
  check_tiled("attention_tiled heads=2 q_len=40 kv_len=40 head_dim=16 causal=1");
  check_tiled("attention_tiled batch=2 heads=1 q_len=4 kv_len=65 head_dim=20 causal=1");
}

TEST_CASE("columns of a tile are distinct and parts start in different banks") {
  std::set<int> columns;
  for (int d = 0; d < 4 * 32; ++d) columns.insert(bodies::tile_column<32>(d));
  CHECK(columns.size() == 128);
  // 32 banks of 4 bytes: parts start at 0, 33, 66, 99, in banks 0, 1, 2, 3.
  for (int part = 0; part < 4; ++part) CHECK(bodies::tile_column<32>(32 * part) % 32 == part);
}

TEST_CASE("LayerNorm computed in fp16 stays within the bound of fp16") {
  const ExperimentSpec spec =
      parse_experiment("layernorm rows=3 cols=100 in=fp16 compute=fp16 accumulate=fp32");
  const ExperimentData data = make_data(spec, 3);
  const auto x = elements<bodies::Fp16>(data.inputs[0]);
  const auto scale = elements<bodies::Fp16>(data.inputs[1]);
  const auto shift = elements<bodies::Fp16>(data.inputs[2]);
  std::vector<bodies::Fp16> y(300);
  constexpr bodies::Lanes kAll{0, 1};
  for (Index r = 0; r < 3; ++r) {
    const bodies::Fp16* row = x.data() + r * 100;
    const float mean = bodies::partial_sum(row, 100, kAll) / 100;
    const float inverse =
        bodies::inverse_deviation(bodies::partial_squares(row, 100, mean, kAll), 100, kNormEpsilon);
    for (Index lane = 0; lane < 32; ++lane) {
      bodies::normalize_row_in_half(y.data() + r * 100, row, scale.data(), shift.data(), 100, mean,
                                    inverse, bodies::Lanes{lane, 32});
    }
  }
  check_output(spec, data, floats(y));
}

TEST_CASE("arithmetic in fp16 rounds once, to even") {
  const auto half = [](float v) { return bodies::Store<bodies::Fp16>::from(v); };
  // 2048 + 1 = 2049 lies between 2048 and 2050 (steps of 2): to the even mantissa, 2048.
  CHECK(bodies::to_float(bodies::half_sum(half(2048), half(1))) == 2048.0F);
  // 2048 + 3 = 2051 lies between 2050 and 2052: 2052.
  CHECK(bodies::to_float(bodies::half_sum(half(2048), half(3))) == 2052.0F);
  // 1.5 * 3 = 4.5 is exact; 300 * 300 = 90,000 is beyond 65,504: infinity.
  CHECK(bodies::to_float(bodies::half_product(half(1.5F), half(3))) == 4.5F);
  CHECK(std::isinf(bodies::to_float(bodies::half_product(half(300), half(300)))));
  CHECK(bodies::to_float(bodies::half_difference(half(1), half(3))) == -2.0F);
}

TEST_CASE("storage on the host keeps what each format holds") {
  const std::vector<float> values{0.0F, 1.0F, -0.5F, 1.0F / 3.0F};
  const std::vector<double> kept(values.begin(), values.end());
  for (const Precision p : {Precision::fp64, Precision::fp32}) {
    CHECK(cuda::from_storage(cuda::to_storage(values, p), p) == kept);
  }
  // 1/3 in bf16 is 0x3eab = 0.333984375, in fp16 0x3555 = 0.333251953125.
  CHECK(cuda::from_storage(cuda::to_storage(values, Precision::bf16), Precision::bf16)[3] ==
        0.333984375);
  CHECK(cuda::from_storage(cuda::to_storage(values, Precision::fp16), Precision::fp16)[3] ==
        0.333251953125);
  CHECK(cuda::to_storage(values, Precision::fp64).size() == 32);
  CHECK(cuda::to_storage(values, Precision::bf16).size() == 8);
}

TEST_SUITE_END();
