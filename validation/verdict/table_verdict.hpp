// SPDX-License-Identifier: Apache-2.0
// A table of measurements from elsewhere against floors: one kernel a row, kernels that do not
// overlap. A row below the floor at any residency that ceilings prove violates it once a second row
// of the same operator and device is below as well; alone it is unconfirmed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/evaluate.hpp"
#include "validation/observation/table_mapping.hpp"
#include "validation/verdict/doubts.hpp"
#include "validation/verdict/tightness.hpp"

namespace floorline {

enum class RowFinding : std::uint8_t {
  possible,
  warm,            ///< below the cold floor alone: some of it was on chip
  above_observed,  ///< below what a best-seen rate gives
  unconfirmed,     ///< below the floor at any residency, once
  floor_violated,
};
std::string_view name_of(RowFinding finding);

struct JudgedRow {
  std::string place;  ///< "file.csv:17"
  MappedRow row;
  Seconds time{0};
  Seconds cold{0};
  Seconds any{0};  ///< proven by ceilings
  std::optional<Seconds> expected;
  std::string binding;
  RowFinding finding = RowFinding::possible;
  std::vector<Doubt> doubts;
};

struct TableJudgement {
  std::string file;
  std::vector<JudgedRow> rows;
  [[nodiscard]] std::size_t count(RowFinding finding) const;
};

using MachineByName = std::function<const Machine&(const std::string& name)>;
/// Throws InputError with every row that cannot be read (a thousand at most).
TableJudgement judge_table(const CsvTable& table, const TableMapping& mapping,
                           const MachineByName& machine);

}  // namespace floorline
