// SPDX-License-Identifier: Apache-2.0
// Many hypotheses at once: `floorline validate --all`.
#pragma once

#include <vector>

#include "model/report/document.hpp"
#include "validation/verdict/hypothesis_run.hpp"

namespace floorline {

Document suite_document(const std::vector<HypothesisRun>& runs);

}  // namespace floorline
