// SPDX-License-Identifier: Apache-2.0
#include "validation/verdict/table_verdict.hpp"

#include <algorithm>
#include <map>

#include "model/floor/measured.hpp"
#include "model/workload/op_text.hpp"
#include "validation/verdict/case_floors.hpp"

namespace floorline {

namespace {

RowFinding finding_of(Seconds time, const CaseFloors& floors) {
  if (time < floors.any_ceiling) return RowFinding::unconfirmed;
  if (time < floors.any_best_seen) return RowFinding::above_observed;
  const bool proven = !floors.terms.empty() && floors.terms.front().proven;
  return proven && time < floors.cold ? RowFinding::warm : RowFinding::possible;
}

JudgedRow judge_row(MappedRow row, const Machine& machine, KernelSchedule schedule) {
  const CaseFloors floors =
      case_floors(evaluate(parse_op_text(row.op), machine), machine, schedule);
  const MeasuredWork work{floors.work, floors.hbm_counted, 0};
  JudgedRow judged;
  judged.time = measured_time(row.value, work);
  if (!row.expected.empty()) judged.expected = measured_time(row.expected, work);
  judged.cold = floors.cold;
  judged.any = floors.any_ceiling;
  judged.binding = floors.binding ? name_of(*floors.binding) : "";
  judged.finding = finding_of(judged.time, floors);
  if (judged.finding == RowFinding::unconfirmed) judged.doubts = doubts_of(floors, false);
  judged.row = std::move(row);
  return judged;
}

/// Two rows of one operator on one device, both below: each confirms the other.
void confirm(std::vector<JudgedRow>& rows) {
  std::map<std::pair<std::string, std::string>, std::vector<JudgedRow*>> below;
  for (JudgedRow& row : rows) {
    if (row.finding == RowFinding::unconfirmed) {
      below[{row.row.device, row.row.op}].push_back(&row);
    }
  }
  for (const auto& [key, same] : below) {
    if (same.size() < 2) continue;
    for (JudgedRow* row : same) row->finding = RowFinding::floor_violated;
  }
}

}  // namespace

std::string_view name_of(RowFinding finding) {
  switch (finding) {
    case RowFinding::possible:
      return "possible";
    case RowFinding::warm:
      return "warm";
    case RowFinding::above_observed:
      return "above_observed";
    case RowFinding::unconfirmed:
      return "unconfirmed";
    case RowFinding::floor_violated:
      return "floor_violated";
  }
  return "";
}

std::size_t TableJudgement::count(RowFinding finding) const {
  return static_cast<std::size_t>(std::count_if(
      rows.begin(), rows.end(), [finding](const JudgedRow& r) { return r.finding == finding; }));
}

TableJudgement judge_table(const CsvTable& table, const TableMapping& mapping,
                           const MachineByName& machine) {
  const MappedTable mapped(table, mapping);
  const KernelSchedule schedule = mapping.overlap ? KernelSchedule::fused : KernelSchedule::serial;
  TableJudgement result;
  result.file = table.file();
  Diagnostics diagnostics;
  for (std::size_t i = 0; i < table.row_count() && !diagnostics.full(); ++i) {
    try {
      MappedRow row = mapped.row(i);
      const Machine& on = machine(row.device);
      result.rows.push_back(judge_row(std::move(row), on, schedule));
      result.rows.back().place = table.file() + ":" + std::to_string(CsvTable::line(i));
    } catch (
        const InputError& error) {  // the row's place is what a reader needs; then all are thrown
      for (const Diagnostic& d : error.diagnostics()) {
        diagnostics.add(mapped.position(i), d.key_path, d.message);
      }
    }
  }
  diagnostics.throw_if_any();
  confirm(result.rows);
  return result;
}

}  // namespace floorline
