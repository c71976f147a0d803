// SPDX-License-Identifier: Apache-2.0
// What a family of models gives the config reader: one function in its own file, declared here, and
// one row in the table of architecture_file.cpp.
#pragma once

#include "model/workload/architecture.hpp"

namespace floorline {

class TableReader;

/// Reads the keys of a family; errors go to the reader's diagnostics, sizes in error read as 0.
using ReadFamily = Architecture (*)(TableReader& config);

Architecture read_llama(TableReader& config);
Architecture read_mistral(TableReader& config);
Architecture read_qwen3(TableReader& config);

}  // namespace floorline
