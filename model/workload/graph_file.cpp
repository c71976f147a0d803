// SPDX-License-Identifier: Apache-2.0
#include "model/workload/graph_file.hpp"

#include <algorithm>
#include <cmath>

#include "model/input/table_reader.hpp"
#include "model/workload/default_precision.hpp"
#include "model/workload/needed_keys.hpp"

namespace floorline {

namespace {

constexpr double kMaxSymbol = 9007199254740992.0;

/// The entries of a list that TOML writes as [[op]] or [tensor.NAME] and JSON as ops or tensors.
struct Entry {
  const Node* node;
  std::string name;  ///< from the key of a table; empty for items of an array
  std::string path;
};

/// More than any graph that people or models write; names are looked up one by one.
constexpr std::size_t kMostEntries = 20000;
constexpr std::size_t kMostSymbols = 4096;
constexpr std::size_t kMostParts = 1024;  // of a fused operator

std::vector<Entry> entries(TableReader& root, const char* singular, const char* plural) {
  std::vector<Entry> all;
  for (const char* key : {singular, plural}) {
    const Node* node = root.node(key);
    if (node == nullptr) continue;
    if (node->kind == Node::Kind::table) {
      for (const NodeMember& m : node->members) {
        all.push_back({&m.value, m.key, std::string(key) + "." + m.key});
      }
    } else if (node->kind == Node::Kind::array) {
      for (std::size_t i = 0; i < node->items.size(); ++i) {
        all.push_back({&node->items[i], "", std::string(key) + "[" + std::to_string(i) + "]"});
      }
    } else {
      root.error(key, "is " + std::string(name_of(node->kind)) + ", expected tables");
    }
  }
  if (all.size() > kMostEntries) {
    root.error(plural, "more than " + std::to_string(kMostEntries) + "; expected a smaller graph");
    root.ignore_unread();
    root.diagnostics().throw_if_any();
  }
  return all;
}

class GraphReader {
 public:
  explicit GraphReader(const Node& document) : document_(document) {}

  OperatorGraph read() {
    {
      TableReader root(document_, "", diagnostics_);
      read_head(root);
      read_symbols(root);
      read_tensors(root);
      read_operators(root);
      read_repeats(root);
    }
    diagnostics_.throw_if_any();
    check_graph(graph_, diagnostics_);
    diagnostics_.throw_if_any();
    return std::move(graph_);
  }

 private:
  void read_head(TableReader& root) {
    const auto schema = root.count("schema");
    if (!root.has("schema")) root.error("schema", "missing; expected schema = 1");
    if (schema && *schema != 1) {
      root.error("schema", "version " + std::to_string(*schema) +
                               " is not known; this program reads schema = 1");
    }
    root.node("kind");
    graph_.name = root.text("name").value_or("graph");
    if (const auto routing = root.text("routing")) {
      graph_.routing = routing_from(*routing).value_or(Routing::least);
      if (!routing_from(*routing)) {
        root.error("routing", "\"" + *routing + "\" is not one; expected least, uniform or all");
      }
    }
    // What `floorline graph --format json` prints beside the graph.
    for (const char* key : {"floorline", "command", "inputs", "parameters"}) root.node(key);
    if (root.has("assumptions"))
      graph_.assumptions = root.texts("assumptions").value_or(std::vector<std::string>{});
    if (root.has("notes")) graph_.notes = root.texts("notes").value_or(std::vector<std::string>{});
  }

  void read_symbols(TableReader& root) {
    const Node* node = root.node("symbols");
    if (node == nullptr) return;
    if (node->kind != Node::Kind::table) {
      root.error("symbols", "is " + std::string(name_of(node->kind)) + ", expected a table");
      return;
    }
    if (node->members.size() > kMostSymbols) {
      root.error("symbols", "more than " + std::to_string(kMostSymbols) + "; expected fewer");
      root.ignore_unread();
      diagnostics_.throw_if_any();
    }
    for (const NodeMember& m : node->members) {
      const std::string path = "symbols." + m.key;
      if (m.value.is_number() && std::abs(m.value.real) <= kMaxSymbol) {
        graph_.set_symbol(m.key, m.value.real);
      } else if (m.value.kind == Node::Kind::text) {
        const Expression e =
            Expression::parse(m.value.text, graph_.symbols, m.value.at, path, diagnostics_);
        graph_.set_symbol(m.key, e.evaluate(graph_.symbol_values));
      } else {
        diagnostics_.add(m.value.at, path,
                         "expected a number up to 2^53, or an expression of symbols above");
        graph_.set_symbol(m.key, 1);
      }
    }
  }

  Expression expression(const Node& node, const std::string& path) {
    if (node.is_number()) return Expression(node.real);
    if (node.kind == Node::Kind::boolean) return Expression(node.boolean ? 1 : 0);
    if (node.kind == Node::Kind::text) {
      return Expression::parse(node.text, graph_.symbols, node.at, path, diagnostics_);
    }
    diagnostics_.add(
        node.at, path,
        "is " + std::string(name_of(node.kind)) + ", expected a number or an expression");
    return Expression();
  }

  void read_tensors(TableReader& root) {
    for (const Entry& entry : entries(root, "tensor", "tensors")) {
      TableReader table(*entry.node, entry.path, diagnostics_);
      Tensor tensor;
      tensor.name = entry.name.empty() ? table.required_name("name") : entry.name;
      tensor.at = entry.node->at;
      if (graph_.find_tensor(tensor.name))
        table.error("name", "tensor \"" + tensor.name + "\" is there already");
      read_shape(table, tensor);
      if (const auto dtype = table.precision("dtype")) {
        tensor.dtype = *dtype;
        if (*dtype == Precision::any) table.error("dtype", "storage cannot be \"any\"");
      } else if (!table.has("dtype")) {
        table.error("dtype", "missing; expected a storage precision such as \"bf16\"");
      }
      read_role(table, tensor);
      tensor.shared = table.flag("shared").value_or(false);
      read_rows_of(table, tensor);
      for (const char* printed : {"elements", "bytes"}) table.node(printed);
      graph_.tensors.push_back(std::move(tensor));
    }
  }

  void read_shape(TableReader& table, Tensor& tensor) {
    const Node* shape = table.required_node("shape", "a list such as [\"rows\", 4096]");
    if (shape == nullptr) return;
    if (shape->kind != Node::Kind::array) {
      table.error("shape", "is " + std::string(name_of(shape->kind)) + ", expected a list");
      return;
    }
    for (const Node& dim : shape->items) {
      tensor.shape.push_back(expression(dim, table.path_of("shape")));
    }
  }

  void read_rows_of(TableReader& table, Tensor& tensor) {
    const auto whole = table.text("rows_of");
    if (!whole) return;
    tensor.rows_of = graph_.find_tensor(*whole);
    if (tensor.rows_of) return;
    std::vector<std::string> names;
    for (const Tensor& t : graph_.tensors) names.push_back(t.name);
    table.error("rows_of", "there is no tensor \"" + *whole + "\" above this one" +
                               did_you_mean(*whole, names));
  }

  void read_role(TableReader& table, Tensor& tensor) {
    const std::string role = table.required_text("role");
    if (role.empty()) return;
    if (const auto r = tensor_role_from(role)) {
      tensor.role = *r;
    } else {
      table.error("role", "\"" + role + "\" is not a role" +
                              did_you_mean(role, {"weight", "input", "output", "intermediate",
                                                  "state", "scale"}));
    }
  }

  void read_operators(TableReader& root) {
    for (const Entry& entry : entries(root, "op", "ops")) {
      TableReader table(*entry.node, entry.path, diagnostics_);
      const std::string name = entry.name.empty() ? table.required_name("name") : entry.name;
      if (graph_.find_op(name)) table.error("name", "operator \"" + name + "\" is there already");
      auto op = read_operator(table, name, entry.node->at);
      if (!op) continue;
      if (op->kind == OperatorKind::fused) read_parts(table, *op);
      graph_.ops.push_back(std::move(*op));
    }
  }

  /// Nothing where the kind is not known.
  std::optional<Operator> read_operator(TableReader& table, const std::string& name,
                                        const Position& at) {
    Operator op;
    op.name = name;
    op.at = at;
    const std::string kind_name = table.required_text("kind");
    const auto kind = operator_kind_from(kind_name);
    if (!kind) {
      if (!kind_name.empty()) {
        table.error("kind", "\"" + kind_name + "\" is not an operator kind" +
                                did_you_mean(kind_name, operator_kind_names()));
      }
      table.ignore_unread();
      return std::nullopt;
    }
    op.kind = *kind;
    op.inputs = tensor_list(table, "inputs");
    op.outputs = tensor_list(table, "outputs");
    read_attributes(table, op);
    read_precisions(table, op);
    read_path(table, op);
    read_access(table, op);
    read_sequences(table, op);
    for (const char* printed : {"times", "repeat"}) table.node(printed);
    read_stated(table, op);
    require_operands(table, op);
    return op;
  }

  /// What one kernel does, operators as above, producers first. Their bytes are those of the whole.
  void read_parts(TableReader& table, Operator& op) {
    const Node* parts = table.required_node("parts", "a list of operators, producers first");
    if (parts == nullptr) return;
    if (parts->kind != Node::Kind::array || parts->items.empty()) {
      table.error("parts", "expected a list of operators, producers first");
      return;
    }
    if (parts->items.size() > kMostParts) {
      table.error("parts", "more than " + std::to_string(kMostParts) + "; expected fewer");
      return;
    }
    for (std::size_t i = 0; i < parts->items.size(); ++i) {
      const std::string path = table.path_of("parts") + "[" + std::to_string(i) + "]";
      TableReader row(parts->items[i], path, diagnostics_);
      auto part = read_operator(row, row.required_name("name"), parts->items[i].at);
      if (!part) continue;
      if (part->kind == OperatorKind::fused) {
        row.error("kind", "a part cannot be fused itself; expected its parts in its place");
        row.ignore_unread();
        continue;
      }
      if (part->stated_traffic || part->traffic_scale != 1) {
        row.error("stated_bytes", "the bytes of a part are those of the fused operator's tensors");
      }
      op.parts.push_back(std::move(*part));
    }
  }

  std::vector<TensorId> tensor_list(TableReader& table, const char* key) {
    std::vector<TensorId> ids;
    for (const std::string& name : table.texts(key).value_or(std::vector<std::string>{})) {
      if (const auto id = graph_.find_tensor(name)) {
        ids.push_back(*id);
        continue;
      }
      std::vector<std::string> names;
      for (const Tensor& t : graph_.tensors) names.push_back(t.name);
      table.error(key, "there is no tensor \"" + name + "\"" + did_you_mean(name, names));
    }
    return ids;
  }

  static std::optional<Dimension> dimension_of(Key key) {
    if (key == Key::bytes || key == Key::written_bytes) return Dimension::bytes;
    if (key == Key::flops) return Dimension::flops;
    if (key == Key::time) return Dimension::seconds;
    return std::nullopt;
  }

  void read_attributes(TableReader& table, Operator& op) {
    for (const KeyInfo& key : info(op.kind).keys) {
      const std::string name(name_of(key.key));
      const Node* node = table.node(name);
      if (node == nullptr) continue;
      const auto dimension = dimension_of(key.key);
      if (node->kind == Node::Kind::text && dimension) {
        const ParsedQuantity q = parse_quantity(node->text, *dimension);
        if (q.error.empty()) {
          op.attributes.push_back({key.key, Expression(q.base)});
          continue;
        }
      }
      op.attributes.push_back({key.key, expression(*node, table.path_of(name))});
    }
  }

  void read_precisions(TableReader& table, Operator& op) {
    op.sparse = table.flag("sparse").value_or(false);
    const auto compute = table.precision("compute");
    const auto accumulate = table.precision("accumulate");
    op.compute = compute.value_or(default_compute(op));
    op.accumulate = accumulate.value_or(default_accumulate(op.compute));
    if (!compute && !table.has("compute") && info(op.kind).matrix) {
      graph_.assumptions.push_back(op.name + ": compute = " + std::string(name_of(op.compute)) +
                                   ", accumulate = " + std::string(name_of(op.accumulate)) +
                                   " (default: the wider operand)");
    }
  }

  [[nodiscard]] Precision default_compute(const Operator& op) const {
    if (!info(op.kind).matrix || op.kind == OperatorKind::custom || op.inputs.empty()) {
      return Precision::any;
    }
    Precision widest = graph_.tensors[index(op.inputs.front())].dtype;
    for (const TensorId id : op.inputs) {
      widest = widest_storage(widest, graph_.tensors[index(id)].dtype);
    }
    return widest;
  }

  /// What replaces or scales the amounts that shapes give.
  void read_stated(TableReader& table, Operator& op) {
    if (const Node* work = table.node("stated_flops")) {
      op.stated_work = expression(*work, table.path_of("stated_flops"));
    }
    if (const Node* traffic = table.node("stated_bytes")) {
      op.stated_traffic = expression(*traffic, table.path_of("stated_bytes"));
    }
    op.work_scale = table.number("flops_scale").value_or(1);
    op.traffic_scale = table.number("bytes_scale").value_or(1);
    for (const double scale : {op.work_scale, op.traffic_scale}) {
      if (!(scale >= 0)) table.error("flops_scale", "a scale cannot be negative");
    }
  }

  void read_access(TableReader& table, Operator& op) {
    if (const auto access = table.text("access")) {
      std::string wrong = access_from(*access, table.has("stride"), op.access);
      if (!has_access(op.kind)) wrong = "is a key of elementwise, gather and scatter only";
      if (!wrong.empty()) table.error("access", wrong);
    }
    if (const auto word = table.text("algorithm")) {
      const auto algorithm = conv_algorithm_from(*word);
      op.algorithm = algorithm.value_or(ConvAlgorithm::any);
      if (!algorithm)
        table.error("algorithm", "\"" + *word + "\" is not one; expected any, direct or winograd");
      if (op.kind != OperatorKind::conv) table.error("algorithm", "is a key of conv only");
    }
  }

  void read_path(TableReader& table, Operator& op) {
    const auto path = table.text("path");
    if (op.kind != OperatorKind::copy) {
      if (path) table.error("path", "is a key of copy only");
      return;
    }
    for (const CopyPath p : {CopyPath::h2d, CopyPath::d2h, CopyPath::d2d}) {
      if (path && *path == name_of(p)) {
        op.path = p;
        return;
      }
    }
    table.error("path", path ? "\"" + *path + "\" is not a path; expected h2d, d2h or d2d"
                             : "missing; expected h2d, d2h or d2d");
  }

  void read_sequences(TableReader& table, Operator& op) {
    const Node* node = table.node("sequences");
    if (node == nullptr) return;
    if (node->kind != Node::Kind::array || op.kind != OperatorKind::attention) {
      table.error("sequences", "expected a list of tables {count, q_len, kv_len}, for attention");
      return;
    }
    for (const Node& item : node->items) {
      TableReader row(item, table.path_of("sequences"), diagnostics_);
      SequenceGroup group;
      group.count = static_cast<double>(row.count("count", 0).value_or(1));
      group.q_len = static_cast<double>(row.count("q_len", 0).value_or(1));
      row.required_node("kv_len", "the keys of a sequence, the new ones included");
      group.kv_len = static_cast<double>(row.count("kv_len", 0).value_or(1));
      op.sequences.push_back(group);
    }
  }

  /// A custom operator without tensors states its bytes itself; all others need theirs.
  void require_operands(TableReader& table, Operator& op) {
    const bool stated = op.kind == OperatorKind::custom || op.kind == OperatorKind::copy;
    if (op.inputs.empty() && stated) {
      op.inputs.push_back(stated_tensor(op, Key::bytes, "in", TensorRole::input));
      if (op.outputs.empty()) {
        op.outputs.push_back(stated_tensor(op, Key::written_bytes, "out", TensorRole::output));
      }
      return;
    }
    if (op.kind != OperatorKind::host) {
      if (names_nothing(table, "inputs"))
        table.error("inputs", "missing; expected the tensors it reads");
      if (names_nothing(table, "outputs"))
        table.error("outputs", "missing; expected the tensors it writes");
    }
    for (const Key key : needed_keys(op)) {
      const std::string name(name_of(key));
      if (!table.has(name))
        table.error("", name + " is missing; " + std::string(name_of(op.kind)) + " needs it");
    }
  }

  /// Names that are no tensors were reported where they stand.
  static bool names_nothing(TableReader& table, const char* key) {
    const Node* node = table.node(key);
    return node == nullptr || (node->kind == Node::Kind::array && node->items.empty());
  }

  TensorId stated_tensor(const Operator& op, Key key, const char* suffix, TensorRole role) {
    Tensor tensor;
    tensor.name = op.name + "." + suffix;
    tensor.dtype = Precision::int8;
    tensor.role = role;
    tensor.at = op.at;
    Expression bytes;
    for (const Attribute& a : op.attributes) {
      if (a.key == key || (op.kind == OperatorKind::copy && a.key == Key::bytes)) bytes = a.value;
    }
    tensor.shape.push_back(bytes);
    for (const Attribute& a : op.attributes) {
      if (a.key == Key::count) tensor.shape.push_back(a.value);
    }
    graph_.tensors.push_back(std::move(tensor));
    return static_cast<TensorId>(graph_.tensors.size() - 1);
  }

  void read_repeats(TableReader& root) {
    for (const Entry& entry : entries(root, "repeat", "repeats")) {
      TableReader table(*entry.node, entry.path, diagnostics_);
      Repeat repeat;
      repeat.name = entry.name.empty() ? table.required_name("name") : entry.name;
      repeat.at = entry.node->at;
      if (const Node* times = table.required_node("times", "a count or an expression")) {
        repeat.times = expression(*times, table.path_of("times"));
      }
      for (const std::string& op : table.texts("ops").value_or(std::vector<std::string>{})) {
        if (const auto id = graph_.find_op(op)) {
          repeat.ops.push_back(*id);
        } else {
          std::vector<std::string> names;
          for (const Operator& o : graph_.ops) names.push_back(o.name);
          table.error("ops", "there is no operator \"" + op + "\"" + did_you_mean(op, names));
        }
      }
      if (repeat.ops.empty()) table.error("ops", "expected the operators that repeat");
      read_carry(table, repeat);
      graph_.repeats.push_back(std::move(repeat));
    }
  }

  void read_carry(TableReader& table, Repeat& repeat) {
    const Node* carry = table.node("carry");
    if (carry == nullptr) return;
    if (carry->kind != Node::Kind::array) {
      table.error("carry", "expected pairs [[made, read next], …]");
      return;
    }
    for (const Node& pair : carry->items) {
      const bool fine = pair.kind == Node::Kind::array && pair.items.size() == 2;
      const auto made = fine ? graph_.find_tensor(pair.items[0].text) : std::nullopt;
      const auto read = fine ? graph_.find_tensor(pair.items[1].text) : std::nullopt;
      if (made && read) {
        repeat.carry.emplace_back(*made, *read);
      } else {
        table.error("carry", "expected pairs of two tensor names, made and read next");
      }
    }
  }

  const Node& document_;
  Diagnostics diagnostics_;
  OperatorGraph graph_;
};

}  // namespace

bool is_graph_document(const Node& document) {
  const Node* kind = document.find("kind");
  return kind != nullptr && kind->kind == Node::Kind::text && kind->text == "graph";
}

OperatorGraph read_graph(const Node& document) { return GraphReader(document).read(); }

}  // namespace floorline
