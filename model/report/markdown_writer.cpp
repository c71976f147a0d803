// SPDX-License-Identifier: Apache-2.0
// GitHub Flavored Markdown. Blocks are set apart by one empty line. Markup in text is escaped, so
// an operator's name is shown as it is; a line that begins with `1.` still becomes a numbered list.
#include "model/quantity/expect.hpp"
#include "model/report/document.hpp"
#include "model/report/utf8.hpp"

namespace floorline {
namespace {

bool is_word(std::string_view text, std::size_t at) {
  if (at >= text.size()) return false;
  const char c = text[at];
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// `_` marks nothing inside a word: kv_cache stays readable in the source.
bool is_markup(std::string_view text, std::size_t at) {
  if (text[at] == '_') return at == 0 || !is_word(text, at - 1) || !is_word(text, at + 1);
  return std::string_view("\\|`*<&~[]").find(text[at]) != std::string_view::npos;
}

std::string escaped(std::string_view raw) {
  const std::string text = printable(raw);
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_markup(text, i)) out += '\\';
    out += text[i];
  }
  return out;
}

void append_block(std::string& out, std::string_view block) {
  if (!out.empty()) out += '\n';
  out += block;
  out += '\n';
}

void append_paragraph(std::string& out, std::string_view line) {
  const std::string text = escaped(line);
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string::npos) return;
  const std::size_t end = text.find_last_not_of(' ') + 1;
  // What makes a list, a heading or a quotation of a line that begins with it.
  const bool is_marker = std::string_view("#>-+=").find(text[first]) != std::string_view::npos;
  append_block(out, (is_marker ? "\\" : "") + text.substr(first, end - first));
}

enum class Weight : std::uint8_t { regular, bold };

void append_cell(std::string& out, std::string_view text, Weight weight = Weight::regular) {
  const std::string_view mark = weight == Weight::bold ? "**" : "";
  out += ' ';
  if (!text.empty()) {
    out += mark;
    out += escaped(text);
    out += mark;
    out += ' ';
  }
  out += '|';
}

std::string row_text(const std::vector<std::string>& row, std::size_t columns,
                     Weight weight = Weight::regular) {
  FLOORLINE_EXPECT(row.size() <= columns);
  std::string out = "|";
  for (std::size_t i = 0; i < columns; ++i) {
    append_cell(out, i < row.size() ? std::string_view(row[i]) : std::string_view(), weight);
  }
  return out;
}

std::string table_text(const Table& table) {
  std::string out = "|";
  for (const Column& column : table.columns) append_cell(out, column.name);
  out += "\n|";
  for (const Column& column : table.columns) out += column.right ? " --: |" : " --- |";
  for (const auto& row : table.rows) out += '\n' + row_text(row, table.columns.size());
  if (!table.totals.empty())
    out += '\n' + row_text(table.totals, table.columns.size(), Weight::bold);
  return out;
}

void append_table(std::string& out, const Table& table) {
  if (!table.title.empty()) append_block(out, "### " + escaped(table.title));
  if (!table.columns.empty()) append_block(out, table_text(table));
  for (const std::string& footnote : table.footnotes) append_paragraph(out, footnote);
}

void append_fields(std::string& out, const std::vector<Field>& fields) {
  if (fields.empty()) return;
  Table table;
  table.columns = {{"field"}, {"value"}};
  for (const Field& field : fields) table.rows.push_back({field.name, field.value});
  append_table(out, table);
}

}  // namespace

std::string write_markdown(const Document& document) {
  std::string out;
  for (const Section& section : document.sections) {
    if (!section.title.empty()) append_block(out, "## " + escaped(section.title));
    append_fields(out, section.fields);
    for (const std::string& line : section.lines) append_paragraph(out, line);
    for (const Table& table : section.tables) append_table(out, table);
  }
  return out;
}

}  // namespace floorline
