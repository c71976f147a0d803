// SPDX-License-Identifier: Apache-2.0
// Plain values and the check for unread keys; values with provenance are in
// table_reader_sourced.cpp.
#include "model/input/table_reader.hpp"

#include <algorithm>
#include <utility>

namespace floorline {
namespace {

constexpr std::size_t kMaxListedKeys = 60;

/// "; expected one of a, b": all that a table takes, the one nearest to `word` first.
std::string expected_keys(std::string_view word, std::vector<std::string> known) {
  if (known.empty()) return {};
  const std::string nearest = nearest_name(word, known);
  std::stable_partition(known.begin(), known.end(),
                        [&nearest](const std::string& key) { return key == nearest; });
  std::string out = known.size() == 1 ? "; expected " : "; expected one of ";
  for (std::size_t i = 0; i < known.size() && i < kMaxListedKeys; ++i) {
    if (i > 0) out += ", ";
    out += known[i];
  }
  if (known.size() > kMaxListedKeys)
    out += " and " + std::to_string(known.size() - kMaxListedKeys) + " more";
  return out;
}

std::string expected_not(std::string_view expected, const Node& node) {
  return "expected " + std::string(expected) + ", not " + std::string(name_of(node.kind));
}

}  // namespace

TableReader::TableReader(const Node& table, std::string path, Diagnostics& diagnostics)
    : table_(table),
      path_(std::move(path)),
      diagnostics_(diagnostics),
      read_(table.members.size(), false) {
  if (table_.kind == Node::Kind::table) return;
  diagnostics_.add(table_.at, path_, expected_not("a table", table_));
  finished_ = true;
}

TableReader::~TableReader() {
  try {
    finish();
  } catch (...) {  // out of memory: a destructor does not throw
  }
}

const Node* TableReader::node(std::string_view key) {
  known_.emplace_back(key);
  const std::size_t size = table_.members.size();
  for (std::size_t step = 0; step < size; ++step) {
    const std::size_t i = (next_ + step) % size;
    if (table_.members[i].key != key) continue;
    read_[i] = true;
    next_ = i + 1;
    return &table_.members[i].value;
  }
  return nullptr;
}

const Node* TableReader::required_node(std::string_view key, std::string_view expected) {
  const Node* found = given(key);
  // A node that is no table was reported; what it lacks follows from that.
  if (found == nullptr && table_.kind == Node::Kind::table) {
    diagnostics_.add(table_.at, path_of(key), "missing; expected " + std::string(expected));
  }
  return found;
}

const Node* TableReader::given(std::string_view key) {
  const Node* found = node(key);
  return found == nullptr || found->kind == Node::Kind::null ? nullptr : found;
}

const Node* TableReader::given(std::string_view key, Node::Kind kind, std::string_view expected) {
  const Node* found = given(key);
  if (found == nullptr || found->kind == kind) return found;
  diagnostics_.add(found->at, path_of(key), expected_not(expected, *found));
  return nullptr;
}

std::optional<std::string> TableReader::text(std::string_view key) {
  const Node* found = given(key, Node::Kind::text, "text");
  if (found == nullptr) return std::nullopt;
  return found->text;
}

std::string TableReader::required_text(std::string_view key) {
  if (required_node(key, "text") == nullptr) return {};
  return text(key).value_or("");
}

std::string TableReader::required_name(std::string_view key) {
  std::string name = required_text(key);
  const Node* found = table_.find(key);
  if (found == nullptr || found->kind != Node::Kind::text) return name;
  const std::string wrong = wrong_name(name);
  if (!wrong.empty()) error(key, wrong);
  return name;
}

std::optional<std::int64_t> TableReader::count(std::string_view key, std::int64_t minimum) {
  const Node* found = given(key);
  if (found == nullptr) return std::nullopt;
  if (found->kind == Node::Kind::real) {
    error(key, "expected a whole number without a decimal point or exponent, not " +
                   exact_text(found->real));
    return std::nullopt;
  }
  if (found->kind != Node::Kind::integer) {
    error(key, expected_not("a whole number", *found));
    return std::nullopt;
  }
  if (found->integer < minimum) {
    error(key, "must be at least " + std::to_string(minimum) + ", not " +
                   std::to_string(found->integer));
    return std::nullopt;
  }
  return found->integer;
}

std::optional<double> TableReader::number(std::string_view key) {
  const Node* found = given(key);
  if (found == nullptr) return std::nullopt;
  if (found->is_number()) return found->real;
  error(key, expected_not("a number", *found));
  return std::nullopt;
}

std::optional<bool> TableReader::flag(std::string_view key) {
  const Node* found = given(key, Node::Kind::boolean, "true or false");
  if (found == nullptr) return std::nullopt;
  return found->boolean;
}

std::optional<Precision> TableReader::precision(std::string_view key) {
  const std::optional<std::string> name = text(key);
  if (!name) return std::nullopt;
  const std::optional<Precision> precision = precision_from(*name);
  if (!precision) error(key, not_a_precision(*name));
  return precision;
}

std::optional<std::vector<std::string>> TableReader::texts(std::string_view key) {
  const Node* found = given(key, Node::Kind::array, "an array of texts");
  if (found == nullptr) return std::nullopt;
  std::vector<std::string> all;
  for (const Node& item : found->items) {
    if (item.kind != Node::Kind::text) {
      const std::string path = join_index(path_of(key), all.size());
      diagnostics_.add(item.at, path, expected_not("text", item));
      return std::nullopt;
    }
    all.push_back(item.text);
  }
  return all;
}

std::vector<std::string> TableReader::unread_keys() const {
  std::vector<std::string> unread;
  for (std::size_t i = 0; i < read_.size(); ++i) {
    if (!read_[i]) unread.push_back(table_.members[i].key);
  }
  return unread;
}

std::vector<std::string> TableReader::keys() const {
  std::vector<std::string> all;
  for (const NodeMember& member : table_.members) all.push_back(member.key);
  return all;
}

bool TableReader::has(std::string_view key) const { return table_.find(key) != nullptr; }

std::string TableReader::path_of(std::string_view key) const { return join_key(path_, key); }

void TableReader::error(std::string_view key, std::string message) {
  const Node* found = table_.find(key);
  diagnostics_.add(found == nullptr ? table_.at : found->at, path_of(key), std::move(message));
}

void TableReader::finish() {
  if (finished_) return;
  finished_ = true;
  if (std::find(read_.begin(), read_.end(), false) == read_.end()) return;
  std::vector<std::string> known;
  std::vector<std::string> candidates;  // a key that is there already was not meant
  for (const std::string& key : known_) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    known.push_back(key);
    if (!has(key)) candidates.push_back(key);
  }
  for (std::size_t i = 0; i < read_.size() && !diagnostics_.full(); ++i) {
    if (read_[i]) continue;
    const NodeMember& member = table_.members[i];
    const std::string hint = did_you_mean(member.key, candidates);
    diagnostics_.add(member.at, path_,
                     "unknown key \"" + member.key + "\"" +
                         (hint.empty() ? expected_keys(member.key, known) : hint));
  }
}

}  // namespace floorline
