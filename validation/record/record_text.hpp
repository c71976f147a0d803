// SPDX-License-Identifier: Apache-2.0
// What a record's file says: the run as it was printed, the hypothesis' file as it was read, hashes
// of all that the prediction rests on, when and on which host, the record before it, and a hash of
// all this.
#pragma once

#include <string>

#include "model/input/document_node.hpp"
#include "validation/record/record_folder.hpp"
#include "validation/verdict/hypothesis_run.hpp"

namespace floorline {

/// The moment and the host, so that tests can fix them.
struct RecordMoment {
  std::string created_utc;  ///< "2026-11-29T21:03:55Z"
  std::string host;         ///< "Linux 6.1.0 x86_64"
};
RecordMoment record_moment();

std::string record_text(const HypothesisRun& run, const RecordPlace& place,
                        const RecordMoment& moment);

/// SHA-256 of the canonical text (what write_json makes) of a record without its `record_sha256`.
/// It shows an edit by hand, not a forger who writes a new hash as well.
std::string content_sha256(const Node& record);

/// Appends the run to the folder and returns its file.
RecordFile keep_record(const std::string& folder, const HypothesisRun& run);

}  // namespace floorline
