// SPDX-License-Identifier: Apache-2.0
// Every device that ships: it loads, each number says where it is from, and the figures agree with
// what the vendors print and with each other.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "model/device/device_file.hpp"
#include "model/device/rates.hpp"
#include "model/input/diagnostic.hpp"

using namespace floorline;

namespace {

const DevicePath kShipped{{"devices"}};

/// What is wrong with the numbers of a device; empty when all is well.
struct FindFaults {
  std::vector<std::string>& faults;
  const std::vector<SourceSpec>& sources;

  template <class Q>
  void operator()(const std::string& path, const char* key, const MaybeSourced<Q>& member) const {
    if (!member.known) return;  // absent or stated as unknown
    const std::string full = path + "." + key + ": ";
    const Sourced<Q>& number = *member.known;
    const std::string& source = number.from.source;
    if (source.empty()) faults.push_back(full + "no source");
    const auto same = [&source](const SourceSpec& s) { return s.key == source; };
    if (std::none_of(sources.begin(), sources.end(), same))
      faults.push_back(full + "source not listed");
    if (number.low > number.value || number.high < number.value) faults.push_back(full + "range");
    if (number.from.origin == Origin::assumed && number.from.note.empty()) {
      faults.push_back(full + "assumed without a reason");
    }
    if (number.from.origin == Origin::derived && number.from.note.empty()) {
      faults.push_back(full + "derived without a formula");
    }
  }
};
std::vector<std::string> faults_of(const DeviceSpec& device) {
  std::vector<std::string> faults;
  visit_numbers(device, FindFaults{faults, device.sources});
  return faults;
}

struct CountNumbers {
  int& known;
  int& unexplained;
  template <class Q>
  void operator()(const std::string& /*path*/, const char* /*key*/,
                  const MaybeSourced<Q>& m) const {
    known += m.known ? 1 : 0;
    unexplained += !m.known && m.unknown_because.empty() ? 1 : 0;
  }
};

double tera(const Rates& rates, const char* name) {
  const Rate& rate = rates[resource_from(name).value()];
  return rate.known ? rate.nominal.in_base_units() / 1e12 : 0;
}

}  // namespace

TEST_SUITE("device") {
  TEST_CASE("shipped devices: each loads and says where its numbers are from") {
    const std::vector<std::string> names = device_names(kShipped);
    CHECK(names.size() >= 45);
    for (const std::string& name : names) {
      CAPTURE(name);
      const DeviceSpec device = load_device(name, kShipped);
      CHECK(device.name == name);
      CHECK_FALSE(device.title.empty());
      for (const std::string& fault : faults_of(device)) FAIL_CHECK(fault);
      for (const SourceSpec& source : device.sources) CHECK_FALSE(source.title.empty());
      int known = 0;
      int unexplained = 0;
      visit_numbers(device, CountNumbers{known, unexplained});
      CHECK(known > 18);  // the least: one CPU socket, which has no links and no launches
      if (device.vendor == "nvidia") CHECK(known >= 30);
      if (!device.extends.empty()) CHECK(load_device(device.extends, kShipped).extends.empty());
    }
  }

  TEST_CASE("the faults that the check above is for are found") {
    const auto faults = [](const std::string& number) {
      const DeviceSpec device = parse_device(
          "schema = 1\nunits = " + number + "\n[sources]\ns = { title = \"t\" }\n", "bad.toml", {});
      return faults_of(device);
    };
    CHECK(faults("{ value = 1, origin = \"datasheet\", source = \"s\" }").empty());
    CHECK(faults("1").size() == 3);  // no source, so not listed, and assumed without a reason
    CHECK(faults("{ value = 1, origin = \"datasheet\", source = \"free text\" }") ==
          std::vector<std::string>{".units: source not listed"});
    CHECK(faults("{ value = 1, origin = \"derived\", source = \"s\" }") ==
          std::vector<std::string>{".units: derived without a formula"});
    CHECK_THROWS_AS(faults("{ value = 3, range = [1, 2], source = \"s\" }"), InputError);
  }

  TEST_CASE("shipped devices: without a highest clock there is no compute ceiling, and only then") {
    std::vector<std::string> without;
    for (const std::string& name : device_names(kShipped)) {
      CAPTURE(name);
      const DeviceSpec device = load_device(name, kShipped);
      const Rates rates = resolve_rates(device, {});
      const auto explained = [](const ClockSpec& clock) {
        return clock.name == "tensor" && !clock.highest && !clock.highest.unknown_because.empty();
      };
      const bool unknown = std::any_of(device.clocks.begin(), device.clocks.end(), explained);
      for (const ResourceId id : rates.known()) {
        CAPTURE(name_of(id));
        const bool compute = amount_kind(id.unit) != AmountKind::bytes && id.unit != Unit::host;
        if (compute && rates[id].known) CHECK(rates[id].has_ceiling == !unknown);
      }
      if (unknown) without.push_back(name);
    }
    CHECK(without == std::vector<std::string>{"gaudi_3", "gb300", "rtx_3090", "rtx_6000_ada",
                                              "rtx_pro_6000_server", "rtx_pro_6000_workstation",
                                              "tpu_v5e", "tpu_v5p", "tpu_v6e"});
  }

  TEST_CASE("shipped devices: ceilings are not below nominal, wider formats not faster") {
    for (const std::string& name : device_names(kShipped)) {
      CAPTURE(name);
      const DeviceSpec device = load_device(name, kShipped);
      const Rates rates = resolve_rates(device, {});
      for (const ResourceId id : rates.known()) {
        const Rate& rate = rates[id];
        if (!rate.known) continue;
        CAPTURE(name_of(id));
        CHECK(rate.nominal > AmountPerSecond());
        if (rate.has_ceiling) CHECK(rate.ceiling >= rate.nominal);
        if (id.unit == Unit::tensor && !id.sparse) {
          const Rate& sparse = rates[ResourceId{id.unit, id.input, id.accumulate, true}];
          if (sparse.known) CHECK(sparse.nominal >= rate.nominal);
        }
      }
      // V100 and T4 have no BF16, TPUs and CPUs no FP16; on Gaudi FP16 is slower than BF16.
      const double fp16 = tera(rates, "tensor.fp16.fp32");
      const double half = std::max(tera(rates, "tensor.bf16.fp32"), fp16);
      CHECK(half > 0);
      if (device.vendor == "nvidia") CHECK(fp16 == half);
      CHECK(tera(rates, "tensor.tf32.fp32") <= half);
      CHECK(tera(rates, "vector.fp32") < half);
      const double fp8 = tera(rates, "tensor.fp8_e4m3.fp32");
      if (fp8 > 0) CHECK(fp8 >= half);
      const double fp4 = tera(rates, "tensor.nvfp4.fp32");
      if (fp4 > 0) CHECK(fp4 >= fp8);
    }
  }

  TEST_CASE("shipped devices: memory levels and links") {
    for (const std::string& name : device_names(kShipped)) {
      CAPTURE(name);
      const DeviceSpec device = load_device(name, kShipped);
      const Rates rates = resolve_rates(device, {});
      CHECK(device.l2.capacity->value > Bytes(0));
      const OnChip chip = resolve_on_chip(device);
      CHECK(chip.keep_known);
      CHECK((chip.all_known || !device.shared.capacity_per_unit.unknown_because.empty()));
      if (chip.all_known) CHECK(chip.all > chip.keep);
      CHECK(device.hbm.bandwidth->kind == RateKind::ceiling);
      for (const auto* capacity : {&device.hbm.capacity, &device.hbm.driver_capacity}) {
        if (!*capacity) {
          CHECK_FALSE(capacity->unknown_because.empty());
        } else {
          CHECK((*capacity)->value > chip.all);
        }
      }
      const Rate& l2 = rates.observed(Unit::l2);
      if (l2.known) CHECK(l2.nominal > rates[ResourceId{Unit::hbm}].nominal);
      for (const LinkSpec* link : {&device.h2d, &device.d2h, &device.peer, &device.network}) {
        if (!link->bandwidth) {
          CHECK_FALSE(link->bandwidth.unknown_because.empty());
          continue;
        }
        CHECK(link->bandwidth->kind == RateKind::ceiling);
        CHECK(link->bandwidth->value < device.hbm.bandwidth->value);
        if (link->bandwidth_observed) {
          CHECK(link->bandwidth_observed->kind == RateKind::observed);
          CHECK(link->bandwidth_observed->value <= link->bandwidth->upper());
        }
      }
    }
  }

  // Printed by the vendors: dense BF16 peak in TFLOP/s, HBM in TB/s, and the ridge point P/B.
  struct Printed {
    const char* name;
    double bf16;
    double terabytes_per_second;
    double ridge;
    double ceiling;  ///< SMs x FLOP a clock x highest clock
  };
  constexpr Printed kPrinted[] = {
      // 108 x 2048 x 1410 MHz = 311.87; 311.87 / 2.039 = 152.95
      {"a100_sxm_80gb", 311.9, 2.039, 152.95, 311.869},
      // 132 x 4096 x 1830 MHz = 989.43 / 3.35 = 295.35; x 1980 MHz = 1070.53
      {"h100_sxm", 989.4, 3.35, 295.35, 1070.530},
      // 989.43 / 4.8 = 206.13
      {"h200_sxm", 989.4, 4.8, 206.13, 1070.530},
      // 142 x 1024 x 2520 MHz = 366.43; / 0.864 = 424.11
      {"l40s", 366.4, 0.864, 424.11, 366.428},
      // 148 x 8192 x 1856 MHz = 2250.24; / 8 = 281.28; x 1980 MHz = 2400.58
      {"b200", 2250, 8, 281.28, 2400.584},
  };

  TEST_CASE("shipped devices: nominal peaks equal the printed ones, ridge points those by hand") {
    for (const Printed& printed : kPrinted) {
      CAPTURE(printed.name);
      const Rates rates = resolve_rates(load_device(printed.name, kShipped), {});
      const ResourceId bf16 = resource_from("tensor.bf16.fp32").value();
      CHECK(tera(rates, "tensor.bf16.fp32") == doctest::Approx(printed.bf16).epsilon(1e-3));
      CHECK(tera(rates, "hbm") == doctest::Approx(printed.terabytes_per_second).epsilon(1e-9));
      CHECK(ridge_point(rates, bf16, Unit::hbm)->in_base_units() ==
            doctest::Approx(printed.ridge).epsilon(1e-4));
      CHECK(rates[bf16].ceiling.in_base_units() / 1e12 ==
            doctest::Approx(printed.ceiling).epsilon(1e-5));
    }
  }

  // Worked by hand: dense peak in TFLOP/s at the published clock, memory in TB/s, ridge point.
  struct Ridge {
    const char* name;
    const char* rate;
    double peak;
    double terabytes_per_second;
    double ridge;
  };
  constexpr Ridge kRidges[] = {
      // 80 x 1024 x 1530 MHz = 125.338; / 0.9
      {"v100_sxm2_32gb", "tensor.fp16.fp32", 125.338, 0.9, 139.26},
      // 40 x 1024 x 1590 MHz = 65.126; / 0.32
      {"t4", "tensor.fp16.fp32", 65.126, 0.32, 203.52},
      // 72 x 1024 x 1695 MHz = 124.969; / 0.6
      {"a10", "tensor.bf16.fp32", 124.969, 0.6, 208.28},
      // 56 x 2048 x 1440 MHz = 165.151; / 0.933
      {"a30", "tensor.bf16.fp32", 165.151, 0.933, 177.01},
      // 58 x 1024 x 2040 MHz = 121.160; / 0.3
      {"l4", "tensor.bf16.fp32", 121.160, 0.3, 403.87},
      // GeForce, FP32 accumulation: 128 x 512 x 2520 MHz = 165.151; / 1.008
      {"rtx_4090", "tensor.bf16.fp32", 165.151, 1.008, 163.84},
      // 114 x 4096 x 1620 MHz = 756.449; / 2
      {"h100_pcie", "tensor.bf16.fp32", 756.449, 2.0, 378.22},
      // the cap, not 78 x 4096 x 1980 MHz = 632.6; 148 / 4
      {"h20", "tensor.bf16.fp32", 148, 4.0, 37.0},
      // 989.429 / 4
      {"gh200_96gb", "tensor.bf16.fp32", 989.429, 4.0, 247.36},
      // 152 x 8192 x 2008 MHz = 2500.33; / 8
      {"gb200", "tensor.bf16.fp32", 2500.33, 8.0, 312.54},
      // 304 x 2048 x 2100 MHz = 1307.44; / 5.3
      {"mi300x", "tensor.bf16.fp32", 1307.44, 5.3, 246.69},
      // 256 x 4096 x 2400 MHz = 2516.58; / 8
      {"mi355x", "tensor.bf16.fp32", 2516.58, 8.0, 314.57},
      // 8 x 131072 x 1600 MHz = 1677.72; / 3.7
      {"gaudi_3", "tensor.bf16.fp32", 1677.72, 3.7, 453.44},
      // 1 x 524288 x 1751 MHz = 918.03; / 1.638
      {"tpu_v6e", "tensor.bf16.fp32", 918.03, 1.638, 560.46},
  };

  TEST_CASE("shipped devices: ridge points worked by hand") {
    for (const Ridge& row : kRidges) {
      CAPTURE(row.name);
      const Rates rates = resolve_rates(load_device(row.name, kShipped), {});
      CHECK(tera(rates, row.rate) == doctest::Approx(row.peak).epsilon(1e-5));
      CHECK(tera(rates, "hbm") == doctest::Approx(row.terabytes_per_second).epsilon(1e-9));
      CHECK(ridge_point(rates, resource_from(row.rate).value(), Unit::hbm)->in_base_units() ==
            doctest::Approx(row.ridge).epsilon(1e-4));
    }
  }

  // Reached by somebody, in T/s: a ceiling below one of these is wrong.
  struct Reached {
    const char* name;
    const char* rate;
    double tera_per_second;
  };
  constexpr Reached kReached[] = {
      {"a40", "hbm", 0.679},
      {"l40", "hbm", 0.844},
      {"h100_pcie", "hbm", 1.969},
      {"h200_sxm", "hbm", 4.48},
      {"gh200_96gb", "hbm", 3.705},
      {"b200", "hbm", 6.669},
      {"b300", "hbm", 7.37},
      {"mi300x", "hbm", 4.10},
      {"mi355x", "hbm", 5.439},
      {"epyc_9654", "hbm", 0.268},
      {"xeon_8480plus", "hbm", 0.186},
      {"rtx_4090", "tensor.bf16.fp32", 176},
      {"rtx_4090", "tensor.fp16.fp16", 350},
      {"rtx_5090", "tensor.int8.int32", 741},
      {"rtx_5090", "tensor.fp8_e4m3.fp16", 732},
      {"rtx_5090", "tensor.nvfp4.fp32", 1464},
      {"h100_nvl", "tensor.bf16.fp32", 977},
      {"h100_nvl", "tensor.fp16.fp16", 992},
      {"h20", "tensor.bf16.fp32", 142.3},
      {"h20", "tensor.tf32.fp32", 71.8},
      {"gh200_96gb", "vector.fp16", 123.9},
      {"b300", "tensor.bf16.fp32", 2246},
      {"b300", "tensor.nvfp4.fp32", 14780},
      {"b300", "tensor.int8.int32", 143},
      {"b300", "vector.fp64", 1.20},
      {"b300", "shared", 38.4},
      {"b300", "l1_port", 17},
      {"mi355x", "tensor.bf16.fp32", 1565},
      {"mi355x", "vector.fp32", 138.2},
  };

  TEST_CASE("shipped devices: ceilings are not below what was reached") {
    for (const Reached& row : kReached) {
      CAPTURE(row.name);
      CAPTURE(row.rate);
      const Rates rates = resolve_rates(load_device(row.name, kShipped), {});
      const Rate& rate = rates[resource_from(row.rate).value()];
      CHECK(rate.has_ceiling);
      CHECK(rate.ceiling.in_base_units() / 1e12 >= row.tera_per_second);
    }
  }

  TEST_CASE("shipped devices: clusters say where the peer fabric ends") {
    const auto loaded = [](const char* name) { return load_device(name, kShipped); };
    CHECK(resolve_on_chip(loaded("h100_sxm_node")).devices_per_node == 8);
    CHECK_FALSE(loaded("h100_sxm_node").network.bandwidth);  // nothing outside the node
    CHECK(resolve_on_chip(loaded("h100_sxm_2_nodes")).devices_per_node == 8);
    CHECK(loaded("h100_sxm_2_nodes").network.bandwidth->upper() == GBPerSecond(50));
    CHECK(resolve_on_chip(loaded("gb200_nvl72")).devices_per_node == 72);
  }

  TEST_CASE("shipped devices: 64 MiB all_reduce fabric facts") {
    CHECK_FALSE(
        resolve_on_chip(load_device("a100_sxm_80gb", kShipped)).in_network_reduction_possible);
    CHECK(resolve_on_chip(load_device("h100_sxm", kShipped)).in_network_reduction_possible);
  }
}
