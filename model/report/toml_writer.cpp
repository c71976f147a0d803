// SPDX-License-Identifier: Apache-2.0
#include "model/report/toml_writer.hpp"

#include <algorithm>

namespace floorline {
namespace {

bool is_table(const Json& value) { return value.kind() == Json::Kind::object; }

bool is_list_of_tables(const Json& value) {
  return value.kind() == Json::Kind::array && !value.items().empty() &&
         std::all_of(value.items().begin(), value.items().end(), is_table);
}

/// Numbers and escapes of JSON are TOML's, but for one character that TOML does not take as it is.
std::string scalar(const Json& value) {
  Document document;
  document.json = value;
  std::string text = write_json(document);
  text.pop_back();  // the end of the line
  for (std::size_t at = text.find('\x7f'); at != std::string::npos; at = text.find('\x7f'))
    text.replace(at, 1, "\\u007F");
  return text;
}

std::string key_text(const std::string& key) {
  constexpr std::string_view kBare =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
  const bool bare = !key.empty() && key.find_first_not_of(kBare) == std::string::npos;
  return bare ? key : scalar(Json(key));
}

std::string value_text(const Json& value) {
  std::string text;
  if (value.kind() == Json::Kind::array) {
    for (const Json& item : value.items()) text += (text.empty() ? "" : ", ") + value_text(item);
    return "[" + text + "]";
  }
  if (!is_table(value)) return scalar(value);
  for (const auto& [key, member] : value.members()) {
    if (member.kind() == Json::Kind::null) continue;
    text += (text.empty() ? " " : ", ") + key_text(key) + " = " + value_text(member);
  }
  return text.empty() ? "{}" : "{" + text + " }";
}

void append_members(std::string& out, const Json& table) {
  for (const auto& [key, member] : table.members()) {
    if (member.kind() != Json::Kind::null) out += key_text(key) + " = " + value_text(member) + "\n";
  }
}

}  // namespace

std::string write_toml(const Document& document) {
  std::string out;
  for (const auto& [key, member] : document.json.members()) {
    const bool later =
        is_table(member) || is_list_of_tables(member) || member.kind() == Json::Kind::null;
    if (!later) out += key_text(key) + " = " + value_text(member) + "\n";
  }
  for (const auto& [key, member] : document.json.members()) {
    if (is_table(member)) {
      out += "\n[" + key_text(key) + "]\n";
      append_members(out, member);
    } else if (is_list_of_tables(member)) {
      for (const Json& item : member.items()) {
        out += "\n[[" + key_text(key) + "]]\n";
        append_members(out, item);
      }
    }
  }
  return out;
}

}  // namespace floorline
