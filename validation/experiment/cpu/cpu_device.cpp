// SPDX-License-Identifier: Apache-2.0
#include "validation/experiment/cpu/cpu_device.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace floorline::cpu {

namespace {

/// Three decimals, rounded up: a fast end must not shrink in print. Never in a locale's way.
std::string decimals_up(double value) {
  std::array<char, 64> text{};
  const double up = std::ceil(value * 1000) / 1000;
  const auto [end, error] =
      std::to_chars(text.data(), text.data() + text.size(), up, std::chars_format::fixed, 3);
  return error == std::errc() ? std::string(text.data(), end) : "0";
}

/// Text that may stand between quotes in TOML.
std::string plain(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c >= ' ' && c <= '~' && c != '"' && c != '\\') result += c;
  }
  return result.empty() ? "unknown" : result;
}

std::string quoted(const std::string& text) { return "\"" + plain(text) + "\""; }
std::string mhz(Hertz clock) { return "\"" + decimals_up(clock.in_base_units() / 1e6) + " MHz\""; }
std::string gbps(BytesPerSecond rate) {
  return "\"" + decimals_up(rate.in_base_units() / 1e9) + " GB/s\"";
}
std::string kib(std::int64_t bytes) { return "\"" + std::to_string(bytes / 1024) + " KiB\""; }
std::string range(const std::string& low, const std::string& high) {
  return ", range = [" + low + ", " + high + "]";
}
std::string from(const char* origin, const char* source, const std::string& note) {
  return ", origin = \"" + std::string(origin) + "\", source = \"" + source +
         "\", note = " + quoted(note) + " }\n";
}
std::string unknown(const std::string& why) { return "{ unknown = " + quoted(why) + " }\n"; }

std::string head(const ProbedMachine& m, const std::string& name) {
  const CpuIdentity& id = m.identity;
  std::string text =
      "# Written by `floorline devices probe-cpu`: this machine's processors and memory. Ceilings\n"
      "# are what the machine states; best_seen is the best of a probe, which another run may "
      "beat.\n"
      "schema = 1\nname = " +
      quoted(name) + "\ntitle = " +
      quoted(id.brand + ", " + std::to_string(id.processors) + " processors, " + id.kernel) +
      "\nvendor = " + quoted(id.vendor) + "\n";
  text += "units = { value = " + std::to_string(id.cores) +
          range(std::to_string(id.cores), std::to_string(id.processors));
  return text + from("measured", "proc",
                     id.hypervisor ? "processors of a virtual machine, each counted as a whole core"
                                   : "cores that this process may use; fast end: its processors");
}

std::string clocks(const ProbedMachine& m) {
  const CpuIdentity& id = m.identity;
  std::string text;
  for (const char* name : {"tensor", "vector"}) {
    text += "\n[clock." + std::string(name) + "]\npublished = { value = " + mhz(m.clock) +
            from("measured", "probe", "best of 41 runs of a chain of integer operations");
    text += "highest = ";
    if (id.highest_clock) {
      // The clock that was seen bounds it too, whatever the file says.
      text += "{ value = " + mhz(*id.highest_clock) +
              range(mhz(*id.highest_clock), mhz(std::max(*id.highest_clock, m.clock))) +
              from("measured", "sysfs", id.highest_clock_source);
    } else {
      text += unknown(id.highest_clock_source);
    }
  }
  return text;
}

std::string per_clock(int value, int most, const std::string& why) {
  const std::string low = std::to_string(value);
  return "{ value = " + low + range(low, std::to_string(most)) + from("derived", "cpuid", why);
}

std::string vector_rate(const char* precision, int value, int most, const std::string& why) {
  return "[rate.vector." + std::string(precision) +
         "]\nclock = \"vector\"\nper_clock_per_unit = " + per_clock(value, most, why);
}

std::string tensor_rate(const char* key, int value, int most, const std::string& why) {
  return "[rate.tensor." + std::string(key) +
         "]\nclock = \"tensor\"\nper_clock_per_unit = " + per_clock(value, most, why);
}

std::string rates(const CpuIdentity& id) {
  const PerClock fp32 = fp32_per_clock(id);
  std::string text = "\n" + vector_rate("fp32", fp32.likely, fp32.most, fp32.why);
  text += vector_rate("fp64", fp32.likely / 2, fp32.most / 2, "half of fp32");
  text += vector_rate("int32", fp32.likely, fp32.most, "as fp32");
  if (id.has("avx512_fp16") || id.has("fphp")) {
    text += vector_rate("fp16", 2 * fp32.likely, 2 * fp32.most, "twice fp32");
  }
  // Looked up as tensor rates although they run on the vector pipes or a tile unit.
  if (id.has("amx_bf16")) {
    text += tensor_rate("bf16.fp32", 2048, 4096, "tiles: 16 x 16 x 32 multiply-adds in 16 clocks");
  } else if (id.has("avx512_bf16") || id.has("bf16")) {
    text += tensor_rate("bf16.fp32", 2 * fp32.likely, 4 * fp32.most, "dot products of pairs");
  }
  if (id.has("amx_int8")) {
    text += tensor_rate("int8.int32", 4096, 8192, "tiles: 16 x 16 x 64 multiply-adds in 16 clocks");
  } else if (id.has("avx512_vnni") || id.has("avx_vnni") || id.has("asimddp")) {
    text += tensor_rate("int8.int32", 4 * fp32.likely, 8 * fp32.most, "dot products of fours");
  }
  return text + "[rate.sfu]\nper_clock_per_unit = " +
         unknown("exponentials are polynomials on the vector unit");
}

std::string bandwidth(const ProbedMachine& m) {
  const CpuIdentity& id = m.identity;
  if (id.memory) {
    const std::string note = std::to_string(id.memory->modules) +
                             " modules, transfers a second x width; fast end: their rated speed";
    return "bandwidth = { value = " + gbps(id.memory->configured) +
           range(gbps(id.memory->configured), gbps(id.memory->fastest)) + ", kind = \"ceiling\"" +
           from("derived", "dmi", note);
  }
  const MemoryProbe& probe = m.memory;
  const std::string note =
      "best read " + decimals_up(probe.read.best.in_base_units() / 1e9) + ", write " +
      decimals_up(probe.write.best.in_base_units() / 1e9) + ", copy " +
      decimals_up(probe.copy.best.in_base_units() / 1e9) + " GB/s of " +
      std::to_string(probe.windows) + " windows of 1 ms over " +
      std::to_string(static_cast<std::int64_t>(probe.buffer.in_base_units() / 1048576)) +
      " MiB; the best enlarged by its distance to the 90th percentile; no ceiling: " +
      id.memory_source;
  return "bandwidth = { value = " + gbps(probe.best_seen()) + ", kind = \"best_seen\"" +
         from("measured", "probe", note);
}

std::string memory(const ProbedMachine& m) {
  const CpuIdentity& id = m.identity;
  std::string text =
      "\n[memory]\nsector_bytes = { value = \"64 B\", range = [\"64 B\", \"64 B\"], origin = "
      "\"assumed\", source = \"family\", note = \"cache line of x86-64 and of most Arm servers\" "
      "}\n";
  text += "\n[memory.hbm]\n" + bandwidth(m) +
          "capacity = " + unknown("the modules are not listed with their sizes") +
          "driver_capacity = ";
  if (id.memory_total) {
    text += "{ value = " + kib(static_cast<std::int64_t>(id.memory_total->in_base_units())) +
            from("measured", "proc", "MemTotal of /proc/meminfo");
  } else {
    text += unknown("/proc/meminfo does not say");
  }
  return text;
}

std::string cache_level(const char* table, std::int64_t bytes, std::int64_t most,
                        const std::string& note) {
  const std::string head = "\n[memory." + std::string(table) + "]\ncapacity = ";
  if (bytes == 0) return head + unknown("sysfs lists no such cache");
  return head + "{ value = " + kib(bytes) + range(kib(bytes), kib(most)) +
         from("measured", "sysfs", note);
}

std::string caches(const CpuIdentity& id) {
  const std::int64_t l1 = id.cache_bytes(1);
  const std::int64_t l2 = id.cache_bytes(2);
  const std::int64_t l3 = id.cache_bytes(3) + id.cache_bytes(4);
  std::int64_t most_l3 = l3;
  for (const CacheInstances& c : id.caches) {
    if (id.hypervisor && c.level == 3) most_l3 += c.bytes * (id.processors - c.count);
  }
  std::string text = cache_level("l2", l2, l2 + l1, "all L2 reached; fast end: and L1 data");
  // A machine that lists L2 and no L3 has none; one that lists nothing is not known.
  if (l3 > 0 || l2 == 0) {
    text += cache_level("last_level", l3, most_l3,
                        id.hypervisor ? "L3 as the virtual machine shows it; fast end: one for "
                                        "each processor, wherever the host runs them"
                                      : "all L3 reached");
  }
  const std::int64_t each = l1 / std::max<std::int64_t>(id.cores, 1);
  text += "\n[memory.shared]\ncapacity_per_unit = ";
  text += each == 0 ? unknown("sysfs lists no L1 data cache")
                    : "{ value = " + kib(each) + from("measured", "sysfs", "L1 data of one core");
  return text +
         "\n[memory.registers]\ncapacity_per_unit = { value = \"2 KiB\", range = [\"512 B\", "
         "\"16 KiB\"], origin = \"assumed\", source = \"family\", note = \"32 registers of 512 "
         "bit; fast end: the renamed ones too\" }\n";
}

std::string tail(const CpuIdentity& id) {
  std::string text = "\n[link.h2d]\nbandwidth = " + unknown("this is the host itself");
  text += "[link.d2h]\nbandwidth = " + unknown("this is the host itself");
  text +=
      "[topology]\ndevices_per_node = { value = 1, origin = \"measured\", source = \"proc\" }\n";
  return text + "\n[sources]\ncpuid = { title = " +
         quoted("cpuid: " + id.vendor + " family " + std::to_string(id.family) + " model " +
                std::to_string(id.model)) +
         " }\nproc = { title = \"/proc/cpuinfo, /proc/meminfo, sched_getaffinity\" }\n"
         "sysfs = { title = \"/sys/devices/system/cpu: cpufreq, cache, topology\" }\n"
         "dmi = { title = \"SMBIOS type 17 in /sys/firmware/dmi/tables/DMI\" }\n"
         "probe = { title = \"floorline devices probe-cpu, measured when this file was written\" "
         "}\n"
         "family = { title = \"common to the processor family; the range carries the doubt\" }\n";
}

}  // namespace

PerClock fp32_per_clock(const CpuIdentity& id) {
  constexpr int kMostPipes = 4;
  if (id.architecture == "aarch64") {
    return {16, 128, "two pipes of 4 lanes, multiply-add; fast end: four pipes of 16 lanes (SVE)"};
  }
  if (id.has("avx512f")) {
    const bool amd_half = id.vendor == "AuthenticAMD" && id.family == 25;  // Zen 4: 256-bit pipes
    return {amd_half ? 32 : 64, kMostPipes * 16 * 2,
            std::string(amd_half ? "two pipes of 8 lanes" : "two pipes of 16 lanes") +
                ", multiply-add; fast end: four pipes of 16 lanes"};
  }
  if (id.has("avx2") && id.has("fma")) {
    return {32, kMostPipes * 8 * 2, "two pipes of 8 lanes, multiply-add; fast end: four pipes"};
  }
  return {16, kMostPipes * 8 * 2,
          "two pipes of 4 lanes, an addition and a multiplication; fast end: four pipes of 8 "
          "lanes, multiply-add"};
}

ProbedMachine probe_machine(Seconds budget) {
  ProbedMachine m;
  m.identity = read_cpu_identity();
  m.clock = probe_clock();
  const auto caches = static_cast<double>(m.identity.cache_bytes(2) + m.identity.cache_bytes(3));
  m.memory = probe_memory(m.identity.processors, Bytes(caches), budget);
  return m;
}

std::string device_text(const ProbedMachine& machine, const std::string& name) {
  return head(machine, name) + clocks(machine) + rates(machine.identity) + memory(machine) +
         caches(machine.identity) + tail(machine.identity);
}

}  // namespace floorline::cpu
