// SPDX-License-Identifier: Apache-2.0
// Amounts with units, and values that say where they are from:
// { value, range, origin, source, kind, note }, { unknown = "why" }, or the bare value (assumed).
#include <utility>

#include "model/input/table_reader.hpp"

namespace floorline {
namespace {

std::string_view example_of(Dimension dimension) {
  switch (dimension) {
    case Dimension::bytes:
      return "80 GB";
    case Dimension::flops:
      return "2 TFLOP";
    case Dimension::seconds:
      return "5 us";
    case Dimension::bytes_per_second:
      return "3.35 TB/s";
    case Dimension::flops_per_second:
      return "989.4 TFLOP/s";
    case Dimension::hertz:
      return "1980 MHz";
    case Dimension::flops_per_byte:
      return "295.3 FLOP/byte";
    case Dimension::tokens_per_second:
      return "75.9 token/s";
  }
  return "";
}

std::string expected_amount(std::optional<Dimension> dimension) {
  if (!dimension) return "expected a number";
  return "expected text with a unit such as \"" + std::string(example_of(*dimension)) + "\"";
}

/// The key that is read, and where to say what is wrong with it.
struct Field {
  std::string path;
  Diagnostics& diagnostics;

  void error(const Node& node, std::string message) const {
    diagnostics.add(node.at, path, std::move(message));
  }
};

/// The amount in base units; the reason why there is none is reported.
std::optional<double> base_of(const Node& node, std::optional<Dimension> dimension,
                              const Field& field) {
  if (dimension && node.kind == Node::Kind::text) {
    ParsedQuantity parsed = parse_quantity(node.text, *dimension);
    if (parsed.error.empty()) return parsed.base;
    field.error(node, std::move(parsed.error));
    return std::nullopt;
  }
  const bool takes_numbers = !dimension || *dimension == Dimension::flops;
  if (!takes_numbers || !node.is_number()) {
    field.error(node, expected_amount(dimension) + ", not " + std::string(name_of(node.kind)));
    return std::nullopt;
  }
  if (node.real < 0) {
    field.error(node, "must not be negative, not " + exact_text(node.real));
    return std::nullopt;
  }
  return node.real;
}

/// What surrounds a value, whatever its type.
struct Parts {
  const Node* value = nullptr;  ///< absent when unknown or wrong
  const Node* range = nullptr;
  std::string unknown_because;
  RateKind kind = RateKind::ceiling;
  Provenance from;
};

/// The words that a key takes.
template <class E>
struct Words {
  std::string_view what;  ///< "an origin"
  std::vector<E> all;
  std::optional<E> (*from_name)(std::string_view);
};

/// The value of the word under `key`; `absent` when there is none, or a wrong one (reported).
template <class E>
E word(TableReader& reader, std::string_view key, const Words<E>& words, E absent) {
  const std::optional<std::string> text = reader.text(key);
  if (!text) return absent;
  if (const std::optional<E> found = words.from_name(*text)) return *found;
  std::vector<std::string> names;
  std::string expected = "; expected one of ";
  for (const E value : words.all) {
    expected += (names.empty() ? "" : ", ") + std::string(name_of(value));
    names.emplace_back(name_of(value));
  }
  const std::string hint = did_you_mean(*text, names);
  reader.error(key, "\"" + *text + "\" is not " + std::string(words.what) +
                        (hint.empty() ? expected : hint));
  return absent;
}

RateKind read_kind(TableReader& reader) {
  const Words<RateKind> words{"a kind of rate",
                              {RateKind::ceiling, RateKind::observed, RateKind::best_seen},
                              rate_kind_from};
  return word(reader, "kind", words, RateKind::ceiling);
}

Origin read_origin(TableReader& reader) {
  const Words<Origin> words{"an origin",
                            {Origin::datasheet, Origin::measured, Origin::derived, Origin::assumed},
                            origin_from};
  return word(reader, "origin", words, Origin::assumed);
}

void read_unknown(TableReader& reader, Parts& parts) {
  const std::optional<std::string> why = reader.text("unknown");
  if (parts.value != nullptr) {
    reader.error("unknown", "expected either a value or that it is unknown, not both");
  } else if (why && why->empty()) {
    reader.error("unknown", "expected the reason why it is unknown");
  } else if (why) {
    parts.unknown_because = *why;
  }
}

/// `ranged`: numbers may have a range and a kind, flags and names do not.
Parts parts_of(const Node& node, const Field& field, bool ranged) {
  Parts parts;
  parts.from.at = node.at;
  if (node.kind != Node::Kind::table) {
    parts.value = &node;
    return parts;
  }
  TableReader reader(node, field.path, field.diagnostics);
  parts.value = reader.node("value");
  if (ranged) {
    parts.range = reader.node("range");
    parts.kind = read_kind(reader);
  }
  parts.from.origin = read_origin(reader);
  parts.from.source = reader.text("source").value_or("");
  parts.from.note = reader.text("note").value_or("");
  if (reader.has("unknown")) {
    read_unknown(reader, parts);
  } else if (parts.value == nullptr) {
    reader.node("unknown");  // to be suggested
    // With a key that is not known, a misspelt "value" most likely, that message says enough.
    if (reader.unread_keys().empty()) {
      reader.required_node("value", "a value, or unknown = \"why\"");
    }
  }
  if (parts.value != nullptr) parts.from.at = parts.value->at;
  return parts;
}

/// Both ends of the range; absent (and reported) when it is no range around the value.
bool read_range(const Node& range, std::optional<Dimension> dimension, const Field& field,
                Sourced<double>& out) {
  if (range.kind != Node::Kind::array || range.items.size() != 2) {
    field.error(range, "expected an array of two: [low, high]");
    return false;
  }
  const std::optional<double> low = base_of(range.items[0], dimension, field);
  const std::optional<double> high = base_of(range.items[1], dimension, field);
  if (!low || !high) return false;
  if (*low > *high) {
    field.error(range, "the low end is above the high end; expected [low, high]");
    return false;
  }
  if (out.value < *low || out.value > *high) {
    field.error(range, "the range does not contain the value");
    return false;
  }
  out.low = *low;
  out.high = *high;
  return true;
}

/// A flag or a text: no range, the ends are the value itself.
template <class T>
MaybeSourced<T> plain(const Node& node, const Field& field, Node::Kind kind, T Node::*member) {
  const Parts parts = parts_of(node, field, false);
  MaybeSourced<T> out{std::nullopt, parts.unknown_because, parts.from.at};
  if (parts.value == nullptr || !parts.unknown_because.empty()) return out;
  if (parts.value->kind != kind) {
    field.error(*parts.value, "expected " + std::string(name_of(kind)) + ", not " +
                                  std::string(name_of(parts.value->kind)));
    return out;
  }
  const T& value = parts.value->*member;
  out.known = Sourced<T>{value, value, value, parts.kind, parts.from};
  return out;
}

}  // namespace

std::optional<double> TableReader::quantity_base(std::string_view key, Dimension dimension) {
  const Node* found = given(key);
  if (found == nullptr) return std::nullopt;
  return base_of(*found, dimension, {path_of(key), diagnostics_});
}

MaybeSourced<double> TableReader::sourced_base(std::string_view key,
                                               std::optional<Dimension> dimension) {
  const Node* found = given(key);
  if (found == nullptr) return {std::nullopt, "", table_.at};
  const Field field{path_of(key), diagnostics_};
  const Parts parts = parts_of(*found, field, true);
  MaybeSourced<double> out{std::nullopt, parts.unknown_because, parts.from.at};
  if (parts.value == nullptr) return out;
  const std::optional<double> base = base_of(*parts.value, dimension, field);
  if (!base) return out;
  Sourced<double> known{*base, *base, *base, parts.kind, parts.from};
  if (parts.range != nullptr &&
      !read_range(*parts.range, dimension, {join_key(field.path, "range"), diagnostics_}, known)) {
    return out;
  }
  out.known = std::move(known);
  return out;
}

MaybeSourced<double> TableReader::sourced_number(std::string_view key) {
  return sourced_base(key, std::nullopt);
}

MaybeSourced<bool> TableReader::sourced_flag(std::string_view key) {
  const Node* found = given(key);
  if (found == nullptr) return {std::nullopt, "", table_.at};
  return plain(*found, {path_of(key), diagnostics_}, Node::Kind::boolean, &Node::boolean);
}

MaybeSourced<std::string> TableReader::sourced_text(std::string_view key) {
  const Node* found = given(key);
  if (found == nullptr) return {std::nullopt, "", table_.at};
  return plain(*found, {path_of(key), diagnostics_}, Node::Kind::text, &Node::text);
}

}  // namespace floorline
