// SPDX-License-Identifier: Apache-2.0
// Which of the compiled instruction sets this processor has, asked at run time: one program runs
// anywhere and still uses what is there.
#include <cstring>

#include "validation/experiment/cpu/kernel_table.hpp"

namespace floorline::cpu {

const LevelKernels* kernels_baseline();
#if defined(FLOORLINE_CPU_X86_LEVELS)
const LevelKernels* kernels_avx2();
const LevelKernels* kernels_avx512();

namespace {

/// g++ answers with a number, clang++ with true or false.
template <class Answer>
bool supports(Answer answer) {
  return static_cast<bool>(answer);
}

bool has_avx2() {
  return supports(__builtin_cpu_supports("avx2")) && supports(__builtin_cpu_supports("fma"));
}
bool has_avx512() {
  return has_avx2() && supports(__builtin_cpu_supports("avx512f")) &&
         supports(__builtin_cpu_supports("avx512bw")) &&
         supports(__builtin_cpu_supports("avx512dq")) &&
         supports(__builtin_cpu_supports("avx512vl"));
}

}  // namespace
#endif

const LevelKernels* kernels_of_level(const char* level) {
  if (std::strcmp(level, "baseline") == 0) return kernels_baseline();
#if defined(FLOORLINE_CPU_X86_LEVELS)
  if (std::strcmp(level, "avx2") == 0 && has_avx2()) return kernels_avx2();
  if (std::strcmp(level, "avx512") == 0 && has_avx512()) return kernels_avx512();
#endif
  return nullptr;
}

const LevelKernels& best_kernels() {
  if (const LevelKernels* kernels = kernels_of_level("avx512")) return *kernels;
  if (const LevelKernels* kernels = kernels_of_level("avx2")) return *kernels;
  return *kernels_baseline();
}

}  // namespace floorline::cpu
