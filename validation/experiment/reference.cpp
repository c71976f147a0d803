// SPDX-License-Identifier: Apache-2.0
#include "validation/experiment/reference.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/quantity/expect.hpp"
#include "validation/experiment/kernel_bodies/normalization.hpp"

namespace floorline {

namespace {

using Values = std::vector<float>;

/// splitmix64 (Steele, Lea, Flood, OOPSLA 2014): the same numbers on every platform.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31U);
  }
  /// Uniform in [-1, 1), a multiple of 2^-23.
  float value() { return static_cast<float>(next() >> 40U) * 0x1p-23F - 1.0F; }

 private:
  std::uint64_t state_;
};

struct InputShape {
  std::int64_t elements;
  Precision dtype;
};

std::vector<InputShape> attention_inputs(const ExperimentSpec& spec) {
  const ExperimentSizes& s = spec.sizes;
  const std::int64_t heads = s.batch * s.heads;
  return {{heads * s.q_len * s.head_dim, spec.precision.in},
          {heads * s.kv_len * s.head_dim, spec.precision.in},
          {heads * s.kv_len * s.head_dim, spec.precision.in}};
}

std::vector<InputShape> input_shapes(const ExperimentSpec& spec) {
  const ExperimentSizes& s = spec.sizes;
  const Precision in = spec.precision.in;
  const Precision weight = spec.precision.weight;
  switch (spec.kind) {
    case ExperimentKind::triad:
    case ExperimentKind::vector_add:
      return {{s.n, in}, {s.n, in}};
    case ExperimentKind::strided:
      return {{s.n * s.stride, in}};
    case ExperimentKind::gather:
      return {{s.rows, in}};
    case ExperimentKind::layernorm:
    case ExperimentKind::layernorm_three:
      return {{s.rows * s.cols, in}, {s.cols, weight}, {s.cols, weight}};
    case ExperimentKind::residual_norm:
    case ExperimentKind::residual_norm_one:
      return {{s.rows * s.cols, in}, {s.rows * s.cols, in}, {s.cols, weight}, {s.cols, weight}};
    case ExperimentKind::softmax:
      return {{s.rows * s.cols, in}};
    case ExperimentKind::gemm:
      return {{s.m * s.k, in}, {s.k * s.n, weight}};
    case ExperimentKind::gemv:
      return {{s.k, in}, {s.k * s.n, weight}};
    case ExperimentKind::attention_naive:
    case ExperimentKind::attention_tiled:
      return attention_inputs(spec);
    case ExperimentKind::h2d:
    case ExperimentKind::d2h:
    case ExperimentKind::overlap:
    case ExperimentKind::peer_copy:
    case ExperimentKind::all_reduce:
      return {{s.bytes / 4, Precision::fp32}};
    default:
      return {{s.n, in}};
  }
}

std::int64_t output_size(const ExperimentSpec& spec) {
  const ExperimentSizes& s = spec.sizes;
  switch (spec.kind) {
    case ExperimentKind::atomic_sum:
    case ExperimentKind::two_stage_sum:
      return 1;
    case ExperimentKind::layernorm:
    case ExperimentKind::layernorm_three:
    case ExperimentKind::residual_norm:
    case ExperimentKind::residual_norm_one:
    case ExperimentKind::softmax:
      return s.rows * s.cols;
    case ExperimentKind::gemm:
      return s.m * s.n;
    case ExperimentKind::attention_naive:
    case ExperimentKind::attention_tiled:
      return s.batch * s.heads * s.q_len * s.head_dim;
    case ExperimentKind::h2d:
    case ExperimentKind::d2h:
    case ExperimentKind::overlap:
    case ExperimentKind::peer_copy:
    case ExperimentKind::all_reduce:
      return s.bytes / 4;
    default:
      return s.n;
  }
}

// NOLINTNEXTLINE(bugprone-easily-swappable-parameters): rows, then count
std::vector<std::int32_t> permutation(std::int64_t rows, std::int64_t count, Random& random) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(rows));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[random.next() % i]);
  }
  std::vector<std::int32_t> indices(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = order[i % order.size()];
  return indices;
}

double at(const Values& values, std::int64_t i) {
  return static_cast<double>(values[static_cast<std::size_t>(i)]);
}

/// Mean and 1 / deviation of a row that `x` gives.
struct RowStatistics {
  double mean = 0;
  double inverse = 0;
};
template <class X>
RowStatistics statistics(std::int64_t cols, const X& x) {
  double sum = 0;
  for (std::int64_t c = 0; c < cols; ++c) sum += x(c);
  const double mean = sum / static_cast<double>(cols);
  double squares = 0;
  for (std::int64_t c = 0; c < cols; ++c) squares += (x(c) - mean) * (x(c) - mean);
  const double variance = squares / static_cast<double>(cols);
  return {mean, 1 / std::sqrt(variance + static_cast<double>(kNormEpsilon))};
}

/// What is computed once for all elements of one row: consecutive elements reuse it.
class RowReference {
 public:
  RowReference(const ExperimentSpec& spec, const ExperimentData& data) : spec_(spec), data_(data) {}

  double norm(std::int64_t element) {
    const std::int64_t cols = spec_.sizes.cols;
    const Values& x = data_.inputs[0];
    const auto value = [&](std::int64_t c) { return at(x, row_ * cols + c); };
    if (enter(element / cols)) row_values_ = statistics(cols, value);
    const std::int64_t c = element % cols;
    return (value(c) - row_values_.mean) * row_values_.inverse * at(data_.inputs[1], c) +
           at(data_.inputs[2], c);
  }

  double residual_norm(std::int64_t element) {
    const std::int64_t cols = spec_.sizes.cols;
    const auto value = [&](std::int64_t c) {
      return at(data_.inputs[0], row_ * cols + c) + at(data_.inputs[1], row_ * cols + c);
    };
    if (enter(element / cols)) row_values_ = statistics(cols, value);
    const std::int64_t c = element % cols;
    const double normal =
        (value(c) - row_values_.mean) * row_values_.inverse * at(data_.inputs[2], c) +
        at(data_.inputs[3], c);
    const bool keep = bodies::dropout_factor(element, kDropoutSeed, kDropoutKeep) > 0;
    return keep ? normal / static_cast<double>(kDropoutKeep) : 0;
  }

  double softmax(std::int64_t element) {
    const std::int64_t cols = spec_.sizes.cols;
    if (enter(element / cols)) {
      sum_ = 0;  // |x| < 1: no maximum needs to be taken away in double precision
      for (std::int64_t c = 0; c < cols; ++c)
        sum_ += std::exp(at(data_.inputs[0], row_ * cols + c));
    }
    return std::exp(at(data_.inputs[0], element)) / sum_;
  }

  double attention(std::int64_t element) {
    const ExperimentSizes& s = spec_.sizes;
    if (enter(element / s.head_dim)) weigh_keys();
    const std::int64_t head = row_ / s.q_len;
    double value = 0;
    for (std::size_t key = 0; key < weights_.size(); ++key) {
      const std::int64_t v = (head * s.kv_len + static_cast<std::int64_t>(key)) * s.head_dim;
      value += weights_[key] * at(data_.inputs[2], v + element % s.head_dim);
    }
    return value / sum_;
  }

 private:
  bool enter(std::int64_t row) {
    const bool fresh = row != row_;
    row_ = row;
    return fresh;
  }
  void weigh_keys() {
    const ExperimentSizes& s = spec_.sizes;
    const std::int64_t head = row_ / s.q_len;
    const std::int64_t query = row_ % s.q_len;
    const std::int64_t seen = s.causal != 0 ? s.kv_len - s.q_len + query + 1 : s.kv_len;
    weights_.resize(static_cast<std::size_t>(seen));
    double most = -1e300;
    for (std::int64_t key = 0; key < seen; ++key) {
      double dot = 0;
      for (std::int64_t d = 0; d < s.head_dim; ++d) {
        dot += at(data_.inputs[0], row_ * s.head_dim + d) *
               at(data_.inputs[1], (head * s.kv_len + key) * s.head_dim + d);
      }
      dot /= std::sqrt(static_cast<double>(s.head_dim));
      weights_[static_cast<std::size_t>(key)] = dot;
      most = std::max(most, dot);
    }
    sum_ = 0;
    for (double& w : weights_) sum_ += (w = std::exp(w - most));
  }

  const ExperimentSpec& spec_;
  const ExperimentData& data_;
  std::int64_t row_ = -1;
  RowStatistics row_values_;
  double sum_ = 0;
  std::vector<double> weights_;
};

double product_element(const ExperimentSpec& spec, const ExperimentData& data,
                       std::int64_t element) {
  const std::int64_t row = element / spec.sizes.n;
  const std::int64_t column = element % spec.sizes.n;
  double sum = 0;
  for (std::int64_t i = 0; i < spec.sizes.k; ++i) {
    sum +=
        at(data.inputs[0], row * spec.sizes.k + i) * at(data.inputs[1], i * spec.sizes.n + column);
  }
  return sum;
}

// NOLINTNEXTLINE(bugprone-easily-swappable-parameters): value, then count
double chain_element(double value, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    value = value * static_cast<double>(kChainFactor) + static_cast<double>(kChainOffset);
  }
  return value;
}

/// Elements that depend on a few inputs only.
double simple_element(const ExperimentSpec& spec, const ExperimentData& data, std::int64_t i) {
  const Values& x = data.inputs[0];
  switch (spec.kind) {
    case ExperimentKind::triad:
      return at(x, i) + static_cast<double>(kTriadScale) * at(data.inputs[1], i);
    case ExperimentKind::vector_add:
      return at(x, i) + at(data.inputs[1], i);
    case ExperimentKind::strided:
      return at(x, i * spec.sizes.stride);
    case ExperimentKind::gather:
      return at(x, data.indices[static_cast<std::size_t>(i)]);
    case ExperimentKind::launch_chain:
      return at(x, i) + 1;
    case ExperimentKind::overlap:
      return 2 * at(x, i) + 1;
    case ExperimentKind::dependency_chain:
    case ExperimentKind::independent_work:
      return chain_element(at(x, i), spec.sizes.count);
    case ExperimentKind::all_reduce: {
      const auto ranks = static_cast<double>(spec.sizes.ranks);
      return ranks * at(x, i) + ranks * (ranks - 1) / 2;
    }
    default:
      return at(x, i);
  }
}

double element_of(const ExperimentSpec& spec, const ExperimentData& data, RowReference& rows,
                  std::int64_t i) {
  switch (spec.kind) {
    case ExperimentKind::layernorm:
    case ExperimentKind::layernorm_three:
      return rows.norm(i);
    case ExperimentKind::residual_norm:
    case ExperimentKind::residual_norm_one:
      return rows.residual_norm(i);
    case ExperimentKind::softmax:
      return rows.softmax(i);
    case ExperimentKind::attention_naive:
    case ExperimentKind::attention_tiled:
      return rows.attention(i);
    case ExperimentKind::gemm:
    case ExperimentKind::gemv:
      return product_element(spec, data, i);
    case ExperimentKind::atomic_sum:
    case ExperimentKind::two_stage_sum: {
      double sum = 0;
      for (const float v : data.inputs[0]) sum += static_cast<double>(v);
      return sum;
    }
    default:
      return simple_element(spec, data, i);
  }
}

}  // namespace

float rounded_to(float value, Precision precision) {
  switch (precision) {
    case Precision::bf16:
      return bodies::to_float(bodies::Store<bodies::Bf16>::from(value));
    case Precision::fp16:
      return bodies::to_float(bodies::Store<bodies::Fp16>::from(value));
    case Precision::fp8_e4m3:  // 3 mantissa bits; |value| < 1, steps of 2^-9 below 2^-6
    case Precision::fp8_e5m2: {
      const int mantissa = precision == Precision::fp8_e4m3 ? 3 : 2;
      const int least = precision == Precision::fp8_e4m3 ? -6 : -14;
      int exponent = 0;
      std::frexp(value, &exponent);
      const int step = std::max(exponent - 1, least) - mantissa;
      return std::ldexp(std::nearbyint(std::ldexp(value, -step)), step);
    }
    case Precision::int8:
    case Precision::int32:
      return std::nearbyint(value * 7);  // whole numbers from -7 to 7: sums stay exact
    default:
      return value;
  }
}

ExperimentData make_data(const ExperimentSpec& spec, std::uint64_t seed) {
  FLOORLINE_EXPECT(footprint(spec) < Bytes(1e12));
  ExperimentData data;
  Random random(seed);
  for (const InputShape& shape : input_shapes(spec)) {
    Values values(static_cast<std::size_t>(shape.elements));
    for (float& v : values) v = rounded_to(random.value(), shape.dtype);
    data.inputs.push_back(std::move(values));
  }
  if (spec.kind == ExperimentKind::gather) {
    data.indices = permutation(spec.sizes.rows, spec.sizes.n, random);
  }
  data.output_size = output_size(spec);
  return data;
}

std::vector<double> reference(const ExperimentSpec& spec, const ExperimentData& data,
                              const std::vector<std::int64_t>& elements) {
  RowReference rows(spec, data);
  std::vector<double> results;
  results.reserve(elements.size());
  for (const std::int64_t i : elements) {
    FLOORLINE_EXPECT(i >= 0 && i < data.output_size);
    results.push_back(element_of(spec, data, rows, i));
  }
  return results;
}

double reference_work(const ExperimentSpec& spec) {
  const ExperimentSizes& s = spec.sizes;
  const auto outputs = static_cast<double>(output_size(spec));
  switch (spec.kind) {
    case ExperimentKind::gemm:
    case ExperimentKind::gemv:
      return 2 * outputs * static_cast<double>(s.k);
    case ExperimentKind::attention_naive:
    case ExperimentKind::attention_tiled:
      return 4 * outputs * static_cast<double>(s.kv_len);
    case ExperimentKind::dependency_chain:
    case ExperimentKind::independent_work:
      return 2 * outputs * static_cast<double>(s.count);
    case ExperimentKind::atomic_sum:
    case ExperimentKind::two_stage_sum:
      return static_cast<double>(s.n);
    default:
      return 8 * outputs;
  }
}

}  // namespace floorline
