// SPDX-License-Identifier: Apache-2.0
// JSON to Node. nlohmann's SAX parser reports neither positions nor duplicate keys: the characters
// reach it through an iterator that counts lines and columns and remembers where a value started.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>

#include "model/input/diagnostic.hpp"
#include "model/input/document_node.hpp"

namespace floorline {
namespace {

struct LineColumn {
  std::uint32_t line = 1;
  std::uint32_t column = 1;
};

/// Follows the text character by character, at most one ahead of the parser's current token.
class Tracker {
 public:
  void read(char c) {
    last_ = next_;
    switch (state_) {
      case State::escaped:
        state_ = State::text;
        break;
      case State::text:
        if (c == '\\') state_ = State::escaped;
        if (c == '"') state_ = State::between;
        break;
      default:
        outside_text(c);
    }
    if (c == '\n') {
      ++next_.line;
      next_.column = 1;
    } else if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) {  // not inside a code point
      ++next_.column;
    }
  }
  [[nodiscard]] LineColumn value_start() const { return value_start_; }
  [[nodiscard]] LineColumn last() const { return last_; }
  [[nodiscard]] LineColumn next() const { return next_; }

 private:
  enum class State : std::uint8_t { between, word, text, escaped };

  void outside_text(char c) {
    constexpr std::string_view kEndsWord = " \t\r\n,:]}";
    if (kEndsWord.find(c) != std::string_view::npos) {
      state_ = State::between;
      return;
    }
    const bool starts = state_ == State::between || c == '"' || c == '[' || c == '{';
    if (starts) value_start_ = last_;
    state_ = c == '"' ? State::text : (c == '[' || c == '{') ? State::between : State::word;
  }

  State state_ = State::between;
  LineColumn value_start_;  ///< of the last value or key: its quote, bracket or first character
  LineColumn last_;         ///< of the last character read
  LineColumn next_;
};

class TrackedIterator {
 public:
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;
  using iterator_category = std::input_iterator_tag;

  TrackedIterator(const char* at, Tracker* tracker) : at_(at), tracker_(tracker) {}
  reference operator*() const { return *at_; }
  TrackedIterator& operator++() {
    tracker_->read(*at_++);
    return *this;
  }
  friend bool operator==(const TrackedIterator& a, const TrackedIterator& b) {
    return a.at_ == b.at_;
  }

 private:
  const char* at_;
  Tracker* tracker_;
};

/// Builds the tree; a false return ends the parse.
class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  TreeBuilder(std::string_view file, const Tracker& tracker)
      : file_(position_in(file)), tracker_(tracker) {}

  Node finish() {
    diagnostics_.throw_if_any();
    return std::move(root_);
  }

  bool null() override { return put(Node::Kind::null) != nullptr; }
  bool boolean(bool value) override {
    Node* node = put(Node::Kind::boolean);
    if (node != nullptr) node->boolean = value;
    return node != nullptr;
  }
  bool number_integer(std::int64_t value) override {
    Node* node = put(Node::Kind::integer);
    if (node == nullptr) return false;
    node->integer = value;
    node->real = static_cast<double>(value);
    return true;
  }
  bool number_unsigned(std::uint64_t value) override {
    if (value > static_cast<std::uint64_t>(INT64_MAX)) return too_large();
    return number_integer(static_cast<std::int64_t>(value));
  }
  bool number_float(double value, const std::string& text) override {
    // An integer that no 64-bit type holds arrives here as well.
    if (text.find_first_not_of("-0123456789") == std::string::npos) return too_large();
    Node* node = put(Node::Kind::real);
    if (node != nullptr) node->real = value;
    return node != nullptr;
  }
  bool string(std::string& value) override {
    Node* node = put(Node::Kind::text);
    if (node != nullptr) node->text = std::move(value);
    return node != nullptr;
  }
  bool binary(nlohmann::json::binary_t& /*value*/) override { return false; }  // never in JSON text
  bool start_object(std::size_t /*unknown*/) override { return open(Node::Kind::table); }
  bool start_array(std::size_t /*unknown*/) override { return open(Node::Kind::array); }
  bool end_array() override {
    open_.pop_back();
    return true;
  }
  bool end_object() override {
    report_duplicates(*open_.back());
    open_.pop_back();
    return true;
  }
  bool key(std::string& key) override {
    NodeMember& member = open_.back()->members.emplace_back();
    member.key = std::move(key);
    member.at = position(tracker_.value_start());
    return true;
  }
  bool parse_error(std::size_t /*byte*/, const std::string& last_token,
                   const nlohmann::json::exception& e) override;

 private:
  [[nodiscard]] Position position(LineColumn at) const { return {file_.file, at.line, at.column}; }

  /// The place of the next value in the innermost open container.
  Node& place() {
    if (open_.empty()) return root_;
    Node& parent = *open_.back();
    return parent.kind == Node::Kind::array ? parent.items.emplace_back()
                                            : parent.members.back().value;
  }

  Node* put(Node::Kind kind) {
    const Position at = position(tracker_.value_start());
    if (++values_ > kMaxValues) {
      diagnostics_.add(at, "", "more than 4000000 values");
      return nullptr;
    }
    Node& node = place();
    node.kind = kind;
    node.at = at;
    return &node;
  }

  bool open(Node::Kind kind) {
    Node* node = put(kind);
    if (node == nullptr) return false;
    open_.push_back(node);  // stays where it is: only the innermost container grows
    if (open_.size() <= kMaxNesting) return true;
    diagnostics_.add(node->at, "", "tables or arrays nested more than 64 deep");
    return false;
  }

  bool too_large() {
    const Node* node = put(Node::Kind::integer);
    if (node == nullptr) return false;
    diagnostics_.add(node->at, path(),
                     "the integer does not fit 64 bits; write a large number as 1.5e20");
    return true;
  }

  /// Of the value placed last.
  [[nodiscard]] std::string path() const {
    std::string path;
    for (const Node* node : open_) {
      path = node->kind == Node::Kind::array ? join_index(path, node->items.size() - 1)
                                             : join_key(path, node->members.back().key);
    }
    return path;
  }

  void report_duplicates(const Node& table) {
    std::vector<std::size_t> order(table.members.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto key = [&](std::size_t i) -> const std::string& { return table.members[i].key; };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
    std::vector<std::pair<std::size_t, std::size_t>> repeated;  // and where it stood first
    std::size_t first = 0;
    for (std::size_t i = 1; i < order.size(); ++i) {
      if (key(order[i]) != key(order[first])) first = i;
      if (first != i) repeated.emplace_back(order[i], order[first]);
    }
    std::sort(repeated.begin(), repeated.end());
    for (const auto& [again, original] : repeated) {
      diagnostics_.add(table.members[again].at, "",
                       "the key \"" + key(again) + "\" stands twice, first at line " +
                           std::to_string(table.members[original].at.line));
    }
  }

  Position file_;
  const Tracker& tracker_;
  Diagnostics diagnostics_;
  Node root_;
  std::vector<Node*> open_;
  std::size_t values_ = 0;
};

/// From "[json.exception.parse_error.101] parse error at line 1, column 4: syntax error while
/// parsing value - invalid literal; last read: 'nul]'; expected …": line and column are ours to
/// say, and what was read last holds any bytes and starts anywhere.
std::string reason_of(std::string_view what) {
  const std::size_t dash = what.find(" - ");
  std::string reason(dash == std::string_view::npos ? what : what.substr(dash + 3));
  const std::size_t read = reason.find("; last read: '");
  if (read == std::string::npos) return reason;
  const std::size_t expected = reason.rfind("'; expected ");
  const bool follows = expected != std::string::npos && expected > read;
  return reason.substr(0, read) + (follows ? reason.substr(expected + 1) : "");
}

bool TreeBuilder::parse_error(std::size_t /*byte*/, const std::string& last_token,
                              const nlohmann::json::exception& e) {
  constexpr int kNumberOverflow = 406;
  if (e.id == kNumberOverflow) {
    diagnostics_.add(position(tracker_.value_start()), "",
                     "expected a finite number, not " + last_token);
    return false;
  }
  const std::string reason = reason_of(e.what());
  LineColumn at = tracker_.last();  // inside a bad token, or at a comma, colon or closing bracket
  const bool quoted = reason.starts_with("unexpected '") && reason.size() > 12;
  const bool closing =
      quoted && std::string_view(",:]}").find(reason[12]) != std::string_view::npos;
  if (reason.starts_with("unexpected end of input")) {
    at = tracker_.next();
  } else if (reason.starts_with("unexpected") && !closing) {
    at = tracker_.value_start();
  }
  diagnostics_.add(position(at), "", "not valid JSON: " + reason);
  return false;
}

// What Python's json module writes for infinity is no JSON. It is let through, as text, in the
// value of keys that models' configurations have and that no reader here uses: a number or an
// array.
constexpr std::string_view kMayBeInfinite = "\"time_step_limit\"";

/// The same text with such words quoted, every character in its place.
std::string with_quoted_infinity(std::string_view text) {
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"-Infinity", "\"-inf...\""}, {"Infinity", "\"inf...\""}, {"NaN", "\"?\""}};
  std::string out(text);
  for (std::size_t at = out.find(kMayBeInfinite); at != std::string::npos;
       at = out.find(kMayBeInfinite, at + 1)) {
    if (at > 0 && out[at - 1] == '\\') continue;
    const std::size_t colon = out.find_first_not_of(" \t\r\n", at + kMayBeInfinite.size());
    if (colon == std::string::npos || out[colon] != ':') continue;
    const std::size_t end = std::min(out.find_first_of("]}\"", colon), out.size());
    for (const auto& [word, quoted] : kWords) {
      for (std::size_t w = out.find(word, colon); w < end; w = out.find(word, w + 1)) {
        out.replace(w, word.size(), quoted);
      }
    }
  }
  return out;
}

}  // namespace

Node parse_json(std::string_view text, std::string_view file_name) {
  if (text.size() > kMaxDocumentBytes) {
    throw InputError(Diagnostic{position_in(file_name), "", "the text is larger than 64 MiB"});
  }
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  std::string tolerated;
  if (text.find(kMayBeInfinite) != std::string_view::npos) {
    tolerated = with_quoted_infinity(text);
    text = tolerated;
  }
  Tracker tracker;
  TreeBuilder builder(file_name, tracker);
  nlohmann::json::sax_parse(TrackedIterator(text.data(), &tracker),
                            TrackedIterator(text.data() + text.size(), &tracker), &builder);
  return builder.finish();
}

}  // namespace floorline
