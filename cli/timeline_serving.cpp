// SPDX-License-Identifier: Apache-2.0
#include "cli/timeline_serving.hpp"

#include <cmath>
#include <filesystem>
#include <optional>

#include "model/input/diagnostic.hpp"
#include "model/input/document_node.hpp"
#include "model/quantity/unit_names.hpp"
#include "model/report/serving_document.hpp"
#include "validation/observation/csv_table.hpp"

namespace floorline {

namespace {

/// Columns of one table; what is missing or no number is collected.
class Columns {
 public:
  Columns(const CsvTable& table, Diagnostics& diagnostics)
      : table_(table), diagnostics_(diagnostics) {}

  std::optional<std::size_t> named(std::string_view name) {
    const auto column = table_.column(name);
    if (!column) missing("\"" + std::string(name) + "\"", name);
    return column;
  }

  /// NAME_s, NAME_ms or NAME_us.
  std::optional<std::size_t> time(const std::string& name, double& unit_s) {
    const std::pair<const char*, double> units[] = {{"_s", 1}, {"_ms", 1e-3}, {"_us", 1e-6}};
    for (const auto& [suffix, seconds] : units) {
      unit_s = seconds;
      if (const auto column = table_.column(name + suffix)) return column;
    }
    missing("\"" + name + "_s\", \"" + name + "_ms\" or \"" + name + "_us\"", name + "_s");
    return std::nullopt;
  }

  double number(std::size_t row, std::size_t column) {
    const std::string_view cell = table_.cell(row, column);
    const std::optional<double> value = parse_number(cell);
    if (value && *value >= 0) return *value;
    diagnostics_.add(table_.position(row, column), table_.names()[column],
                     quoted(cell) + " is not a number of at least 0");
    return 1;
  }

  std::int64_t count(std::size_t row, std::size_t column) {
    const double value = number(row, column);
    if (value == std::floor(value) && value <= 9e15) return static_cast<std::int64_t>(value);
    diagnostics_.add(table_.position(row, column), table_.names()[column],
                     quoted(table_.cell(row, column)) + " is not a whole number of tokens");
    return 1;
  }

  /// Columns nobody asked for are a mistake in our own format.
  void refuse_others(std::initializer_list<std::optional<std::size_t>> asked) {
    for (std::size_t c = 0; c < table_.names().size(); ++c) {
      bool known = false;
      for (const auto& column : asked) known = known || column == c;
      if (!known)
        diagnostics_.add(table_.header_position(), table_.names()[c], "is not a known column");
    }
  }

 private:
  void missing(const std::string& expected, std::string_view name) {
    diagnostics_.add(table_.header_position(), "",
                     "no column " + expected + did_you_mean(name, table_.names()));
  }

  const CsvTable& table_;
  Diagnostics& diagnostics_;
};

std::vector<TraceRow> read_trace(const CsvTable& table) {
  Diagnostics diagnostics;
  Columns columns(table, diagnostics);
  double unit_s = 1;
  const auto arrival = columns.time("arrival", unit_s);
  const auto prompt = columns.named("prompt_tokens");
  const auto output = columns.named("output_tokens");
  if (arrival && prompt && output) columns.refuse_others({arrival, prompt, output});
  diagnostics.throw_if_any();
  std::vector<TraceRow> rows;
  const std::size_t most = static_cast<std::size_t>(kMaxRequests) + 1;  // one more is refused later
  for (std::size_t r = 0; r < table.row_count() && rows.size() < most; ++r) {
    rows.push_back({{Seconds(columns.number(r, *arrival) * unit_s), columns.count(r, *prompt),
                     columns.count(r, *output)},
                    table.position(r, 0)});
  }
  diagnostics.throw_if_any();
  return rows;
}

std::vector<StepRow> read_steps(const CsvTable& table) {
  Diagnostics diagnostics;
  Columns columns(table, diagnostics);
  double unit_s = 1;
  const auto tokens = columns.named("tokens");
  const auto time = columns.time("time", unit_s);
  if (tokens && time) columns.refuse_others({tokens, time});
  diagnostics.throw_if_any();
  std::vector<StepRow> rows;
  for (std::size_t r = 0; r < table.row_count(); ++r) {
    rows.push_back({{columns.count(r, *tokens), Seconds(columns.number(r, *time) * unit_s)},
                    table.position(r, 0)});
  }
  diagnostics.throw_if_any();
  return rows;
}

}  // namespace

Document timeline_of_serving(const Node& document, const ServingRequestOfUser& request) {
  ServingReport report;
  report.workload = request.workload;
  report.set = request.set;
  report.top = request.top;
  report.file = read_serving(document);
  const auto path = [&](const std::string& file) {
    return (std::filesystem::path(request.folder) / file).string();
  };
  const CsvTable trace = CsvTable::read(path(report.file.trace));
  const CsvTable steps = CsvTable::read(path(report.file.steps));
  report.setup = serving_setup(report.file, read_trace(trace), read_steps(steps));
  report.run = run_serving(report.setup);
  return serving_document(report);
}

}  // namespace floorline
