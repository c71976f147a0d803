// SPDX-License-Identifier: Apache-2.0
// What this machine says of its CPUs: cpuid by way of /proc/cpuinfo, caches and clocks from /sys,
// memory from firmware tables. Nothing here is measured, nothing guessed: what a file does not say
// is absent, with the reason.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "validation/experiment/cpu/firmware_memory.hpp"

namespace floorline::cpu {

struct CacheInstances {
  int level = 0;
  std::string type;        ///< "Data", "Unified"
  std::int64_t bytes = 0;  ///< of one
  std::int64_t count = 0;  ///< distinct ones that the usable processors reach
};

struct CpuIdentity {
  std::string brand;   ///< "AMD EPYC 9654 96-Core Processor"
  std::string vendor;  ///< "AuthenticAMD"
  int family = 0, model = 0;
  std::string architecture;  ///< "x86_64", "aarch64"
  std::vector<std::string> features;
  bool hypervisor = false;
  std::int64_t processors = 1;  ///< that this process may use
  std::int64_t cores = 1;       ///< distinct cores of these; in a virtual machine: processors
  std::optional<Hertz> highest_clock;
  std::string highest_clock_source;  ///< which file; or why there is none
  std::vector<CacheInstances> caches;
  std::optional<FirmwareMemory> memory;
  std::string memory_source;  ///< which table; or why there is none
  std::optional<Bytes> memory_total;
  std::string kernel;  ///< "Linux 6.1.0"

  [[nodiscard]] bool has(const char* feature) const;
  /// Bytes of all caches of this level that keep data (not instructions); 0: none known.
  [[nodiscard]] std::int64_t cache_bytes(int level) const;
};

/// `root` is "" or a folder that stands for / in tests.
CpuIdentity read_cpu_identity(const std::string& root = "");

/// Clock of the first usable processor now, and the hottest package sensor; absent where the
/// machine does not say.
std::optional<Hertz> current_clock(const std::string& root = "");
std::optional<double> temperature_celsius(const std::string& root = "");
/// Runnable tasks over the last minute; absent where unknown.
std::optional<double> load_average(const std::string& root = "");

}  // namespace floorline::cpu
