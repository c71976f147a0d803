// SPDX-License-Identifier: Apache-2.0
#include "validation/observation/table_mapping.hpp"

#include "model/input/table_reader.hpp"
#include "model/quantity/unit_names.hpp"

namespace floorline {

namespace {

void check_unit(TableReader& table, const std::string& unit) {
  if (unit.empty()) return;
  const std::optional<AnyQuantity> q = parse_any_quantity("1 " + unit);
  const bool known =
      q && (q->dimension == Dimension::seconds || q->dimension == Dimension::bytes_per_second ||
            q->dimension == Dimension::flops_per_second);
  if (known) return;
  table.error("unit",
              floorline::quoted(unit) +
                  " is no unit of a time or a rate; expected such as us, ms, GB/s, TFLOP/s");
}

void read_values(TableReader& table, TableMapping& m, Diagnostics& diagnostics) {
  const Node* values = table.node("values");
  if (values == nullptr) return;
  if (values->kind != Node::Kind::table) {
    diagnostics.add(values->at, "values", "expected a table of columns");
    return;
  }
  for (const NodeMember& column : values->members) {
    WordMap map{column.key, {}};
    const std::string path = join_key("values", column.key);
    if (column.value.kind != Node::Kind::table) {
      diagnostics.add(column.at, path, "expected a table: the column's word = the word here");
      continue;
    }
    for (const NodeMember& word : column.value.members) {
      if (word.value.kind == Node::Kind::text) {
        map.words.emplace_back(word.key, word.value.text);
      } else {
        diagnostics.add(word.at, join_key(path, word.key), "expected text");
      }
    }
    m.values.push_back(std::move(map));
  }
}

}  // namespace

TableMapping parse_mapping(std::string_view text, std::string_view file_name) {
  const Node document = parse_document(text, file_name);
  Diagnostics diagnostics;
  TableMapping m;
  m.at = document.at;
  {
    TableReader table(document, "", diagnostics);
    if (table.count("schema").value_or(0) != 1) table.error("schema", "expected schema = 1");
    if (table.required_text("kind") != "mapping") {
      table.error("kind", "expected kind = \"mapping\"");
    }
    m.op = table.required_text("op");
    m.device = table.text("device").value_or("");
    m.device_column = table.text("device_column").value_or("");
    m.value = table.required_text("value");
    m.unit = table.required_text("unit");
    check_unit(table, m.unit);
    m.expected = table.text("expected").value_or("");
    m.overlap = table.flag("overlap").value_or(false);
    if (!m.device.empty() && !m.device_column.empty()) {
      table.error("device_column", "beside device; expected one of them");
    }
    read_values(table, m, diagnostics);
  }
  diagnostics.throw_if_any();
  return m;
}

TableMapping read_mapping_file(const std::string& path) {
  return parse_mapping(read_text_file(path), path);
}

MappedTable::MappedTable(const CsvTable& table, const TableMapping& mapping)
    : table_(table), mapping_(mapping), words_(table.names().size(), nullptr) {
  Diagnostics diagnostics;
  for (const WordMap& map : mapping.values) {
    const std::size_t c = column(map.column, join_key("values", map.column), diagnostics);
    if (c < words_.size()) words_[c] = &map;
  }
  split_op(diagnostics);
  value_ = column(mapping.value, "value", diagnostics);
  if (!mapping.device_column.empty()) {
    device_ = column(mapping.device_column, "device_column", diagnostics);
  }
  if (!mapping.expected.empty()) expected_ = column(mapping.expected, "expected", diagnostics);
  diagnostics.throw_if_any();
}

std::size_t MappedTable::column(const std::string& name, const std::string& key,
                                Diagnostics& diagnostics) {
  if (const auto found = table_.column(name)) return *found;
  diagnostics.add(mapping_.at, key,
                  floorline::quoted(name) + " is no column of " + table_.file() +
                      did_you_mean(name, table_.names()));
  return table_.names().size();
}

void MappedTable::split_op(Diagnostics& diagnostics) {
  const std::string& op = mapping_.op;
  std::size_t at = 0;
  while (at <= op.size()) {
    const std::size_t open = op.find('{', at);
    if (open == std::string::npos) {
      op_.push_back({op.substr(at), {}});
      return;
    }
    const std::size_t close = op.find('}', open);
    if (close == std::string::npos) {
      diagnostics.add(mapping_.at, "op", "has '{' without '}'; expected {COLUMN}");
      return;
    }
    const std::string name = op.substr(open + 1, close - open - 1);
    op_.push_back({op.substr(at, open - at), column(name, "op", diagnostics)});
    at = close + 1;
  }
}

std::string MappedTable::word(std::size_t row, std::size_t column) const {
  const std::string_view cell = table_.cell(row, column);
  if (words_[column] != nullptr) {
    for (const auto& [theirs, ours] : words_[column]->words) {
      if (theirs == cell) return ours;
    }
  }
  return std::string(cell);
}

MappedRow MappedTable::row(std::size_t index) const {
  MappedRow row;
  for (const Part& part : op_) {
    row.op += part.text;
    if (part.column) row.op += word(index, *part.column);
  }
  row.device = device_ ? word(index, *device_) : mapping_.device;
  row.value = std::string(table_.cell(index, value_)) + " " + mapping_.unit;
  if (expected_ && !table_.cell(index, *expected_).empty()) {
    row.expected = std::string(table_.cell(index, *expected_)) + " " + mapping_.unit;
  }
  return row;
}

Position MappedTable::position(std::size_t index) const { return table_.position(index, value_); }

}  // namespace floorline
