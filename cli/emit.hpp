// SPDX-License-Identifier: Apache-2.0
// A graph as a file that every command reads.
#pragma once

#include <string>

#include "model/report/document.hpp"

namespace floorline {

/// TOML where the name of the file ends in .toml, else JSON.
std::string emitted_text(const Document& graph, const std::string& file);

/// A file that no command would read back is refused; a pipe or a device takes JSON.
void check_emitted_name(const std::string& file);

}  // namespace floorline
