// SPDX-License-Identifier: Apache-2.0
// Ledgers by hand: a TOML file (kind = "ledger", workloads/LEDGERS.md tells the keys), or
// NAME=BYTES.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/ledger/ledger.hpp"

namespace floorline {

struct Node;

struct LedgerDocument {
  std::string name;
  MemoryLedger ledger;
  std::optional<Budget> budget;
};

/// Whether a document is a ledger.
bool is_ledger_document(const Node& document);
/// Throws InputError with all that is wrong.
LedgerDocument read_ledger(const Node& document);
/// From text, for tests.
LedgerDocument parse_ledger(std::string_view text, std::string_view file_name);

/// "NAME=BYTES", of evidence exact as given, alive at `alive`. Throws InputError.
LedgerEntry parse_line(std::string_view text, Lifetime alive);
/// "22GiB", "22 GB". Throws InputError that names `flag`.
ByteCount parse_need(std::string_view text, std::string_view flag);
ByteCount parse_budget(std::string_view text, std::string_view flag);

}  // namespace floorline
