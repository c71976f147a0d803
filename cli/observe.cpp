// SPDX-License-Identifier: Apache-2.0
#include "cli/observe.hpp"

#include <filesystem>
#include <map>

#include "cli/locate.hpp"
#include "cli/output.hpp"
#include "cli/refuse.hpp"
#include "cli/subject.hpp"
#include "validation/experiment/method.hpp"
#include "validation/report/judge_document.hpp"
#include "validation/report/table_document.hpp"

namespace floorline {

namespace {

int observe_folder(const ObserveOptions& o) {
  if (!o.mapping.empty()) refuse("--mapping", "is for a CSV file; a folder has columns of its own");
  const std::optional<MeasuredFolder> folder = list_measured(o.path);
  if (!folder || folder->files.empty()) {
    throw MeasurementError(o.path + " holds no table of measured rows (validation/README.md)");
  }
  const std::string models = o.models.empty() ? o.path + "/../model-configs" : o.models;
  const Judgement judgement = judge_folder(*folder, device_path(o.device.device_path), models);
  print(judge_document(o.path, judgement), o.output);
  return judgement.holds() ? 0 : 1;
}

int observe_table(const ObserveOptions& o) {
  if (o.mapping.empty()) {
    refuse("--mapping", "missing; expected how to read the table (validation/HYPOTHESES.md)");
  }
  TableMapping mapping = read_mapping_file(o.mapping);
  const std::vector<std::string> devices = device_list(o.device);
  if (devices.size() > 1) refuse("--device", "expected one; a table of several has device_column");
  if (devices.size() == 1) {
    if (!mapping.device_column.empty()) refuse("--device", "the mapping takes it from a column");
    mapping.device = devices.front();
  }
  if (mapping.device.empty() && mapping.device_column.empty()) {
    refuse("--device", "missing; expected it here, or device or device_column in the mapping");
  }
  std::map<std::string, Machine> machines;
  const auto machine = [&](const std::string& name) -> const Machine& {
    const auto known = machines.find(name);
    if (known != machines.end()) return known->second;
    return machines.emplace(name, load_machine(name, o.device, {})).first->second;
  };
  const TableJudgement judgement = judge_table(CsvTable::read(o.path), mapping, machine);
  print(table_document(judgement, o.mapping), o.output);
  const std::size_t below =
      judgement.count(RowFinding::floor_violated) + judgement.count(RowFinding::unconfirmed);
  return below == 0 ? 0 : 1;
}

}  // namespace

int observe(const ObserveOptions& o) {
  std::error_code error;
  return std::filesystem::is_directory(o.path, error) ? observe_folder(o) : observe_table(o);
}

}  // namespace floorline
