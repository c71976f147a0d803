// SPDX-License-Identifier: Apache-2.0
// Which columns a table of each kind has. Internal to measured_rows.
#pragma once

#include "validation/observation/measured_rows.hpp"

namespace floorline {

bool is_vidur(RowKind kind);
/// Throws InputError: a column that is missing, or one too many.
void check_columns(const CsvTable& table, TableForm form, RowKind kind);

}  // namespace floorline
