// SPDX-License-Identifier: Apache-2.0
// --explain: formula, substituted values, origins and file positions of every term, so that a
// reader can redo it with a pocket calculator.
#pragma once

#include <string>
#include <vector>

#include "model/report/bound_document.hpp"

namespace floorline {

std::vector<std::string> explain(const BoundReport& report);

}  // namespace floorline
