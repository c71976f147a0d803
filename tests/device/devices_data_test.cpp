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
    CHECK(names.size() >= 5);
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
      CHECK(known > 40);
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

  TEST_CASE("shipped devices: ceilings are not below nominal, wider formats not faster") {
    for (const std::string& name : device_names(kShipped)) {
      CAPTURE(name);
      const DeviceSpec device = load_device(name, kShipped);
      const Rates rates = resolve_rates(device, {});
      for (const ResourceId id : rates.known()) {
        const Rate& rate = rates[id];
        if (!rate.known) continue;
        CAPTURE(name_of(id));
        CHECK(rate.has_ceiling);
        CHECK(rate.nominal > AmountPerSecond());
        CHECK(rate.ceiling >= rate.nominal);
        if (id.unit == Unit::tensor && !id.sparse) {
          const Rate& sparse = rates[ResourceId{id.unit, id.input, id.accumulate, true}];
          if (sparse.known) CHECK(sparse.nominal >= rate.nominal);
        }
      }
      const double fp16 = tera(rates, "tensor.fp16.fp32");
      CHECK(fp16 > 0);
      CHECK(tera(rates, "tensor.bf16.fp32") == fp16);
      CHECK(tera(rates, "tensor.tf32.fp32") <= fp16);
      CHECK(tera(rates, "vector.fp32") < fp16);
      const double fp8 = tera(rates, "tensor.fp8_e4m3.fp32");
      if (fp8 > 0) CHECK(fp8 >= fp16);
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
      CHECK(chip.all_known);
      CHECK(chip.all > chip.keep);
      CHECK(device.hbm.bandwidth->kind == RateKind::ceiling);
      CHECK(device.hbm.capacity->value > chip.all);
      CHECK(device.hbm.driver_capacity->value > Bytes(0));
      const Rate& l2 = rates.observed(Unit::l2);
      if (l2.known) CHECK(l2.nominal > rates[ResourceId{Unit::hbm}].nominal);
      for (const LinkSpec* link : {&device.h2d, &device.d2h, &device.peer, &device.network}) {
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

  TEST_CASE("shipped devices: 64 MiB all_reduce fabric facts") {
    CHECK_FALSE(
        resolve_on_chip(load_device("a100_sxm_80gb", kShipped)).in_network_reduction_possible);
    CHECK(resolve_on_chip(load_device("h100_sxm", kShipped)).in_network_reduction_possible);
  }
}
