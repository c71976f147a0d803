// SPDX-License-Identifier: Apache-2.0
// A graph as a file that every command reads.
#pragma once

#include <string>

#include "model/report/document.hpp"

namespace floorline {

/// TOML where the name ends in .toml, else JSON; replaced whole or not at all.
void emit_graph(const Document& graph, const std::string& file);

}  // namespace floorline
