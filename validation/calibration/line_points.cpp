// SPDX-License-Identifier: Apache-2.0
#include "validation/calibration/line_points.hpp"

#include <array>

#include "model/quantity/unit_names.hpp"

namespace floorline {

namespace {

constexpr double kLeast = 1e-30;
constexpr double kMost = 1e30;

[[noreturn]] void refuse(const char* flag, const std::string& why) {
  throw InputError(Diagnostic{position_in("command line"), flag, why});
}

std::size_t column_of(const CsvTable& table, const std::string& name, const char* flag) {
  if (const auto column = table.column(name)) return *column;
  throw InputError(
      Diagnostic{table.header_position(), flag,
                 quoted(name) + " is no column of this table" + did_you_mean(name, table.names())});
}

/// "median_us" is in us.
std::string unit_by_name(const std::string& column) {
  const std::array<std::pair<const char*, const char*>, 4> ends{
      {{"_us", "us"}, {"_ms", "ms"}, {"_ns", "ns"}, {"_s", "s"}}};
  for (const auto& [end, unit] : ends) {
    if (column.ends_with(end)) return unit;
  }
  refuse("--unit", "missing; " + quoted(column) + " does not end in _s, _ms, _us or _ns");
}

/// Base units in one of `unit`.
double factor_of(const std::string& unit, Dimension dimension) {
  const ParsedQuantity q = parse_quantity("1 " + unit, dimension);
  if (!q.error.empty()) refuse("--unit", q.error);
  return q.base;
}

/// A bare number above zero, of a size every double calculation below survives.
std::optional<double> cell_value(const CsvTable& table, std::size_t row, std::size_t column,
                                 double factor, Diagnostics& diagnostics) {
  const std::string_view cell = table.cell(row, column);
  const std::optional<double> value = parse_number(cell);
  if (value && *value * factor >= kLeast && *value * factor <= kMost) return *value * factor;
  diagnostics.add(table.position(row, column), table.names()[column],
                  quoted(cell) + " is no number above zero");
  return std::nullopt;
}

}  // namespace

std::vector<MeasuredPoint> line_points(const CsvTable& table, const LineColumns& columns) {
  if (columns.time.empty() == columns.rate.empty()) {
    refuse("--time", "expected one of --time and --rate: the column that was measured");
  }
  const bool by_rate = !columns.rate.empty();
  const std::size_t size = column_of(table, columns.size, "--x");
  const std::size_t measured =
      by_rate ? column_of(table, columns.rate, "--rate") : column_of(table, columns.time, "--time");
  Dimension dimension = Dimension::seconds;
  if (by_rate) {
    dimension = columns.kind == AmountKind::bytes ? Dimension::bytes_per_second
                                                  : Dimension::flops_per_second;
    if (columns.unit.empty()) refuse("--unit", "missing; expected the unit of the rates");
  }
  const std::string unit = columns.unit.empty() ? unit_by_name(columns.time) : columns.unit;
  const double factor = factor_of(unit, dimension);
  Diagnostics diagnostics;
  std::vector<MeasuredPoint> points;
  for (std::size_t row = 0; row < table.row_count() && !diagnostics.full(); ++row) {
    const auto x = cell_value(table, row, size, 1, diagnostics);
    const auto y = cell_value(table, row, measured, factor, diagnostics);
    if (!x || !y) continue;
    const double time = by_rate ? *x / *y : *y;
    points.push_back({Amount(Flops(*x)), Seconds(time),
                      table.file() + ":" + std::to_string(CsvTable::line(row)), true, ""});
  }
  diagnostics.throw_if_any();
  return points;
}

}  // namespace floorline
