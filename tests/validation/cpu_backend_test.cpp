// SPDX-License-Identifier: Apache-2.0
// The CPU backend: every kernel of every instruction set against the reference, kernels broken on
// purpose, what the machine says of itself, and its device file.
#include "validation/experiment/cpu/cpu_backend.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "model/device/device_file.hpp"
#include "validation/experiment/cpu/cpu_plan.hpp"
#include "validation/experiment/cpu/worker_pool.hpp"
#include "validation/experiment/runner.hpp"

using namespace floorline;

namespace {

/// Any device will do where only results are looked at.
std::unique_ptr<Backend> backend_of_level(const char* level, bool broken = false) {
  CpuBackendOptions options;
  options.device = load_device("epyc_9654", {{"devices"}});
  options.level = level;
  options.break_kernels = broken;
  return make_cpu_backend(options);
}

Method shortest() {
  Method method;
  method.warm_up = 0;
  method.budget = Seconds(0);
  method.memory_cap = MiB(4);
  return method;
}

/// A tree that stands for / in tests.
class FakeRoot {
 public:
  FakeRoot()
      : root_(std::filesystem::temp_directory_path() /
              ("floorline_root_" + std::to_string(getpid()))) {
    std::filesystem::remove_all(root_);
  }
  ~FakeRoot() { std::filesystem::remove_all(root_); }
  FakeRoot(const FakeRoot&) = delete;
  FakeRoot& operator=(const FakeRoot&) = delete;
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path, std::ios::binary) << text;
  }
  /// The same file for every processor that this test may run on.
  void write_each(const std::string& name, const std::string& text) const {
    for (int cpu = 0; cpu < 1024; ++cpu) {
      if (!std::filesystem::exists("/sys/devices/system/cpu/cpu" + std::to_string(cpu))) continue;
      write("sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/" + name, text);
    }
  }
  [[nodiscard]] std::string path() const { return root_.string(); }

 private:
  std::filesystem::path root_;
};

/// A type 17 structure of SMBIOS 2.8 (40 bytes) and its one string.
std::string module_of(int size, int width, int rated, int configured) {
  std::string s(0x28, '\0');
  s[0] = 17;
  s[1] = 0x28;
  const auto word = [&s](std::size_t at, int value) {
    s[at] = static_cast<char>(value & 255);
    s[at + 1] = static_cast<char>(value >> 8 & 255);
  };
  word(0x0a, width);
  word(0x0c, size);
  word(0x15, rated);
  word(0x20, configured);
  return s + std::string("DIMM\0\0", 6);
}
std::vector<std::uint8_t> bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

}  // namespace

TEST_SUITE("experiment") {
  TEST_CASE("every CPU kernel of every instruction set gives the reference's results") {
    for (const char* level : {"baseline", "avx2", "avx512"}) {
      if (cpu::kernels_of_level(level) == nullptr) {
        MESSAGE("no ", level, " here: its kernels are not tested");
        continue;
      }
      const auto backend = backend_of_level(level);
      int ran = 0;
      for (const ExperimentSpec& spec : experiment_table(Scale::tiny)) {
        CAPTURE(level);
        CAPTURE(spec.name);
        const ExperimentRun run = run_experiment(*backend, spec, shortest());
        CHECK_MESSAGE(!run.wrong, run.why_not);
        CHECK(run.observation.has_value() == run.why_not.empty());
        ran += run.observation ? 1 : 0;
      }
      CHECK(ran >= 30);
    }
  }

  TEST_CASE("all formats, all arithmetic: normalization and streams") {
    const auto backend = backend_of_level("");
    for (const char* in : {"fp32", "fp64", "bf16", "fp16"}) {
      for (const char* kind : {"layernorm rows=5 cols=131", "layernorm_three rows=5 cols=131",
                               "residual_norm rows=5 cols=131", "residual_norm_one rows=5 cols=131",
                               "copy n=777", "triad n=777 offset=3", "gather n=50 rows=60"}) {
        const std::string text = std::string(kind) + " in=" + in;
        if (backend->why_not(parse_experiment(text)).find("fp32 here") != std::string::npos)
          continue;
        const ExperimentRun run = run_experiment(*backend, parse_experiment(text), shortest());
        CHECK_MESSAGE(run.observation, text, ": ", run.why_not);
      }
      const std::string wide = std::string("layernorm rows=3 cols=70 weight=fp32 in=") + in +
                               " compute=fp64 accumulate=fp64";
      CHECK(run_experiment(*backend, parse_experiment(wide), shortest()).observation);
    }
  }

  TEST_CASE("a kernel that skips a part is caught, whatever it calculates") {
    const auto backend = backend_of_level("", true);
    for (const ExperimentSpec& spec : experiment_table(Scale::tiny)) {
      // Of the smallest only some parts have work at all.
      if (!backend->why_not(spec).empty() || spec.kind == ExperimentKind::launch_chain) continue;
      CAPTURE(spec.name);
      ExperimentSpec larger = spec;  // at least eight parts of 64 elements or of a row
      ExperimentSizes& s = larger.sizes;
      if (s.n > 0) s.n = std::max<std::int64_t>(s.n, 1024);
      if (s.rows > 0 && s.cols > 0) s.rows = 16;
      if (spec.kind == ExperimentKind::gemm) s.m = s.n = 128;
      if (s.q_len > 0) s.q_len = 16;  // 2 heads: 32 rows
      const ExperimentRun run = run_experiment(*backend, larger, shortest());
      CHECK(run.wrong);
      CHECK_FALSE(run.observation);
    }
  }

  TEST_CASE("what a CPU cannot run says why") {
    const auto backend = backend_of_level("");
    const auto why = [&](const char* text) { return backend->why_not(parse_experiment(text)); };
    CHECK(why("h2d bytes=64B") ==
          "needs a link between host and device; on a CPU both are the same memory");
    CHECK(why("all_reduce bytes=64B ranks=2") == "needs two devices; this machine's CPUs are one");
    CHECK(why("launch_chain n=4 count=2 graph=1") == "needs a graph of launches; a CPU has none");
    CHECK(why("gemm m=4 n=4 k=4 in=bf16")
              .find("matrix products on the CPU (Eigen) are fp32 or fp64") == 0);
    CHECK(why("copy n=4 in=fp8").find("no CPU kernel stores fp8_e4m3") == 0);
    CHECK(why("layernorm rows=2 cols=2 in=bf16 compute=fp16 accumulate=fp16")
              .find("CPU kernels calculate in fp32") == 0);
    CHECK(why("layernorm rows=2 cols=2 in=bf16 out=fp32").find("one format") != std::string::npos);
    CHECK(why("triad n=4") == "");
    CHECK_THROWS_AS(backend_of_level("avx1024"), MeasurementError);
  }

  TEST_CASE("a region runs every worker once, thousands of times") {
    cpu::WorkerPool pool(4);
    std::vector<std::int64_t> times(4);
    for (int i = 0; i < 2000; ++i) {
      pool.run([&](std::int64_t worker) { ++times[static_cast<std::size_t>(worker)]; });
    }
    CHECK(times == std::vector<std::int64_t>(4, 2000));
    cpu::WorkerPool alone(1);
    alone.run([&](std::int64_t worker) { CHECK(worker == 0); });
    CHECK(cpu::usable_processors() >= 1);
  }

  TEST_CASE("modules that the firmware lists") {
    // Two of 64 bits at 4800, running at 4400: 2 x 8 x 4400e6 = 70.4, at most 76.8 GB/s; an empty
    // socket (size 0) counts nothing.
    const std::string table = module_of(16384, 64, 4800, 4400) + module_of(0, 0, 0, 0) +
                              module_of(16384, 64, 4800, 4400) +
                              std::string("\x7f\x04\x00\x00\0\0", 6);
    const std::vector<cpu::MemoryModule> modules = cpu::memory_modules(bytes_of(table));
    REQUIRE(modules.size() == 2);
    const auto memory = cpu::firmware_memory(modules);
    REQUIRE(memory);
    CHECK(memory->modules == 2);
    CHECK(memory->configured == GBPerSecond(70.4));
    CHECK(memory->fastest == GBPerSecond(76.8));
    CHECK_FALSE(cpu::firmware_memory({}));
    CHECK_FALSE(cpu::firmware_memory({{64, 4800, 0}, {64, 0, 0}}));  // one speed unknown
    CHECK_FALSE(cpu::firmware_memory({{0xffff, 4800, 4800}}));       // width unknown
    // Cut anywhere, or any byte changed: no crash, never more than there is.
    for (std::size_t cut = 0; cut < table.size(); ++cut) {
      CHECK(cpu::memory_modules(bytes_of(table.substr(0, cut))).size() <= 2);
      std::string broken = table;
      broken[cut] = static_cast<char>(0xff);
      CHECK(cpu::memory_modules(bytes_of(broken)).size() <= 3);
    }
  }

  TEST_CASE("what the machine says of itself: a real one, a virtual one, one that is silent") {
    const FakeRoot root;
    CHECK(cpu::read_cpu_identity(root.path()).caches.empty());
    CHECK_FALSE(cpu::read_cpu_identity(root.path()).highest_clock);
    CHECK_FALSE(cpu::current_clock(root.path()));
    CHECK_FALSE(cpu::temperature_celsius(root.path()));
    root.write(
        "proc/cpuinfo",
        "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\n"
        "model name\t: AMD EPYC 9654\ncpu MHz\t\t: 2400.000\nflags\t\t: fpu avx2 fma avx512f\n");
    root.write("proc/meminfo", "MemTotal:       1048576 kB\n");
    root.write("sys/firmware/dmi/tables/DMI", module_of(16384, 64, 4800, 4800));
    root.write("sys/class/thermal/thermal_zone0/temp", "45500\n");
    root.write_each("cpufreq/cpuinfo_max_freq", "3709000\n");
    root.write_each("cpufreq/scaling_driver", "amd-pstate\n");
    root.write_each("cache/index0/level", "1\n");
    root.write_each("cache/index0/type", "Data\n");
    root.write_each("cache/index0/size", "32K\n");
    root.write_each("cache/index1/level", "3\n");
    root.write_each("cache/index1/type", "Unified\n");
    root.write_each("cache/index1/size", "32M\n");
    root.write_each("cache/index1/shared_cpu_list", "0-1023\n");
    cpu::CpuIdentity id = cpu::read_cpu_identity(root.path());
    CHECK(id.brand == "AMD EPYC 9654");
    CHECK_FALSE(id.hypervisor);
    REQUIRE(id.highest_clock);
    CHECK(*id.highest_clock == MHz(3709));
    CHECK(id.cache_bytes(1) == id.processors * 32768);
    CHECK(id.cache_bytes(3) == 33554432);
    REQUIRE(id.memory);
    CHECK(id.memory->fastest == GBPerSecond(38.4));
    CHECK(*id.memory_total == GiB(1));
    CHECK(*cpu::current_clock(root.path()) == MHz(2400));
    CHECK(*cpu::temperature_celsius(root.path()) == 45.5);
    // acpi-cpufreq's maximum leaves boost out: with boost on it is no ceiling.
    root.write_each("cpufreq/scaling_driver", "acpi-cpufreq\n");
    root.write("sys/devices/system/cpu/cpufreq/boost", "1\n");
    CHECK_FALSE(cpu::read_cpu_identity(root.path()).highest_clock);
    root.write("sys/devices/system/cpu/cpufreq/boost", "0\n");
    CHECK(cpu::read_cpu_identity(root.path()).highest_clock);
    // In a virtual machine neither clocks nor firmware tables are the host's.
    root.write("proc/cpuinfo", "model name\t: AMD EPYC\nflags\t\t: avx2 fma hypervisor\n");
    id = cpu::read_cpu_identity(root.path());
    CHECK(id.hypervisor);
    CHECK_FALSE(id.highest_clock);
    CHECK_FALSE(id.memory);
    CHECK(id.cores == id.processors);
  }

  TEST_CASE(
      "the device file: ceilings from what is stated, best_seen from the probe, and it loads") {
    cpu::ProbedMachine m;
    m.identity.brand = "Odd \"brand\" \\ name";
    m.identity.vendor = "AuthenticAMD";
    m.identity.family = 25;
    m.identity.architecture = "x86_64";
    m.identity.features = {"avx2", "fma", "avx512f"};
    m.identity.processors = m.identity.cores = 2;
    m.identity.highest_clock = MHz(3709);
    m.identity.highest_clock_source = "sysfs";
    m.identity.caches = {
        {1, "Data", 32768, 2}, {2, "Unified", 1048576, 2}, {3, "Unified", 33554432, 1}};
    m.identity.memory = cpu::FirmwareMemory{2, GBPerSecond(70.4), GBPerSecond(76.8)};
    m.clock = MHz(3700);
    m.memory.read = {GBPerSecond(50), GBPerSecond(45)};
    const auto device = [&] { return parse_device(cpu::device_text(m, "here"), "here.toml", {}); };
    DeviceSpec spec = device();
    CHECK(spec.name == "here");
    CHECK(spec.hbm.bandwidth->kind == RateKind::ceiling);
    CHECK(spec.hbm.bandwidth->value == GBPerSecond(70.4));
    CHECK(spec.hbm.bandwidth->upper() == GBPerSecond(76.8));
    Machine machine = machine_of(spec, {});
    const ResourceId fp32{Unit::vector, Precision::fp32};
    // Zen 4: 32 FLOP a clock and core nominal, 128 at the most: 2 x 128 x 3709e6 = 949.5 GFLOP/s.
    CHECK(machine.rates[fp32].has_ceiling);
    CHECK(machine.rates[fp32].ceiling.in_base_units() == doctest::Approx(949.504e9));
    CHECK(machine.rates[fp32].nominal.in_base_units() == doctest::Approx(2 * 32 * 3700e6));
    CHECK(machine.chip.keep_known);
    // L2 2 MiB, fast end with 64 KiB of L1; L3 32 MiB.
    CHECK(machine.chip.keep == MiB(34) + KiB(64));
    CHECK(machine.chip.sector == Bytes(64));
    // In a virtual machine: no clock, no firmware; an L3 for each processor.
    m.identity.hypervisor = true;
    m.identity.highest_clock.reset();
    m.identity.memory.reset();
    machine = machine_of(device(), {});
    CHECK_FALSE(machine.rates[fp32].has_ceiling);
    CHECK(machine.rates[fp32].known);
    CHECK(machine.device.hbm.bandwidth->kind == RateKind::best_seen);
    CHECK(machine.device.hbm.bandwidth->value == GBPerSecond(55));  // 50 + (50 - 45)
    CHECK(machine.chip.keep == MiB(66) + KiB(64));
    // Nothing known of caches: no memory floor at any residency.
    m.identity.caches.clear();
    CHECK_FALSE(machine_of(device(), {}).chip.keep_known);
  }

  TEST_CASE("vectors of the families") {
    cpu::CpuIdentity id;
    id.architecture = "x86_64";
    CHECK(cpu::fp32_per_clock(id).likely == 16);
    id.features = {"avx2", "fma"};
    CHECK(cpu::fp32_per_clock(id).likely == 32);
    id.features.push_back("avx512f");
    CHECK(cpu::fp32_per_clock(id).likely == 64);
    CHECK(cpu::fp32_per_clock(id).most == 128);
    id.architecture = "aarch64";
    CHECK(cpu::fp32_per_clock(id).likely == 16);
  }

  TEST_CASE("the best window of a millisecond, whoever worked in it") {
    // Two workers, a piece of 10 each half millisecond; one sleeps from 2 to 6 ms. Windows of both:
    // 40 bytes a millisecond (two halves of two pieces), of one alone 20.
    std::vector<cpu::PieceDone> pieces;
    for (int i = 1; i <= 20; ++i) {
      pieces.push_back({i * 0.5e-3, 10});
      if (i <= 4 || i > 12) pieces.push_back({i * 0.5e-3 + 1e-9, 10});
    }
    const std::vector<double> rates = cpu::window_rates(pieces, 1e-3);
    REQUIRE_FALSE(rates.empty());
    double best = 0;
    double least = 1e300;
    for (const double r : rates) {
      best = std::max(best, r);
      least = std::min(least, r);
    }
    CHECK(best == doctest::Approx(40e3).epsilon(0.3));
    CHECK(best >= 40e3 * 0.999);
    CHECK(least == doctest::Approx(20e3).epsilon(0.3));
    CHECK(cpu::window_rates({}, 1e-3).empty());
    CHECK(cpu::window_rates({{1e-4, 10}, {2e-4, 10}}, 1e-3).empty());
  }

  TEST_CASE("the probe of this machine loads as a device") {
    const cpu::ProbedMachine m = cpu::probe_machine(Seconds(0.06));
    CHECK(m.clock > MHz(100));
    CHECK(m.clock < MHz(10000));
    CHECK(m.memory.best_seen() > GBPerSecond(0.1));
    const DeviceSpec spec = parse_device(cpu::device_text(m, "this_cpu"), "this_cpu.toml", {});
    CHECK(spec.units);
    CHECK(spec.hbm.bandwidth);
  }
}
