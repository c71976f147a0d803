// SPDX-License-Identifier: Apache-2.0
#include "model/workload/graph.hpp"

#include <algorithm>
#include <array>

namespace floorline {

namespace {
constexpr std::array<std::string_view, 6> kRoleNames{"weight",       "input", "output",
                                                     "intermediate", "state", "scale"};

/// The iteration-carried reads of a repeat block have a producer although no operator writes them.
std::vector<bool> carried_reads(const OperatorGraph& graph) {
  std::vector<bool> carried(graph.tensors.size(), false);
  for (const Repeat& repeat : graph.repeats) {
    for (const auto& [made, read] : repeat.carry) carried[index(read)] = true;
  }
  return carried;
}

TensorId storage(const OperatorGraph& graph, TensorId id) {
  return graph.tensors[index(id)].rows_of.value_or(id);
}

void check_rows(const OperatorGraph& graph, Diagnostics& diagnostics) {
  for (const Tensor& tensor : graph.tensors) {
    if (!tensor.rows_of) continue;
    const Tensor& whole = graph.tensors[index(*tensor.rows_of)];
    const char* wrong = whole.rows_of                 ? "is itself rows of another tensor"
                        : whole.dtype != tensor.dtype ? "has another dtype"
                        : whole.role != tensor.role   ? "has another role"
                                                      : nullptr;
    if (wrong == nullptr) continue;
    diagnostics.add(
        tensor.at, "tensor." + tensor.name + ".rows_of",
        "\"" + whole.name + "\" " + wrong + "; expected a tensor of the same dtype and role");
  }
}

/// Rows are written one after another, or the whole at once; not both.
void check_rows_written(const OperatorGraph& graph, const std::vector<int>& producer,
                        Diagnostics& diagnostics) {
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    const Tensor& tensor = graph.tensors[t];
    if (!tensor.rows_of || producer[t] < 0 || producer[index(*tensor.rows_of)] < 0) continue;
    diagnostics.add(tensor.at, "tensor." + tensor.name + ".rows_of",
                    "\"" + graph.tensors[index(*tensor.rows_of)].name +
                        "\" is written as a whole too; expected one way of writing it");
  }
}

/// What is made outside is not written here; weights may be gathered from other devices, as a
/// whole.
void check_written_roles(const OperatorGraph& graph, Diagnostics& diagnostics) {
  for (const Operator& op : graph.ops) {
    for (const TensorId out : op.outputs) {
      const Tensor& tensor = graph.tensors[index(out)];
      const bool parameter = tensor.role == TensorRole::weight || tensor.role == TensorRole::scale;
      const bool outside = tensor.role == TensorRole::input || (parameter && tensor.rows_of);
      if (!outside) continue;
      diagnostics.add(op.at, "op." + op.name,
                      "writes \"" + tensor.name + "\", which has role " +
                          std::string(name_of(tensor.role)) +
                          "; expected role intermediate, output or state");
    }
  }
}

void check_producers(const OperatorGraph& graph, Diagnostics& diagnostics) {
  std::vector<int> producer(graph.tensors.size(), -1);
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    for (const TensorId out : graph.ops[i].outputs) {
      int& slot = producer[index(out)];
      if (slot >= 0) {
        diagnostics.add(graph.ops[i].at, "op." + graph.ops[i].name,
                        "tensor \"" + graph.tensors[index(out)].name + "\" is written by \"" +
                            graph.ops[static_cast<std::size_t>(slot)].name +
                            "\" too; expected one writer a tensor");
      }
      slot = static_cast<int>(i);
    }
  }
  check_rows_written(graph, producer, diagnostics);
  const std::vector<int> own = producer;
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    if (!graph.tensors[t].rows_of) continue;
    int& whole = producer[index(*graph.tensors[t].rows_of)];
    whole = std::max(whole, producer[t]);
  }
  const std::vector<bool> carried = carried_reads(graph);
  std::vector<bool> written(graph.tensors.size(), false);
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    const Operator& op = graph.ops[i];
    for (const TensorId in : op.inputs) {
      const Tensor& tensor = graph.tensors[index(in)];
      const std::size_t lies = index(storage(graph, in));
      const bool produced = producer[lies] >= 0;
      // Rows after who writes just these, a whole after the last of its rows.
      const bool by_rows = tensor.rows_of ? own[index(in)] >= 0 : own[lies] != producer[lies];
      const int writer = tensor.rows_of ? own[index(in)] : producer[lies];
      const bool early = !written[lies] || (by_rows && writer >= static_cast<int>(i));
      if (produced && early && !carried[index(in)]) {
        diagnostics.add(op.at, "op." + op.name,
                        "reads \"" + tensor.name +
                            "\" before it is written; expected operators in "
                            "execution order");
      }
      if (!produced && !carried[index(in)] && tensor.role == TensorRole::intermediate) {
        diagnostics.add(op.at, "op." + op.name,
                        "reads intermediate \"" + tensor.name +
                            "\", which no operator writes; expected role input, weight or state");
      }
    }
    for (const TensorId out : op.outputs) written[index(storage(graph, out))] = true;
  }
}

constexpr std::size_t kMostCarried = 64;  // the longest path takes their cube

bool is_any_of(const std::vector<TensorId>& ids, TensorId id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

/// What is carried is made by the block, or was itself carried into it.
void check_carry(const OperatorGraph& graph, const Repeat& repeat, Diagnostics& diagnostics) {
  if (repeat.carry.size() > kMostCarried) {
    diagnostics.add(repeat.at, "repeat." + repeat.name,
                    "carries more than " + std::to_string(kMostCarried) + " tensors");
    return;
  }
  for (const auto& [made, read] : repeat.carry) {
    if (graph.tensors[index(made)].rows_of || graph.tensors[index(read)].rows_of) {
      diagnostics.add(repeat.at, "repeat." + repeat.name + ".carry",
                      "rows of a tensor cannot be carried; expected whole tensors");
    }
    bool inside = false;
    for (const OperatorId op : repeat.ops) {
      inside = inside || is_any_of(graph.ops[index(op)].outputs, made);
    }
    for (const auto& other : repeat.carry) inside = inside || other.second == made;
    if (inside) continue;
    diagnostics.add(repeat.at, "repeat." + repeat.name,
                    "carries \"" + graph.tensors[index(made)].name +
                        "\", which no operator of the block writes");
  }
}

/// What one iteration hands to the next is made new each time: no weight, no state.
void check_carried_roles(const OperatorGraph& graph, Diagnostics& diagnostics) {
  for (const Repeat& repeat : graph.repeats) {
    for (const auto& [made, read] : repeat.carry) {
      const Tensor& tensor = graph.tensors[index(read)];
      if (tensor.role == TensorRole::input || tensor.role == TensorRole::intermediate) continue;
      diagnostics.add(repeat.at, "repeat." + repeat.name + ".carry",
                      "\"" + tensor.name + "\" has role " + std::string(name_of(tensor.role)) +
                          "; expected an input or intermediate as what the next iteration reads");
    }
  }
}

void check_repeats(const OperatorGraph& graph, Diagnostics& diagnostics) {
  std::vector<int> owner(graph.ops.size(), -1);
  for (std::size_t r = 0; r < graph.repeats.size(); ++r) {
    const Repeat& repeat = graph.repeats[r];
    check_carry(graph, repeat, diagnostics);
    for (std::size_t i = 0; i < repeat.ops.size(); ++i) {
      const std::size_t op = index(repeat.ops[i]);
      if (owner[op] >= 0) {
        diagnostics.add(repeat.at, "repeat." + repeat.name,
                        "operator \"" + graph.ops[op].name + "\" is in another repeat block too");
      }
      owner[op] = static_cast<int>(r);
      if (i > 0 && op != index(repeat.ops[i - 1]) + 1) {
        diagnostics.add(repeat.at, "repeat." + repeat.name,
                        "operators must stand next to each other, in the order of the graph; \"" +
                            graph.ops[op].name + "\" does not follow \"" +
                            graph.ops[index(repeat.ops[i - 1])].name + "\"");
      }
    }
  }
}

/// The parts of a fused operator read its inputs and what parts before them made, and make all that
/// it writes. What stays inside is seen by nobody else.
void check_parts(const OperatorGraph& graph, Diagnostics& diagnostics) {
  std::vector<int> uses(graph.tensors.size(), 0);
  for (const Operator& op : graph.ops) {
    for (const TensorId t : op.inputs) ++uses[index(t)];
    for (const TensorId t : op.outputs) ++uses[index(t)];
  }
  std::vector<int> made(graph.tensors.size(), -1);
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    const Operator& op = graph.ops[i];
    const auto complain = [&](const Operator& part, TensorId t, const char* what) {
      diagnostics.add(part.at, "op." + op.name + ".parts." + part.name,
                      "\"" + graph.tensors[index(t)].name + "\" " + what);
    };
    for (const Operator& part : op.parts) {
      for (const TensorId t : part.inputs) {
        if (made[index(t)] != static_cast<int>(i) && !is_any_of(op.inputs, t))
          complain(part, t, "is neither an input of the whole nor made by a part before");
      }
      for (const TensorId t : part.outputs) {
        const bool inside = !is_any_of(op.outputs, t);
        if (made[index(t)] >= 0) complain(part, t, "is made by another part too");
        if (inside && uses[index(t)] > 0) {
          complain(part, t, "is used outside; expected it among the outputs of the whole");
        }
        if (inside && graph.tensors[index(t)].rows_of)
          complain(part, t, "is rows of a tensor; expected it among the outputs of the whole");
        if (inside && graph.tensors[index(t)].role != TensorRole::intermediate)
          complain(part, t, "leaves the graph; expected it among the outputs of the whole");
        made[index(t)] = static_cast<int>(i);
      }
    }
    for (const TensorId t : op.outputs) {
      if (!op.parts.empty() && made[index(t)] != static_cast<int>(i))
        complain(op, t, "is made by no part");
    }
  }
}

}  // namespace

std::string_view name_of(TensorRole role) { return kRoleNames[static_cast<std::size_t>(role)]; }

std::optional<TensorRole> tensor_role_from(std::string_view name) {
  for (std::size_t i = 0; i < kRoleNames.size(); ++i) {
    if (kRoleNames[i] == name) return static_cast<TensorRole>(i);
  }
  return std::nullopt;
}

void OperatorGraph::set_symbol(std::string_view symbol, double value) {
  const auto slot = static_cast<std::size_t>(symbols.slot(symbol));
  if (symbol_values.size() <= slot) symbol_values.resize(slot + 1, 0);
  symbol_values[slot] = value;
}

std::optional<double> OperatorGraph::symbol(std::string_view symbol) const {
  const std::optional<int> slot = symbols.find(symbol);
  if (!slot) return std::nullopt;
  return symbol_values[static_cast<std::size_t>(*slot)];
}

std::optional<OperatorId> OperatorGraph::find_op(std::string_view op) const {
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (ops[i].name == op) return static_cast<OperatorId>(i);
  }
  return std::nullopt;
}

std::optional<TensorId> OperatorGraph::find_tensor(std::string_view tensor) const {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].name == tensor) return static_cast<TensorId>(i);
  }
  return std::nullopt;
}

void check_graph(const OperatorGraph& graph, Diagnostics& diagnostics) {
  check_rows(graph, diagnostics);
  check_written_roles(graph, diagnostics);
  check_producers(graph, diagnostics);
  check_repeats(graph, diagnostics);
  check_carried_roles(graph, diagnostics);
  check_parts(graph, diagnostics);
}

}  // namespace floorline
