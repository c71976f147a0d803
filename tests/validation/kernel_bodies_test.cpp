// SPDX-License-Identifier: Apache-2.0
// The kernel bodies that host and device share: number formats exhaustively, then each body run
// thread by thread, as a device would, against the double-precision reference.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "validation/experiment/kernel_bodies/attention.hpp"
#include "validation/experiment/kernel_bodies/chain.hpp"
#include "validation/experiment/kernel_bodies/elementwise.hpp"
#include "validation/experiment/kernel_bodies/matrix.hpp"
#include "validation/experiment/kernel_bodies/normalization.hpp"
#include "validation/experiment/runner.hpp"

using namespace floorline;
using bodies::Grid;
using bodies::Index;
using bodies::Lanes;

namespace {

/// Compares all elements with the reference; the message is empty when they agree.
std::string judged(const ExperimentSpec& spec, const ExperimentData& data,
                   const std::vector<float>& output) {
  const std::vector<double> wide(output.begin(), output.end());
  const Comparison c =
      compare_output(spec, data, wide, elements_to_check(spec, data.output_size, 1'000'000'000, 1));
  return c.correctness.passed ? "" : c.message;
}

/// Sums of all lanes, then the tree, as a block would.
template <class Part>
float block_sum(Index lanes, const Part& part) {
  std::vector<float> parts;
  for (Index lane = 0; lane < lanes; ++lane) parts.push_back(part(Lanes{lane, lanes}));
  for (Index half = bodies::first_half(lanes); half > 0; half /= 2) {
    for (Index lane = 0; lane < lanes; ++lane) bodies::tree_step(parts.data(), half, lanes, lane);
  }
  return parts[0];
}

}  // namespace

TEST_SUITE("experiment") {
  TEST_CASE("fp16 and bf16: all 65536 patterns survive, and ties go to even") {
    for (std::uint32_t bits = 0; bits < 65536; ++bits) {
      const auto pattern = static_cast<std::uint16_t>(bits);
      const float half = bodies::to_float(bodies::Fp16{pattern});
      const float brain = bodies::to_float(bodies::Bf16{pattern});
      const std::uint32_t exponent = (bits >> 10U) & 31U;
      const std::uint32_t mantissa = bits & 1023U;
      if (exponent < 31) {  // IEEE 754, written out: the definition, not the code's trick
        const double size = exponent == 0
                                ? std::ldexp(mantissa, -24)
                                : std::ldexp(1024 + mantissa, static_cast<int>(exponent) - 25);
        REQUIRE(static_cast<double>(half) == ((bits & 0x8000U) != 0 ? -size : size));
        REQUIRE(bodies::stored<bodies::Fp16>(half).bits == pattern);
      } else {
        REQUIRE((mantissa == 0 ? std::isinf(half) : std::isnan(half)));
      }
      if (!std::isnan(brain)) REQUIRE(bodies::stored<bodies::Bf16>(brain).bits == pattern);
    }
    // Between 1 and its fp16 neighbour 1 + 2^-10 lies a tie, which goes to 1; the next to 1 + 2^-9.
    CHECK(bodies::stored<bodies::Fp16>(1 + 0x1p-11F).bits == 0x3c00);
    CHECK(bodies::stored<bodies::Fp16>(1 + 3 * 0x1p-11F).bits == 0x3c02);
    CHECK(bodies::stored<bodies::Fp16>(65520.0F).bits == 0x7c00);  // beyond 65504 + half a step
    CHECK(bodies::stored<bodies::Fp16>(65519.0F).bits == 0x7bff);
    CHECK(bodies::stored<bodies::Fp16>(0x1p-25F).bits == 0);  // half the least: to even
    CHECK(bodies::stored<bodies::Fp16>(NAN).bits == 0x7e00);
    CHECK(bodies::stored<bodies::Bf16>(1 + 0x1p-8F).bits == 0x3f80);
    CHECK(bodies::stored<bodies::Bf16>(1 + 3 * 0x1p-8F).bits == 0x3f82);
    CHECK(std::isnan(bodies::to_float(bodies::stored<bodies::Bf16>(NAN))));
  }

  TEST_CASE("the exponential is good to 4e-7 from -87 to 0, and 0 below") {
    double worst = 0;
    for (int i = 0; i <= 87000; ++i) {
      const float x = static_cast<float>(-i / 1000.0);
      const double exact = std::exp(static_cast<double>(x));
      worst = std::max(worst, std::abs(static_cast<double>(bodies::exponential(x)) / exact - 1));
    }
    CHECK(worst < 4e-7);  // polynomial 2e-7 and roundings of fp32
    CHECK(bodies::exponential(0) == 1);
    CHECK(bodies::exponential(-1000) == 0);
    CHECK(bodies::exponential(bodies::kLeast) == 0);
    CHECK(std::isnan(bodies::exponential(NAN)));
  }

  TEST_CASE("threads of a grid do every element once, at any width of loads") {
    for (const Index n : {1, 7, 64, 1000}) {
      for (const Index width : {1, 4, 8}) {
        std::vector<int> times(static_cast<std::size_t>(n));
        for (Index t = 0; t < 13; ++t) {
          bodies::for_each_element(Grid{t, 13}, n, width,
                                   [&](Index i) { ++times[static_cast<std::size_t>(i)]; });
        }
        CHECK(times == std::vector<int>(static_cast<std::size_t>(n), 1));
      }
    }
  }

  TEST_CASE("streams, strides and gathers, thread by thread") {
    for (const char* text :
         {"copy n=301", "triad n=301", "vector_add n=301", "strided n=77 stride=5",
          "gather n=91 rows=333", "launch_chain n=40 count=3"}) {
      CAPTURE(text);
      const ExperimentSpec spec = parse_experiment(text);
      const ExperimentData data = make_data(spec, 5);
      const float* x = data.inputs[0].data();
      const float* z = data.inputs.size() > 1 ? data.inputs[1].data() : nullptr;
      std::vector<float> y(static_cast<std::size_t>(data.output_size), NAN);
      const auto element = [&](Index i) {
        switch (spec.kind) {
          case ExperimentKind::copy:
            return bodies::copy_element(y.data(), x, i);
          case ExperimentKind::triad:
            return bodies::triad_element(y.data(), x, z, kTriadScale, i);
          case ExperimentKind::vector_add:
            return bodies::add_element(y.data(), x, z, i);
          case ExperimentKind::strided:
            return bodies::strided_element(y.data(), x, spec.sizes.stride, i);
          case ExperimentKind::gather:
            return bodies::gather_element(y.data(), x, data.indices.data(), i);
          default:
            return bodies::launch_element(y.data(), x, i);
        }
      };
      for (Index t = 0; t < 32; ++t) {
        bodies::for_each_element(Grid{t, 32}, data.output_size, 4, element);
      }
      CHECK(judged(spec, data, y) == "");
      y[static_cast<std::size_t>(data.output_size / 2)] += 1;
      CHECK(judged(spec, data, y) != "");  // and a wrong element is seen
    }
  }

  TEST_CASE("sums in blocks and lanes") {
    const ExperimentSpec spec = parse_experiment("two_stage_sum n=5003");
    const ExperimentData data = make_data(spec, 2);
    std::vector<float> partial;
    for (Index block = 0; block < 7; ++block) {
      const bodies::Span s = bodies::block_span(spec.sizes.n, block, 7);
      partial.push_back(block_sum(96, [&](Lanes lanes) {
        return bodies::partial_sum(data.inputs[0].data() + s.begin, s.end - s.begin, lanes);
      }));
    }
    const float total = block_sum(32, [&](Lanes lanes) {
      return bodies::partial_sum(partial.data(), static_cast<Index>(partial.size()), lanes);
    });
    CHECK(judged(spec, data, {total}) == "");
    // A block left out: some 700 of 5000 terms, of size sqrt(715 / 3) = 15; allowed 4 x 5003 x
    // 2^-23.
    CHECK(judged(spec, data, {total - partial[3]}) != "");
  }

  TEST_CASE("normalization, dropout and softmax, lane by lane") {
    for (const char* text : {"layernorm rows=3 cols=101", "residual_norm_one rows=3 cols=101",
                             "softmax rows=3 cols=101"}) {
      CAPTURE(text);
      const ExperimentSpec spec = parse_experiment(text);
      const ExperimentData data = make_data(spec, 3);
      const Index cols = spec.sizes.cols;
      std::vector<float> y(static_cast<std::size_t>(data.output_size), NAN);
      for (Index r = 0; r < spec.sizes.rows; ++r) {
        const float* x = data.inputs[0].data() + r * cols;
        float* out = y.data() + r * cols;
        std::vector<float> sum(static_cast<std::size_t>(cols));
        constexpr Index kLanes = 32;
        if (spec.kind == ExperimentKind::softmax) {
          bodies::RunningSoftmax row;
          for (Index l = 0; l < kLanes; ++l) {
            row = bodies::merged(row, bodies::partial_softmax(x, cols, {l, kLanes}));
          }
          for (Index l = 0; l < kLanes; ++l) bodies::softmax_row(out, x, cols, row, {l, kLanes});
          continue;
        }
        const bool residual = spec.kind == ExperimentKind::residual_norm_one;
        if (residual) {
          for (Index l = 0; l < kLanes; ++l) {
            bodies::residual_row(sum.data(), x, data.inputs[1].data() + r * cols, cols,
                                 {l, kLanes});
          }
          x = sum.data();
        }
        const float mean =
            block_sum(kLanes, [&](Lanes l) { return bodies::partial_sum(x, cols, l); }) /
            static_cast<float>(cols);
        const float inverse = bodies::inverse_deviation(
            block_sum(kLanes, [&](Lanes l) { return bodies::partial_squares(x, cols, mean, l); }),
            cols, kNormEpsilon);
        const float* scale = data.inputs[residual ? 2 : 1].data();
        const float* shift = data.inputs[residual ? 3 : 2].data();
        for (Index l = 0; l < kLanes; ++l) {
          if (residual) {
            bodies::normalize_dropout_row(out, x, scale, shift, cols, mean, inverse, r * cols,
                                          kDropoutSeed, kDropoutKeep, Lanes{l, kLanes});
          } else {
            bodies::normalize_row(out, x, scale, shift, cols, mean, inverse, Lanes{l, kLanes});
          }
        }
      }
      CHECK(judged(spec, data, y) == "");
    }
  }

  TEST_CASE("dropout keeps seven of eight") {
    int kept = 0;
    for (Index i = 0; i < 100000; ++i) {
      kept += bodies::dropout_factor(i, kDropoutSeed, kDropoutKeep) > 0 ? 1 : 0;
    }
    CHECK(std::abs(kept - 87500) < 525);  // five deviations: 5 sqrt(1e5 x 0.875 x 0.125)
  }

  TEST_CASE("attention key by key, in tiles, and by parts") {
    const ExperimentSpec spec =
        parse_experiment("attention_tiled heads=2 q_len=5 kv_len=11 head_dim=8 causal=1");
    const ExperimentData data = make_data(spec, 4);
    const float* q = data.inputs[0].data();
    const float* k = data.inputs[1].data();
    const float* v = data.inputs[2].data();
    const bodies::AttentionShape shape{2, 5, 11, 8, true, 1 / std::sqrt(8.0F)};
    std::vector<float> by_key, by_tile, naive;
    for (Index row = 0; row < 10; ++row) {
      const Index head = row / 5;
      const Index seen = bodies::visible_keys(shape, row % 5);
      CHECK(seen == 11 - 5 + row % 5 + 1);
      bodies::RunningSoftmax one, tiled;
      std::vector<float> out(8), out_tiled(8), p(11), scores(4);
      for (Index key = 0; key < seen; ++key) {
        bodies::online_update(one, out.data(), bodies::score_at(q, k, shape, row, key),
                              v + (head * 11 + key) * 8, 8);
      }
      for (Index begin = 0; begin < seen; begin += 4) {
        const Index end = std::min<Index>(begin + 4, seen);
        for (Index key = begin; key < end; ++key) {
          scores[static_cast<std::size_t>(key - begin)] = bodies::score_at(q, k, shape, row, key);
        }
        bodies::online_tile(tiled, out_tiled.data(), scores.data(), v + head * 88, begin, end, 8);
      }
      for (Index key = 0; key < 11; ++key) {
        p[static_cast<std::size_t>(key)] = bodies::score_at(q, k, shape, row, key);
      }
      bodies::softmax_row(p.data(), p.data(), 11, bodies::partial_softmax(p.data(), 11, {0, 1}),
                          {0, 1});
      for (Index d = 0; d < 8; ++d) {
        by_key.push_back(out[static_cast<std::size_t>(d)] / one.sum);
        by_tile.push_back(out_tiled[static_cast<std::size_t>(d)] / tiled.sum);
        naive.push_back(bodies::weighted_value(p.data(), v, shape, head, d));
      }
    }
    CHECK(judged(spec, data, by_key) == "");
    CHECK(judged(spec, data, by_tile) == "");
    CHECK(judged(spec, data, naive) == "");
  }

  TEST_CASE("a product by tiles, and one that skips a tile") {
    const ExperimentSpec spec = parse_experiment("gemm m=9 n=13 k=21");
    const ExperimentData data = make_data(spec, 6);
    const auto product = [&](Index skipped) {
      constexpr Index kTile = 4;
      std::vector<float> y(9 * 13, 0);
      for (Index row = 0; row < 9; ++row) {
        for (Index column = 0; column < 13; ++column) {
          for (Index t = 0; t < bodies::tiles_over(21, kTile); ++t) {
            if (t == skipped) continue;
            float a[kTile];
            float b[kTile];
            for (Index i = 0; i < kTile; ++i) {
              a[i] = bodies::tile_load(data.inputs[0].data(), 9, 21, row, t * kTile + i);
              b[i] = bodies::tile_load(data.inputs[1].data(), 21, 13, t * kTile + i, column);
            }
            y[static_cast<std::size_t>(row * 13 + column)] +=
                bodies::tile_element(a, b, 1, kTile, 0, 0);
          }
        }
      }
      return y;
    };
    CHECK(judged(spec, data, product(-1)) == "");
    for (Index t = 0; t < 6; ++t) CHECK(judged(spec, data, product(t)) != "");
  }

  TEST_CASE("one row times a matrix by parts of k; chains alone and together") {
    const ExperimentSpec spec = parse_experiment("gemv n=17 k=50");
    const ExperimentData data = make_data(spec, 8);
    std::vector<float> y;
    for (Index column = 0; column < 17; ++column) {
      float sum = 0;
      for (Index part = 0; part < 3; ++part) {
        sum += bodies::gemv_part(data.inputs[0].data(), data.inputs[1].data(), 17,
                                 bodies::block_span(50, part, 3), column);
      }
      y.push_back(sum);
    }
    CHECK(judged(spec, data, y) == "");
    const ExperimentSpec chain = parse_experiment("dependency_chain n=12 count=9");
    const ExperimentData chained = make_data(chain, 9);
    std::vector<float> alone;
    for (const float v : chained.inputs[0]) {
      alone.push_back(bodies::chained(v, Index{9}, kChainFactor, kChainOffset));
    }
    std::vector<float> together = chained.inputs[0];
    for (std::size_t i = 0; i < 12; i += 4) {
      bodies::chained_together<4>(together.data() + i, Index{9}, kChainFactor, kChainOffset);
    }
    CHECK(judged(chain, chained, alone) == "");
    CHECK(judged(chain, chained, together) == "");
  }
}
