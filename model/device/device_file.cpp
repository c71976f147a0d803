// SPDX-License-Identifier: Apache-2.0
#include "model/device/device_file.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <type_traits>

#include "model/device/device_check.hpp"
#include "model/device/device_text.hpp"
#include "model/input/table_reader.hpp"

namespace floorline {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBases = 32;  // of one device: any depth that people build by hand

/// Readers of the tables along a path such as "memory.hbm", opened once each.
class TableTree {
 public:
  TableTree(const Node& root, Diagnostics& diagnostics) : diagnostics_(diagnostics) {
    open_["root"] = std::make_unique<TableReader>(root, "", diagnostics);
  }
  TableReader& root() { return *open_["root"]; }

  /// The reader of `path` ("" is the root), or nullptr when the file has no such table.
  TableReader* at(const std::string& path) {
    if (path.empty()) return &root();
    const auto found = open_.find(path);
    if (found != open_.end()) return found->second.get();
    const std::size_t dot = path.rfind('.');
    TableReader* parent = at(dot == std::string::npos ? "" : path.substr(0, dot));
    const Node* node = parent == nullptr
                           ? nullptr
                           : parent->node(path.substr(dot == std::string::npos ? 0 : dot + 1));
    auto& slot = open_[path];
    if (node != nullptr) slot = std::make_unique<TableReader>(*node, path, diagnostics_);
    return slot.get();
  }

 private:
  Diagnostics& diagnostics_;
  std::map<std::string, std::unique_ptr<TableReader>> open_;
};

template <class Q>
MaybeSourced<Q> read_sourced(TableReader& table, const std::string& key) {
  if constexpr (std::is_same_v<Q, double>) {
    return table.sourced_number(key);
  } else if constexpr (std::is_same_v<Q, bool>) {
    return table.sourced_flag(key);
  } else if constexpr (std::is_same_v<Q, std::string>) {
    return table.sourced_text(key);
  } else {
    return table.sourced<Q>(key);
  }
}

/// Reads every number that the file gives over what the base device gave, recording overrides.
struct ReadNumbers {
  TableTree& tree;
  DeviceSpec& device;
  bool derived;

  template <class Q>
  void operator()(const std::string& path, const char* key, MaybeSourced<Q>& member) const {
    TableReader* table = tree.at(path);
    if (table == nullptr || !table->has(key)) {
      if (table != nullptr) table->node(key);  // makes the key known to suggestions
      return;
    }
    MaybeSourced<Q> value = read_sourced<Q>(*table, key);
    if (!value.known && value.unknown_because.empty()) return;  // an error, already reported
    if (derived && member.known) {
      device.overrides.push_back({path.empty() ? std::string(key) : path + "." + key,
                                  number_to_text(member), number_to_text(value), value.at});
    }
    member = std::move(value);
  }
};

std::vector<std::string> child_names(TableTree& tree, const std::string& path) {
  constexpr std::size_t kMostChildren = 1000;
  TableReader* table = tree.at(path);
  if (table != nullptr && table->keys().size() > kMostChildren) {
    table->error("", "more than " + std::to_string(kMostChildren) + " entries; expected a device");
    table->ignore_unread();
    return {};
  }
  return table == nullptr ? std::vector<std::string>{} : table->keys();
}

template <class Spec>
Spec& entry_named(std::vector<Spec>& all, const std::string& name) {
  for (Spec& spec : all) {
    if (spec.name == name) return spec;
  }
  all.push_back({});
  all.back().name = name;
  return all.back();
}

RateSpec& rate_keyed(std::vector<RateSpec>& all, const std::string& key, ResourceId id) {
  for (RateSpec& spec : all) {
    if (spec.id == id) return spec;
  }
  all.push_back({});
  all.back().key = key;
  all.back().id = id;
  return all.back();
}

bool is_rate_table(const Node& node) {
  for (const char* key : {"per_clock_per_unit", "rate", "cap", "clock", "packing"}) {
    if (node.find(key) != nullptr) return true;
  }
  return false;
}

/// rate.UNIT.IN.ACC[.sparse]: the tables that hold a rate, at whatever depth.
void collect_rates(TableTree& tree, const std::string& key, DeviceSpec& device) {
  TableReader* table = tree.at("rate." + key);
  if (table == nullptr) return;
  for (const std::string& child : table->keys()) {
    // Only names that could follow are opened: any other key stays unread and is reported.
    const bool deeper = precision_from(child).has_value() || child == "sparse";
    if (deeper) collect_rates(tree, key + "." + child, device);
  }
  std::vector<std::string> own;
  for (const char* k : {"per_clock_per_unit", "rate", "cap", "clock", "packing"}) {
    if (table->has(k)) own.push_back(k);
  }
  if (own.empty()) return;
  const std::optional<ResourceId> id = resource_from(key);
  const bool compute =
      id && amount_kind(id->unit) != AmountKind::bytes &&
      (id->unit == Unit::tensor || id->unit == Unit::vector || id->unit == Unit::sfu);
  if (!compute) {
    table->error("", "\"" + key +
                         "\" is not a rate; expected tensor.INPUT.ACCUMULATE[.sparse], "
                         "vector.PRECISION or sfu with known precisions");
    table->ignore_unread();
    return;
  }
  RateSpec& spec = rate_keyed(device.rates, key, *id);
  if (const auto clock = table->text("clock")) spec.clock = *clock;
}

/// `rate.tensor.bf16.fp32 = "500 TFLOP/s"` is short for its total: the value a user knows.
void expand_short_rates(Node& node, int depth) {
  for (NodeMember& member : node.members) {
    if (member.key == "fp8") member.key = name_of(Precision::fp8_e4m3);  // the one alias
    const bool may_be_rate = depth > 0 || member.key == "sfu";
    if (member.value.kind == Node::Kind::text && member.key != "clock" && may_be_rate &&
        !is_rate_table(node)) {
      Node table;
      table.kind = Node::Kind::table;
      table.at = member.value.at;
      table.members.push_back({"rate", member.at, member.value});
      member.value = std::move(table);
    } else if (member.value.kind == Node::Kind::table && !is_rate_table(member.value) &&
               depth < 3) {
      expand_short_rates(member.value, depth + 1);
    }
  }
}

void collect_emulations(TableTree& tree, DeviceSpec& device) {
  for (const std::string& name : child_names(tree, "emulation")) {
    TableReader* table = tree.at("emulation." + name);
    if (table == nullptr) continue;
    EmulationSpec& spec = entry_named(device.emulations, name);
    if (const auto precision = table->precision("emulates")) spec.emulates = *precision;
    if (const auto uses = table->text("uses")) {
      const std::optional<ResourceId> id = resource_from(*uses);
      if (id) {
        spec.uses = *id;
      } else {
        table->error("uses", "\"" + *uses + "\" is not a rate; expected tensor.INPUT.ACCUMULATE");
      }
    }
  }
}

void collect_sources(TableTree& tree, DeviceSpec& device) {
  for (const std::string& key : child_names(tree, "sources")) {
    TableReader* table = tree.at("sources." + key);
    if (table == nullptr) continue;
    const std::string title = table->required_text("title");
    const auto same = [&key](const SourceSpec& s) { return s.key == key; };
    const auto found = std::find_if(device.sources.begin(), device.sources.end(), same);
    if (found == device.sources.end()) {
      device.sources.push_back({key, title});
    } else {
      found->title = title;
    }
  }
}

void collect_level_clocks(TableTree& tree, DeviceSpec& device) {
  const auto read = [&tree](const char* path, LevelSpec& level) {
    TableReader* table = tree.at(path);
    if (table == nullptr) return;
    if (const auto clock = table->text("clock")) level.clock = *clock;
  };
  read("memory.shared", device.shared);
  read("memory.l1_port", device.l1_port);
  read("memory.l2", device.l2);
}

void read_identity(TableReader& root, DeviceSpec& device) {
  const auto keep = [&root](const char* key, std::string& member) {
    if (const auto text = root.text(key)) member = *text;
  };
  const std::optional<std::int64_t> schema = root.count("schema");
  if (!root.has("schema")) {
    root.error("schema", "missing; expected schema = 1");
  } else if (schema && *schema != 1) {
    root.error("schema", "version " + std::to_string(*schema) +
                             " is not known; this program reads schema = 1");
  }
  keep("name", device.name);
  keep("title", device.title);
  keep("vendor", device.vendor);
  keep("compute_capability", device.compute_capability);
  root.node("extends");
  root.node("kind");
}

void apply_node(const Node& node, DeviceSpec& device, bool derived, Diagnostics& diagnostics) {
  Node expanded = node;
  for (NodeMember& member : expanded.members) {
    if (member.key == "rate" && member.value.kind == Node::Kind::table) {
      expand_short_rates(member.value, 0);
    }
  }
  TableTree tree(expanded, diagnostics);
  read_identity(tree.root(), device);
  for (const std::string& name : child_names(tree, "clock")) entry_named(device.clocks, name);
  for (const std::string& name : child_names(tree, "overhead")) entry_named(device.overheads, name);
  for (const std::string& unit : child_names(tree, "rate")) collect_rates(tree, unit, device);
  collect_emulations(tree, device);
  collect_sources(tree, device);
  collect_level_clocks(tree, device);
  visit_numbers(device, ReadNumbers{tree, device, derived});
}

bool is_file_name(const std::string& name) {
  return name.find('/') != std::string::npos || name.ends_with(".toml") || name.ends_with(".json");
}

std::string find_device_file(const std::string& name, const DevicePath& path, const Position& at) {
  if (is_file_name(name)) return name;
  for (const std::string& folder : path.folders) {
    std::error_code ignored;
    const fs::path candidate = fs::path(folder) / (name + ".toml");
    if (fs::is_regular_file(candidate, ignored)) return candidate.string();
  }
  throw InputError(Diagnostic{at, "device",
                              "no device \"" + name + "\"" +
                                  did_you_mean(name, device_names(path)) +
                                  " (floorline devices lists them; --device-path adds folders)"});
}

/// The folder of the deriving file comes first when it names its base.
std::string base_file(const std::string& base, const std::string& from, const DevicePath& path,
                      const Position& at) {
  DevicePath with_own = path;
  with_own.folders.insert(with_own.folders.begin(), fs::path(from).parent_path().string());
  if (with_own.folders.front().empty()) with_own.folders.front() = ".";
  if (is_file_name(base) && fs::path(base).is_relative()) {
    return (fs::path(from).parent_path() / base).string();
  }
  return find_device_file(base, with_own, at);
}

std::string identity_of(const std::string& file) {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(file, error);
  return error ? file : real.string();
}

/// What messages and output call a file: one that was found by name by that name, wherever it lies.
std::string shown_name(const std::string& file, const DevicePath& path) {
  const fs::path parent = fs::path(file).parent_path();
  const bool found_by_name =
      fs::path(file).is_absolute() &&
      std::find(path.folders.begin(), path.folders.end(), parent.string()) != path.folders.end();
  return found_by_name ? "devices/" + fs::path(file).filename().string() : file;
}

Node read_device_document(const std::string& file, const DevicePath& path) {
  const std::string text = read_text_file(file);
  const std::string shown = shown_name(file, path);
  return file.ends_with(".json") ? parse_json(text, shown) : parse_document(text, shown);
}

DeviceSpec build(const Node& node, const std::string& file, const DevicePath& path,
                 std::set<std::string>& open) {
  if (const Node* kind = node.find("kind"); kind != nullptr && kind->kind == Node::Kind::text) {
    throw InputError(
        Diagnostic{kind->at, "kind", "this is a " + kind->text + " file, expected a device"});
  }
  if (open.size() >= kMostBases) {
    throw InputError(
        Diagnostic{node.at, "extends",
                   "more than " + std::to_string(kMostBases) + " devices extend one another"});
  }
  if (!open.insert(identity_of(file)).second) {
    throw InputError(Diagnostic{node.at, "extends", "a cycle: " + file + " extends itself"});
  }
  DeviceSpec device;
  const Node* extends = node.find("extends");
  const bool derived = extends != nullptr && extends->kind == Node::Kind::text;
  if (derived) {
    const std::string base = base_file(extends->text, file, path, extends->at);
    device = build(read_device_document(base, path), base, path, open);
    device.extends = device.name;
  } else if (extends != nullptr) {
    throw InputError(Diagnostic{extends->at, "extends", "expected the name of a device as text"});
  }
  device.file = shown_name(file, path);
  device.name = fs::path(file).stem().string();
  Diagnostics diagnostics;
  apply_node(node, device, derived, diagnostics);
  diagnostics.throw_if_any();
  check_device(device, node.at, diagnostics);
  diagnostics.throw_if_any();
  open.erase(identity_of(file));
  return device;
}

/// "memory.hbm.bandwidth" and a value as the tables a file would hold.
Node nested(std::string_view key, Node value) {
  Node node = std::move(value);
  std::string rest(key);
  while (true) {
    const std::size_t dot = rest.rfind('.');
    Node table;
    table.kind = Node::Kind::table;
    table.at = node.at;
    const std::string last = dot == std::string::npos ? rest : rest.substr(dot + 1);
    table.members.push_back({last, table.at, std::move(node)});
    node = std::move(table);
    if (dot == std::string::npos) return node;
    rest.resize(dot);
  }
}

}  // namespace

std::vector<std::string> device_keys(const DeviceSpec& device) {
  std::vector<std::string> keys;
  DeviceSpec copy = device;
  visit_numbers(copy, [&keys](const std::string& path, const char* key, auto&) {
    keys.push_back(path.empty() ? std::string(key) : path + "." + key);
  });
  for (const RateSpec& rate : device.rates) keys.push_back("rate." + rate.key);
  return keys;
}

DeviceSpec load_device(const std::string& name, const DevicePath& path) {
  const std::string file = find_device_file(name, path, position_in("command line"));
  std::set<std::string> open;
  return build(read_device_document(file, path), file, path, open);
}

DeviceSpec parse_device(std::string_view text, std::string_view file_name, const DevicePath& path) {
  std::set<std::string> open;
  return build(parse_document(text, file_name), std::string(file_name), path, open);
}

std::vector<std::string> device_names(const DevicePath& path) {
  std::set<std::string> names;
  for (const std::string& folder : path.folders) {
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
      if (entry.path().extension() == ".toml") names.insert(entry.path().stem().string());
    }
  }
  return {names.begin(), names.end()};
}

void set_device_key(DeviceSpec& device, std::string_view key, std::string_view value) {
  const std::vector<std::string> keys = device_keys(device);
  const Position at = position_in("command line");
  const bool is_new_rate = key.starts_with("rate.") && resource_from(key.substr(5)).has_value();
  if (!is_new_rate && std::find(keys.begin(), keys.end(), key) == keys.end()) {
    throw InputError(
        Diagnostic{at, std::string(key),
                   "is not a number of device " + device.name + did_you_mean(key, keys)});
  }
  Node leaf;
  leaf.at = at;
  if (const std::optional<double> number = parse_number(value)) {
    leaf.kind = Node::Kind::real;
    leaf.real = *number;
  } else if (value == "true" || value == "false") {
    leaf.kind = Node::Kind::boolean;
    leaf.boolean = value == "true";
  } else {
    leaf.kind = Node::Kind::text;
    leaf.text = value;
  }
  Node root = nested(key, std::move(leaf));
  Node schema;
  schema.kind = Node::Kind::integer;
  schema.integer = 1;
  schema.real = 1;
  schema.at = at;
  root.members.push_back({"schema", at, std::move(schema)});
  Diagnostics diagnostics;
  apply_node(root, device, true, diagnostics);
  diagnostics.throw_if_any();
  check_device(device, root.at, diagnostics);
  diagnostics.throw_if_any();
}

namespace {

struct ScaleNumber {
  std::string_view key;
  double factor;
  DeviceSpec& device;
  bool& found;
  template <class Q>
  void operator()(const std::string& path, const char* leaf, MaybeSourced<Q>& member) const {
    const std::string full = path.empty() ? std::string(leaf) : path + "." + leaf;
    // A rate named by its table means whatever it is made of.
    const bool rate =
        path.starts_with("rate.") && path == key && std::string_view(leaf) != "packing";
    if ((full != key && !rate) || !member.known) return;
    if constexpr (!std::is_same_v<Q, bool> && !std::is_same_v<Q, std::string>) {
      const std::string before = number_to_text(member);
      member.known->value = Q(member.known->value * factor);
      member.known->low = Q(member.known->low * factor);
      member.known->high = Q(member.known->high * factor);
      device.overrides.push_back(
          {full, before, number_to_text(member), position_in("command line")});
      found = true;
    }
  }
};

}  // namespace

void scale_device_key(DeviceSpec& device, std::string_view key, double factor) {
  bool found = false;
  visit_numbers(device, ScaleNumber{key, factor, device, found});
  if (!found) {
    throw InputError(Diagnostic{
        position_in("command line"), std::string(key),
        "is not a known number of device " + device.name + did_you_mean(key, device_keys(device))});
  }
  Diagnostics diagnostics;
  check_magnitudes(device, diagnostics);
  diagnostics.throw_if_any();
}

}  // namespace floorline
