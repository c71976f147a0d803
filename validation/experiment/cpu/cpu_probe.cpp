// SPDX-License-Identifier: Apache-2.0
#include "validation/experiment/cpu/cpu_probe.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <vector>

#include "validation/experiment/cpu/kernel_table.hpp"
#include "validation/experiment/cpu/worker_pool.hpp"
#include "validation/experiment/method.hpp"
#include "validation/observation/sample.hpp"

namespace floorline::cpu {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_of(const std::function<void()>& work) {
  const Clock::time_point start = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

constexpr std::int64_t kChainSteps = 200'000;
#if defined(__x86_64__)
constexpr double kCyclesAStep = 3;
#else
constexpr double kCyclesAStep = 1;
#endif

/// Ten dependent steps a turn; the loop's own counter runs beside them.
void integer_chain() {
  std::uint64_t value = 3;
  for (std::int64_t i = 0; i < kChainSteps / 10; ++i) {
#if defined(__x86_64__)
    __asm__ volatile(
        "imul %0, %0\n imul %0, %0\n imul %0, %0\n imul %0, %0\n imul %0, %0\n"
        "imul %0, %0\n imul %0, %0\n imul %0, %0\n imul %0, %0\n imul %0, %0\n"
        : "+r"(value));
#elif defined(__aarch64__)
    __asm__ volatile(
        "add %0, %0, %0\n add %0, %0, %0\n add %0, %0, %0\n add %0, %0, %0\n add %0, %0, %0\n"
        "add %0, %0, %0\n add %0, %0, %0\n add %0, %0, %0\n add %0, %0, %0\n add %0, %0, %0\n"
        : "+r"(value));
#else
    for (int j = 0; j < 10; ++j) __asm__ volatile("" : "+r"(value));
#endif
  }
}

/// Pages that belong to this process, touched, in huge pages where they are given.
class ProbeMemory {
 public:
  explicit ProbeMemory(std::size_t bytes) : bytes_(bytes) {
    memory_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED) {
      throw MeasurementError("memory probe: the system gives no " +
                             std::to_string(bytes / 1048576) + " MiB of memory");
    }
    madvise(memory_, bytes, MADV_HUGEPAGE);
    std::memset(memory_, 1, bytes);
  }
  ~ProbeMemory() { munmap(memory_, bytes_); }
  ProbeMemory(const ProbeMemory&) = delete;
  ProbeMemory& operator=(const ProbeMemory&) = delete;
  [[nodiscard]] char* data() const { return static_cast<char*>(memory_); }

 private:
  void* memory_ = nullptr;
  std::size_t bytes_;
};

ProbedRate rate_of(std::vector<double> times, Bytes moved) {
  std::sort(times.begin(), times.end());
  return {moved / Seconds(times.front()), moved / Seconds(median_of_sorted(times))};
}

}  // namespace

BytesPerSecond MemoryProbe::best_seen() const {
  return std::max({read.enlarged(), write.enlarged(), copy.enlarged()});
}

Hertz probe_clock() {
  double best = seconds_of(integer_chain);
  for (int i = 0; i < 40; ++i) best = std::min(best, seconds_of(integer_chain));
  return Hertz(static_cast<double>(kChainSteps) * kCyclesAStep / best);
}

MemoryProbe probe_memory(std::int64_t workers, Bytes caches, Seconds budget) {
  constexpr double kLeast = 128.0 * 1048576;
  constexpr double kMost = 1024.0 * 1048576;
  const double wanted = std::clamp(caches.in_base_units() * 8, kLeast, kMost);
  const auto share =
      static_cast<std::int64_t>(wanted / 2 / static_cast<double>(workers)) / 4096 * 4096;
  const std::int64_t half = share * workers;
  const ProbeMemory memory(static_cast<std::size_t>(2 * half));
  char* a = memory.data();
  char* b = a + half;
  WorkerPool pool(workers);
  std::vector<float> sums(static_cast<std::size_t>(workers));
  const Kernel sum = best_kernels().storage[static_cast<std::size_t>(Storage::fp32)].sum_stage_one;
  KernelArguments whole;
  whole.in[0] = a;
  whole.scratch[0] = sums.data();
  whole.shape.n = 2 * half / 4;
  const std::function<void(std::int64_t)> read = [&](std::int64_t w) { sum(whole, w, workers); };
  const std::function<void(std::int64_t)> write = [&](std::int64_t w) {
    std::memset(a + w * 2 * share, 1, static_cast<std::size_t>(2 * share));
  };
  const std::function<void(std::int64_t)> copy = [&](std::int64_t w) {
    std::memcpy(b + w * share, a + w * share, static_cast<std::size_t>(share));
  };
  MemoryProbe probe;
  probe.buffer = Bytes(static_cast<double>(2 * half));
  std::vector<double> times[3];
  const Clock::time_point start = Clock::now();
  do {
    times[0].push_back(seconds_of([&] { pool.run(read); }));
    times[1].push_back(seconds_of([&] { pool.run(write); }));
    times[2].push_back(seconds_of([&] { pool.run(copy); }));
    ++probe.passes;
  } while (probe.passes < 5 ||
           (probe.passes < 1000 &&
            std::chrono::duration<double>(Clock::now() - start).count() < budget.in_base_units()));
  probe.read = rate_of(times[0], probe.buffer);
  probe.write = rate_of(times[1], probe.buffer);
  probe.copy = rate_of(times[2], probe.buffer);  // half read, half written
  return probe;
}

}  // namespace floorline::cpu
