// SPDX-License-Identifier: Apache-2.0
// A judgement of measured rows for people and programs, with the writers of model/report.
// CSV: the tightness groups, every dtype, op and impl apart and together.
#pragma once

#include <string>

#include "model/report/document.hpp"
#include "validation/verdict/judge.hpp"

namespace floorline {

Document judge_document(const std::string& folder, const Judgement& judgement);

}  // namespace floorline
