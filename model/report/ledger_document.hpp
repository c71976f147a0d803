// SPDX-License-Identifier: Apache-2.0
// Result of `floorline ledger`: lines, instants, peak, verdict, what to change, the engine's pool,
// what fits at most, and a second scenario beside the first.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/ledger/ledger.hpp"
#include "model/report/document.hpp"

namespace floorline {

struct LedgerReport {
  std::string title;
  Json inputs = Json::object();
  std::vector<std::string> assumptions;
  std::vector<std::string> notes;
  MemoryLedger ledger;  ///< of the rank that needs most
  std::optional<Budget> budget;
};

/// Exit status: whether it fits; true without a budget.
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
