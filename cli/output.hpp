// SPDX-License-Identifier: Apache-2.0
// Results to stdout or to a file that is replaced whole or not at all.
#pragma once

#include "cli/options.hpp"
#include "model/report/document.hpp"

namespace floorline {

void print(const Document& document, const OutputOptions& options);
/// To a file that is replaced whole or not at all; `flag` is named when it cannot be written.
void write_file(const std::string& name, const char* flag, const std::string& text);

}  // namespace floorline
