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
  explicit ProbeMemory(std::size_t bytes)
      : bytes_(bytes),
        memory_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
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
  ProbeMemory(ProbeMemory&&) = delete;
  ProbeMemory& operator=(ProbeMemory&&) = delete;
  [[nodiscard]] char* data() const { return static_cast<char*>(memory_); }

 private:
  std::size_t bytes_;
  void* memory_;
};

constexpr std::int64_t kPiece = std::int64_t{256} * 1024;  // bytes: tens of microseconds
constexpr double kWindow = 1e-3;

/// One kind of traffic over a worker's part of the buffer; copies go from its first half to its
/// second.
struct Traffic {
  Kernel kernel;
  char* memory;
  std::int64_t share;  ///< bytes of one worker
  bool copies;
};

/// What one worker does: piece after piece, until the time is over.
std::vector<PieceDone> work_through(const Traffic& traffic, std::int64_t worker,
                                    Clock::time_point start, double until) {
  std::vector<PieceDone> done;
  float sum = 0;
  char* part = traffic.memory + worker * traffic.share;
  const std::int64_t half = traffic.copies ? traffic.share / 2 : 0;
  const std::int64_t last = traffic.share - half - kPiece;
  for (std::int64_t at = 0;; at = at + kPiece > last ? 0 : at + kPiece) {
    KernelArguments a;
    a.in[0] = part + at;
    a.out = part + half + at;
    a.scratch[0] = &sum;
    a.shape.n = kPiece / 4;
    traffic.kernel(a, 0, 1);
    const double now = std::chrono::duration<double>(Clock::now() - start).count();
    done.push_back({now, static_cast<double>(traffic.copies ? 2 * kPiece : kPiece)});
    if (now > until) return done;
  }
}

ProbedRate probe_kind(WorkerPool& pool, const Traffic& traffic, double budget,
                      std::int64_t& windows) {
  std::vector<std::vector<PieceDone>> done(static_cast<std::size_t>(pool.workers()));
  const Clock::time_point start = Clock::now();
  pool.run([&](std::int64_t worker) {
    done[static_cast<std::size_t>(worker)] = work_through(traffic, worker, start, budget);
  });
  std::vector<PieceDone> all;
  for (const auto& part : done) all.insert(all.end(), part.begin(), part.end());
  std::vector<double> rates = window_rates(std::move(all), kWindow);
  std::sort(rates.begin(), rates.end());
  windows = static_cast<std::int64_t>(rates.size());
  if (rates.empty()) return {};
  const std::size_t often = rates.size() - 1 - rates.size() / 10;
  return {BytesPerSecond(rates.back()), BytesPerSecond(rates[often])};
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

std::vector<double> window_rates(std::vector<PieceDone> pieces, double length) {
  std::sort(pieces.begin(), pieces.end(),
            [](const PieceDone& x, const PieceDone& y) { return x.at < y.at; });
  std::vector<double> rates;
  std::size_t first = 0;  // the window is (pieces[first].at, pieces[last].at]
  double moved = 0;
  for (std::size_t last = 1; last < pieces.size(); ++last) {
    moved += pieces[last].moved;
    while (first + 1 < last && pieces[last].at - pieces[first + 1].at >= length) {
      moved -= pieces[++first].moved;
    }
    const double time = pieces[last].at - pieces[first].at;
    if (time >= length) rates.push_back(moved / time);
  }
  return rates;
}

MemoryProbe probe_memory(std::int64_t workers, Bytes caches, Seconds budget) {
  constexpr double kLeast = 128.0 * 1048576;
  constexpr double kMost = 1024.0 * 1048576;
  const double wanted = std::clamp(caches.in_base_units() * 8, kLeast, kMost);
  const auto pieces = static_cast<std::int64_t>(wanted / static_cast<double>(kPiece) /
                                                static_cast<double>(workers));
  const std::int64_t share = std::max<std::int64_t>(pieces / 2 * 2, 8) * kPiece;
  const ProbeMemory memory(static_cast<std::size_t>(share * workers));
  WorkerPool pool(workers);
  const LevelKernels& kernels = best_kernels();
  const double each = std::clamp(budget.in_base_units() / 3, 0.02, 60.0);
  MemoryProbe probe;
  probe.buffer = Bytes(static_cast<double>(share * workers));
  std::int64_t windows[3] = {};
  char* data = memory.data();
  probe.read = probe_kind(pool, {kernels.probe_read, data, share, false}, each, windows[0]);
  probe.write = probe_kind(pool, {kernels.probe_write, data, share, false}, each, windows[1]);
  probe.copy = probe_kind(pool, {kernels.probe_copy, data, share, true}, each, windows[2]);
  probe.windows = *std::min_element(windows, windows + 3);
  if (probe.windows == 0)
    throw MeasurementError("memory probe: no window of a millisecond was full");
  return probe;
}

}  // namespace floorline::cpu
