// SPDX-License-Identifier: Apache-2.0
// TOML to Node. toml++ reads the text; what it cannot be trusted with (keys of a million dots,
// which overflow its stack, and work that grows with the square of the dotted keys) is refused
// before.
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>

#include "model/input/diagnostic.hpp"
#include "model/input/document_node.hpp"

namespace floorline {
namespace {

// toml++ searches a list of all tables made by dotted keys, and one of all arrays of tables, for
// each further one: 5e9 short steps at most, a few seconds.
constexpr std::size_t kMaxSearches = 100'000;

/// Walks over the text outside comments and strings and counts what grows without bound.
class TomlGuard {
 public:
  explicit TomlGuard(std::string_view file) : file_(file) {}

  void check(std::string_view text) {
    text_ = text;
    if (text_.size() > kMaxDocumentBytes) refuse("the text is larger than 64 MiB");
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == '"' || c == '\'') {
        skip_string(c);
        line_is_blank_ = false;
      } else {
        punctuation(c);
        if (c == '\n') line_is_blank_ = true;
        if (c != '\n' && c != ' ' && c != '\t' && c != '\r') line_is_blank_ = false;
        ++at_;
      }
    }
  }

 private:
  void punctuation(char c) {
    switch (c) {
      case '\n':
      case ',':
        dots_ = 0;
        break;
      case '[':
      case '{':
        open(c);
        break;
      case ']':
      case '}':
        if (depth_ > 0) --depth_;
        if (in_header_) key_is_done();
        in_header_ = in_header_ && depth_ > 0;
        dots_ = 0;
        break;
      case '=':
        key_is_done();
        break;
      case '.':
        if (++dots_ >= kMaxNesting) refuse("a key with more than 64 parts");
        break;
      default:
        break;
    }
    const bool counts = c == ',' || c == '=' || c == '[' || c == '{';
    if (counts && ++values_ > kMaxValues) refuse("more than 4000000 values");
  }

  void open(char bracket) {
    if (bracket == '[' && in_header_) count_search();  // [[table]]
    if (bracket == '[' && depth_ == 0 && line_is_blank_) in_header_ = true;
    if (++depth_ > kMaxNesting) refuse("tables or arrays nested more than 64 deep");
    dots_ = 0;
  }

  void key_is_done() {
    if (dots_ > 0) count_search();
    values_ += dots_;  // each may make a table
    dots_ = 0;
  }

  void count_search() {
    if (++searches_ <= kMaxSearches) return;
    refuse("more than 100000 dotted keys and [[tables]]; write a file of this size as JSON");
  }

  /// A string that is not closed ends at its line (at the end of the text if multi-line), where
  /// toml++ stops as well.
  void skip_string(char quote) {
    const std::string_view rest = text_.substr(at_);
    const bool multi_line = rest.size() > 2 && rest[1] == quote && rest[2] == quote;
    at_ += multi_line ? 3 : 1;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n' && !multi_line) return;
      if (c == '\\' && quote == '"') {
        at_ += 2;
      } else if (c != quote) {
        ++at_;
      } else if (!multi_line) {
        ++at_;
        return;
      } else if (closes_multi_line(quote)) {
        return;
      }
    }
    at_ = std::min(at_, text_.size());
  }

  /// Up to two quotes may stand before the closing three.
  bool closes_multi_line(char quote) {
    std::size_t run = 0;
    while (at_ < text_.size() && text_[at_] == quote && run < 5) {
      ++at_;
      ++run;
    }
    return run >= 3;
  }

  [[noreturn]] void refuse(const std::string& reason) const {
    std::uint32_t line = 1;
    std::uint32_t column = 1;
    for (const char c : text_.substr(0, at_)) {
      const bool continues = (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
      line += c == '\n' ? 1 : 0;
      column = c == '\n' ? 1 : column + (continues ? 0 : 1);
    }
    throw InputError(Diagnostic{position_in(file_, line, column), "", reason});
  }

  std::string_view text_;
  std::string_view file_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  std::size_t dots_ = 0;  ///< since the last separator: dots of one key, or of one number
  std::size_t searches_ = 0;
  std::size_t values_ = 0;
  bool line_is_blank_ = true;  ///< so far
  bool in_header_ = false;
};

/// The way from the root to a node; a path is spelled out for messages only.
struct Place {
  const Place* up = nullptr;
  std::string_view key;
  std::size_t index = 0;

  [[nodiscard]] std::string path() const {
    if (up == nullptr) return {};
    return key.empty() ? join_index(up->path(), index) : join_key(up->path(), key);
  }
};

class Converter {
 public:
  explicit Converter(std::string_view file) : file_(position_in(file)) {}

  Node convert(const toml::table& root) {
    Node node;
    fill(node, root, Place{}, 1);
    diagnostics_.throw_if_any();
    return node;
  }

 private:
  [[nodiscard]] Position position(const toml::source_region& region) const {
    return {file_.file, region.begin.line, region.begin.column};
  }

  void fill(Node& out, const toml::node& in, const Place& place, std::size_t depth) {
    out.at = position(in.source());
    switch (in.type()) {
      case toml::node_type::table:
        return fill_table(out, *in.as_table(), place, depth);
      case toml::node_type::array:
        return fill_array(out, *in.as_array(), place, depth);
      case toml::node_type::string:
        out.kind = Node::Kind::text;
        out.text = in.as_string()->get();
        return;
      case toml::node_type::integer:
        out.kind = Node::Kind::integer;
        out.integer = in.as_integer()->get();
        out.real = static_cast<double>(out.integer);
        return;
      case toml::node_type::floating_point:
        out.kind = Node::Kind::real;
        out.real = in.as_floating_point()->get();
        if (!std::isfinite(out.real)) error(out, place, "expected a finite number");
        return;
      case toml::node_type::boolean:
        out.kind = Node::Kind::boolean;
        out.boolean = in.as_boolean()->get();
        return;
      default:
        return error(out, place, "dates and times are not used; write text in quotes");
    }
  }

  void fill_table(Node& out, const toml::table& in, const Place& place, std::size_t depth) {
    out.kind = Node::Kind::table;
    if (too_deep(out, place, depth)) return;
    out.members.reserve(in.size());
    for (const auto& [key, value] : in) {
      NodeMember& member = out.members.emplace_back();
      member.key = key.str();
      member.at = position(key.source());
      fill(member.value, value, Place{&place, key.str(), 0}, depth + 1);
    }
    const auto earlier = [](const NodeMember& a, const NodeMember& b) {
      return std::pair(a.at.line, a.at.column) < std::pair(b.at.line, b.at.column);
    };
    std::stable_sort(out.members.begin(), out.members.end(), earlier);
  }

  void fill_array(Node& out, const toml::array& in, const Place& place, std::size_t depth) {
    out.kind = Node::Kind::array;
    if (too_deep(out, place, depth)) return;
    out.items.reserve(in.size());
    for (const toml::node& item : in) {
      const Place here{&place, {}, out.items.size()};
      fill(out.items.emplace_back(), item, here, depth + 1);
    }
  }

  bool too_deep(const Node& node, const Place& place, std::size_t depth) {
    if (depth <= kMaxNesting) return false;
    error(node, place, "tables or arrays nested more than 64 deep");
    return true;
  }

  void error(const Node& node, const Place& place, std::string message) {
    diagnostics_.add(node.at, place.path(), std::move(message));
  }

  Position file_;
  Diagnostics diagnostics_;
};

}  // namespace

Node parse_toml(std::string_view text, std::string_view file_name) {
  TomlGuard(file_name).check(text);
  try {
    return Converter(file_name).convert(toml::parse(text, file_name));
  } catch (const toml::parse_error& e) {
    const toml::source_position at = e.source().begin;
    Diagnostics diagnostics;
    diagnostics.add(position_in(file_name, at.line, at.column), "",
                    "not valid TOML: " + std::string(e.description()));
    diagnostics.throw_if_any();
    throw;
  }
}

}  // namespace floorline
