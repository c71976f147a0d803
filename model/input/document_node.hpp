// SPDX-License-Identifier: Apache-2.0
// One tree for TOML and JSON inputs: values with line and column. The only room that sees the TOML
// and JSON libraries for reading is this one; everybody else sees Node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/quantity/sourced.hpp"

namespace floorline {

struct NodeMember;

struct Node {
  enum class Kind : std::uint8_t { null, boolean, integer, real, text, array, table };
  Kind kind = Kind::null;
  bool boolean = false;
  std::int64_t integer = 0;
  double real = 0;  ///< also set for integers
  std::string text;
  std::vector<Node> items;          ///< of an array
  std::vector<NodeMember> members;  ///< of a table, in the order of the file
  Position at;

  [[nodiscard]] const Node* find(std::string_view key) const;
  [[nodiscard]] bool is_number() const { return kind == Kind::integer || kind == Kind::real; }
};
struct NodeMember {
  std::string key;
  Position at;
  Node value;
};
/// "a table", "text", "an integer"… for messages.
std::string_view name_of(Node::Kind kind);

// Limits against hostile input; more is an InputError.
inline constexpr std::size_t kMaxDocumentBytes = std::size_t{64} << 20U;
inline constexpr std::size_t kMaxNesting =
    64;  ///< tables and arrays in each other, the outermost included
inline constexpr std::size_t kMaxValues = 4'000'000;

// Parsers throw InputError. Duplicate keys are errors in JSON too. Dates and times of TOML are
// errors (no format uses them). Integers beyond int64 and non-finite numbers are errors; the words
// Infinity and NaN, which Python writes, pass as text in the value of time_step_limit alone.
Node parse_toml(std::string_view text, std::string_view file_name);
Node parse_json(std::string_view text, std::string_view file_name);
/// JSON if it starts with '{', or with '[' and '{' (a TOML file may start with [table] or
/// [[table]]); else TOML.
Node parse_document(std::string_view text, std::string_view file_name);
/// The whole file as text; a missing, unreadable, oversized file or a folder is an InputError.
std::string read_text_file(const std::string& path);
/// A file named *.json is JSON; any other is told apart by its content.
Node read_document(const std::string& path);

/// "memory.hbm"; a key with other characters than letters, digits, _ and - is quoted.
std::string join_key(std::string_view path, std::string_view key);
/// "op[3]", counted from 0.
std::string join_index(std::string_view path, std::size_t index);

}  // namespace floorline
