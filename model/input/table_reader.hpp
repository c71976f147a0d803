// SPDX-License-Identifier: Apache-2.0
// Reads one table of an input against what the format defines. Every error is collected with
// file:line:column and the key's full path. A key nobody asked for is an error when the reader goes
// out of scope (or finish() is called), with the nearest known key suggested.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/input/diagnostic.hpp"
#include "model/input/document_node.hpp"
#include "model/quantity/precision.hpp"
#include "model/quantity/sourced.hpp"
#include "model/quantity/unit_names.hpp"

namespace floorline {

class TableReader {
 public:
  /// `table` must outlive the reader. A node that is not a table is an error and reads as empty.
  TableReader(const Node& table, std::string path, Diagnostics& diagnostics);
  ~TableReader();
  TableReader(const TableReader&) = delete;
  TableReader& operator=(const TableReader&) = delete;
  TableReader(TableReader&&) = delete;
  TableReader& operator=(TableReader&&) = delete;

  /// The value under `key`, marked as read; nullptr when absent. In all that follows a JSON null is
  /// the same as absent, and a value of the wrong type is reported and reads as absent.
  const Node* node(std::string_view key);
  /// Reports its absence.
  const Node* required_node(std::string_view key, std::string_view expected);

  std::optional<std::string> text(std::string_view key);
  std::string required_text(std::string_view key);
  /// A text that must be there and can be shown: not blank, no control characters.
  std::string required_name(std::string_view key);
  /// A whole number >= minimum; 3.0 is not a whole number.
  std::optional<std::int64_t> count(std::string_view key, std::int64_t minimum = 0);
  std::optional<double> number(std::string_view key);
  std::optional<bool> flag(std::string_view key);
  std::optional<Precision> precision(std::string_view key);
  std::optional<std::vector<std::string>> texts(std::string_view key);

  /// A physical amount as text with its unit: "3.35 TB/s".
  template <class Q>
  std::optional<Q> quantity(std::string_view key) {
    const std::optional<double> base = quantity_base(key, DimensionOf<Q>::value);
    if (!base) return std::nullopt;
    return Q(*base);
  }
  /// { value, range, origin, source, kind, note } or { unknown = "why" } or bare text (assumed).
  template <class Q>
  MaybeSourced<Q> sourced(std::string_view key) {
    return narrow<Q>(sourced_base(key, DimensionOf<Q>::value));
  }
  /// The same for a plain count or number (units, products, devices_per_node) and for a flag.
  MaybeSourced<double> sourced_number(std::string_view key);
  MaybeSourced<bool> sourced_flag(std::string_view key);
  MaybeSourced<std::string> sourced_text(std::string_view key);

  [[nodiscard]] std::vector<std::string> unread_keys() const;
  [[nodiscard]] std::vector<std::string> keys() const;
  [[nodiscard]] bool has(std::string_view key) const;
  [[nodiscard]] const Position& at() const { return table_.at; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string path_of(std::string_view key) const;
  void error(std::string_view key, std::string message);
  Diagnostics& diagnostics() { return diagnostics_; }
  /// Reports keys that were not read. Called by the destructor unless done or ignored.
  void finish();
  /// For formats that others define: unread keys are the caller's business.
  void ignore_unread() { finished_ = true; }

 private:
  const Node* given(std::string_view key);
  const Node* given(std::string_view key, Node::Kind kind, std::string_view expected);
  std::optional<double> quantity_base(std::string_view key, Dimension dimension);
  MaybeSourced<double> sourced_base(std::string_view key, std::optional<Dimension> dimension);
  template <class Q>
  static MaybeSourced<Q> narrow(const MaybeSourced<double>& wide) {
    MaybeSourced<Q> q;
    q.unknown_because = wide.unknown_because;
    q.at = wide.at;
    if (wide.known) {
      q.known = Sourced<Q>{Q(wide.known->value), Q(wide.known->low), Q(wide.known->high),
                           wide.known->kind, wide.known->from};
    }
    return q;
  }

  const Node& table_;
  std::string path_;
  Diagnostics& diagnostics_;
  std::vector<std::string> known_;  ///< every key asked for, for suggestions
  std::vector<bool> read_;          ///< parallel to table_.members
  std::size_t next_ = 0;            ///< where to look first: keys are mostly asked for in order
  bool finished_ = false;
};

}  // namespace floorline
