// SPDX-License-Identifier: Apache-2.0
// Parts of a ledger's document: the engine's pool, what fits at most, ranks, two scenarios.
#pragma once

#include <vector>

#include "model/report/ledger_document.hpp"

namespace floorline {

Json pool_json(const EnginePool& pool);
Section pool_section(const LedgerReport& report, const EnginePool& pool);

Json solution_json(const LedgerSolution& solution);
Section solution_section(const LedgerReport& report, const LedgerSolution& solution);

Json ranks_json(const std::vector<RankSummary>& ranks);
Table rank_table(const std::vector<RankSummary>& ranks);

/// Lines of both scenarios side by side.
Section comparison_section(const LedgerReport& before, const LedgerReport& after);

}  // namespace floorline
