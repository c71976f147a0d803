// SPDX-License-Identifier: Apache-2.0
#include "model/device/device_file.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "model/input/diagnostic.hpp"

using namespace floorline;

namespace {

namespace fs = std::filesystem;

/// A folder of device files that goes away with the test.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("floorline_devices_" + std::to_string(getpid()))) {
    fs::remove_all(path_);
    fs::create_directory(path_);
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
  }
  [[nodiscard]] DevicePath path() const { return {{path_.string()}}; }
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

DeviceSpec parse(const std::string& text) { return parse_device(text, "d.toml", {}); }

template <class Action>
std::string refusal(Action action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}
std::string refused(const std::string& text) {
  return refusal([&] { parse("schema = 1\n" + text); });
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

double hbm(const DeviceSpec& device) { return device.hbm.bandwidth->value.in_base_units(); }

constexpr const char* kBase = R"(schema = 1
name = "base"
title = "A base"
units = 10
[clock.sm]
published = "1000 MHz"
highest = "1500 MHz"
[rate.tensor.bf16.fp32]
per_clock_per_unit = 100
clock = "sm"
[memory.hbm]
bandwidth = { value = "1 TB/s", range = ["1 TB/s", "1.1 TB/s"], origin = "datasheet", source = "sheet" }
capacity = "10 GB"
[memory.l2]
capacity = "1 MiB"
[sources]
sheet = { title = "a sheet" }
)";

}  // namespace

TEST_SUITE("device") {
  TEST_CASE("device file: values, ranges, origins, positions") {
    const DeviceSpec device = parse(kBase);
    CHECK(device.name == "base");
    CHECK(device.units->value == 10);
    CHECK(device.units->from.origin == Origin::assumed);  // a bare value
    CHECK(hbm(device) == 1e12);
    CHECK(device.hbm.bandwidth->upper() == BytesPerSecond(1.1e12));
    CHECK(device.hbm.bandwidth->from.origin == Origin::datasheet);
    CHECK(device.hbm.bandwidth->from.source == "sheet");
    CHECK(device.hbm.bandwidth->from.at.line == 12);
    CHECK(device.hbm.capacity->value == Bytes(1e10));
    CHECK(device.l2.capacity->value == Bytes(1048576));
    CHECK_FALSE(device.l2.bandwidth);
    REQUIRE(device.rates.size() == 1);
    CHECK(device.rates[0].key == "tensor.bf16.fp32");
    CHECK(device.rates[0].clock == "sm");
    CHECK(device.overrides.empty());
  }

  TEST_CASE("device file: without a name it has its file's") {
    CHECK(parse("schema = 1\n").name == "d");
  }

  TEST_CASE("device file: JSON reads as well") {
    const DeviceSpec device =
        parse_device(R"({"schema": 1, "memory": {"hbm": {"bandwidth": "2 TB/s"}}})", "d.json", {});
    CHECK(hbm(device) == 2e12);
  }

  TEST_CASE("device file: a rate as a bare total, in every short form") {
    const DeviceSpec device = parse(R"(schema = 1
rate.tensor.fp8.fp32 = "400 TFLOP/s"
rate.tensor.fp16.fp16.sparse = "300 TFLOP/s"
rate.vector.fp32 = "20 TFLOP/s"
rate.sfu = "4 TFLOP/s"
)");
    std::vector<std::string> keys;
    for (const RateSpec& rate : device.rates) {
      keys.push_back(name_of(rate.id) + "=" +
                     std::to_string(static_cast<int>(rate.rate->value.in_base_units() / 1e12)));
    }
    std::sort(keys.begin(), keys.end());
    CHECK(keys == std::vector<std::string>{"sfu=4", "tensor.fp16.fp16.sparse=300",
                                           "tensor.fp8_e4m3.fp32=400", "vector.fp32=20"});
  }

  TEST_CASE("device file: extends at any depth, overrides recorded, unknown withdraws") {
    const Folder folder;
    folder.write("base.toml", kBase);
    folder.write("capped.toml", R"(schema = 1
extends = "base"
title = "Capped"
[memory.hbm]
bandwidth = "800 GB/s"
[clock]
sm = { highest = "1200 MHz" }
)");
    folder.write("ours.toml", R"(schema = 1
extends = "capped"
units = 8
[memory.l2]
capacity = { unknown = "shared with a neighbour" }
[rate.tensor.bf16.fp32]
per_clock_per_unit = 90
[rate.vector.fp32]
per_clock_per_unit = 20
clock = "sm"
)");
    const DeviceSpec device = load_device("ours", folder.path());
    CHECK(device.name == "ours");
    CHECK(device.title == "Capped");
    CHECK(device.extends == "capped");
    CHECK(hbm(device) == 8e11);
    CHECK(device.hbm.bandwidth->upper() == BytesPerSecond(8e11));  // the parent's range went too
    CHECK(device.hbm.bandwidth->from.origin == Origin::assumed);
    CHECK(device.hbm.capacity->value == Bytes(1e10));  // not named: kept
    CHECK(device.units->value == 8);
    CHECK_FALSE(device.l2.capacity);
    CHECK(device.l2.capacity.unknown_because == "shared with a neighbour");
    REQUIRE(device.clocks.size() == 1);
    CHECK(device.clocks[0].published->value == Hertz(1e9));
    CHECK(device.clocks[0].highest->value == Hertz(1.2e9));
    REQUIRE(device.rates.size() == 2);
    CHECK(device.rates[0].clock == "sm");  // the parent's
    std::vector<std::string> changed;
    for (const Override& o : device.overrides) {
      changed.push_back(o.key + ": " + o.before + " -> " + o.after);
    }
    std::sort(changed.begin(), changed.end());
    // What is new, vector.fp32, overrides nothing.
    REQUIRE(changed.size() == 5);
    CHECK(contains(changed[0], "clock.sm.highest: 1500.00 MHz -> 1200.00 MHz"));
    CHECK(contains(changed[1], "memory.hbm.bandwidth: 1.0000 TB/s -> 800.00 GB/s"));
    CHECK(contains(changed[2], "memory.l2.capacity: 1.00000 MiB -> unknown (shared"));
    CHECK(contains(changed[3], "rate.tensor.bf16.fp32.per_clock_per_unit: 100 FLOP -> 90 FLOP"));
    CHECK(contains(changed[4], "units: 10 -> 8"));
  }

  TEST_CASE("device file: the alias fp8 overrides fp8_e4m3") {
    const Folder folder;
    folder.write("base.toml", "schema = 1\nrate.tensor.fp8_e4m3.fp32 = \"400 TFLOP/s\"\n");
    folder.write("mine.toml",
                 "schema = 1\nextends = \"base\"\nrate.tensor.fp8.fp32 = \"300 TFLOP/s\"\n");
    const DeviceSpec device = load_device("mine", folder.path());
    REQUIRE(device.rates.size() == 1);
    CHECK(device.rates[0].rate->value == FlopsPerSecond(3e14));
    CHECK(device.overrides.size() == 1);
  }

  TEST_CASE("device file: a cycle is refused, at any length") {
    const Folder folder;
    folder.write("a.toml", "schema = 1\nextends = \"b\"\n");
    folder.write("b.toml", "schema = 1\nextends = \"c\"\n");
    folder.write("c.toml", "schema = 1\nextends = \"a\"\n");
    folder.write("self.toml", "schema = 1\nextends = \"self\"\n");
    CHECK(contains(refusal([&] { load_device("a", folder.path()); }), "extends: a cycle: "));
    CHECK(contains(refusal([&] { load_device("self", folder.path()); }), "extends: a cycle: "));
  }

  TEST_CASE("device file: not found, with the nearest name") {
    const Folder folder;
    folder.write("h100_sxm.toml", "schema = 1\n");
    const std::string error = refusal([&] { load_device("h100_smx", folder.path()); });
    CHECK(contains(error, "device: no device \"h100_smx\""));
    CHECK(contains(error, "did you mean \"h100_sxm\"?"));
    CHECK(contains(refusal([] { load_device("x", {}); }), "no device \"x\""));
    CHECK(contains(refusal([&] { load_device(folder.file("missing.toml"), {}); }), "missing.toml"));
    CHECK(load_device(folder.file("h100_sxm.toml"), {}).name == "h100_sxm");
    CHECK(device_names(folder.path()) == std::vector<std::string>{"h100_sxm"});
    CHECK(refused("extends = 3") ==
          "d.toml:2:11: error: extends: expected the name of a device as text");
  }

  TEST_CASE("device file: the first folder that has it wins, names are listed once") {
    const Folder folder;
    folder.write("h100_sxm.toml", "schema = 1\ntitle = \"mine\"\n");
    const DevicePath both{{folder.path().folders[0], "devices"}};
    CHECK(load_device("h100_sxm", both).title == "mine");
    const std::vector<std::string> names = device_names(both);
    CHECK(std::count(names.begin(), names.end(), "h100_sxm") == 1);
    CHECK(std::is_sorted(names.begin(), names.end()));
  }

  TEST_CASE("device file: unknown keys are errors with the nearest key") {
    CHECK(refused("memroy = { hbm = { capacity = \"1 GB\" } }") ==
          "d.toml:2:1: error: unknown key \"memroy\"; did you mean \"memory\"?");
    CHECK(refused("[memory.hbm]\nbandwith = \"1 TB/s\"") ==
          "d.toml:3:1: error: memory.hbm: unknown key \"bandwith\"; did you mean \"bandwidth\"?");
    CHECK(contains(refused("[memory.hbmm]\nbandwidth = \"1 TB/s\""),
                   "memory: unknown key \"hbmm\"; did you mean \"hbm\"?"));
    CHECK(contains(refused("[link.per]\nbandwidth = \"1 TB/s\""), "did you mean \"peer\"?"));
    CHECK(contains(refused("[clock.sm]\nhigest = \"1 GHz\""), "did you mean \"highest\"?"));
  }

  TEST_CASE("device file: unknown keys beside and among rates are errors too") {
    CHECK(contains(refused("[rate.tensor.bf16.fp32]\nper_clock_per_unit = 4\nclok = \"sm\""),
                   "rate.tensor.bf16.fp32: unknown key \"clok\"; did you mean \"clock\"?"));
    CHECK(contains(refused("[rate.tensor.bf61.fp32]\nper_clock_per_unit = 4"),
                   "rate.tensor: unknown key \"bf61\""));
    CHECK(contains(refused("[rate.vector.fp32]\nper_clock = 4"), "unknown key \"per_clock\""));
    CHECK(contains(refused("[rate.hbm]\nrate = \"4 TFLOP/s\""),
                   "\"hbm\" is not a rate; expected tensor"));
    CHECK(contains(refused("[rate.tensor.bf16]\nrate = \"4 TFLOP/s\""),
                   "\"tensor.bf16\" is not a rate; expected tensor"));
  }

  TEST_CASE("device file: what is no table where a table belongs is an error") {
    CHECK(refused("memory.hbm = \"1 TB/s\"") ==
          "d.toml:2:14: error: memory.hbm: expected a table, not text");
    CHECK(contains(refused("link = 3"), "link: expected a table, not an integer"));
  }

  TEST_CASE("device file: wrong units and wrong ranges") {
    CHECK(
        contains(refused("[memory.hbm]\nbandwidth = \"3.35 TBs\""),
                 "d.toml:3:13: error: memory.hbm.bandwidth: \"3.35 TBs\": \"TBs\" is not a rate"));
    CHECK(contains(refused("[memory.hbm]\nbandwidth = 3350"), "expected text with a unit such as"));
    CHECK(contains(refused("[memory.hbm]\ncapacity = \"80 GB/s\""), "memory.hbm.capacity"));
    CHECK(contains(
        refused(
            "[memory.hbm]\nbandwidth = { value = \"3 TB/s\", range = [\"1 TB/s\", \"2 TB/s\"] }"),
        "the range does not contain the value"));
    CHECK(contains(refused("[memory.hbm]\nbandwidth = { value = \"3 TB/s\", kind = \"ceilng\" }"),
                   "did you mean \"ceiling\"?"));
    CHECK(contains(refused("units = \"132\""), "units: expected a number, not text"));
    CHECK(contains(refused("units = -1"), "must not be negative"));
  }

  TEST_CASE("device file: schema, sources, clocks and emulations are checked") {
    CHECK(refusal([] { parse("units = 1\n"); }) ==
          "d.toml:1:1: error: schema: missing; expected schema = 1");
    CHECK(contains(refusal([] { parse("schema = 7\n"); }), "version 7 is not known"));
    CHECK(contains(refused("units = { value = 1, origin = \"datasheet\", source = \"sheat\" }\n"
                           "[sources]\nsheet = { title = \"s\" }"),
                   "source \"sheat\" is not in [sources]; did you mean \"sheet\"?"));
    CHECK(refused("units = { value = 1, source = \"our own cluster\" }\n[sources]\nsheet = { title "
                  "= \"s\" }") == "accepted");
    CHECK(contains(refused("[clock.sm]\nhighest = \"1 GHz\"\n[rate.vector.fp32]\n"
                           "per_clock_per_unit = 1\nclock = \"ms\""),
                   "rate.vector.fp32.clock: there is no [clock.ms]; did you mean \"sm\"?"));
    CHECK(contains(refused("[clock.sm]\nhighest = \"1 GHz\"\n[memory.shared]\n"
                           "bytes_per_clock_per_unit = \"128 B\"\nclock = \"ms\""),
                   "memory.shared.clock: there is no [clock.ms]"));
    CHECK(contains(refused("[emulation.e]\nemulates = \"fp32\"\nuses = \"tensor.tf32\""),
                   "\"tensor.tf32\" is not a rate"));
    CHECK(contains(refused("[sources.s]\n"), "title"));
  }

  TEST_CASE("device file: all that is wrong is said at once") {
    const std::string error = refused("unitz = 1\n[memory.hbm]\nbandwidth = 1\ncapacity = true\n");
    CHECK(std::count(error.begin(), error.end(), '\n') == 2);
  }

  TEST_CASE("set: a key as written in the file, with its unit") {
    DeviceSpec device = parse(kBase);
    set_device_key(device, "memory.hbm.bandwidth", "4 TB/s");
    CHECK(hbm(device) == 4e12);
    CHECK(device.hbm.bandwidth->kind == RateKind::ceiling);
    set_device_key(device, "units", "12");
    CHECK(device.units->value == 12);
    set_device_key(device, "topology.multicast", "false");
    CHECK_FALSE(device.topology.multicast->value);
    set_device_key(device, "rate.tensor.bf16.fp32", "500 TFLOP/s");
    REQUIRE(device.rates.size() == 1);
    CHECK(device.rates[0].rate->value == FlopsPerSecond(5e14));
    set_device_key(device, "rate.tensor.fp8.fp32", "900 TFLOP/s");  // a new one
    CHECK(device.rates.size() == 2);
    set_device_key(device, "rate.sfu", "4 TFLOP/s");
    CHECK(device.rates.size() == 3);
    REQUIRE(device.overrides.size() == 2);  // topology and the rates had no value before
    CHECK(device.overrides[0].key == "memory.hbm.bandwidth");
    CHECK(device.name == "base");
  }

  TEST_CASE("set: unknown keys and bad values are refused") {
    DeviceSpec device = parse(kBase);
    CHECK(refusal([&] { set_device_key(device, "memory.hbm.bandwith", "1 TB/s"); }) ==
          "command line: error: memory.hbm.bandwith: is not a number of device base; did you mean "
          "\"memory.hbm.bandwidth\"?");
    CHECK(
        contains(refusal([&] { set_device_key(device, "memory.hbm.bandwidth", "fast"); }), "fast"));
    CHECK(contains(refusal([&] { set_device_key(device, "memory.hbm.bandwidth", "4"); }),
                   "expected text with a unit"));
    CHECK(contains(refusal([&] { set_device_key(device, "rate.hbm", "4 TB/s"); }), "rate.hbm"));
    CHECK(hbm(device) == 1e12);
  }

  TEST_CASE("scale: every end of the range, and a rate by the name of its table") {
    DeviceSpec device = parse(kBase);
    scale_device_key(device, "memory.hbm.bandwidth", 2);
    CHECK(hbm(device) == 2e12);
    CHECK(device.hbm.bandwidth->high == BytesPerSecond(2.2e12));
    CHECK(device.hbm.bandwidth->low == BytesPerSecond(2e12));
    scale_device_key(device, "rate.tensor.bf16.fp32", 0.5);
    CHECK(device.rates[0].per_clock_per_unit->value == Flops(50));
    scale_device_key(device, "units", 0.5);
    CHECK(device.units->value == 5);
    CHECK(device.overrides.size() == 3);
    CHECK(contains(refusal([&] { scale_device_key(device, "memory.hbm.bandwit", 2); }),
                   "did you mean \"memory.hbm.bandwidth\"?"));
    // A number that the device does not state cannot be scaled.
    CHECK(contains(refusal([&] { scale_device_key(device, "memory.l2.bandwidth", 2); }),
                   "is not a known number of device base"));
    CHECK(contains(refusal([&] { scale_device_key(device, "topology.kind", 2); }),
                   "is not a known number"));
  }
}
