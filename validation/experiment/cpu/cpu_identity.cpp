// SPDX-License-Identifier: Apache-2.0
#include "validation/experiment/cpu/cpu_identity.hpp"

#include <sched.h>
#include <sys/utsname.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "model/quantity/unit_names.hpp"
#include "validation/experiment/cpu/worker_pool.hpp"

namespace floorline::cpu {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostText = 1 << 20;
constexpr std::size_t kMostTable = 1 << 22;

/// The file's first `most` bytes; empty when it cannot be read.
std::string file_text(const std::string& path, std::size_t most = kMostText) {
  std::ifstream file(path, std::ios::binary);
  std::string text(most, '\0');
  file.read(text.data(), static_cast<std::streamsize>(most));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return text;
}

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\n");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\n") - begin + 1);
}

std::optional<std::int64_t> whole(const std::string& text) {
  std::int64_t value = 0;
  const std::string word = trimmed(text);
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end == word.data()) return std::nullopt;
  return value;
}

/// The value of a line "key : value"; the first one.
// NOLINTNEXTLINE(bugprone-easily-swappable-parameters): text, then key
std::string cpuinfo_value(const std::string& cpuinfo, const std::string& key) {
  std::istringstream lines(cpuinfo);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(':');
    if (colon != std::string::npos && trimmed(line.substr(0, colon)) == key) {
      return trimmed(line.substr(colon + 1));
    }
  }
  return "";
}

std::vector<std::int64_t> usable_list() {
  std::vector<std::int64_t> list;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    for (std::size_t i = 0; i < CPU_SETSIZE; ++i) {
      if (CPU_ISSET(i, &set)) list.push_back(static_cast<std::int64_t>(i));
    }
  }
  if (list.empty()) list.push_back(0);
  return list;
}

std::string cpu_folder(const std::string& root, std::int64_t cpu) {
  return root + "/sys/devices/system/cpu/cpu" + std::to_string(cpu);
}

std::int64_t count_cores(const std::string& root, const std::vector<std::int64_t>& cpus) {
  std::set<std::string> cores;
  for (const std::int64_t cpu : cpus) {
    const std::string topology = cpu_folder(root, cpu) + "/topology/";
    const std::string core = trimmed(file_text(topology + "core_id"));
    if (core.empty()) return static_cast<std::int64_t>(cpus.size());
    cores.insert(trimmed(file_text(topology + "physical_package_id")) + ":" + core);
  }
  return static_cast<std::int64_t>(cores.size());
}

/// "1024K", "32M".
std::optional<std::int64_t> cache_size(const std::string& text) {
  const std::string word = trimmed(text);
  const auto number = whole(word);
  if (!number || *number <= 0 || *number > (std::int64_t{1} << 40)) return std::nullopt;
  if (word.back() == 'K') return *number << 10;
  if (word.back() == 'M') return *number << 20;
  return *number;
}

/// Counts one more instance of such a cache.
void add_instance(const CacheInstances& one, std::vector<CacheInstances>& caches) {
  for (CacheInstances& c : caches) {
    if (c.level != one.level || c.type != one.type || c.bytes != one.bytes) continue;
    ++c.count;
    return;
  }
  caches.push_back(one);
}

std::vector<CacheInstances> read_caches(const std::string& root,
                                        const std::vector<std::int64_t>& cpus) {
  constexpr int kMostIndices = 16;
  std::vector<CacheInstances> caches;
  std::set<std::string> seen;
  for (const std::int64_t cpu : cpus) {
    for (int index = 0; index < kMostIndices; ++index) {
      const std::string folder =
          cpu_folder(root, cpu).append("/cache/index").append(std::to_string(index)).append("/");
      const auto level = whole(file_text(folder + "level"));
      const auto size = cache_size(file_text(folder + "size"));
      const std::string type = trimmed(file_text(folder + "type"));
      if (!level || !size || type == "Instruction") continue;
      std::string shared = trimmed(file_text(folder + "shared_cpu_list"));
      if (shared.empty()) shared = std::to_string(cpu);
      if (!seen.insert(std::to_string(*level).append(type).append(shared)).second) continue;
      add_instance({static_cast<int>(*level), type, *size, 1}, caches);
    }
  }
  return caches;
}

/// The highest clock over the usable processors. A virtual machine's may not be the real one's;
/// acpi-cpufreq leaves boost out of its maximum, so with boost on it is no ceiling.
void read_highest_clock(const std::string& root, const std::vector<std::int64_t>& cpus,
                        CpuIdentity& id) {
  if (id.hypervisor) {
    id.highest_clock_source = "a virtual machine does not say how fast its host may clock";
    return;
  }
  std::int64_t most = 0;
  for (const std::int64_t cpu : cpus) {
    const std::string folder = cpu_folder(root, cpu) + "/cpufreq/";
    const auto khz = whole(file_text(folder + "cpuinfo_max_freq"));
    if (!khz || *khz <= 0) {
      id.highest_clock_source = "no cpufreq/cpuinfo_max_freq in sysfs";
      return;
    }
    const std::string driver = trimmed(file_text(folder + "scaling_driver"));
    const std::string boost = trimmed(file_text(root + "/sys/devices/system/cpu/cpufreq/boost"));
    if (driver == "acpi-cpufreq" && boost != "0") {
      id.highest_clock_source = "acpi-cpufreq's cpuinfo_max_freq leaves boost out";
      return;
    }
    most = std::max(most, *khz);
  }
  id.highest_clock = Hertz(static_cast<double>(most) * 1e3);
  id.highest_clock_source = "sysfs cpufreq/cpuinfo_max_freq";
}

void read_memory(const std::string& root, CpuIdentity& id) {
  const std::string meminfo = file_text(root + "/proc/meminfo");
  if (const auto kib = whole(cpuinfo_value(meminfo, "MemTotal"))) {
    id.memory_total = KiB(static_cast<double>(*kib));
  }
  if (id.hypervisor) {
    id.memory_source = "a virtual machine's firmware tables do not describe its host's memory";
    return;
  }
  const std::string table = file_text(root + "/sys/firmware/dmi/tables/DMI", kMostTable);
  if (table.empty()) {
    id.memory_source = "firmware tables (/sys/firmware/dmi/tables/DMI) are absent or need root";
    return;
  }
  const std::vector<std::uint8_t> bytes(table.begin(), table.end());
  id.memory = firmware_memory(memory_modules(bytes));
  id.memory_source = id.memory ? "SMBIOS type 17" : "SMBIOS does not state every module's speed";
}

std::string kernel_name() {
  utsname names{};
  if (uname(&names) != 0) return "";
  return std::string(names.sysname) + " " + names.release;
}

}  // namespace

bool CpuIdentity::has(const char* feature) const {
  return std::find(features.begin(), features.end(), feature) != features.end();
}

std::int64_t CpuIdentity::cache_bytes(int level) const {
  std::int64_t bytes = 0;
  for (const CacheInstances& c : caches) {
    if (c.level == level) bytes += c.bytes * c.count;
  }
  return bytes;
}

CpuIdentity read_cpu_identity(const std::string& root) {
  CpuIdentity id;
  const std::string cpuinfo = file_text(root + "/proc/cpuinfo");
  id.brand = cpuinfo_value(cpuinfo, "model name");
  id.vendor = cpuinfo_value(cpuinfo, "vendor_id");
  if (id.vendor.empty()) id.vendor = cpuinfo_value(cpuinfo, "CPU implementer");
  id.family = static_cast<int>(whole(cpuinfo_value(cpuinfo, "cpu family")).value_or(0));
  id.model = static_cast<int>(whole(cpuinfo_value(cpuinfo, "model")).value_or(0));
  std::istringstream flags(cpuinfo_value(cpuinfo, "flags") + " " +
                           cpuinfo_value(cpuinfo, "Features"));
  for (std::string flag; flags >> flag;) id.features.push_back(flag);
#if defined(__x86_64__)
  id.architecture = "x86_64";
#elif defined(__aarch64__)
  id.architecture = "aarch64";
#else
  id.architecture = "unknown";
#endif
  // An Arm kernel does not say; where clocks and firmware tables are shown, they are believed.
  id.hypervisor = id.has("hypervisor");
  const std::vector<std::int64_t> cpus = usable_list();
  id.processors = static_cast<std::int64_t>(cpus.size());
  id.cores = id.hypervisor ? id.processors : count_cores(root, cpus);
  id.caches = read_caches(root, cpus);
  read_highest_clock(root, cpus, id);
  read_memory(root, id);
  id.kernel = kernel_name();
  return id;
}

std::optional<Hertz> current_clock(const std::string& root) {
  const std::int64_t cpu = usable_list().front();
  if (const auto khz = whole(file_text(cpu_folder(root, cpu) + "/cpufreq/scaling_cur_freq"))) {
    return Hertz(static_cast<double>(*khz) * 1e3);
  }
  const std::string mhz = cpuinfo_value(file_text(root + "/proc/cpuinfo"), "cpu MHz");
  if (const auto value = parse_number(mhz)) return Hertz(*value * 1e6);
  return std::nullopt;
}

std::optional<double> temperature_celsius(const std::string& root) {
  std::optional<double> hottest;
  for (int zone = 0; zone < 64; ++zone) {
    const std::string folder = root + "/sys/class/thermal/thermal_zone" + std::to_string(zone);
    const auto milli = whole(file_text(folder + "/temp"));
    if (!milli) continue;
    hottest = std::max(hottest.value_or(-300), static_cast<double>(*milli) / 1000);
  }
  return hottest;
}

std::optional<double> load_average(const std::string& root) {
  const std::string text = file_text(root + "/proc/loadavg");
  return parse_number(text.substr(0, text.find(' ')));
}

}  // namespace floorline::cpu
