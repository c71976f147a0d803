// SPDX-License-Identifier: Apache-2.0
// Which kernels an experiment is on the CPU, in what order, and what they need beside inputs and
// output; or why there are none.
#pragma once

#include <string>
#include <vector>

#include "validation/experiment/cpu/kernel_table.hpp"
#include "validation/experiment/experiment.hpp"

namespace floorline::cpu {

struct CpuPlan {
  std::string why_not;             ///< not empty: nothing to run
  std::vector<Kernel> kernels;     ///< one parallel region each
  std::int64_t repeats = 1;        ///< of the whole sequence (launch chains)
  std::int64_t scratch[4] = {};    ///< bytes of tensors between kernels; 0: none
  std::int64_t on_chip_bytes = 0;  ///< a worker
};

CpuPlan plan_of(const ExperimentSpec& spec, const LevelKernels& kernels, std::int64_t workers);
KernelShape shape_of(const ExperimentSpec& spec);
/// Where elements of this precision live on the CPU; absent for formats without kernels.
bool storage_of(Precision precision, Storage& storage);

}  // namespace floorline::cpu
