// SPDX-License-Identifier: Apache-2.0
// Results to stdout or to a file that is replaced whole or not at all.
#pragma once

#include <string>

#include "cli/options.hpp"
#include "model/report/document.hpp"

namespace floorline {

void print(const Document& document, const OutputOptions& options);

/// Text that is a file of its own: to standard output, or to --output, replaced whole.
void print_text(const std::string& text, const OutputOptions& options);

}  // namespace floorline
