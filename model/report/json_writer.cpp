// SPDX-License-Identifier: Apache-2.0
// JSON as RFC 8259, two spaces a level, members in the order they were set. Numbers are the
// shortest text that reads back as the same double.
#include <array>
#include <charconv>
#include <cmath>

#include "model/report/document.hpp"
#include "model/report/utf8.hpp"

namespace floorline {
namespace {

/// Every integer up to here is a double of its own, so it is written without an exponent.
constexpr double kExactIntegers = 9007199254740992.0;  // 2^53

void append_indent(std::string& out, std::size_t level) {
  out += '\n';
  out.append(2 * level, ' ');
}

void append_escaped(std::string& out, char c) {
  constexpr std::string_view kHex = "0123456789abcdef";
  constexpr std::string_view kNamed = "\"\\\b\f\n\r\t";
  constexpr std::string_view kNames = "\"\\bfnrt";
  const std::size_t named = kNamed.find(c);
  if (named != std::string_view::npos) {
    out += '\\';
    out += kNames[named];
  } else if (static_cast<unsigned char>(c) < 0x20) {
    const unsigned byte = static_cast<unsigned char>(c);
    out += "\\u00";
    out += kHex[byte >> 4U];
    out += kHex[byte & 0xFU];
  } else {
    out += c;
  }
}

void append_text(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : well_formed(text)) append_escaped(out, c);
  out += '"';
}

void append_number(std::string& out, double value) {
  std::array<char, 32> text{};
  char* const end = text.data() + text.size();
  const bool is_integer = std::abs(value) < kExactIntegers && std::trunc(value) == value;
  const auto written = is_integer
                           ? std::to_chars(text.data(), end, static_cast<std::int64_t>(value))
                           : std::to_chars(text.data(), end, value);
  out.append(text.data(), written.ptr);
}

void append_value(std::string& out, const Json& value, std::size_t level);

void append_array(std::string& out, const Json& value, std::size_t level) {
  out += '[';
  bool first = true;
  for (const Json& item : value.items()) {
    if (!first) out += ',';
    first = false;
    append_indent(out, level + 1);
    append_value(out, item, level + 1);
  }
  if (!first) append_indent(out, level);
  out += ']';
}

void append_object(std::string& out, const Json& value, std::size_t level) {
  out += '{';
  bool first = true;
  for (const auto& [key, member] : value.members()) {
    if (!first) out += ',';
    first = false;
    append_indent(out, level + 1);
    append_text(out, key);
    out += ": ";
    append_value(out, member, level + 1);
  }
  if (!first) append_indent(out, level);
  out += '}';
}

void append_value(std::string& out, const Json& value, std::size_t level) {
  switch (value.kind()) {
    case Json::Kind::null:
      out += "null";
      return;
    case Json::Kind::boolean:
      out += value.boolean() ? "true" : "false";
      return;
    case Json::Kind::number:
      append_number(out, value.number());
      return;
    case Json::Kind::integer:
      out += std::to_string(value.integer());
      return;
    case Json::Kind::text:
      append_text(out, value.text());
      return;
    case Json::Kind::array:
      append_array(out, value, level);
      return;
    case Json::Kind::object:
      append_object(out, value, level);
      return;
  }
}

}  // namespace

std::string write_json(const Document& document) {
  std::string out;
  append_value(out, document.json, 0);
  out += '\n';
  return out;
}

}  // namespace floorline
