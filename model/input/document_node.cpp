// SPDX-License-Identifier: Apache-2.0
#include "model/input/document_node.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>

#include "model/input/diagnostic.hpp"

namespace floorline {
namespace {

constexpr std::size_t kMaxShownKeyBytes = 100;  // a key can be as long as the file

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

[[noreturn]] void refuse(const std::string& path, const std::string& reason) {
  throw InputError(Diagnostic{position_in(path), "", reason});
}

std::string reason_of(int error_number) {
  switch (error_number) {
    case ENOENT:
      return "no such file";
    case EACCES:
      return "permission denied";
    case EISDIR:
      return "it is a folder";
    default:
      return std::generic_category().message(error_number);
  }
}

bool is_bare_key(std::string_view key) {
  for (const char c : key) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '-';
    if (!plain) return false;
  }
  return !key.empty();
}

std::string_view after_space(std::string_view text) {
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  return start == std::string_view::npos ? std::string_view() : text.substr(start);
}

bool looks_like_json(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  text = after_space(text);
  if (text.starts_with('{')) return true;
  return text.starts_with('[') && after_space(text.substr(1)).starts_with('{');
}

}  // namespace

const Node* Node::find(std::string_view key) const {
  for (const NodeMember& member : members) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

std::string_view name_of(Node::Kind kind) {
  switch (kind) {
    case Node::Kind::null:
      return "null";
    case Node::Kind::boolean:
      return "true or false";
    case Node::Kind::integer:
      return "an integer";
    case Node::Kind::real:
      return "a number";
    case Node::Kind::text:
      return "text";
    case Node::Kind::array:
      return "an array";
    case Node::Kind::table:
      return "a table";
  }
  return "";
}

std::string join_key(std::string_view path, std::string_view key) {
  std::string out(path);
  if (!out.empty()) out += '.';
  const std::string shown = shortened(key, kMaxShownKeyBytes);
  return out += is_bare_key(key.substr(0, kMaxShownKeyBytes)) ? shown : '"' + shown + '"';
}

std::string join_index(std::string_view path, std::size_t index) {
  std::string out(path);
  return out += '[' + std::to_string(index) + ']';
}

Node parse_document(std::string_view text, std::string_view file_name) {
  return looks_like_json(text) ? parse_json(text, file_name) : parse_toml(text, file_name);
}

std::string read_text_file(const std::string& path) {
  if (path.find('\0') != std::string::npos) refuse(path, "cannot open: no such file");
  // A pipe or a device may never end.
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  const bool odd = std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) &&
                   !std::filesystem::is_directory(status);
  if (odd) refuse(path, "cannot open: not a regular file");
  const File file(std::fopen(path.c_str(), "rb"));
  if (!file) refuse(path, "cannot open: " + reason_of(errno));
  std::string text;
  std::array<char, 65536> chunk{};
  while (true) {
    const std::size_t got = std::fread(chunk.data(), 1, chunk.size(), file.get());
    if (got < chunk.size() && std::ferror(file.get()) != 0) {
      refuse(path, "cannot read: " + reason_of(errno));
    }
    text.append(chunk.data(), got);
    if (text.size() > kMaxDocumentBytes) refuse(path, "the file is larger than 64 MiB");
    if (got == 0) return text;
  }
}

Node read_document(const std::string& path) {
  const std::string text = read_text_file(path);
  return path.ends_with(".json") ? parse_json(text, path) : parse_document(text, path);
}

}  // namespace floorline
