// SPDX-License-Identifier: Apache-2.0
// Result of `floorline ledger`: lines, instants, peak, verdict, what to change, the engine's pool,
// what fits at most, and a second scenario beside the first.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/ledger/engine_pool.hpp"
#include "model/ledger/ledger.hpp"
#include "model/ledger/ledger_solve.hpp"
#include "model/report/document.hpp"

namespace floorline {

/// Peak of one kind of stage.
struct RankSummary {
  std::int64_t stage = 0;
  std::int64_t stages = 1;
  ByteCount peak;
  std::string at;
  bool worst = false;
};

struct LedgerReport {
  std::string title;
  Json inputs = Json::object();
  std::vector<std::string> assumptions;
  std::vector<std::string> notes;
  MemoryLedger ledger;  ///< of the rank that needs most
  std::optional<Budget> budget;

  // of a model
  std::int64_t parameters = 0;   ///< 0: not a model
  ByteCount kv_bytes_per_token;  ///< of a rank, all layers in full
  std::int64_t max_positions = 0;
  std::vector<RankSummary> ranks;  ///< told where there are several stages
  std::int64_t rank_count = 1;
  std::string engine;  ///< its title and version
  std::optional<EnginePool> pool;
  std::optional<LedgerSolution> solution;
  std::shared_ptr<const LedgerReport> after;  ///< the second scenario
  std::string changed;                        ///< of a second scenario: "context=8192"
};

/// Exit status: whether it fits, or a search has an answer; of two scenarios, the second. True
/// without a budget.
bool fits(const LedgerReport& report);
Document ledger_document(const LedgerReport& report);

/// "41,356,288 bytes"; "more than 9.2e18 bytes" after an overflow.
std::string bytes_text(ByteCount bytes);
/// "13.04": in units of 2^30 or 10^9 bytes.
std::string gib_text(ByteCount bytes);
std::string gb_text(ByteCount bytes);
/// A count, or null after an overflow.
Json json_of(ByteCount bytes);

}  // namespace floorline
