// SPDX-License-Identifier: Apache-2.0
// Tables of measurements as text: comma-separated values under one header line, plain or gzip (told
// by the first two bytes, not by the name). Strict, because a shifted column is a wrong
// measurement: every line has as many fields as the header, no quotes, no control characters, no
// empty lines. Cells stay text; what they mean is for measured_rows.hpp to say.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/input/diagnostic.hpp"

namespace floorline {

/// No file, however broken, makes us allocate more than this.
struct CsvLimits {
  std::size_t file_bytes = std::size_t{256} << 20U;
  std::size_t text_bytes = std::size_t{512} << 20U;  ///< after decompression
  std::size_t columns = 256;
};

class CsvTable {
 public:
  /// Throws InputError with every mistake of the file.
  static CsvTable read(const std::string& path, const CsvLimits& limits = {});
  static CsvTable parse(std::string text, std::string_view file, const CsvLimits& limits = {});

  [[nodiscard]] const std::string& file() const { return *file_; }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const;
  [[nodiscard]] std::size_t row_count() const { return row_count_; }
  /// Holds while the table is alive.
  [[nodiscard]] std::string_view cell(std::size_t row, std::size_t column) const;
  /// 1-based line in the (decompressed) text.
  [[nodiscard]] static std::uint32_t line(std::size_t row) {
    return static_cast<std::uint32_t>(row + 2);
  }
  [[nodiscard]] Position position(std::size_t row, std::size_t column) const;
  [[nodiscard]] Position header_position() const { return {file_, 1, 1}; }

 private:
  struct Cell {
    std::uint32_t begin;
    std::uint32_t length;
  };
  friend class CsvParser;

  std::shared_ptr<const std::string> file_;
  std::shared_ptr<const std::string> text_;  // cells point into it, whoever moves the table
  std::vector<std::string> names_;
  std::vector<Cell> cells_;
  std::size_t row_count_ = 0;
};

}  // namespace floorline
