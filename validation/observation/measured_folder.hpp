// SPDX-License-Identifier: Apache-2.0
// The files of a folder of measurements: <gpu>/<kind>.csv or .csv.gz, and impossible_attention.csv.
#pragma once

#include <string>
#include <vector>

#include "validation/observation/measured_rows.hpp"

namespace floorline {

struct MeasuredFile {
  std::string path;
  std::string name;  ///< below the folder: "h100_sxm/gemm.csv.gz"
  TableForm form = TableForm::measured;
  RowKind kind = RowKind::gemm;
};

struct MeasuredFolder {
  std::vector<MeasuredFile> files;       ///< sorted by name
  std::vector<std::string> other_files;  ///< tables of kinds that are not judged
};

/// Absent when there is no such folder. Throws InputError when it cannot be listed.
std::optional<MeasuredFolder> list_measured(const std::string& folder);

}  // namespace floorline
