// SPDX-License-Identifier: Apache-2.0
// This machine as a device file (devices/README.md): what the processor states are ceilings, what
// only a probe found is best_seen, so that beating it refutes the probe and not a floor.
//   rates        cores × operations per clock × highest clock, where the clock is known; without it
//                the compute ceiling is unknown, and results that rest on it say so
//   per clock    vector lanes × pipes × 2. `value` counts the pipes this family is known to have
//                (two, where it is not); the fast end four pipes of the widest vectors, all
//                multiply-adds, which no processor so far exceeds
//   memory       firmware's transfers a second × width, else best_seen of the probe
//   caches       sums over the instances reached; the fast end adds L1 (all of a CPU's caches
//                outlive a loop), and in a virtual machine counts every processor as behind an L3
//                of its own, because the host may run them anywhere
#pragma once

#include <string>

#include "validation/experiment/cpu/cpu_identity.hpp"
#include "validation/experiment/cpu/cpu_probe.hpp"

namespace floorline::cpu {

struct ProbedMachine {
  CpuIdentity identity;
  Hertz clock{0};  ///< measured while working
  MemoryProbe memory;
};
/// Reads and measures; about `budget` for the memory probe.
ProbedMachine probe_machine(Seconds budget);

/// A device file named `name`.
std::string device_text(const ProbedMachine& machine, const std::string& name);

/// FLOPs of fp32 multiply-adds for each clock and core: the likely figure and the most.
struct PerClock {
  int likely = 0;
  int most = 0;
  std::string why;
};
PerClock fp32_per_clock(const CpuIdentity& identity);

}  // namespace floorline::cpu
