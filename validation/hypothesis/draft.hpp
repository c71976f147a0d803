// SPDX-License-Identifier: Apache-2.0
// A hypothesis drafted from a change that was only computed: from `floorline whatif` or from flags.
// Everything that can be filled is: baseline and variant, the changed keys, the claimed limit (what
// binds the baseline's floor), the prediction (the ratio of floors, 15 % less to 15 % more), what
// would refute it, and the experiment where one of that name and those keys runs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "validation/hypothesis/hypothesis.hpp"

namespace floorline {

struct HypothesisDraft {
  std::string op;        ///< the text of --op, or
  std::string workload;  ///< a file or a name
  std::vector<std::string> set;
  std::string device;
  std::vector<std::string> changes;  ///< NAME=VALUE or NAME*=FACTOR; several are one variable
  std::string variable;              ///< its name; may be empty when there is one change
  std::string claimed_limit;         ///< "" : filled by `binding` later
  std::string name;                  ///< "" : made from kind and keys
  std::string question;
  std::string boundary;
};

/// Both cases and the changed keys; no prediction yet. Throws InputError.
Hypothesis draft_hypothesis(const HypothesisDraft& draft);

/// The prediction from the engine's own floors, once both cases were evaluated.
struct DraftFloors {
  double floor_ratio = 1;  ///< cold floor of the baseline over that of the variant
  std::string binding;     ///< resource id of the baseline's floor
};
void predict_from_floors(Hypothesis& hypothesis, const DraftFloors& floors);

}  // namespace floorline
