// SPDX-License-Identifier: Apache-2.0
#include "cli/pipeline_settings.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "model/input/diagnostic.hpp"
#include "model/quantity/unit_names.hpp"

namespace floorline {

namespace {

[[noreturn]] void refuse(const Assignment& a, const std::string& why) {
  throw InputError(Diagnostic{position_in("command line"), a.name, why});
}

Node* member(Node& table, std::string_view key) {
  for (NodeMember& m : table.members)
    if (m.key == key) return &m.value;
  return nullptr;
}

Node& member_or_new(Node& table, const std::string& key) {
  if (Node* found = member(table, key)) return *found;
  table.members.push_back({key, position_in("command line"), {}});
  return table.members.back().value;
}

Node number_node(double value) {
  constexpr double kExact = 9007199254740992.0;
  Node node;
  node.at = position_in("command line");
  node.real = value;
  node.kind = Node::Kind::real;
  if (std::trunc(value) != value || std::abs(value) > kExact) return node;
  node.kind = Node::Kind::integer;
  node.integer = static_cast<std::int64_t>(value);
  return node;
}

Node text_node(std::string text) {
  Node node;
  node.at = position_in("command line");
  node.kind = Node::Kind::text;
  node.text = std::move(text);
  return node;
}

Node node_of(const std::string& value) {
  if (const std::optional<double> number = parse_number(value)) return number_node(*number);
  if (value != "true" && value != "false") return text_node(value);
  Node node = text_node("");
  node.kind = Node::Kind::boolean;
  node.boolean = value == "true";
  return node;
}

const char* unit_of(Dimension dimension) {
  switch (dimension) {
    case Dimension::bytes:
      return " B";
    case Dimension::bytes_per_second:
      return " B/s";
    default:
      return " s";
  }
}

void scale(const Assignment& a, Node& value) {
  const std::optional<double> factor = parse_number(a.value);
  if (!factor || !(*factor >= 0))
    refuse(a, floorline::quoted(a.value) + " is not a factor of zero or more");
  if (value.is_number()) {
    value = number_node(value.real * *factor);
    return;
  }
  const std::optional<AnyQuantity> q =
      value.kind == Node::Kind::text ? parse_any_quantity(value.text) : std::nullopt;
  const bool known = q && (q->dimension == Dimension::seconds || q->dimension == Dimension::bytes ||
                           q->dimension == Dimension::bytes_per_second);
  if (!known) refuse(a, "is no number, time, size or rate that could be scaled");
  value = text_node(exact_text(q->base * *factor) + unit_of(q->dimension));
}

void set(const Assignment& a, Node& table, const std::string& key) {
  if (!a.scale) {
    member_or_new(table, key) = node_of(a.value);
    return;
  }
  Node* value = member(table, key);
  if (value == nullptr) refuse(a, "is not in the file, so there is nothing to scale");
  scale(a, *value);
}

/// "load-copy" of between = ["load", "copy"]; else the name.
std::string name_of_entry(const Node& entry) {
  const Node* between = entry.find("between");
  if (between != nullptr && between->items.size() == 2)
    return between->items[0].text + "-" + between->items[1].text;
  const Node* name = entry.find("name");
  return name != nullptr ? name->text : "";
}

/// Names that stages run on, whether or not a [[resource]] describes them.
std::vector<std::string> resources_used(Node& document) {
  std::vector<std::string> names;
  Node* stages = member(document, "stage");
  if (stages == nullptr) return names;
  for (Node& stage : stages->items) {
    const Node* resource = member(stage, "resource");
    if (resource != nullptr && resource->kind == Node::Kind::text) names.push_back(resource->text);
  }
  return names;
}

/// One of [[table]] by its name. A resource that the file only uses becomes a table.
Node& entry_named(const Assignment& a, Node& document, const std::string& table,
                  const std::string& name) {
  std::vector<std::string> known;
  Node& list = member_or_new(document, table);
  if (list.kind == Node::Kind::null) list.kind = Node::Kind::array;
  for (Node& entry : list.items) {
    if (name_of_entry(entry) == name) return entry;
    known.push_back(name_of_entry(entry));
  }
  if (table == "resource") {
    for (const std::string& used : resources_used(document)) known.push_back(used);
  }
  if (table != "resource" || std::find(known.begin(), known.end(), name) == known.end())
    refuse(a, "there is no " + table + " " + floorline::quoted(name) + " in the file" +
                  did_you_mean(name, known));
  Node entry;
  entry.kind = Node::Kind::table;
  entry.at = position_in("command line");
  entry.members.push_back({"name", entry.at, text_node(name)});
  list.items.push_back(std::move(entry));
  return list.items.back();
}

}  // namespace

void apply_setting(const Assignment& a, Node& document) {
  const std::size_t first = a.name.find('.');
  if (first == std::string::npos) {
    set(a, document, a.name);
    return;
  }
  const std::string table = a.name.substr(0, first);
  const std::size_t last = a.name.rfind('.');
  if (table == "stage" || table == "resource" || table == "buffer") {
    if (last == first) refuse(a, "expected " + table + ".NAME.KEY");
    Node& entry = entry_named(a, document, table, a.name.substr(first + 1, last - first - 1));
    set(a, entry, a.name.substr(last + 1));
    return;
  }
  Node* found = member(document, table);
  if (found == nullptr || found->kind != Node::Kind::table || last != first)
    refuse(a,
           "names nothing of the file; expected items, stage.NAME.KEY, resource.NAME.KEY, "
           "buffer.PRODUCER-CONSUMER.capacity or a device key");
  set(a, *found, a.name.substr(last + 1));
}

}  // namespace floorline
