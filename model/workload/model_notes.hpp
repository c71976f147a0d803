// SPDX-License-Identifier: Apache-2.0
// What a model's graph rests on, in words. Internal to model_graph.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/workload/architecture.hpp"
#include "model/workload/layout.hpp"
#include "model/workload/scenario.hpp"

namespace floorline {

/// Defaults used, precisions, how the layout divides the work.
std::vector<std::string> model_assumptions(const Architecture& architecture,
                                           const Scenario& scenario, const ParallelLayout& layout);
/// Sequences beyond what the model was made for.
std::optional<std::string> length_note(const Architecture& architecture, const Scenario& scenario);
/// What is left out, and lengths beyond what the model was made for.
std::vector<std::string> model_notes(const Architecture& architecture, const Scenario& scenario);

}  // namespace floorline
