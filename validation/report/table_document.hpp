// SPDX-License-Identifier: Apache-2.0
// What `floorline validate --observe FILE.csv` prints.
#pragma once

#include "model/report/document.hpp"
#include "validation/verdict/table_verdict.hpp"

namespace floorline {

Document table_document(const TableJudgement& judgement, const std::string& mapping);

}  // namespace floorline
