// SPDX-License-Identifier: Apache-2.0
// How to read somebody else's table of measurements: which operator a row is about, where its time
// (or rate) stands and in which unit, and what its words mean here. Format:
// validation/HYPOTHESES.md.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/input/document_node.hpp"
#include "validation/observation/csv_table.hpp"

namespace floorline {

/// Words of one column, and what stands for them here.
struct WordMap {
  std::string column;
  std::vector<std::pair<std::string, std::string>> words;
};

struct TableMapping {
  std::string op;      ///< 'gemm m={m} n={n} in={dtype}', {COLUMN} replaced by the row's cell
  std::string device;  ///< of every row, or
  std::string device_column;  ///< a column whose words [values.COLUMN] may translate
  std::string value;          ///< column of the time or rate
  std::string unit;           ///< "us", "TFLOP/s"
  std::string expected;       ///< column of somebody's prediction, in the same unit; may be empty
  std::vector<WordMap> values;
  bool overlap =
      false;  ///< calls may overlap (graphs of many, dependent launch): S_all, not S_keep
  Position at;
};

TableMapping parse_mapping(std::string_view text, std::string_view file_name);
TableMapping read_mapping_file(const std::string& path);

/// One row, read: the text of --op, its device, and the texts of the measured and expected value.
struct MappedRow {
  std::string op;
  std::string device;
  std::string value;
  std::string expected;  ///< empty: none
};
/// Resolves the columns once. Throws InputError: columns that the table does not have.
class MappedTable {
 public:
  MappedTable(const CsvTable& table, const TableMapping& mapping);
  [[nodiscard]] MappedRow row(std::size_t index) const;
  [[nodiscard]] Position position(std::size_t index) const;

 private:
  struct Part {
    std::string text;
    std::optional<std::size_t> column;  ///< then its cell follows the text
  };
  [[nodiscard]] std::string word(std::size_t row, std::size_t column) const;
  std::size_t column(const std::string& name, const std::string& key, Diagnostics& diagnostics);
  void split_op(Diagnostics& diagnostics);

  const CsvTable& table_;
  const TableMapping& mapping_;
  std::vector<Part> op_;
  std::size_t value_ = 0;
  std::optional<std::size_t> device_;
  std::optional<std::size_t> expected_;
  std::vector<const WordMap*> words_;  ///< by column
};

}  // namespace floorline
