// SPDX-License-Identifier: Apache-2.0
#include "model/whatif/whatif.hpp"

#include <doctest/doctest.h>

#include "tests/whatif/situations.hpp"

using namespace floorline;
using namespace floorline::testing;

namespace {

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_SUITE("whatif") {
  TEST_CASE("a kernel by numbers: compute 20 ms, memory 100 ms") {
    // F = 2e12, D = 100 GB, P = 100 TFLOP/s, B = 1 TB/s
    const Situation s = by_numbers(2e12, 100e9, 100e12, 1e12);
    CHECK(floor_ratio(s, {"bytes=10GB"}) == doctest::Approx(5));           // 100 ms to 20 ms
    CHECK(floor_ratio(s, {"bytes=5GB"}) == doctest::Approx(5));            // still 20 ms
    CHECK(floor_ratio(s, {"peak*=2"}) == doctest::Approx(1));              // 100 ms
    CHECK(floor_ratio(s, {"bandwidth=500GB/s"}) == doctest::Approx(0.5));  // 200 ms
    const Whatif tie = testing::ask(s, {"bytes=20GB"});
    CHECK(floor_in(tie.after, 0).tie());
    CHECK(tie.changes.front().break_even.found->within);
  }

  TEST_CASE("where the binding moves, in closed form") {
    const Situation s = by_numbers(2e12, 100e9, 100e12, 1e12);
    const BreakEvenValue down = *testing::ask(s, {"bytes=10GB"}).changes[0].break_even.found;
    CHECK(down.value == doctest::Approx(20e9).epsilon(1e-14));  // 20 ms x 1 TB/s
    CHECK(down.factor == doctest::Approx(0.2).epsilon(1e-14));
    CHECK(down.text == "20.00 GB");
    CHECK(name_of(down.to) == "compute");
    CHECK(down.within);
    // Not reached by this change, but told.
    CHECK_FALSE(testing::ask(s, {"bytes=50GB"}).changes[0].break_even.found->within);
    // The rate of the binding resource goes as 1/v: 5 TB/s.
    const BreakEvenValue rate = *testing::ask(s, {"bandwidth*=8"}).changes[0].break_even.found;
    CHECK(rate.value == doctest::Approx(5e12).epsilon(1e-14));
    // F = 8e12, D = 20 GB: compute 80 ms, memory 20 ms, break-even F = 2e12
    const Situation compute = by_numbers(8e12, 20e9, 100e12, 1e12);
    CHECK(testing::ask(compute, {"flops=1e12"}).changes[0].break_even.found->value ==
          doctest::Approx(2e12).epsilon(1e-14));
    // More bytes never move it away from memory.
    const BreakEvenAnswer never = testing::ask(s, {"bytes=200GB"}).changes[0].break_even;
    CHECK_FALSE(never.found);
    CHECK(never.reason == "memory binds at every value in this direction");
  }

  TEST_CASE("where the binding moves, by search: the first whole number") {
    // 125 TFLOP/s, 1 TB/s. F = 2e6 m: 1.6e-8 m s. D = 2 (1000 m + 1e6 + 1000 m): 2e-6 + 4e-9 m s.
    // Equal at m = 2e-6 / 1.2e-8 = 166.67.
    const Whatif w = testing::ask(of_op("gemm m=16 n=1000 k=1000"), {"m=1024"});
    const BreakEvenValue even = *w.changes[0].break_even.found;
    CHECK(even.value == 167);
    CHECK(name_of(even.to) == "tensor.bf16.fp32");
    CHECK(w.changes[0].from == "16");
    CHECK(w.changes[0].to == "1024");
  }

  TEST_CASE("where the binding moves in a graph of two: by share of the serial floor") {
    // copy 100 kB: d2d reads and writes, 0.2 us at 1 TB/s. gemm m = n = k = 500: F = 2.5e8, 2 us of
    // tensor at 125 TFLOP/s. Scaled traffic of the copy binds from 2 us on, at a factor of 10.
    const OperatorGraph graph = graph_of_toml(R"(
schema = 1
kind = "graph"
[tensor.a]
shape = [500, 500]
dtype = "bf16"
role = "input"
[tensor.b]
shape = [500, 500]
dtype = "bf16"
role = "weight"
[tensor.c]
shape = [500, 500]
dtype = "bf16"
role = "output"
[tensor.from]
shape = [100000]
dtype = "int8"
role = "input"
[tensor.to]
shape = [100000]
dtype = "int8"
role = "output"
[[op]]
name = "copy"
kind = "copy"
path = "d2d"
inputs = ["from"]
outputs = ["to"]
[[op]]
name = "product"
kind = "gemm"
inputs = ["a", "b"]
outputs = ["c"]
)");
    const Whatif w = testing::ask(of_graph(graph), {"op.copy.bytes*=100"});
    const BreakEvenValue even = *w.changes[0].break_even.found;
    CHECK(even.factor == doctest::Approx(10).epsilon(1e-9));
    CHECK(even.value == doctest::Approx(2e6).epsilon(1e-9));
    CHECK(name_of(even.to) == "hbm");
    CHECK(name_of(runner_up_of(w.after).value()) == "tensor.bf16.fp32");
    // 2.2 us before, 20 + 2 us after.
    CHECK(*w.ratios.serial.cold == doctest::Approx(0.1).epsilon(1e-12));
  }

  TEST_CASE("storage and compute precision are changed apart") {
    // 8192 x 4096: in and out 4 bytes each = 268,435,456; scale and shift 2 x 4096 x 4 = 32,768.
    // In and out at 16 bits: 134,217,728 + 32,768.
    const Situation s = of_op("layernorm rows=8192 cols=4096 in=fp32 out=fp32 weight=fp32",
                              round_machine("[rate.vector.fp16]\nper_clock_per_unit = 100\n"
                                            "clock = \"sm\"\n"));
    const Whatif storage = testing::ask(s, {"activation_dtype=fp16"});
    CHECK(traffic_of(storage.before).in_base_units() == 268468224);
    CHECK(traffic_of(storage.after).in_base_units() == 134250496);
    CHECK(*storage.ratios.serial.cold == doctest::Approx(268468224.0 / 134250496).epsilon(1e-12));
    CHECK(floor_ratio(s, {"op.layernorm.compute=fp16"}) == 1);
    CHECK(floor_ratio(s, {"tensor.in.dtype=fp16", "tensor.out.dtype=fp16"}) ==
          doctest::Approx(268468224.0 / 134250496).epsilon(1e-12));
    CHECK(storage.changes[0].break_even.reason == "not a number: there are no values in between");
  }

  TEST_CASE("several changes: alone, together, and whether they interact") {
    const Situation s = by_numbers(2e12, 100e9, 100e12, 1e12);
    // Alone 5x (compute binds at 20 ms) and 2x (50 ms); together still 20 ms.
    const Whatif w = testing::ask(s, {"bytes=10GB", "bandwidth*=2"});
    CHECK(*w.changes[0].alone->serial.cold == doctest::Approx(5));
    CHECK(*w.changes[1].alone->serial.cold == doctest::Approx(2));
    CHECK(w.interaction->product == doctest::Approx(10));
    CHECK(w.interaction->joint == doctest::Approx(5));
    CHECK(w.interaction->interact());
    // 80 GB at 1.1 TB/s: 100 / 80 and 1.1 multiply.
    const Whatif apart = testing::ask(s, {"bytes=80GB", "bandwidth*=1.1"});
    CHECK(apart.interaction->joint == doctest::Approx(1.375));
    CHECK_FALSE(apart.interaction->interact());
  }

  TEST_CASE("device keys, clocks and compute keys of a device") {
    const Situation s = of_op("gemm m=1000 n=1000 k=1000");  // compute 16 us, memory 6 us
    CHECK(floor_ratio(s, {"rate.tensor.bf16.fp32*=2"}) == doctest::Approx(2));
    CHECK(floor_ratio(s, {"memory.hbm.bandwidth=2 TB/s"}) == doctest::Approx(1));
    CHECK(floor_ratio(s, {"sm_clock=625MHz"}) == doctest::Approx(0.5));
    CHECK(floor_ratio(s, {"mem_clock_scale=0.25"}) == doctest::Approx(16.0 / 24));
    const Whatif w = testing::ask(s, {"mem_clock_scale*=0.25"});
    CHECK(w.changes[0].break_even.found->value == doctest::Approx(6.0 / 16));
    CHECK(w.changes[0].from == "1");
  }

  TEST_CASE("changes that cannot be: all told at once") {
    const Situation s = of_op("gemm m=16 n=16 k=16");
    const std::string told = refusal([&] {
      testing::ask(s, {"q=1", "m=0", "n=-4", "k=nan", "k=3"});
    });
    CHECK(contains(told,
                   "q: does not exist here; there are symbols m, n, k, batch; operators "
                   "op.gemm, each with .bytes"));
    CHECK(contains(told, "m: \"0\" leaves nothing"));
    CHECK(contains(told, "n: \"-4\" is below zero"));
    CHECK(contains(told, "k: \"nan\" is not a number"));
    CHECK(contains(told, "k: changed twice, to nan and to 3"));
    CHECK(contains(refusal([&] { testing::ask(s, {"m*=0"}); }), "not a factor above zero"));
    CHECK(contains(refusal([&] { testing::ask(s, {"op.gemm.bytes=inf"}); }), "is not a number"));
    CHECK(contains(refusal([&] {
                     testing::ask(s, {"op.gemm.bytes*=0.5", "op.gemm.bytes=1MB"});
                   }),
                   "changed twice"));
    CHECK(contains(refusal([&] {
                     testing::ask(s, {"op.*.bytes*=0.5", "op.gemm.bytes*=2"});
                   }),
                   "changed twice"));
    CHECK(contains(refusal([&] {
                     testing::ask(s, {"op.gemm=remove", "op.gemm.flops*=2"});
                   }),
                   "changed twice"));
    CHECK(contains(refusal([&] { testing::ask(s, {"op.gem.bytes*=2"}); }),
                   "did you mean \"op.gemm.bytes\"?; there are op.gemm, each"));
    CHECK(contains(refusal([&] { testing::ask(s, {"memory.hbm.bandwith*=2"}); }),
                   "did you mean \"memory.hbm.bandwidth\"?; device round has memory."));
    CHECK(contains(refusal([&] { testing::ask(s, {"op.gemm.compute=fp7"}); }), "not a precision"));
    CHECK(contains(refusal([&] { testing::ask(s, {"tensor.in.dtype=any"}); }), "not a precision"));
    CHECK(contains(refusal([&] { testing::ask(s, {"kv_dtype=fp8"}); }), "names no tensor"));
    const Situation n = by_numbers(2e12, 100e9, 100e12, 1e12);
    CHECK(contains(refusal([&] { testing::ask(n, {"byte=1GB"}); }),
                   "there are flops, bytes, peak, bandwidth"));
    CHECK(contains(refusal([&] { testing::ask(n, {"bytes=0B"}); }), "leaves nothing"));
  }

  TEST_CASE("a change that cannot be made alone is told, not dropped") {
    // Without work the kernel needs no peak; work of 2e12 alone has no rate.
    Situation s = by_numbers(0, 100e9, 0, 1e12);
    const Whatif w = testing::ask(s, {"flops=2e12", "peak=100TFLOP/s"});
    CHECK_FALSE(w.changes[0].alone);
    CHECK(contains(w.changes[0].cannot, "--flops needs the rate"));
    CHECK_FALSE(w.interaction);
    CHECK(*w.ratios.serial.cold == doctest::Approx(1));
  }

  TEST_CASE("a measured time: what is sound, and what is not promised") {
    // 100 MB through HBM, written 0: any residency 100 MB - 1 MB kept = 99 us; 49 us for half of it
    const Situation s = of_op("custom flops=1e6 bytes=100MB");
    WhatifQuestion q = question({"op.custom.bytes*=0.5"});
    q.measured.whole = microseconds(150);
    const MeasuredAnswer m = *floorline::ask(s, q).measured;
    CHECK(m.floor_before->in_base_units() == doctest::Approx(99e-6));
    CHECK(m.floor_after->in_base_units() == doctest::Approx(49e-6));
    CHECK(*m.speedup_at_most == doctest::Approx(150.0 / 49));
    CHECK_FALSE(m.far_above);                                       // 1.5 times
    CHECK(m.expected->in_base_units() == doctest::Approx(100e-6));  // 150 - (100 - 50)
    q.measured.whole = microseconds(201);
    const MeasuredAnswer far = *floorline::ask(s, q).measured;
    CHECK(far.far_above);
    CHECK(contains(far.look_first.front(), "the kernel itself"));
    q.measured.whole = microseconds(98);
    const MeasuredAnswer wrong = *floorline::ask(s, q).measured;
    CHECK(wrong.impossible);  // below 99: nothing follows from it
    CHECK_FALSE(wrong.speedup_at_most);
    CHECK_FALSE(wrong.expected);
    q.measured.parts = {{"custom", microseconds(90)}};
    CHECK_FALSE(floorline::ask(s, q).amdahl);
  }

  TEST_CASE("a measured time between the floors is warm; without a change nothing is expected") {
    // 100 MB through HBM: cold 100 us, any residency 99 us.
    const Situation s = of_op("custom flops=1e6 bytes=100MB");
    const auto answer = [&s](double us, const std::vector<std::string>& changes) {
      WhatifQuestion q = question(changes);
      q.measured.whole = microseconds(us);
      return *floorline::ask(s, q).measured;
    };
    CHECK(answer(99.5, {}).warm);
    CHECK_FALSE(answer(99.5, {}).impossible);
    CHECK_FALSE(answer(100.5, {}).warm);
    CHECK_FALSE(answer(98, {}).warm);  // impossible
    CHECK_FALSE(answer(150, {}).expected);
    CHECK_FALSE(answer(150, {"op.custom.flops*=2"}).expected);  // HBM binds before and after
    CHECK(answer(150, {"op.custom.bytes*=0.5"}).expected);
  }

  TEST_CASE("amounts of an operator are those of one execution, and how many there are is told") {
    // Read 2 MB, written 2 MB, 32 times; the other runs once: 4 MB each.
    const Situation s = of_graph(graph_of_toml(R"(
schema = 1
kind = "graph"
[tensor]
x = { shape = [1000000], dtype = "bf16", role = "input" }
y = { shape = [1000000], dtype = "bf16", role = "output" }
z = { shape = [1000000], dtype = "bf16", role = "output" }
[[op]]
name = "layer"
kind = "elementwise"
inputs = ["x"]
outputs = ["y"]
[[op]]
name = "last"
kind = "elementwise"
inputs = ["x"]
outputs = ["z"]
[[repeat]]
name = "layers"
ops = ["layer"]
times = 32
)"));
    const auto change = [&s](const char* text) { return ask(s, {text}).changes.front(); };
    const SingleChange layer = change("op.layer.bytes*=0.5");
    CHECK(layer.executions == 32);
    CHECK(layer.from == "4.000 MB");
    CHECK(layer.to == "2.000 MB");
    CHECK(change("op.last.bytes*=0.5").executions == 1);
    CHECK_FALSE(change("op.*.bytes*=0.5").executions);  // 32 and 1
    CHECK(change("memory.hbm.bandwidth*=2").executions == 1);
  }

  TEST_CASE("one expectation: that of measured parts, where what changed has a measured time") {
    const Situation s = of_op("custom flops=1e6 bytes=100MB");
    WhatifQuestion q = question({"op.custom.bytes*=0.5"});
    q.measured.whole = microseconds(150);
    q.measured.parts = {{"custom", microseconds(120)}};
    const Whatif w = floorline::ask(s, q);
    // 100 us to 50 us of floor, so 120 us to 60 us; 150 - 60. The floors alone would say 100.
    CHECK(w.amdahl->after.in_base_units() == doctest::Approx(90e-6));
    CHECK_FALSE(w.measured->expected);
    CHECK(w.measured->speedup_at_most);
    CHECK(w.amdahl->unmeasured.empty());
  }

  TEST_CASE("what does not fit the memory is told, before the change and after it") {
    Situation s = of_op("custom flops=1e6 bytes=100MB");
    CHECK(testing::ask(s, {"op.custom.bytes*=0.5"}).unfit.empty());
    // A matrix of 100,000 x 100,000 in bf16 is 20 GB; the memory is given as 10 GB.
    s = of_op("gemm m=8 n=100000 k=100000");
    s.device.hbm.capacity.known.emplace().value = Bytes(10e9);
    s.device.hbm.driver_capacity.known.reset();
    const Whatif w = testing::ask(s, {"m=16"});
    REQUIRE(w.unfit.size() == 2);
    CHECK(contains(w.unfit[0], "DOES NOT FIT before the change"));
    CHECK(contains(w.unfit[1], "DOES NOT FIT after the change"));
    CHECK(testing::ask(s, {"n=1000"}).unfit.size() == 1);  // 200 MB after
  }

  TEST_CASE("a measured token rate: of the slowest stage, and of tokens that a step makes") {
    // 4 tokens a step before, 16 after; the floor between steps is 10 us before, 20 us after, that
    // of a step through all stages 30 and 60 us.
    const auto outcome = [](double tokens, double between, double through) {
      Outcome o;
      o.model.emplace();
      o.model->judging.tokens = tokens;
      o.model->judging.throughput_proven = o.model->judging.throughput_serial =
          microseconds(between);
      o.model->judging.latency_proven = microseconds(through);
      o.whole.serial.cold = microseconds(through);
      return o;
    };
    MeasuredTimes measured;
    measured.whole = microseconds(25);
    measured.token_rate = true;
    const MeasuredAnswer rate = answer_measured(outcome(4, 10, 30), outcome(16, 20, 60), measured);
    CHECK(*rate.speedup_at_most == doctest::Approx(25.0 / 20));
    CHECK(*rate.token_speedup_at_most == doctest::Approx(25.0 / 20 * 4));
    CHECK_FALSE(rate.impossible);
    CHECK(rate.over_serial == doctest::Approx(2.5));
    measured.token_rate = false;  // as a time of a step it is below the floor through all stages
    CHECK(answer_measured(outcome(4, 10, 30), outcome(4, 20, 60), measured).impossible);
    CHECK_FALSE(
        answer_measured(outcome(4, 10, 30), outcome(4, 20, 60), measured).token_speedup_at_most);
  }

  TEST_CASE("experts: the mean of uniform routing stands beside the least") {
    // 64 experts, one a token: 8 tokens meet at least 1 expert, on average
    // 64 (1 - (63/64)^8) = 7.5754; 64 tokens 64 (1 - (63/64)^64) = 40.6415. Weights of 512 x 512
    // bf16 are 524,288 bytes an expert; rows are small beside them.
    const Situation s = of_op("grouped_gemm n=512 k=512 tokens=8 top_k=1 experts=64");
    const Whatif w = testing::ask(s, {"tokens=64"});
    CHECK(*w.ratios.serial.cold > 0.8);  // the least: one expert either way
    CHECK(*w.uniform == doctest::Approx(7.5754 / 40.6415).epsilon(0.02));
  }

  TEST_CASE("a kernel by numbers has no memory floor at any residency: no bound is made up") {
    WhatifQuestion q = question({"bytes=10GB"});
    q.measured.whole = milliseconds(300);
    const MeasuredAnswer none = *floorline::ask(by_numbers(0, 100e9, 0, 1e12), q).measured;
    CHECK_FALSE(none.speedup_at_most);
  }

  TEST_CASE("the peak of memory stands beside the time") {
    const Whatif w = testing::ask(of_op("gemm m=100 n=1000 k=1000"), {"weight_dtype=fp8"});
    // 2 (100,000 + 1,000,000 + 100,000) before, the weight halved after
    CHECK(peak_memory(w.before)->count() == 2400000);
    CHECK(peak_memory(w.after)->count() == 1400000);
  }
}
