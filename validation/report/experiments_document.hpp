// SPDX-License-Identifier: Apache-2.0
// The suite of experiments beside its floors: `floorline validate --experiments --backend B`.
#pragma once

#include "model/report/document.hpp"
#include "validation/verdict/experiment_suite.hpp"

namespace floorline {

Document experiments_document(const Backend& backend, const std::vector<SuiteRow>& rows,
                              const Method& method);

}  // namespace floorline
