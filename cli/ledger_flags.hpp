// SPDX-License-Identifier: Apache-2.0
// What the flags of floorline ledger say by themselves, told at once before anything is read.
#pragma once

#include "cli/ledger_subject.hpp"

namespace floorline {

void check_ledger_flags(const LedgerOptions& options, Diagnostics& wrong);

}  // namespace floorline
