// SPDX-License-Identifier: Apache-2.0
// What must hold of a judgement: soundness, impossible rows called, tightness.
#pragma once

#include <vector>

#include "validation/verdict/judge.hpp"

namespace floorline {

std::vector<Statement> statements_of(const Judgement& judgement);

}  // namespace floorline
