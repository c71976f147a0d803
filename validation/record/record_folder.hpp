// SPDX-License-Identifier: Apache-2.0
// Records: a folder of JSON files, one a run, NAME-0001.json, NAME-0002.json… Append-only: a file
// is written whole under another name, synced, and linked to its own, which fails if that exists;
// so a run that is killed leaves all earlier records as they were and at most a `.part` file that
// no reader looks at. A record names the earlier one of the same hypothesis with the hash of its
// file: changing or removing it is seen by check_records().
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace floorline {

struct RecordFile {
  std::string id;    ///< "layernorm_storage-0002"
  std::string name;  ///< of the hypothesis
  std::int64_t number = 0;
  std::string path;
  /// Of a new one: records of the same hypothesis that could not be read (a link to nothing), and
  /// that it therefore does not name as the one before it.
  std::vector<std::string> passed_over{};
};

struct RecordFolder {
  std::vector<RecordFile> records;     ///< by name, then number
  std::vector<std::string> leftovers;  ///< .part files of runs that were killed
  std::vector<std::string> strangers;  ///< other files
};
inline constexpr std::size_t kMaxRecords = 100'000;

/// Throws InputError: not there, not a folder, not readable, too many files.
RecordFolder list_records(const std::string& folder);
/// The last record of the hypothesis.
std::optional<RecordFile> latest(const RecordFolder& folder, std::string_view name);
/// By id, by the hypothesis' name (its last one), or by path. Throws InputError.
RecordFile find_record(const std::string& folder, const std::string& what);

/// Whether a record can be added, before what it is to keep is run. Throws InputError; makes
/// nothing.
void check_can_keep(const std::string& folder);

/// What the writer must know to make the text of a record.
struct RecordPlace {
  std::string id;
  std::optional<RecordFile> previous;
  std::string previous_sha256;
};
/// Where a test may kill the writer.
enum class RecordStep : std::uint8_t { half_written, written, synced, linked };

/// Writes the text that `text` makes for its place and returns the file. Makes the folder. Throws
/// InputError when it cannot be written.
RecordFile append_record(const std::string& folder, const std::string& name,
                         const std::function<std::string(const RecordPlace&)>& text,
                         const std::function<void(RecordStep)>& at = {});

}  // namespace floorline
