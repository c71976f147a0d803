// SPDX-License-Identifier: Apache-2.0
// What `floorline record list`, `check` and `hypotheses` print.
#pragma once

#include <string>
#include <vector>

#include "model/report/document.hpp"
#include "validation/hypothesis/hypothesis.hpp"
#include "validation/record/record_file.hpp"

namespace floorline {

Document record_list_document(const std::string& folder, const std::vector<RecordSummary>& records);
Document record_check_document(const std::string& folder, const RecordCheck& check);
Document hypothesis_list_document(const std::vector<Hypothesis>& hypotheses);

}  // namespace floorline
