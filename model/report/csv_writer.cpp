// SPDX-License-Identifier: Apache-2.0
// CSV with the quoting of RFC 4180 and plain line feeds. Totals, titles and footnotes are left out:
// every line is a record.
#include "model/quantity/expect.hpp"
#include "model/report/document.hpp"
#include "model/report/utf8.hpp"

namespace floorline {
namespace {

void append_field(std::string& out, std::string_view raw) {
  const std::string text = harmless(raw);
  if (text.find_first_of("\",\r\n") == std::string::npos) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

void append_record(std::string& out, const std::vector<std::string>& row, std::size_t columns) {
  FLOORLINE_EXPECT(row.size() <= columns);
  // An empty line would be read as no record.
  if (columns == 1 && (row.empty() || row[0].empty())) out += "\"\"";
  for (std::size_t i = 0; i < columns; ++i) {
    if (i > 0) out += ',';
    if (i < row.size()) append_field(out, row[i]);
  }
  out += '\n';
}

}  // namespace

std::string write_csv(const Document& document) {
  const Table& table = document.csv;
  std::string out;
  if (table.columns.empty()) return out;
  std::vector<std::string> header;
  for (const Column& column : table.columns) header.push_back(column.name);
  append_record(out, header, table.columns.size());
  for (const auto& row : table.rows) append_record(out, row, table.columns.size());
  return out;
}

}  // namespace floorline
