// SPDX-License-Identifier: Apache-2.0
// Ledgers of what is no model that serves: an operator graph, a training step, a model known by its
// size. Lines, assumptions and notes; budget and lines given are the caller's.
#pragma once

#include "cli/ledger_subject.hpp"
#include "cli/subject.hpp"

namespace floorline {

LedgerReport graph_report(const OperatorGraph& graph);
LedgerReport training_report(const ModelWorkload& model);
/// --params: the size, with the symbols of --set that matter to it.
LedgerReport size_report(const LedgerOptions& options);
/// Files hold a whole model: which part of it a rank has is not told.
void check_stored(const ModelWorkload& model);

}  // namespace floorline
