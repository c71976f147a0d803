// SPDX-License-Identifier: Apache-2.0
#include "model/rewrite/fuse.hpp"

#include <algorithm>
#include <numeric>

namespace floorline {

namespace {

constexpr std::size_t kLongName = 80;

bool is_any_of(const std::vector<TensorId>& ids, TensorId id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

std::vector<bool> members_of(const OperatorGraph& graph, std::span<const OperatorId> group) {
  std::vector<bool> inside(graph.ops.size(), false);
  for (const OperatorId op : group) inside[index(op)] = true;
  return inside;
}

/// Somebody besides the group's members has to find it in HBM.
bool leaves(const OperatorGraph& graph, const std::vector<bool>& inside, TensorId tensor) {
  if (graph.tensors[index(tensor)].role != TensorRole::intermediate) return true;
  for (const Repeat& repeat : graph.repeats) {
    for (const auto& [made, read] : repeat.carry) {
      if (made == tensor || read == tensor) return true;
    }
  }
  bool read_inside = false;
  for (const Tensor& rows : graph.tensors) {
    if (rows.rows_of == tensor) return true;  // no member works on rows
  }
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    if (!is_any_of(graph.ops[i].inputs, tensor)) continue;
    if (!inside[i]) return true;
    read_inside = true;
  }
  return !read_inside;  // nobody reads it: as much as before
}

Operator merged(const OperatorGraph& graph, std::span<const OperatorId> group) {
  Operator whole;
  whole.kind = OperatorKind::fused;
  whole.name = fused_name(graph, group);
  whole.at = graph.ops[index(group.front())].at;
  FusionBorder border = border_of(graph, group);
  whole.inputs = std::move(border.inputs);
  whole.outputs = std::move(border.outputs);
  for (const OperatorId id : group) {
    const Operator& op = graph.ops[index(id)];
    if (op.kind == OperatorKind::fused) {
      whole.parts.insert(whole.parts.end(), op.parts.begin(), op.parts.end());
    } else {
      whole.parts.push_back(op);
    }
  }
  return whole;
}

/// Operators by name, as blocks list them, after the group has become `whole`.
void rename_in_repeats(OperatorGraph& graph, const OperatorGraph& before,
                       const std::vector<bool>& inside, const std::string& whole) {
  for (std::size_t r = 0; r < graph.repeats.size(); ++r) {
    std::vector<OperatorId> ops;
    for (const OperatorId op : before.repeats[r].ops) {
      const std::string& name = inside[index(op)] ? whole : before.ops[index(op)].name;
      const OperatorId now = graph.find_op(name).value();
      if (std::find(ops.begin(), ops.end(), now) == ops.end()) ops.push_back(now);
    }
    std::sort(ops.begin(), ops.end());
    graph.repeats[r].ops = std::move(ops);
  }
}

}  // namespace

std::vector<std::size_t> gathered_order(const OperatorGraph& graph,
                                        const std::vector<bool>& inside) {
  std::vector<bool> depends(graph.ops.size(), false);
  std::vector<bool> made_late(graph.tensors.size(), false);  // by place in memory
  const auto storage = [&graph](TensorId t) {
    return index(graph.tensors[index(t)].rows_of.value_or(t));
  };
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    const Operator& op = graph.ops[i];
    depends[i] = inside[i] || std::any_of(op.inputs.begin(), op.inputs.end(),
                                          [&](TensorId t) { return made_late[storage(t)]; });
    for (const TensorId t : op.outputs) depends[i] = depends[i] || made_late[storage(t)];
    for (const TensorId t : op.outputs) made_late[storage(t)] = depends[i];
  }
  const auto first =
      static_cast<std::size_t>(std::find(inside.begin(), inside.end(), true) - inside.begin());
  std::size_t last = first;
  for (std::size_t i = 0; i < inside.size(); ++i) last = inside[i] ? i : last;
  std::vector<std::size_t> order(graph.ops.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto begin = order.begin() + static_cast<std::ptrdiff_t>(first);
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(last) + 1;
  std::stable_sort(begin, end, [&](std::size_t a, std::size_t b) {
    const auto rank = [&](std::size_t i) { return inside[i] ? 1 : depends[i] ? 2 : 0; };
    return rank(a) < rank(b);
  });
  return order;
}

FusionBorder border_of(const OperatorGraph& graph, std::span<const OperatorId> group) {
  FusionBorder border;
  const std::vector<bool> inside = members_of(graph, group);
  std::vector<TensorId> made;
  for (const OperatorId op : group) {
    for (const TensorId t : graph.ops[index(op)].outputs) made.push_back(t);
  }
  const auto add = [](std::vector<TensorId>& list, TensorId t) {
    if (!is_any_of(list, t)) list.push_back(t);
  };
  for (const OperatorId op : group) {
    for (const TensorId t : graph.ops[index(op)].inputs) {
      if (!is_any_of(made, t)) add(border.inputs, t);
    }
    for (const TensorId t : graph.ops[index(op)].outputs) {
      add(leaves(graph, inside, t) ? border.outputs : border.inside, t);
    }
  }
  return border;
}

OperatorGraph fused_graph(const OperatorGraph& graph, std::span<const OperatorId> group) {
  if (group.size() < 2) return graph;
  const std::vector<bool> inside = members_of(graph, group);
  OperatorGraph fused = graph;
  fused.ops.clear();
  const std::string name = fused_name(graph, group);
  bool placed = false;
  for (const std::size_t i : gathered_order(graph, inside)) {
    if (!inside[i]) {
      fused.ops.push_back(graph.ops[i]);
    } else if (!placed) {
      fused.ops.push_back(merged(graph, group));
      placed = true;
    }
  }
  rename_in_repeats(fused, graph, inside, name);
  return fused;
}

OperatorGraph fused_graph(const OperatorGraph& graph, std::span<const FusionGroup> groups) {
  OperatorGraph fused = graph;
  for (const FusionGroup& group : groups) {
    FusionGroup now;  // operators move as groups are gathered: found again by name
    for (const OperatorId op : group)
      now.push_back(fused.find_op(graph.ops[index(op)].name).value());
    std::sort(now.begin(), now.end());
    fused = fused_graph(fused, std::span<const OperatorId>(now));
  }
  return fused;
}

std::string fused_name(const OperatorGraph& graph, std::span<const OperatorId> group) {
  std::string name;
  for (const OperatorId op : group) name += (name.empty() ? "" : "+") + graph.ops[index(op)].name;
  if (name.size() > kLongName) {
    name = graph.ops[index(group.front())].name + "+" + std::to_string(group.size() - 2) + "+" +
           graph.ops[index(group.back())].name;
  }
  while (graph.find_op(name)) name += "'";
  return name;
}

SplitGraph split_graph(const OperatorGraph& graph) {
  SplitGraph split{graph, {}, {}};
  split.graph.ops.clear();
  std::vector<FusionGroup> now(graph.ops.size());  // what each operator became
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    const Operator& op = graph.ops[i];
    const bool fused = op.kind == OperatorKind::fused;
    const std::vector<Operator> parts = fused ? op.parts : std::vector<Operator>{op};
    for (const Operator& part : parts) {
      now[i].push_back(static_cast<OperatorId>(split.graph.ops.size()));
      split.graph.ops.push_back(part);
    }
    if (!fused) continue;
    split.groups.push_back(now[i]);
    split.names.push_back(op.name);
  }
  for (Repeat& repeat : split.graph.repeats) {
    std::vector<OperatorId> ops;
    for (const OperatorId op : repeat.ops)
      ops.insert(ops.end(), now[index(op)].begin(), now[index(op)].end());
    repeat.ops = std::move(ops);
  }
  return split;
}

}  // namespace floorline
