// SPDX-License-Identifier: Apache-2.0
#include "validation/observation/csv_table.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>

namespace floorline {

namespace {

[[noreturn]] void refuse(const std::string& file, const std::string& message) {
  throw InputError(Diagnostic{position_in(file), "", message});
}

std::string megabytes(std::size_t bytes) { return std::to_string(bytes >> 20U) + " MiB"; }

std::string read_bytes(const std::string& path, std::size_t limit) {
  std::ifstream in(path, std::ios::binary);
  if (!in) refuse(path, "cannot be opened");
  std::string bytes;
  std::array<char, 1U << 16U> block{};
  while (in.read(block.data(), block.size()) || in.gcount() > 0) {
    bytes.append(block.data(), static_cast<std::size_t>(in.gcount()));
    if (bytes.size() > limit) refuse(path, "more than " + megabytes(limit) + ", the limit");
  }
  if (in.bad()) refuse(path, "cannot be read");
  return bytes;
}

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

/// zlib's stream, closed whatever happens.
class Inflater {
 public:
  explicit Inflater(std::string_view packed) {
    constexpr int kGzipOnly = 16 + MAX_WBITS;
    ready_ = inflateInit2(&stream_, kGzipOnly) == Z_OK;
    // zlib reads through a pointer that is not const, and writes nothing there.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));  // NOLINT
    stream_.avail_in = static_cast<uInt>(packed.size());
  }
  ~Inflater() {
    if (ready_) inflateEnd(&stream_);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  Inflater(Inflater&&) = delete;
  Inflater& operator=(Inflater&&) = delete;

  /// Appends the next piece; Z_OK, Z_STREAM_END, or what is wrong.
  int next(std::string& text) {
    if (!ready_) return Z_MEM_ERROR;
    std::array<char, 1U << 16U> block{};
    stream_.next_out = reinterpret_cast<Bytef*>(block.data());  // NOLINT
    stream_.avail_out = static_cast<uInt>(block.size());
    const int status = inflate(&stream_, Z_NO_FLUSH);
    text.append(block.data(), block.size() - stream_.avail_out);
    return status;
  }
  [[nodiscard]] bool all_read() const { return stream_.avail_in == 0; }

 private:
  z_stream stream_{};
  bool ready_ = false;
};

std::string decompress(const std::string& path, std::string_view packed, std::size_t limit) {
  if (packed.size() > std::numeric_limits<uInt>::max()) refuse(path, "too large for zlib");
  Inflater inflater(packed);
  std::string text;
  int status = Z_OK;
  while (status == Z_OK) {
    status = inflater.next(text);
    if (text.size() > limit) {
      refuse(path, "more than " + megabytes(limit) + " when decompressed, the limit");
    }
  }
  if (status == Z_BUF_ERROR) refuse(path, "the gzip data ends early");
  if (status != Z_STREAM_END) refuse(path, "the gzip data is damaged");
  if (!inflater.all_read()) refuse(path, "bytes follow the end of the gzip data");
  return text;
}

}  // namespace

/// One pass over the text, line by line.
class CsvParser {
 public:
  CsvParser(std::string text, std::string_view file, const CsvLimits& limits) : limits_(limits) {
    table_.file_ = std::make_shared<const std::string>(file);
    table_.text_ = std::make_shared<const std::string>(std::move(text));
  }

  CsvTable parse() {
    const std::size_t largest =
        std::min(limits_.text_bytes, std::size_t{std::numeric_limits<std::uint32_t>::max()});
    if (text().size() > largest)
      refuse(table_.file(), "more than " + megabytes(largest) + ", the limit");
    if (text().empty()) refuse(table_.file(), "empty; expected a header line with column names");
    for (std::size_t begin = 0; begin < text().size() && !diagnostics_.full();) {
      const std::size_t newline = text().find('\n', begin);
      const std::size_t end = newline == std::string::npos ? text().size() : newline;
      ++line_;
      read_line(begin, end > begin && text()[end - 1] == '\r' ? end - 1 : end);
      begin = end + 1;
      if (line_ == 1) diagnostics_.throw_if_any();  // later lines would all disagree with it
    }
    diagnostics_.throw_if_any();
    return std::move(table_);
  }

 private:
  [[nodiscard]] const std::string& text() const { return *table_.text_; }

  void add(std::size_t column, const std::string& message) {
    diagnostics_.add({table_.file_, line_, static_cast<std::uint32_t>(column)}, "", message);
  }

  [[nodiscard]] bool is_clean(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto byte = static_cast<unsigned char>(text()[i]);
      if (byte >= 0x20 && byte != '"' && byte != 0x7F) continue;
      add(i - begin + 1, byte == '"' ? "a quote; these tables have none"
                                     : "a control character; expected plain text");
      return false;
    }
    return true;
  }

  void read_line(std::size_t begin, std::size_t end) {
    if (begin == end) return add(1, "an empty line; expected a row");
    if (!is_clean(begin, end)) return;
    std::vector<CsvTable::Cell>& cells = line_ == 1 ? header_ : table_.cells_;
    const std::size_t before = cells.size();
    std::size_t start = begin;
    const std::string_view line = std::string_view(text()).substr(0, end);  // a column has no ','
    while (true) {
      const std::size_t stop = std::min(line.find(',', start), end);
      cells.push_back(
          {static_cast<std::uint32_t>(start), static_cast<std::uint32_t>(stop - start)});
      if (stop == end) break;
      start = stop + 1;
    }
    if (line_ == 1) return read_header();
    const std::size_t fields = cells.size() - before;
    if (fields == table_.names_.size()) {
      ++table_.row_count_;
      return;
    }
    cells.resize(before);
    add(1,
        std::to_string(fields) + " fields; the header has " + std::to_string(table_.names_.size()));
  }

  void read_header() {
    if (header_.size() > limits_.columns) {
      return add(1, std::to_string(header_.size()) + " columns; expected at most " +
                        std::to_string(limits_.columns));
    }
    for (const CsvTable::Cell& cell : header_) {
      const std::string name = text().substr(cell.begin, cell.length);
      if (name.empty()) add(cell.begin + 1, "a column without a name");
      if (table_.column(name)) add(cell.begin + 1, "column \"" + name + "\" is there twice");
      table_.names_.push_back(name);
    }
  }

  CsvLimits limits_;
  CsvTable table_;
  std::vector<CsvTable::Cell> header_;
  Diagnostics diagnostics_;
  std::uint32_t line_ = 0;
};

CsvTable CsvTable::read(const std::string& path, const CsvLimits& limits) {
  std::string bytes = read_bytes(path, limits.file_bytes);
  if (is_gzip(bytes)) bytes = decompress(path, bytes, limits.text_bytes);
  return parse(std::move(bytes), path, limits);
}

CsvTable CsvTable::parse(std::string text, std::string_view file, const CsvLimits& limits) {
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);  // a byte order mark names no column
  return CsvParser(std::move(text), file, limits).parse();
}

std::optional<std::size_t> CsvTable::column(std::string_view name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found == names_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names_.begin());
}

std::string_view CsvTable::cell(std::size_t row, std::size_t column) const {
  const Cell& cell = cells_[row * names_.size() + column];
  return std::string_view(*text_).substr(cell.begin, cell.length);
}

Position CsvTable::position(std::size_t row, std::size_t column) const {
  const Cell& first = cells_[row * names_.size()];
  const Cell& cell = cells_[row * names_.size() + column];
  return {file_, line(row), cell.begin - first.begin + 1};
}

}  // namespace floorline
