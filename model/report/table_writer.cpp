// SPDX-License-Identifier: Apache-2.0
// Text for people: titles, `name  value` lines, sentences wrapped at the width, and tables with
// two-space gutters. A table wider than the page loses the ends of its widest left-aligned columns;
// numbers are never cut, so a table of many numbers may still be wider.
#include <algorithm>
#include <limits>

#include "model/quantity/expect.hpp"
#include "model/report/document.hpp"
#include "model/report/utf8.hpp"

namespace floorline {
namespace {

constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kDim = "\x1b[2m";
constexpr std::string_view kReset = "\x1b[0m";

constexpr std::size_t kGutter = 2;
/// A text column is not cut below this: less would say nothing.
constexpr std::size_t kNarrowest = 8;

using Row = std::vector<std::string>;
using Widths = std::vector<std::size_t>;

/// Collects lines. Blocks are set apart by an empty line, except below the title of a section.
class Page {
 public:
  explicit Page(const WriteStyle& style)
      : color_(style.color),
        width_(style.width > 0 ? static_cast<std::size_t>(style.width)
                               : std::numeric_limits<std::size_t>::max()) {}

  /// Of the page; without bound when the style gives none (0).
  [[nodiscard]] std::size_t width() const { return width_; }

  void gap() { gap_ = !text_.empty(); }
  void block() {
    if (!below_title_) gap();
  }

  void line(std::string_view text, std::string_view look = "") {
    if (gap_) text_ += '\n';
    gap_ = false;
    below_title_ = false;
    text = text.substr(0, text.find_last_not_of(' ') + 1);
    const bool is_plain = !color_ || look.empty() || text.empty();
    if (!is_plain) text_ += look;
    text_ += text;
    if (!is_plain) text_ += kReset;
    text_ += '\n';
  }

  void title(std::string_view text) {
    line(printable(text), kBold);
    below_title_ = true;
  }

  /// `text` after `before`, wrapped between words; the lines that follow start below it.
  void wrapped(std::string before, std::string_view text);

  std::string take() {
    while (text_.ends_with("\n\n")) text_.pop_back();
    return std::move(text_);
  }

 private:
  bool color_;
  std::size_t width_;
  bool gap_ = false;
  bool below_title_ = false;
  std::string text_;
};

void Page::wrapped(std::string before, std::string_view text) {
  const std::string clean = printable(text);
  std::string_view rest = clean;
  std::size_t used = display_width(before);
  const std::size_t indent = std::min(used, width_ / 2);
  std::string now = std::move(before);
  bool has_word = false;
  while (true) {
    const std::size_t spaces = std::min(rest.find_first_not_of(' '), rest.size());
    rest.remove_prefix(spaces);
    if (rest.empty()) break;
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(word.size());
    const std::size_t needed = (has_word ? spaces : 0) + display_width(word);
    if (has_word && used + needed > width_) {
      line(now);
      now.assign(indent, ' ');
      used = indent + display_width(word);
    } else {
      if (has_word) now.append(spaces, ' ');
      used += needed;
    }
    now += word;
    has_word = true;
  }
  line(now);
}

std::string padding(std::string_view text, std::size_t width) {
  const std::size_t taken = display_width(text);
  std::string spaces;
  if (width > taken) spaces.assign(width - taken, ' ');
  return spaces;
}

/// Fit for the page, one cell a column.
Row cells(const Row& row, std::size_t columns) {
  FLOORLINE_EXPECT(row.size() <= columns);
  Row out(columns);
  std::transform(row.begin(), row.end(), out.begin(),
                 [](const std::string& cell) { return printable(cell); });
  return out;
}

/// A table made ready: its header and totals are rows as well.
struct Grid {
  Row header;
  std::vector<Row> rows;
  Row totals;
  Widths widths;
};

void widen(Widths& widths, const Row& row) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    widths[i] = std::max(widths[i], display_width(row[i]));
  }
}

std::size_t table_width(const Widths& widths) {
  std::size_t total = kGutter * (widths.size() - 1);
  for (const std::size_t width : widths) total += width;
  return total;
}

/// Lowers a ceiling on the left-aligned columns until the table fits, so the widest go first.
void fit(Widths& widths, const std::vector<Column>& columns, std::size_t page_width) {
  if (table_width(widths) <= page_width) return;
  std::size_t ceiling = std::max(page_width, kNarrowest);
  while (true) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (!columns[i].right && !columns[i].whole) widths[i] = std::min(widths[i], ceiling);
    }
    if (ceiling == kNarrowest || table_width(widths) <= page_width) return;
    --ceiling;
  }
}

Grid laid_out(const Table& table, std::size_t page_width) {
  const std::size_t columns = table.columns.size();
  Grid grid;
  for (const Column& column : table.columns) grid.header.push_back(printable(column.name));
  for (const Row& row : table.rows) grid.rows.push_back(cells(row, columns));
  if (!table.totals.empty()) grid.totals = cells(table.totals, columns);
  grid.widths.assign(columns, 0);
  widen(grid.widths, grid.header);
  for (const Row& row : grid.rows) widen(grid.widths, row);
  widen(grid.widths, grid.totals);
  fit(grid.widths, table.columns, page_width);
  return grid;
}

std::string row_text(const Row& row, const std::vector<Column>& columns, const Widths& widths) {
  std::string out;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) out.append(kGutter, ' ');
    const std::string cell = widths[i] == 0 ? "" : cut_to_width(row[i], widths[i]);
    const std::string pad = padding(cell, widths[i]);
    out += columns[i].right ? pad + cell : cell + pad;
  }
  return out;
}

void put_grid(Page& page, const Table& table) {
  const Grid grid = laid_out(table, page.width());
  const std::string rule(table_width(grid.widths), '-');
  const auto text = [&](const Row& row) { return row_text(row, table.columns, grid.widths); };
  page.line(text(grid.header), kDim);
  page.line(rule, kDim);
  for (const Row& row : grid.rows) page.line(text(row));
  if (grid.totals.empty()) return;
  page.line(rule, kDim);
  page.line(text(grid.totals));
}

void put_table(Page& page, const Table& table) {
  if (table.title.empty()) {
    page.block();
  } else {
    page.gap();
    page.title(table.title);
  }
  if (!table.columns.empty()) put_grid(page, table);
  for (const std::string& footnote : table.footnotes) page.wrapped("  ", footnote);
}

void put_fields(Page& page, const std::vector<Field>& fields) {
  if (fields.empty()) return;
  page.block();
  std::size_t widest = 0;
  for (const Field& field : fields) {
    widest = std::max(widest, display_width(printable(field.name)));
  }
  for (const Field& field : fields) {
    const std::string name = printable(field.name);
    page.wrapped(name + padding(name, widest + kGutter), field.value);
  }
}

void put_lines(Page& page, const std::vector<std::string>& lines) {
  if (lines.empty()) return;
  page.block();
  for (const std::string& line : lines) {
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    page.wrapped(std::string(indent, ' '), line);
  }
}

}  // namespace

std::string write_table(const Document& document, const WriteStyle& style) {
  Page page(style);
  for (const Section& section : document.sections) {
    page.gap();
    if (!section.title.empty()) page.title(section.title);
    put_fields(page, section.fields);
    put_lines(page, section.lines);
    for (const Table& table : section.tables) put_table(page, table);
  }
  return page.take();
}

}  // namespace floorline
