// SPDX-License-Identifier: Apache-2.0
#include "model/device/rates.hpp"

#include <doctest/doctest.h>

#include <string>

#include "model/device/device_file.hpp"

using namespace floorline;

namespace {

/// 10 units, 1000 MHz published, 1500 MHz highest.
const std::string kClocks = R"(schema = 1
units = 10
[clock.sm]
published = "1000 MHz"
highest = "1500 MHz"
)";

DeviceSpec device(const std::string& more) { return parse_device(kClocks + more, "d.toml", {}); }
Rates rates(const std::string& more, const ClockChoice& clocks = {}) {
  return resolve_rates(device(more), clocks);
}

const Rate& rate(const Rates& all, const char* name) { return all[resource_from(name).value()]; }
double nominal(const Rates& all, const char* name) {
  return rate(all, name).nominal.in_base_units();
}
double ceiling(const Rates& all, const char* name) {
  REQUIRE(rate(all, name).has_ceiling);
  return rate(all, name).ceiling.in_base_units();
}
bool known(const Rates& all, const char* name) { return rate(all, name).known; }

std::string per_clock(const char* key, const char* count) {
  return "[rate." + std::string(key) + "]\nper_clock_per_unit = " + count + "\nclock = \"sm\"\n";
}

}  // namespace

TEST_SUITE("device") {
  TEST_CASE("rates: nominal at the published clock, ceiling at the highest and the fast ends") {
    const Rates all = rates(per_clock("tensor.bf16.fp32", "{ value = 100, range = [80, 120] }"));
    CHECK(nominal(all, "tensor.bf16.fp32") == 1e12);    // 10 x 100 x 1e9
    CHECK(ceiling(all, "tensor.bf16.fp32") == 1.8e12);  // 10 x 120 x 1.5e9
    CHECK(rate(all, "tensor.bf16.fp32").via == resource_from("tensor.bf16.fp32").value());
    CHECK_FALSE(known(all, "tensor.fp16.fp32"));  // no neighbour's rate
    CHECK_FALSE(known(all, "tensor.bf16.fp32.sparse"));
  }

  TEST_CASE("rates: without a highest clock there is a nominal rate and no ceiling") {
    const Rates all = resolve_rates(parse_device(R"(schema = 1
units = 10
clock.sm = { published = "1000 MHz", highest = { unknown = "boost is not it" } }
rate.vector.fp32 = { per_clock_per_unit = 100, clock = "sm" }
)",
                                                 "d.toml", {}),
                                    {});
    CHECK(nominal(all, "vector.fp32") == 1e12);
    CHECK_FALSE(rate(all, "vector.fp32").has_ceiling);
    // Not even where it is part of a sum.
    CHECK_FALSE(rate(all, "linear.fp32").has_ceiling);
  }

  TEST_CASE("rates: a chosen SM clock scales compute and shared memory exactly, HBM and caps not") {
    const std::string more =
        per_clock("tensor.bf16.fp32", "100") + per_clock("vector.fp32", "20") +
        "[rate.tensor.fp8.fp32]\nper_clock_per_unit = 200\nclock = \"sm\"\ncap = \"1.2 TFLOP/s\"\n"
        "[rate.tensor.int8.int32]\nrate = \"3 TFLOP/s\"\nclock = \"sm\"\n"
        "[rate.tensor.fp4.fp32]\nrate = \"5 TFLOP/s\"\n"
        "[memory.shared]\nbytes_per_clock_per_unit = \"128 B\"\nclock = \"sm\"\n"
        "[memory.hbm]\nbandwidth = \"1 TB/s\"\n";
    const Rates normal = rates(more);
    CHECK(nominal(normal, "tensor.fp8_e4m3.fp32") == 1.2e12);  // 2e12 capped
    CHECK(ceiling(normal, "tensor.fp8_e4m3.fp32") == 1.2e12);  // 3e12 capped
    CHECK(std::string(rate(normal, "tensor.fp8_e4m3.fp32").how) == "firmware cap");
    CHECK(ceiling(normal, "shared") == 1.92e12);  // 10 x 128 x 1.5e9
    const Rates slow = rates(more, {MHz(500), 1});
    CHECK(nominal(slow, "tensor.bf16.fp32") == 5e11);  // 10 x 100 x 5e8
    CHECK(ceiling(slow, "tensor.bf16.fp32") == 5e11);
    CHECK(ceiling(slow, "vector.fp32") == 1e11);
    CHECK(ceiling(slow, "shared") == 6.4e11);
    CHECK(ceiling(slow, "hbm") == 1e12);
    CHECK(ceiling(slow, "tensor.fp8_e4m3.fp32") == 1e12);  // 10 x 200 x 5e8 is below the cap
    const Rates faster = rates(more, {MHz(900), 1});
    CHECK(ceiling(faster, "tensor.fp8_e4m3.fp32") == 1.2e12);  // 1.8e12, the cap does not move
    // A typed total moves only if it says at which clock it was meant.
    CHECK(ceiling(slow, "tensor.int8.int32") == 1.5e12);
    CHECK(ceiling(slow, "tensor.fp4.fp32") == 5e12);
  }

  TEST_CASE("rates: a chosen SM clock is a ceiling where the highest clock is not known") {
    const DeviceSpec spec = parse_device(
        "schema = 1\nunits = 10\nclock.vector = {}\n"
        "rate.vector.fp32 = { per_clock_per_unit = 100, clock = \"vector\" }\n",
        "d.toml", {});
    CHECK_FALSE(known(resolve_rates(spec, {}), "vector.fp32"));
    CHECK(ceiling(resolve_rates(spec, {MHz(2000), 1}), "vector.fp32") == 2e12);
  }

  TEST_CASE("rates: the memory clock scales HBM and nothing else") {
    const std::string more =
        "[memory.hbm]\nbandwidth = { value = \"1 TB/s\", range = [\"1 TB/s\", \"1.2 TB/s\"] }\n"
        "[memory.l2]\nbandwidth = { value = \"5 TB/s\", kind = \"observed\" }\n"
        "[link.peer]\nbandwidth = \"450 GB/s\"\n" +
        per_clock("vector.fp32", "20");
    const Rates all = rates(more, {std::nullopt, 0.5});
    CHECK(nominal(all, "hbm") == 5e11);
    CHECK(ceiling(all, "hbm") == 6e11);
    CHECK(ceiling(all, "peer_out") == 4.5e11);
    CHECK(ceiling(all, "vector.fp32") == 3e11);
    CHECK(all.observed(Unit::l2).nominal.in_base_units() == 5e12);
  }

  TEST_CASE("rates: an observed cap is no ceiling and lowers none") {
    const Rates all = rates(
        "[rate.vector.fp32]\nper_clock_per_unit = 100\nclock = \"sm\"\n"
        "cap = { value = \"0.5 TFLOP/s\", kind = \"observed\" }\n");
    CHECK(ceiling(all, "vector.fp32") == 1.5e12);
    CHECK(nominal(all, "vector.fp32") == 5e11);
  }

  TEST_CASE("rates: kinds of a typed total") {
    const Rates all = rates(R"(
[rate.tensor.bf16]
fp32 = { rate = { value = "100 TFLOP/s", kind = "observed" } }
fp16 = { rate = { value = "100 TFLOP/s", kind = "best_seen" } }
)");
    CHECK_FALSE(rate(all, "tensor.bf16.fp32").has_ceiling);
    CHECK(rate(all, "tensor.bf16.fp16").has_ceiling);
    CHECK(rate(all, "tensor.bf16.fp16").provisional);
  }

  TEST_CASE("rates: where a precision is not known, the fastest that the device has") {
    const Rates all =
        rates(per_clock("tensor.bf16.fp32", "100") + per_clock("tensor.fp8.fp32", "200") +
              per_clock("tensor.fp8.fp16", "300") + per_clock("tensor.fp16.fp16", "150") +
              per_clock("tensor.bf16.fp32.sparse", "999") + per_clock("vector.fp32", "20") +
              per_clock("vector.fp16", "40"));
    CHECK(ceiling(all, "tensor.any.any") == 4.5e12);  // fp8.fp16: 10 x 300 x 1.5e9; sparse apart
    CHECK(ceiling(all, "tensor.any.fp32") == 3e12);   // fp8.fp32
    CHECK(ceiling(all, "tensor.fp8_e4m3.any") == 4.5e12);
    CHECK(ceiling(all, "tensor.bf16.any") == 1.5e12);
    CHECK(ceiling(all, "tensor.any.any.sparse") == 1.4985e13);
    CHECK(name_of(rate(all, "tensor.any.any").via) == "tensor.fp8_e4m3.fp16");
    CHECK(ceiling(all, "vector.any") == 6e11);
  }

  TEST_CASE("rates: sums and scalings run on vector and tensor units together") {
    const Rates all = rates(per_clock("tensor.bf16.fp32", "100") + per_clock("vector.fp32", "20"));
    CHECK(nominal(all, "linear.fp32") == 1.2e12);  // 0.2e12 + 1e12
    CHECK(ceiling(all, "linear.fp32") == 1.8e12);  // 0.3e12 + 1.5e12
    CHECK(ceiling(all, "linear.any") == 1.8e12);
    CHECK(name_of(rate(all, "linear.fp32").via) == "vector.fp32");
    CHECK_FALSE(known(all, "linear.fp16"));
  }

  TEST_CASE("rates: fp32 products on the largest of native, sum and emulation") {
    const std::string vector = per_clock("vector.fp32", "20");
    CHECK(ceiling(rates(vector), "product.fp32") == 3e11);
    // A native tensor rate: both together, 0.3e12 + 0.6e12.
    CHECK(ceiling(rates(vector + per_clock("tensor.fp32.fp32", "40")), "product.fp32") ==
          doctest::Approx(9e11).epsilon(1e-12));
    const std::string emulated = vector + per_clock("tensor.tf32.fp32", "90") +
                                 "[emulation.e]\nemulates = \"fp32\"\nuses = "
                                 "\"tensor.tf32.fp32\"\nproducts = { value = 3, range = [2, 3] }\n";
    // 90 x 10 x 1.5e9 = 1.35e12, two products at the fast end; nominal 0.9e12 / 3
    CHECK(ceiling(rates(emulated), "product.fp32") == doctest::Approx(6.75e11).epsilon(1e-12));
    CHECK(nominal(rates(emulated), "product.fp32") == doctest::Approx(3e11).epsilon(1e-12));
    CHECK(name_of(rate(rates(emulated), "product.fp32").via) == "tensor.tf32.fp32");
    // tf32 is no synonym: without a declared emulation it does not count.
    CHECK(ceiling(rates(vector + per_clock("tensor.tf32.fp32", "90")), "product.fp32") == 3e11);
    CHECK(ceiling(rates(per_clock("vector.fp64", "10") + per_clock("tensor.fp64.fp64", "20")),
                  "product.fp64") == doctest::Approx(4.5e11).epsilon(1e-12));
  }

  TEST_CASE("rates: exponentials on the special-function and the vector unit together") {
    const std::string sfu =
        "[rate.sfu]\nper_clock_per_unit = 16\nclock = \"sm\"\n"
        "packing = { value = 1, range = [1, 2] }\n";
    const Rates all = rates(sfu + per_clock("vector.fp32", "20") + per_clock("vector.fp16", "40"));
    CHECK(nominal(all, "sfu") == 5.6e11);   // 1.6e11 + 4e11
    CHECK(ceiling(all, "sfu") == 1.08e12);  // 16 x 2 x 10 x 1.5e9 + 40 x 10 x 1.5e9
    CHECK(name_of(rate(all, "sfu").via) == "sfu");
    CHECK_FALSE(known(rates(sfu), "sfu"));  // what the vector unit adds is not known
  }

  TEST_CASE("rates: links by direction, observed figures apart") {
    const Rates all = rates(
        "[link.h2d]\nbandwidth = \"60 GB/s\"\nbandwidth_observed = \"55 GB/s\"\n"
        "[link.peer]\nbandwidth = \"450 GB/s\"\n[link.network]\nbandwidth = \"50 GB/s\"\n");
    CHECK(ceiling(all, "h2d") == 6e10);
    CHECK_FALSE(known(all, "d2h"));
    CHECK(ceiling(all, "peer_in") == 4.5e11);
    CHECK(ceiling(all, "net_out") == 5e10);
    CHECK(all.observed(Unit::h2d).nominal.in_base_units() == 5.5e10);
    CHECK_FALSE(all.observed(Unit::peer_out).known);
  }

  TEST_CASE("on chip: S_keep and S_all, at the large ends") {
    const OnChip chip = resolve_on_chip(device(R"(
[memory.l2]
capacity = { value = "1 MiB", range = ["1 MiB", "2 MiB"] }
[memory.last_level]
capacity = "4 MiB"
[memory.shared]
capacity_per_unit = "256 KiB"
[memory.registers]
capacity_per_unit = "256 KiB"
[memory.tensor]
capacity_per_unit = "128 KiB"
)"));
    CHECK(chip.keep == MiB(6));
    CHECK(chip.units == KiB(6400));  // 10 x 640
    CHECK(chip.all == Bytes(12845056));
    CHECK(chip.keep_known);
    CHECK(chip.all_known);
    CHECK(chip.sector == Bytes(32));
  }

  TEST_CASE("on chip: a capacity that is missing or stated as unknown leaves the sum unknown") {
    const std::string l2 = "[memory.l2]\ncapacity = \"1 MiB\"\n";
    const std::string units =
        "[memory.shared]\ncapacity_per_unit = \"6 KiB\"\n"
        "[memory.registers]\ncapacity_per_unit = \"4 KiB\"\n";
    CHECK(resolve_on_chip(device(l2 + units)).all_known);
    CHECK_FALSE(resolve_on_chip(device(units)).keep_known);
    CHECK_FALSE(resolve_on_chip(device(units)).all_known);
    CHECK(resolve_on_chip(device(l2)).keep_known);
    CHECK_FALSE(resolve_on_chip(device(l2)).all_known);
    const OnChip no_last_level = resolve_on_chip(
        device(l2 + units + "[memory.last_level]\ncapacity = { unknown = \"not found\" }\n"));
    CHECK_FALSE(no_last_level.keep_known);
    CHECK_FALSE(no_last_level.all_known);
    CHECK_FALSE(resolve_on_chip(
                    device(l2 + units +
                           "[memory.tensor]\ncapacity_per_unit = { unknown = \"not found\" }\n"))
                    .all_known);
  }

  TEST_CASE("on chip: what is unknown of the fabric is possible, a node has what the file says") {
    const OnChip unknown = resolve_on_chip(device(""));
    CHECK(unknown.multicast_possible);
    CHECK(unknown.in_network_reduction_possible);
    CHECK(unknown.devices_per_node == 0);
    const OnChip stated =
        resolve_on_chip(device("[topology]\nmulticast = false\nin_network_reduction = false\n"
                               "devices_per_node = { value = 8, range = [4, 16] }\n"));
    CHECK_FALSE(stated.multicast_possible);
    CHECK_FALSE(stated.in_network_reduction_possible);
    CHECK(stated.devices_per_node == 8);
  }

  TEST_CASE("the key that would supply a resource") {
    const auto key = [](const char* name) { return device_key_of(resource_from(name).value()); };
    CHECK(key("tensor.bf16.fp32.sparse") == "rate.tensor.bf16.fp32.sparse");
    CHECK(key("product.fp64") == "rate.vector.fp64");
    CHECK(key("linear.fp32") == "rate.vector.fp32");
    CHECK(key("sfu") == "rate.sfu");
    CHECK(key("hbm") == "memory.hbm.bandwidth");
    CHECK(key("l2") == "memory.l2.bandwidth");
    CHECK(key("shared") == "memory.shared.bytes_per_clock_per_unit");
    CHECK(key("l1_port") == "memory.l1_port.bytes_per_clock_per_unit");
    CHECK(key("h2d") == "link.h2d.bandwidth");
    CHECK(key("d2h") == "link.d2h.bandwidth");
    CHECK(key("peer_in") == "link.peer.bandwidth");
    CHECK(key("net_out") == "link.network.bandwidth");
  }

  TEST_CASE("ridge point: P/B at nominal figures, at an observed level too") {
    const Rates all = rates(
        per_clock("tensor.bf16.fp32", "100") +
        "[memory.hbm]\nbandwidth = { value = \"10 GB/s\", range = [\"10 GB/s\", \"20 GB/s\"] }\n"
        "[memory.l2]\nbandwidth = { value = \"50 GB/s\", kind = \"observed\" }\n");
    const ResourceId bf16 = resource_from("tensor.bf16.fp32").value();
    CHECK(ridge_point(all, bf16, Unit::hbm) == FlopsPerByte(100));  // 1e12 / 1e10
    CHECK(ridge_point(all, bf16, Unit::l2) == FlopsPerByte(20));
    CHECK_FALSE(ridge_point(all, bf16, Unit::shared).has_value());
    CHECK_FALSE(ridge_point(all, resource_from("vector.fp32").value(), Unit::hbm).has_value());
  }
}
