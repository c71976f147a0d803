// SPDX-License-Identifier: Apache-2.0
// A case of a hypothesis as the engine sees it: its operator graph (op, workload, or what its
// experiment names) on a machine, and the texts that a record hashes.
#pragma once

#include <string>

#include "cli/options.hpp"
#include "model/evaluate.hpp"
#include "validation/experiment/experiment.hpp"
#include "validation/hypothesis/draft.hpp"
#include "validation/verdict/hypothesis_run.hpp"

namespace floorline {

struct CaseLookup {
  DeviceOptions device;  ///< --device replaces the hypothesis' own
  std::string workload_path;
  /// Of a backend: replaces both, and its experiments predict at its scale.
  const Machine* machine = nullptr;
  Scale scale = Scale::device;
};

/// Floors of both cases, hashes and assumptions. Throws InputError.
HypothesisRun predict(Hypothesis hypothesis, const CaseLookup& lookup);

/// "baseline=5.074ms", "variant.hbm_bytes=302MB": adds the observation, or, where one of that name
/// is there, its second run. Times and rates are read as --measured reads them. Throws InputError.
void add_typed(const std::string& text, HypothesisRun& run);

/// Judges what was observed.
void judge_run(HypothesisRun& run);

/// A hypothesis file from a change: drafted, predicted from the engine's own floors, and checked to
/// read back. Clocks that were chosen are written into both cases. Throws InputError.
std::string drafted_text(HypothesisDraft draft, const CaseLookup& lookup);

}  // namespace floorline
