// SPDX-License-Identifier: Apache-2.0
// Reading records, and checking a folder of them: each whole, of this schema and with the
// content whose hash it states, its name its id,
// its hypothesis the one whose hash it states, the record before it there and unchanged, numbers
// without a hole, and no evidence stronger than its observations.
#pragma once

#include <string>
#include <vector>

#include "model/input/document_node.hpp"
#include "validation/record/record_folder.hpp"

namespace floorline {

/// Throws InputError when it is no record of schema 1.
Node read_record(const std::string& path);

/// One line of `record list`.
struct RecordSummary {
  RecordFile file;
  std::string created_utc;
  std::string verdict;  ///< "" when it was only a prediction
  std::string evidence;
  std::string device;  ///< measured on, or predicted for
  std::string question;
  std::string unreadable;  ///< why it could not be read
};
RecordSummary summary_of(const RecordFile& file);

struct RecordProblem {
  std::string file;
  std::string problem;
};
struct RecordCheck {
  std::size_t records = 0;
  std::vector<RecordProblem> problems;
  std::vector<std::string> leftovers;
  std::vector<std::string> strangers;
};
RecordCheck check_records(const std::string& folder);

}  // namespace floorline
