// SPDX-License-Identifier: Apache-2.0
// The weights line of a ledger from what files store.
#pragma once

#include "model/ledger/ledger.hpp"
#include "model/workload/weights_file/stored_weights.hpp"

namespace floorline {

/// Exact; the formula lists the storage types, largest first.
LedgerEntry weights_entry(const StoredWeights& weights, Lifetime alive);
/// One note each: the largest tensors, and what the files say of themselves.
std::vector<std::string> weights_notes(const StoredWeights& weights);

}  // namespace floorline
