// SPDX-License-Identifier: Apache-2.0
// Results to stdout or to a file that is replaced whole or not at all.
#pragma once

#include <string>

#include "cli/options.hpp"
#include "model/report/document.hpp"

namespace floorline {

void print(const Document& document, const OutputOptions& options);
/// To a file that is replaced whole or not at all; `flag` is named when it cannot be written.
void write_file(const std::string& name, const char* flag, const std::string& text);

/// Text that is a file of its own: to standard output, or to --output, replaced whole.
void print_text(const std::string& text, const OutputOptions& options);

/// A new, empty file of its own name beside `file`, to be renamed to it: never one that is there.
/// Empty when none can be made.
std::string new_file_beside(const std::string& file);

}  // namespace floorline
