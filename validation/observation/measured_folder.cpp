// SPDX-License-Identifier: Apache-2.0
#include "validation/observation/measured_folder.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

namespace floorline {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kImpossible = "impossible_attention";

/// "gemm" of gemm.csv and gemm.csv.gz; empty for what is no table.
std::string stem_of(const std::string& file) {
  for (const std::string_view ending : {".csv", ".csv.gz"}) {
    if (file.size() > ending.size() && file.ends_with(ending)) {
      return file.substr(0, file.size() - ending.size());
    }
  }
  return {};
}

std::set<std::string> tables_in(const fs::path& folder) {
  std::set<std::string> tables;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_regular_file() && !stem_of(name).empty()) tables.insert(name);
  }
  return tables;
}

void add_gpu(const fs::path& folder, MeasuredFolder& found) {
  const std::string gpu = folder.filename().string();
  for (const std::string& table : tables_in(folder)) {
    const std::string name = (fs::path(gpu) / table).generic_string();
    if (const std::optional<RowKind> kind = row_kind_from(stem_of(table))) {
      found.files.push_back({(folder / table).string(), name, TableForm::measured, *kind});
    } else {
      found.other_files.push_back(name);
    }
  }
}

}  // namespace

std::optional<MeasuredFolder> list_measured(const std::string& folder) {
  std::error_code absent;
  if (!fs::is_directory(folder, absent)) return std::nullopt;
  MeasuredFolder found;
  try {
    std::set<fs::path> gpus;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      if (entry.is_directory()) gpus.insert(entry.path());
    }
    for (const fs::path& gpu : gpus) add_gpu(gpu, found);
    for (const std::string& table : tables_in(folder)) {
      if (stem_of(table) == kImpossible) {
        found.files.push_back(
            {(fs::path(folder) / table).string(), table, TableForm::impossible, {}});
      } else {
        found.other_files.push_back(table);
      }
    }
  } catch (const fs::filesystem_error& error) {
    throw InputError(
        Diagnostic{position_in(folder), "", "cannot be listed: " + error.code().message()});
  }
  return found;
}

}  // namespace floorline
