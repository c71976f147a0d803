// SPDX-License-Identifier: Apache-2.0
// As many threads as there are processors that this process may use, the caller one of them. A
// parallel region wakes the others and ends when all are done: that time is part of what is
// measured, as a launch is on a GPU.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace floorline::cpu {

/// Processors that the scheduler lets this process run on (affinity counts), at least 1.
std::int64_t usable_processors();

class WorkerPool {
 public:
  explicit WorkerPool(std::int64_t workers);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  WorkerPool(WorkerPool&&) = delete;
  WorkerPool& operator=(WorkerPool&&) = delete;

  [[nodiscard]] std::int64_t workers() const { return workers_; }
  /// Calls work(0) … work(workers - 1), one on each thread; returns when all have returned. `work`
  /// must not throw.
  void run(const std::function<void(std::int64_t)>& work);

 private:
  void serve(std::int64_t worker);

  std::int64_t workers_;
  const std::function<void(std::int64_t)>* work_ = nullptr;
  std::atomic<std::uint32_t> region_{0};
  std::atomic<std::int64_t> left_{0};
  std::atomic<bool> ending_{false};
  std::vector<std::thread> threads_;
};

}  // namespace floorline::cpu
