// SPDX-License-Identifier: Apache-2.0
// NVML's C interface (NVML API reference, "Device Queries"): results are ints, 0 success; clock
// types SM 1 and memory 2; sensor 0 is the GPU; power in milliwatts; clocks in MHz.
#include "validation/experiment/cuda/nvml_library.hpp"

#include <dlfcn.h>

#include <array>

namespace floorline::cuda {

namespace {

constexpr int kClockSm = 1;
constexpr int kClockMemory = 2;
constexpr int kSensorGpu = 0;

struct ThrottleBit {
  std::uint64_t bit;
  const char* word;
};
/// nvmlClocksEventReasons (NVML API reference).
constexpr std::array kThrottleBits{
    ThrottleBit{0x1, "idle"},
    ThrottleBit{0x2, "application clocks setting"},
    ThrottleBit{0x4, "software power cap"},
    ThrottleBit{0x8, "hardware slowdown"},
    ThrottleBit{0x10, "sync boost"},
    ThrottleBit{0x20, "software thermal slowdown"},
    ThrottleBit{0x40, "hardware thermal slowdown"},
    ThrottleBit{0x80, "hardware power brake"},
    ThrottleBit{0x100, "display clock setting"},
};

/// One entry point called with `arguments`; false when it is missing or fails.
template <class... Parameters, class... Arguments>
bool call(void* library, const char* name, Arguments... arguments) {
  if (library == nullptr) return false;
  using Function = int (*)(Parameters...);
  const auto function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr && function(arguments...) == 0;
}

std::optional<Hertz> clock(void* library, void* device, int type) {
  unsigned megahertz = 0;
  if (!call<void*, int, unsigned*>(library, "nvmlDeviceGetClockInfo", device, type, &megahertz)) {
    return std::nullopt;
  }
  return Hertz(megahertz * 1e6);
}

}  // namespace

NvmlLibrary::NvmlLibrary(const std::string& pci_bus_id)
    : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)) {
  if (!call<>(library_, "nvmlInit_v2")) return;
  void* device = nullptr;
  if (call<const char*, void**>(library_, "nvmlDeviceGetHandleByPciBusId_v2", pci_bus_id.c_str(),
                                &device)) {
    device_ = device;
  }
}

NvmlLibrary::~NvmlLibrary() { call<>(library_, "nvmlShutdown"); }

MachineState NvmlLibrary::state() const {
  MachineState state;
  if (device_ == nullptr) return state;
  state.sm_clock = clock(library_, device_, kClockSm);
  state.memory_clock = clock(library_, device_, kClockMemory);
  unsigned degrees = 0;
  if (call<void*, int, unsigned*>(library_, "nvmlDeviceGetTemperature", device_, kSensorGpu,
                                  &degrees)) {
    state.temperature_celsius = degrees;
  }
  unsigned milliwatts = 0;
  if (call<void*, unsigned*>(library_, "nvmlDeviceGetPowerUsage", device_, &milliwatts)) {
    state.power_watts = milliwatts / 1e3;
  }
  unsigned long long bits = 0;
  if (call<void*, unsigned long long*>(library_, "nvmlDeviceGetCurrentClocksEventReasons", device_,
                                       &bits) ||
      call<void*, unsigned long long*>(library_, "nvmlDeviceGetCurrentClocksThrottleReasons",
                                       device_, &bits)) {
    state.throttle_reasons = throttle_words(bits);
  }
  return state;
}

std::string NvmlLibrary::driver_version() const {
  std::array<char, 96> text{};
  const bool known = call<char*, unsigned>(library_, "nvmlSystemGetDriverVersion", text.data(),
                                           static_cast<unsigned>(text.size() - 1));
  return known ? text.data() : "";
}

std::string throttle_words(std::uint64_t bits) {
  std::string words;
  for (const ThrottleBit& row : kThrottleBits) {
    if ((bits & row.bit) == 0) continue;
    words += (words.empty() ? "" : ", ") + std::string(row.word);
    bits &= ~row.bit;
  }
  if (bits != 0)
    words += (words.empty() ? "" : ", ") + std::string("unknown bits ") + std::to_string(bits);
  return words.empty() ? "none" : words;
}

}  // namespace floorline::cuda
