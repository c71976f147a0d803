// SPDX-License-Identifier: Apache-2.0
// What a command prints: one JSON tree under the output contract, and sections (titles, fields,
// tables, notes) for people. Knows no result type; the writers know no command.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace floorline {

/// A JSON value with members in the order they were added. Non-finite numbers become null (an
/// absent number has a reason in `notes`).
class Json {
 public:
  enum class Kind : std::uint8_t { null, boolean, number, integer, text, array, object };

  Json() = default;              // null
  Json(bool value);              // NOLINT(google-explicit-constructor): values read as values
  Json(double value);            // NOLINT
  Json(int value);               // NOLINT
  Json(std::int64_t value);      // NOLINT
  Json(std::string value);       // NOLINT
  Json(std::string_view value);  // NOLINT
  Json(const char* value);       // NOLINT
  static Json object();
  static Json array();

  /// Adds or replaces a member; returns *this for chaining.
  Json& set(std::string_view key, Json value);
  Json& push(Json value);
  [[nodiscard]] const Json* find(std::string_view key) const;

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] bool boolean() const { return boolean_; }
  [[nodiscard]] double number() const { return number_; }
  [[nodiscard]] std::int64_t integer() const { return integer_; }
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const std::vector<Json>& items() const { return items_; }
  [[nodiscard]] const std::vector<std::pair<std::string, Json>>& members() const {
    return members_;
  }

 private:
  Kind kind_ = Kind::null;
  bool boolean_ = false;
  double number_ = 0;
  std::int64_t integer_ = 0;
  std::string text_;
  std::vector<Json> items_;
  std::vector<std::pair<std::string, Json>> members_;
};

struct Column {
  std::string name;
  bool right = false;  ///< numbers align right
  bool whole = false;  ///< never cut to fit the width
};

struct Table {
  std::string title;
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;  ///< text for people
  std::vector<std::string> totals;             ///< last row, set apart by a rule; may be empty
  std::vector<std::string> footnotes;
};

struct Field {
  std::string name;
  std::string value;
};

struct Section {
  std::string title;               ///< may be empty
  std::vector<Field> fields;       ///< "name   value" lines
  std::vector<std::string> lines;  ///< sentences
  std::vector<Table> tables;
};

struct Document {
  Json json;  ///< the whole contract document
  std::vector<Section> sections;
  /// For csv: one flat table with unit-carrying column names and full-precision values.
  Table csv;
};

enum class Format : std::uint8_t { table, json, csv, md };

struct WriteStyle {
  bool color = false;
  int width = 100;  ///< of a terminal; tables are kept within it by folding the widest text column
};

std::string write(const Document& document, Format format, const WriteStyle& style);

std::string write_table(const Document& document, const WriteStyle& style);
std::string write_json(const Document& document);
std::string write_csv(const Document& document);
std::string write_markdown(const Document& document);

}  // namespace floorline
