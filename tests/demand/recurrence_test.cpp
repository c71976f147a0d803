// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "tests/demand/one_op.hpp"

using namespace floorline;
using namespace floorline::testing;

TEST_SUITE("demand") {
  TEST_CASE("ssm scan: one token is the recurrence, 5 FLOPs a state element") {
    const Demand d = demand_of_op("ssm_scan batch=3 q_len=1 heads=4 head_dim=8 state=16 kv=fp32");
    CHECK(work(d) == 5.0 * 8 * 16 * 4 * 3);
    // x 4 x 8, B and C 16 each, dt 4, in 16 bits; state 512 elements in 32 bits.
    CHECK(read(d) == 3.0 * ((32 + 32 + 4) * 2 + 2048));
    CHECK(written(d) == 3.0 * (64 + 2048));
  }

  TEST_CASE("ssm scan: the state moves once a call (naive: once a token)") {
    const Demand d = demand_of_op("ssm_scan batch=1 q_len=100 heads=2 head_dim=8 state=4 kv=fp32");
    CHECK(read(d) == 100.0 * (16 + 8 + 2) * 2 + 256);
    CHECK(written(d) == 100.0 * 32 + 256);
    // 4 a state element and token, and one decay: (400 + 1) x 32 x 2 heads.
    CHECK(work(d) == 401.0 * 32 * 2);
  }

  TEST_CASE("ssm scan: from zero, short sequences look at tokens and read no state") {
    // One head of 8 x 4: update 2 x 32 x 6 tokens; look-back of 1, 2, 3, 4, 4, 4 = 18 tokens x 2
    // x 8.
    const Demand d = demand_of_op("ssm_scan batch=1 q_len=6 heads=1 head_dim=8 state=4 initial=0");
    CHECK(work(d) == 384.0 + 288.0);
    CHECK(read(d) == 6.0 * (8 + 8 + 1) * 2);
    CHECK(written(d) == 6.0 * 16 + 64);
    CHECK(work(demand_of_op("ssm_scan batch=1 q_len=0 heads=1 head_dim=8 state=4")) == 0);
  }

  TEST_CASE("linear attention: one token, 7 FLOPs a state element with the delta rule, 5 without") {
    const std::string text =
        "linear_attention batch=2 q_len=1 heads=4 q_heads=2 head_dim=8 v_dim=16";
    CHECK(work(demand_of_op(text)) == 7.0 * 8 * 16 * 4 * 2);
    CHECK(work(demand_of_op(text + " delta=0")) == 5.0 * 8 * 16 * 4 * 2);
    const Demand d = demand_of_op(text + " kv=fp32");
    CHECK(read(d) ==
          2.0 * ((16 + 16 + 64) * 2 + 2048));  // q, k of 2 heads, v of 4, states in 32 bits
    CHECK(written(d) == 2.0 * (128 + 2048));
  }

  TEST_CASE("linear attention: from zero the delta rule looks at one token less than the result") {
    // d = e = 4, 6 tokens: update 2 x 16 x 6; results 18, deltas 1 + 2 + 3 + 4 + 4 = 14 tokens x 2
    // x 4.
    const Demand d = demand_of_op("linear_attention batch=1 q_len=6 heads=1 head_dim=4 initial=0");
    CHECK(work(d) == 192.0 + 8 * 32);
    const Demand plain =
        demand_of_op("linear_attention batch=1 q_len=6 heads=1 head_dim=4 initial=0 delta=0");
    CHECK(work(plain) == 192.0 + 8 * 18);
  }
}
