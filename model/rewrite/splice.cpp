// SPDX-License-Identifier: Apache-2.0
#include "model/rewrite/splice.hpp"

#include <algorithm>
#include <optional>

#include "model/input/diagnostic.hpp"
#include "model/workload/op_text.hpp"

namespace floorline {

namespace {

double elements(const OperatorGraph& graph, TensorId id) {
  double count = 1;
  for (const Expression& dim : graph.tensors[index(id)].shape)
    count *= dim.evaluate(graph.symbol_values);
  return count;
}

bool is_data(const OperatorGraph& graph, TensorId id) {
  const TensorRole role = graph.tensors[index(id)].role;
  return role != TensorRole::weight && role != TensorRole::scale;
}

std::vector<TensorId> data_of(const OperatorGraph& graph, const std::vector<TensorId>& ids) {
  std::vector<TensorId> data;
  for (const TensorId id : ids) {
    if (is_data(graph, id)) data.push_back(id);
  }
  return data;
}

/// visit(tensor id) of everything that operators name, the parts of fused ones included.
template <class Visit>
void each_input(Operator& op, Visit visit) {
  for (TensorId& id : op.inputs) visit(id);
  for (Operator& part : op.parts) each_input(part, visit);
}
template <class Visit>
void each_output(Operator& op, Visit visit) {
  for (TensorId& id : op.outputs) visit(id);
  for (Operator& part : op.parts) each_output(part, visit);
}

std::size_t storage(const OperatorGraph& graph, TensorId id) {
  return index(graph.tensors[index(id)].rows_of.value_or(id));
}

/// Operator `at` makes room for `with`; repeat blocks follow, an empty one goes.
void splice(OperatorGraph& graph, std::size_t at, std::vector<Operator> with) {
  const std::size_t count = with.size();
  const auto place = graph.ops.begin() + static_cast<std::ptrdiff_t>(at);
  graph.ops.insert(graph.ops.erase(place), with.begin(), with.end());
  for (Repeat& repeat : graph.repeats) {
    std::vector<OperatorId> ops;
    for (const OperatorId id : repeat.ops) {
      if (index(id) < at) ops.push_back(id);
      if (index(id) > at) ops.push_back(static_cast<OperatorId>(index(id) + count - 1));
      if (index(id) != at) continue;
      for (std::size_t k = 0; k < count; ++k) ops.push_back(static_cast<OperatorId>(at + k));
    }
    repeat.ops = std::move(ops);
  }
  std::erase_if(graph.repeats, [](const Repeat& r) { return r.ops.empty(); });
}

void read_instead(OperatorGraph& graph, TensorId old, TensorId now) {
  for (Operator& op : graph.ops) {
    each_input(op, [&](TensorId& id) {
      if (id == old) id = now;
    });
  }
  for (Repeat& repeat : graph.repeats) {
    for (auto& [made, read] : repeat.carry) {
      if (made == old) made = now;
    }
  }
}

/// What an iteration reads of the one before cannot be an output: who leaves is then not counted.
bool is_carried(const OperatorGraph& graph, TensorId id) {
  return std::any_of(graph.repeats.begin(), graph.repeats.end(), [id](const Repeat& repeat) {
    return std::any_of(repeat.carry.begin(), repeat.carry.end(),
                       [id](const auto& pair) { return pair.second == id; });
  });
}

/// Carried pairs that no operator of the block makes any more; what they fed comes from outside.
void drop_dead_carries(OperatorGraph& graph) {
  for (Repeat& repeat : graph.repeats) {
    const auto alive = [&](TensorId made) {
      for (const OperatorId id : repeat.ops) {
        const std::vector<TensorId>& outputs = graph.ops[index(id)].outputs;
        if (std::find(outputs.begin(), outputs.end(), made) != outputs.end()) return true;
      }
      return std::any_of(repeat.carry.begin(), repeat.carry.end(),
                         [&](const auto& pair) { return pair.second == made; });
    };
    std::erase_if(repeat.carry, [&](const auto& pair) {
      const bool itself = pair.first == pair.second;
      return itself || !alive(pair.first);
    });
  }
}

/// An intermediate that nothing makes any more is an input.
void feed_from_outside(OperatorGraph& graph) {
  std::vector<bool> made(graph.tensors.size(), false);
  for (const Operator& op : graph.ops) {
    for (const TensorId id : op.outputs) made[storage(graph, id)] = true;
  }
  for (const Repeat& repeat : graph.repeats) {
    for (const auto& pair : repeat.carry) made[index(pair.second)] = true;
  }
  for (const Operator& op : graph.ops) {
    for (const TensorId id : op.inputs) {
      const std::size_t lies = storage(graph, id);
      Tensor& tensor = graph.tensors[lies];
      const bool inside =
          tensor.role == TensorRole::intermediate || tensor.role == TensorRole::output;
      if (made[lies] || !inside) continue;
      tensor.role = TensorRole::input;
      graph.notes.push_back("\"" + tensor.name + "\" counts as an input from outside");
      made[lies] = true;
    }
  }
  for (Tensor& rows : graph.tensors) {
    if (rows.rows_of) rows.role = graph.tensors[index(*rows.rows_of)].role;
  }
}

/// Tensors among `candidates` that no operator names any more go.
void erase_unused(OperatorGraph& graph, const std::vector<TensorId>& candidates) {
  std::vector<bool> used(graph.tensors.size(), false);
  const auto use = [&used](TensorId& id) { used[index(id)] = true; };
  for (Operator& op : graph.ops) {
    each_input(op, use);
    each_output(op, use);
  }
  for (const Repeat& repeat : graph.repeats) {
    for (const auto& [made, read] : repeat.carry) used[index(made)] = used[index(read)] = true;
  }
  std::vector<bool> goes(graph.tensors.size(), false);
  for (const Tensor& rows : graph.tensors) {
    if (rows.rows_of) used[index(*rows.rows_of)] = true;
  }
  for (const TensorId id : candidates) goes[index(id)] = !used[index(id)];
  std::vector<TensorId> now(graph.tensors.size());
  std::vector<Tensor> kept;
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    now[t] = static_cast<TensorId>(kept.size());
    if (!goes[t]) kept.push_back(std::move(graph.tensors[t]));
  }
  graph.tensors = std::move(kept);
  const auto renumber = [&now](TensorId& id) { id = now[index(id)]; };
  for (Tensor& rows : graph.tensors) {
    if (rows.rows_of) renumber(*rows.rows_of);
  }
  for (Operator& op : graph.ops) {
    each_input(op, renumber);
    each_output(op, renumber);
  }
  for (Repeat& repeat : graph.repeats) {
    for (auto& [made, read] : repeat.carry) {
      renumber(made);
      renumber(read);
    }
  }
}

std::vector<TensorId> tensors_of(Operator op) {
  std::vector<TensorId> all;
  const auto add = [&all](TensorId id) { all.push_back(id); };
  each_input(op, add);
  each_output(op, add);
  return all;
}

void finish(OperatorGraph& graph, const std::vector<TensorId>& touched) {
  drop_dead_carries(graph);
  feed_from_outside(graph);
  erase_unused(graph, touched);
  Diagnostics diagnostics;
  check_graph(graph, diagnostics);
  diagnostics.throw_if_any();
}

std::string unique_tensor_name(const OperatorGraph& graph, std::string name) {
  while (graph.find_tensor(name)) name += "'";
  return name;
}

/// The tensors of another graph with its numbers in place of its symbols.
class Graft {
 public:
  Graft(OperatorGraph& graph, const Operator& old, const OperatorGraph& source)
      : graph_(graph), old_(old), source_(source), moved_(source.tensors.size()) {}

  std::vector<Operator> operators() {
    for (std::size_t t = 0; t < source_.tensors.size(); ++t) moved_[t] = place_for(t);
    std::vector<Operator> all;
    for (const Operator& op : source_.ops) all.push_back(moved(op));
    return all;
  }

 private:
  [[nodiscard]] Expression number(const Expression& e) const {
    return Expression(e.evaluate(source_.symbol_values));
  }

  /// The first old tensor on the same side that has the same size and storage and no new one yet.
  std::optional<TensorId> counterpart(std::size_t t) {
    const Tensor& tensor = source_.tensors[t];
    if (!is_data(source_, static_cast<TensorId>(t))) return std::nullopt;
    const bool output = tensor.role == TensorRole::output;
    for (const TensorId id : data_of(graph_, output ? old_.outputs : old_.inputs)) {
      const bool taken = std::find(taken_.begin(), taken_.end(), id) != taken_.end();
      const bool same = graph_.tensors[index(id)].dtype == tensor.dtype &&
                        elements(graph_, id) == elements(source_, static_cast<TensorId>(t));
      if (taken || !same) continue;
      taken_.push_back(id);
      return id;
    }
    return std::nullopt;
  }

  TensorId place_for(std::size_t t) {
    if (source_.tensors[t].role != TensorRole::intermediate) {
      if (const auto id = counterpart(t)) return *id;
    }
    Tensor copy = source_.tensors[t];
    for (Expression& dim : copy.shape) dim = number(dim);
    copy.name = unique_tensor_name(graph_, old_.name + "." + copy.name);
    graph_.tensors.push_back(std::move(copy));
    return static_cast<TensorId>(graph_.tensors.size() - 1);
  }

  [[nodiscard]] Operator moved(Operator op) const {
    for (TensorId& id : op.inputs) id = moved_[index(id)];
    for (TensorId& id : op.outputs) id = moved_[index(id)];
    for (Attribute& a : op.attributes) a.value = number(a.value);
    if (op.stated_work) op.stated_work = number(*op.stated_work);
    if (op.stated_traffic) op.stated_traffic = number(*op.stated_traffic);
    op.name = source_.ops.size() == 1 ? old_.name : old_.name + "." + op.name;
    return op;
  }

  OperatorGraph& graph_;
  Operator old_;
  const OperatorGraph& source_;
  std::vector<TensorId> moved_;
  std::vector<TensorId> taken_;
};

}  // namespace

void remove_operator(OperatorGraph& graph, OperatorId id) {
  const Operator old = graph.ops[index(id)];
  if (graph.ops.size() == 1) {
    throw InputError(Diagnostic{position_in("command line"), "op." + old.name,
                                "is the only operator; without it nothing is left"});
  }
  const std::vector<TensorId> inputs = data_of(graph, old.inputs);
  splice(graph, index(id), {});
  for (std::size_t k = 0; k < old.outputs.size() && k < inputs.size(); ++k) {
    const TensorId out = old.outputs[k];
    if (elements(graph, out) != elements(graph, inputs[k])) continue;
    read_instead(graph, out, inputs[k]);
    const TensorRole leaves = graph.tensors[index(out)].role;
    TensorRole& role = graph.tensors[index(inputs[k])].role;
    const bool free = role == TensorRole::intermediate && !is_carried(graph, inputs[k]) &&
                      !graph.tensors[index(inputs[k])].rows_of;
    if (leaves != TensorRole::intermediate && free) role = leaves;
  }
  graph.notes.push_back("operator \"" + old.name + "\" removed");
  finish(graph, tensors_of(old));
}

void replace_operator(OperatorGraph& graph, OperatorId id, const std::string& text) {
  const Operator old = graph.ops[index(id)];
  const OperatorGraph source = [&] {
    try {
      return parse_op_text(text);
    } catch (const InputError& error) {
      std::vector<Diagnostic> all = error.diagnostics();
      for (Diagnostic& d : all) {
        d.message += " (op." + old.name + "=remove, or an operator as for --op)";
        d.at = position_in("op." + old.name, d.at.line, d.at.column);
      }
      throw InputError(std::move(all));
    }
  }();
  Graft graft(graph, old, source);
  splice(graph, index(id), graft.operators());
  graph.notes.push_back("operator \"" + old.name + "\" replaced by " + text);
  finish(graph, tensors_of(old));
}

}  // namespace floorline
