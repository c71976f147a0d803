// SPDX-License-Identifier: Apache-2.0
// The `experiment` of a case: a name of the suite, whose sizes go with the machine that runs it, or
// a text of its own, 'KIND key=value …'.
#pragma once

#include <optional>
#include <string>

#include "validation/experiment/experiment.hpp"

namespace floorline {

/// Absent: the suite has it, but not at this scale. Throws InputError: no such name, or a text that
/// cannot be read.
std::optional<ExperimentSpec> resolve_experiment(const std::string& text, Scale scale);

}  // namespace floorline
