// SPDX-License-Identifier: Apache-2.0
#include "model/workload/bound_graph_layout.hpp"

#include <algorithm>
#include <map>
#include <string_view>

namespace floorline {

namespace {

void add_uses(const std::vector<TensorId>& ids, BoundGraph& bound, int& first, int& count) {
  first = static_cast<int>(bound.uses.size());
  count = static_cast<int>(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    bool again = false;
    for (std::size_t j = 0; j < i; ++j) again = again || ids[j] == ids[i];
    bound.uses.push_back({static_cast<int>(ids[i]), again});
  }
}

BoundOperator laid_out(const Operator& op, BoundGraph& bound) {
  BoundOperator b;
  b.kind = op.kind;
  b.compute = op.compute;
  b.accumulate = op.accumulate;
  b.sparse = op.sparse;
  b.path = op.path;
  b.access = op.access;
  b.algorithm = op.algorithm;
  b.work_scale = op.work_scale;
  b.traffic_scale = op.traffic_scale;
  add_uses(op.inputs, bound, b.first_input, b.input_count);
  add_uses(op.outputs, bound, b.first_output, b.output_count);
  b.first_sequence = static_cast<int>(bound.sequences.size());
  b.sequence_count = static_cast<int>(op.sequences.size());
  bound.sequences.insert(bound.sequences.end(), op.sequences.begin(), op.sequences.end());
  return b;
}

/// The shapes as lists of distinct sizes: a graph has few, each is evaluated once.
void lay_out_shapes(const OperatorGraph& graph, BoundGraph& bound) {
  std::map<std::string_view, int> known;
  std::map<std::vector<int>, int> known_shapes;
  bound.tensors.resize(graph.tensors.size());
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    const Tensor& tensor = graph.tensors[t];
    BoundTensor& b = bound.tensors[t];
    b.role = tensor.role;
    std::vector<int> dims;
    for (std::size_t d = 0; d < tensor.shape.size(); ++d) {
      const int next = static_cast<int>(bound.size_places.size());
      const auto [at, is_new] = known.try_emplace(tensor.shape[d].text(), next);
      if (is_new) bound.size_places.push_back({static_cast<int>(t), static_cast<int>(d)});
      dims.push_back(at->second);
    }
    const int next = static_cast<int>(bound.shapes.size());
    const auto [at, is_new] = known_shapes.try_emplace(dims, next);
    b.shape = at->second;
    if (!is_new) continue;
    bound.shapes.push_back(
        {0, 1, static_cast<int>(bound.dims.size()), static_cast<int>(dims.size())});
    bound.dims.insert(bound.dims.end(), dims.begin(), dims.end());
  }
  bound.sizes.resize(bound.size_places.size());
}

/// Who writes rows makes the whole; rows that nobody writes are made with the whole.
void lay_out_rows(const OperatorGraph& graph, BoundGraph& bound) {
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    if (!graph.tensors[t].rows_of) continue;
    bound.has_rows = true;
    BoundTensor& rows = bound.tensors[t];
    rows.rows_of = static_cast<int>(*graph.tensors[t].rows_of);
    int& maker = bound.tensors[index(*graph.tensors[t].rows_of)].producer;
    maker = std::max(maker, rows.producer);
  }
  for (BoundTensor& rows : bound.tensors) {
    if (rows.rows_of >= 0 && rows.producer < 0)
      rows.producer = bound.tensors[static_cast<std::size_t>(rows.rows_of)].producer;
  }
}

}  // namespace

void lay_out(const OperatorGraph& graph, BoundGraph& bound) {
  bound.routing = graph.routing;
  lay_out_shapes(graph, bound);
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    const Operator& op = graph.ops[i];
    BoundOperator b = laid_out(op, bound);
    b.first_part = static_cast<int>(bound.parts.size());
    b.part_count = static_cast<int>(op.parts.size());
    for (const Operator& part : op.parts) bound.parts.push_back(laid_out(part, bound));
    for (const TensorId out : op.outputs) bound.tensors[index(out)].producer = static_cast<int>(i);
    bound.ops.push_back(b);
  }
  lay_out_rows(graph, bound);
  for (std::size_t r = 0; r < graph.repeats.size(); ++r) {
    const Repeat& repeat = graph.repeats[r];
    BoundRepeat b;
    b.first_op = repeat.ops.empty() ? 0 : static_cast<int>(repeat.ops.front());
    b.op_count = static_cast<int>(repeat.ops.size());
    b.first_carry = static_cast<int>(bound.carries.size());
    b.carry_count = static_cast<int>(repeat.carry.size());
    for (const auto& [made, read] : repeat.carry) {
      bound.carries.push_back({static_cast<int>(made), static_cast<int>(read)});
    }
    for (const OperatorId op : repeat.ops) bound.ops[index(op)].repeat = static_cast<int>(r);
    bound.repeats.push_back(b);
  }
}

}  // namespace floorline
