// SPDX-License-Identifier: Apache-2.0
// Kernel bodies are plain C++ that nvcc compiles for the device too: the same index arithmetic runs
// in a CPU test, thread by thread, against the reference. No body allocates, throws or calls the
// standard library.
#pragma once

#include <cstdint>

#if defined(__CUDACC__)
#define FLOORLINE_HOST_DEVICE __host__ __device__
#else
#define FLOORLINE_HOST_DEVICE
#endif

namespace floorline::bodies {

using Index = std::int64_t;

/// One thread of all that run a kernel: it does elements thread, thread + threads, …
struct Grid {
  Index thread = 0;
  Index threads = 1;
};

/// One lane of those that share a row (a block, a warp, or one CPU thread: lanes = 1).
struct Lanes {
  Index lane = 0;
  Index lanes = 1;
};

}  // namespace floorline::bodies
