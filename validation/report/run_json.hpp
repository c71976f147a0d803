// SPDX-License-Identifier: Apache-2.0
// A hypothesis with predictions, observations and verdict as JSON: the document of `floorline
// validate H.toml`, and the `run` of a record. Keys carry units.
#pragma once

#include "model/report/document.hpp"
#include "validation/verdict/hypothesis_run.hpp"

namespace floorline {

Json run_json(const HypothesisRun& run);
/// Of one case: what it is, its floors, what was observed, what was found.
Json case_json(const HypothesisCase& what, const CaseRun& run, const CaseVerdict* verdict);

}  // namespace floorline
