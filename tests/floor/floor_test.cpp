// SPDX-License-Identifier: Apache-2.0
#include "model/floor/floor.hpp"

#include <doctest/doctest.h>

#include <string>

#include "tests/demand/one_op.hpp"
#include "tests/floor/test_machine.hpp"

using namespace floorline;
using namespace floorline::testing;

namespace {

Floor by_numbers(double work, double bytes, double peak = 100e12, double bandwidth = 1e12) {
  static Rates rates;  // the terms point into it
  rates = rates_by_numbers(FlopsPerSecond(peak), BytesPerSecond(bandwidth));
  return floor_of(demand_by_numbers(Flops(work), Bytes(bytes)), rates, {}, Residency::cold);
}

double ms(const Floor& floor) { return floor.time().in_base_units() * 1e3; }
std::string binding(const Floor& floor) { return name_of(floor.binding_term().resource); }

double us(Seconds time) { return time.in_base_units() * 1e6; }

}  // namespace

TEST_SUITE("floor") {
  TEST_CASE("2e12 FLOP and 100 GB at 100 TFLOP/s and 1 TB/s") {
    const Floor floor = by_numbers(2e12, 100e9);
    // 2e12 / 100e12 = 20 ms; 100e9 / 1e12 = 100 ms; 2e12 / 100e9 = 20 FLOP/byte
    CHECK(ms(floor) == doctest::Approx(100).epsilon(1e-12));
    CHECK(binding(floor) == "memory");
    REQUIRE(floor.count == 2);
    CHECK(us(floor.terms[0].time) == doctest::Approx(20000).epsilon(1e-12));
    CHECK(us(floor.terms[1].time) == doctest::Approx(100000).epsilon(1e-12));
    CHECK_FALSE(floor.tie());
    REQUIRE(floor.break_even().has_value());
    CHECK(floor.break_even()->factor == doctest::Approx(0.2).epsilon(1e-12));
    CHECK(floor.break_even()->amount.in_base_units() == doctest::Approx(20e9).epsilon(1e-12));
  }

  TEST_CASE("what changes the floor of that kernel and what does not") {
    CHECK(ms(by_numbers(2e12, 10e9)) == doctest::Approx(20).epsilon(1e-12));
    CHECK(binding(by_numbers(2e12, 10e9)) == "compute");
    CHECK(ms(by_numbers(2e12, 5e9)) == doctest::Approx(20).epsilon(1e-12));
    CHECK(ms(by_numbers(2e12, 100e9, 200e12)) == doctest::Approx(100).epsilon(1e-12));
    CHECK(ms(by_numbers(2e12, 100e9, 100e12, 500e9)) == doctest::Approx(200).epsilon(1e-12));
  }

  TEST_CASE("a tie is reported and goes to the resource that comes first") {
    const Floor floor = by_numbers(2e12, 20e9);
    CHECK(ms(floor) == doctest::Approx(20).epsilon(1e-12));
    CHECK(floor.tie());
    CHECK(binding(floor) == "compute");
    CHECK(floor.break_even()->factor == doctest::Approx(1).epsilon(1e-12));
    // 0.3 and 0.1 are not exact in binary: 3e11 / 1e12 and 1e11 / (1e12 / 3) still tie.
    CHECK(by_numbers(3e11, 1e11, 1e12, 1e12 / 3).tie());
    CHECK_FALSE(by_numbers(3e11, 1.000001e11, 1e12, 1e12 / 3).tie());
  }

  TEST_CASE("8e12 FLOP and 20 GB: break-even at 2e12 FLOP") {
    const Floor floor = by_numbers(8e12, 20e9);
    CHECK(ms(floor) == doctest::Approx(80).epsilon(1e-12));
    CHECK(binding(floor) == "compute");
    CHECK(us(floor.terms[1].time) == doctest::Approx(20000).epsilon(1e-12));
    CHECK(floor.break_even()->amount.in_base_units() == doctest::Approx(2e12).epsilon(1e-12));
    CHECK(floor.break_even()->factor == doctest::Approx(0.25).epsilon(1e-12));
  }

  TEST_CASE("no work has a floor of zero and nothing binds") {
    const Floor floor = by_numbers(0, 0);
    CHECK(floor.time() == Seconds(0));
    CHECK(floor.binding == -1);
    CHECK_FALSE(floor.break_even().has_value());
    const Floor one = by_numbers(0, 1e9);
    CHECK(one.binding == 0);
    CHECK_FALSE(one.break_even().has_value());  // no runner-up
  }

  TEST_CASE("floors use ceilings, nominal terms the published figures") {
    const Machine machine = round_machine();
    const Demand d = demand_of_op("gemm m=5000 n=5000 k=5000");
    const Floor floor = floor_of(d, machine.rates, machine.chip, Residency::cold);
    // 2.5e11 FLOP / 125e12 = 2 ms, nominal / 100e12 = 2.5 ms; 3 x 5e7 B / 1e12 = 0.15 ms
    CHECK(ms(floor) == doctest::Approx(2).epsilon(1e-12));
    CHECK(us(floor.binding_term().nominal_time().value()) == doctest::Approx(2500).epsilon(1e-12));
    CHECK(binding(floor) == "tensor.bf16.fp32");
    CHECK(us(floor.terms[1].time) == doctest::Approx(150).epsilon(1e-12));
    CHECK(floor.proven);
    CHECK_FALSE(floor.provisional());
  }

  TEST_CASE("matrix times vector at 3352 GB/s with 50 MiB of L2: cold and any residency") {
    const Machine machine = machine_from(R"(
schema = 1
units = 132
[rate.tensor.bf16]
fp32 = "1070 TFLOP/s"
[memory]
hbm = { bandwidth = "3352 GB/s" }
l2 = { capacity = "50 MiB" }
)");
    const Demand d = demand_of_op("gemm m=8192 n=1 k=8192");
    // 134,250,496 / 3352e9 = 40.0509 us
    const Floor cold = floor_of(d, machine.rates, machine.chip, Residency::cold);
    CHECK(us(cold.time()) == doctest::Approx(40.0509).epsilon(1e-6));
    // (134,234,112 - 52,428,800 + 0) / 3352e9 = 81,805,312 / 3352e9 = 24.4049 us
    const Floor any = floor_of(d, machine.rates, machine.chip, Residency::any_keep);
    CHECK(us(any.time()) == doctest::Approx(24.4049).epsilon(2e-6));
    CHECK(binding(any) == "hbm");
    // What the units hold is not known here: no memory term where kernels may overlap.
    const Floor overlapped = floor_of(d, machine.rates, machine.chip, Residency::any_all);
    CHECK(overlapped.memory_unknown);
    CHECK(binding(overlapped) == "tensor.bf16.fp32");
  }

  TEST_CASE("any residency subtracts from reads and from writes, once each") {
    OnChip chip;
    chip.keep = Bytes(100);
    chip.all = Bytes(150);
    chip.keep_known = chip.all_known = true;
    Demand d;
    d.hbm_read = Bytes(1000);
    d.hbm_write = Bytes(120);
    CHECK(hbm_bytes(d, chip, Residency::cold) == Bytes(1120));
    CHECK(hbm_bytes(d, chip, Residency::any_keep) == Bytes(920));  // 900 + 20
    CHECK(hbm_bytes(d, chip, Residency::any_all) == Bytes(850));   // 850 + 0
    // A matrix product that a finite memory forces to 5000 bytes: less S_all at any residency.
    d.hbm_least_total = Bytes(5000);
    CHECK(hbm_bytes(d, chip, Residency::cold) == Bytes(5000));
    CHECK(hbm_bytes(d, chip, Residency::any_keep) == Bytes(4850));
  }

  TEST_CASE("all_reduce of 64 MiB on 8 ranks at 450 GB/s") {
    const Demand d = demand_of_op("all_reduce bytes=64MiB ranks=8");
    const Demand endpoints = [] {
      OnChip chip;
      chip.in_network_reduction_possible = chip.multicast_possible = false;
      return demand_of_op("all_reduce bytes=64MiB ranks=8", chip);
    }();
    const Machine machine = round_machine();
    const auto peer_term = [&](const Demand& demand) {
      const Floor floor = floor_of(demand, machine.rates, machine.chip, Residency::cold);
      CHECK(binding(floor) == "peer_out");
      CHECK(floor.tie());  // out and in are equal; peer_out comes first
      return us(floor.time());
    };
    // 117,440,512 / 450e9 = 260.979 us; 67,108,864 / 450e9 = 149.131 us
    CHECK(peer_term(endpoints) == doctest::Approx(260.979).epsilon(1e-5));
    CHECK(peer_term(d) == doctest::Approx(149.131).epsilon(1e-5));
  }

  TEST_CASE("the port between units and L2 bounds a kernel whose inputs are in L2") {
    const Machine machine = round_machine(
        "[memory.l1_port]\nbytes_per_clock_per_unit = \"64 B\"\n"
        "clock = \"sm\"\n");
    const Demand d = demand_of_op("softmax rows=1000 cols=400 compute=fp32");
    // 800,000 bytes fit in S_keep = 1,000,000: no HBM term. Through the port, which every kernel
    // begins anew: 800,000 / (64 x 100 x 1.25e9 = 8e12) = 0.1 us; the arithmetic, on both units,
    // 4 x 400,000 / (12.5e12 + 125e12) = 0.0116 us.
    const Floor any = floor_of(d, machine.rates, machine.chip, Residency::any_keep);
    CHECK(us(any.time()) == doctest::Approx(0.1).epsilon(1e-9));
    CHECK(binding(any) == "l1_port");
    // Where kernels overlap, the units (1,000,000 bytes) may hold all of it already.
    const Floor overlapped = floor_of(d, machine.rates, machine.chip, Residency::any_all);
    CHECK(us(overlapped.time()) == doctest::Approx(1.6 / 137.5).epsilon(1e-9));
  }

  TEST_CASE("cold, the port is a term only where it is slower than the memory") {
    const auto with_port = [](const char* bytes_per_clock) {
      return round_machine(std::string("[memory.l1_port]\nclock = \"sm\"\n") +
                           "bytes_per_clock_per_unit = \"" + bytes_per_clock + "\"\n");
    };
    const Demand d = demand_of_op("reduce rows=1 cols=2000000 in=fp32 compute=fp32");
    const Machine wide = with_port("64 B");
    const Floor usual = floor_of(d, wide.rates, wide.chip, Residency::cold);
    CHECK(us(usual.time()) == doctest::Approx(8.000004).epsilon(1e-12));  // 8,000,004 B / 1e12
    CHECK(usual.count == 2);
    // 100 x 4 x 1.25e9 = 0.5 TB/s: a low SM clock does this. 8,000,000 / 0.5e12 = 16 us, and at any
    // residency the same, never more than cold.
    const Machine narrow = with_port("4 B");
    const Floor cold = floor_of(d, narrow.rates, narrow.chip, Residency::cold);
    CHECK(us(cold.time()) == doctest::Approx(16).epsilon(1e-12));
    CHECK(binding(cold) == "l1_port");
    const Floor any = floor_of(d, narrow.rates, narrow.chip, Residency::any_keep);
    CHECK(us(any.time()) == doctest::Approx(16).epsilon(1e-12));
  }

  TEST_CASE("a rate without a ceiling: the nominal figure stands in and nothing is proven") {
    const Machine machine = machine_from(R"(
schema = 1
units = 100
clock.sm = { published = "1000 MHz", highest = { unknown = "a boost clock is no maximum" } }
rate.vector.fp32 = { per_clock_per_unit = 100, clock = "sm" }
memory.hbm.bandwidth = "1 TB/s"
)");
    const Demand d = demand_of_op("elementwise n=1000000 flops=1000 compute=fp32");
    const Floor floor = floor_of(d, machine.rates, machine.chip, Residency::cold);
    CHECK(us(floor.time()) == doctest::Approx(100).epsilon(1e-12));  // 1e9 / 10e12
    CHECK_FALSE(floor.proven);
  }

  TEST_CASE("an observed bandwidth gives no term, a best-seen one a provisional floor") {
    const auto with_kind = [](const char* kind) {
      return machine_from(std::string("schema = 1\nrate.vector.fp32 = \"10 TFLOP/s\"\n") +
                          "memory.hbm.bandwidth = { value = \"1 TB/s\", kind = \"" + kind +
                          "\" }\n");
    };
    const Demand d = demand_of_op("elementwise n=1000000 compute=fp32");  // 4 MB, 1 MFLOP
    const Machine observed = with_kind("observed");
    const Floor none = floor_of(d, observed.rates, observed.chip, Residency::cold);
    CHECK(binding(none) == "vector.fp32");
    const ObservedTerms apart = observed_terms(d, observed.rates);
    REQUIRE(apart.count == 1);
    CHECK(us(apart.terms[0].time) == doctest::Approx(4).epsilon(1e-12));  // 4e6 / 1e12
    const Machine best = with_kind("best_seen");
    const Floor provisional = floor_of(d, best.rates, best.chip, Residency::cold);
    CHECK(binding(provisional) == "hbm");
    CHECK(provisional.provisional());
    // A faster run refutes the probe, not the physics: only the vector unit proves, 1e6 / 10e12.
    CHECK_FALSE(provisional.proven);
    CHECK(us(provisional.proven_time()) == doctest::Approx(0.1).epsilon(1e-12));
    CHECK(observed_terms(d, best.rates).count == 0);
  }

  TEST_CASE("missing rates: what a floor cannot do without") {
    const Machine machine = machine_from("schema = 1\nmemory.hbm.bandwidth = \"1 TB/s\"\n");
    const MissingRates gemm = missing_rates(demand_of_op("gemm m=2 n=2 k=2"), machine.rates);
    REQUIRE(gemm.count == 1);
    CHECK(device_key_of(gemm.ids[0]) == "rate.tensor.bf16.fp32");
    // The special-function unit and the port only tighten a floor.
    const MissingRates softmax =
        missing_rates(demand_of_op("softmax rows=2 cols=2 compute=fp32"), machine.rates);
    REQUIRE(softmax.count == 1);
    CHECK(device_key_of(softmax.ids[0]) == "rate.vector.fp32");
    CHECK(missing_rates(demand_of_op("transpose rows=2 cols=2"), machine.rates).count == 0);
  }
}
