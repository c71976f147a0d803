// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <set>
#include <string>

#include "tests/demand/one_op.hpp"

using namespace floorline;
using namespace floorline::testing;

namespace {

struct Line {
  int size, filter, stride, pad, dilation;
};

/// One image row by going through every output and tap.
struct Counted {
  int taps = 0;
  std::set<int> met;
};
Counted count(const Line& c) {
  Counted all;
  for (int out = 0; out * c.stride + c.dilation * (c.filter - 1) < c.size + 2 * c.pad; ++out) {
    for (int tap = 0; tap < c.filter; ++tap) {
      const int at = out * c.stride + tap * c.dilation - c.pad;
      if (at < 0 || at >= c.size) continue;
      ++all.taps;
      all.met.insert(at);
    }
  }
  return all;
}

}  // namespace

TEST_SUITE("demand") {
  TEST_CASE("conv: no padding, the textbook count") {
    // 6 x 6 outputs of 3 x 3 x 4 products, 5 filters, 2 images.
    const Demand d = demand_of_op("conv n=2 c=4 h=8 w=8 k=5 r=3 s=3");
    CHECK(work(d) == 2.0 * 2 * 5 * 36 * 36);
    CHECK(asked(d, "tensor.bf16.fp32") == work(d));
    CHECK(read(d) == (512.0 + 180) * 2);
    CHECK(written(d) == 360.0 * 2);
  }

  TEST_CASE("conv: products with padding are not counted") {
    // 4 outputs a side from 4 pixels and 1 zero on each end: 2 + 3 + 3 + 2 = 10 taps, not 12.
    CHECK(work(demand_of_op("conv n=1 c=1 h=4 w=4 k=1 r=3 s=3 pad=1")) == 200.0);
  }

  TEST_CASE(
      "conv: a stride above the filter steps over pixels (naive inputs + outputs reads them)") {
    const Demand d = demand_of_op("conv n=1 c=3 h=8 w=8 k=2 r=1 s=1 stride=2");
    CHECK(read(d) == 2.0 * (3 * 16 + 6));
    CHECK(written(d) == 2.0 * 32);
    CHECK(work(d) == 2.0 * 2 * 3 * 16);
  }

  TEST_CASE("conv: depthwise channels are groups of one") {
    const Demand d = demand_of_op("conv n=1 c=8 h=5 w=5 k=8 r=3 s=3 groups=8");
    CHECK(work(d) == 2.0 * 8 * 9 * 9);
    CHECK(read(d) == 2.0 * (200 + 72));
  }

  TEST_CASE("conv: winograd needs one product an output and channel at least") {
    CHECK(work(demand_of_op("conv n=1 c=4 h=8 w=8 k=5 r=3 s=3 algorithm=winograd")) ==
          2.0 * 5 * 4 * 36);
    CHECK(work(demand_of_op("conv n=1 c=4 h=8 w=8 k=5 r=3 s=3 algorithm=direct")) ==
          2.0 * 5 * 36 * 36);
  }

  TEST_CASE("conv: taps and distinct pixels agree with going through all of them") {
    for (int size = 1; size <= 9; ++size) {
      for (const Line& c : {Line{size, 3, 1, 0, 1}, Line{size, 3, 1, 1, 1}, Line{size, 2, 3, 0, 1},
                            Line{size, 3, 2, 1, 2}, Line{size, 2, 1, 0, 3}, Line{size, 3, 4, 2, 2},
                            Line{size, 3, 3, 2, 2}, Line{size, 1, 1, 2, 1}}) {
        if (c.dilation * (c.filter - 1) + 1 > c.size + 2 * c.pad) continue;
        CAPTURE(size);
        CAPTURE(c.filter);
        CAPTURE(c.stride);
        CAPTURE(c.pad);
        CAPTURE(c.dilation);
        const std::string text =
            "conv in=int8 n=1 c=1 k=1 h=" + std::to_string(size) + " w=" + std::to_string(size) +
            " r=" + std::to_string(c.filter) + " s=" + std::to_string(c.filter) +
            " stride=" + std::to_string(c.stride) + " pad=" + std::to_string(c.pad) +
            " dilation=" + std::to_string(c.dilation);
        const Demand d = demand_of_op(text);
        const Counted by_hand = count(c);
        CHECK(work(d) == 2.0 * by_hand.taps * by_hand.taps);
        const double pixels = static_cast<double>(by_hand.met.size() * by_hand.met.size());
        CHECK(read(d) == doctest::Approx(pixels + c.filter * c.filter).epsilon(1e-12));
      }
    }
  }

  TEST_CASE("conv: a filter of any length ends") {
    const Demand d = demand_of_op("conv n=1 c=1 h=1 w=4000000000 k=1 r=1 s=1000000000");
    CHECK(work(d) == 2.0 * 3000000001.0 * 1000000000.0);
  }

  TEST_CASE("conv: keys that contradict") {
    CHECK_THROWS_AS(bind(parse_op_text("conv n=1 c=4 h=8 w=8 k=5 r=3 s=3 groups=3")), InputError);
    CHECK_THROWS_AS(bind(parse_op_text("conv n=1 c=4 h=8 w=8 k=5 r=10 s=10")), InputError);
    CHECK_THROWS_AS(bind(parse_op_text("conv n=1 c=4 h=8 w=8 k=5 r=3 s=3 stride=0")), InputError);
  }
}
