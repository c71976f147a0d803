// SPDX-License-Identifier: Apache-2.0
#include "validation/experiment/cpu/worker_pool.hpp"

#include <sched.h>

#include <algorithm>

namespace floorline::cpu {

namespace {

/// A region soon follows another: look a while before sleeping (some 100 us, as long as waking a
/// sleeper can take in a virtual machine).
constexpr int kLooks = 20000;

void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

template <class T>
void wait_while_equal(const std::atomic<T>& value, T old) {
  for (int i = 0; i < kLooks; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    pause_briefly();
  }
  value.wait(old, std::memory_order_acquire);
}

}  // namespace

std::int64_t usable_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) return CPU_COUNT(&set);
  return std::max<std::int64_t>(1, std::thread::hardware_concurrency());
}

WorkerPool::WorkerPool(std::int64_t workers) : workers_(std::max<std::int64_t>(workers, 1)) {
  for (std::int64_t i = 1; i < workers_; ++i) threads_.emplace_back([this, i] { serve(i); });
}

WorkerPool::~WorkerPool() {
  ending_.store(true, std::memory_order_release);
  region_.fetch_add(1, std::memory_order_acq_rel);
  region_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::run(const std::function<void(std::int64_t)>& work) {
  work_ = &work;
  left_.store(workers_ - 1, std::memory_order_release);
  region_.fetch_add(1, std::memory_order_acq_rel);
  region_.notify_all();
  work(0);
  for (std::int64_t left = left_.load(std::memory_order_acquire); left != 0;
       left = left_.load(std::memory_order_acquire)) {
    wait_while_equal(left_, left);
  }
}

void WorkerPool::serve(std::int64_t worker) {
  std::uint32_t seen = 0;
  for (;;) {
    wait_while_equal(region_, seen);
    const std::uint32_t now = region_.load(std::memory_order_acquire);
    if (now == seen) continue;
    seen = now;
    if (ending_.load(std::memory_order_acquire)) return;
    (*work_)(worker);
    if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) left_.notify_one();
  }
}

}  // namespace floorline::cpu
