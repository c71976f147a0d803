// SPDX-License-Identifier: Apache-2.0
#include "model/floor/graph_traffic.hpp"

#include <algorithm>

#include "model/demand/input_reads.hpp"

namespace floorline {

void scale_entering(const BoundGraph& graph, const OnChip& chip, const BoundOperator& op,
                    const Demand& demand, std::span<Bytes> entering) {
  const auto uses = graph.inputs(op);
  Bytes all_read(0);
  for (std::size_t k = 0; k < uses.size(); ++k) {
    if (!uses[k].again) all_read += entering[k];
  }
  if (op.kind == OperatorKind::grouped_gemm) {
    const InputReads mean(graph, op, chip, RankShare::mean);
    for (std::size_t k = 0; k < uses.size(); ++k) entering[k] = mean.bytes(static_cast<int>(k));
  }
  // Reads over what the tensors alone would say: 1 but for copies, collectives and stated bytes.
  const double scale = all_read > Bytes(0) ? demand.hbm_read / all_read : 0;
  for (std::size_t k = 0; k < uses.size(); ++k) {
    if (uses[k].crossing > 0) entering[k] = entering[k] * scale * uses[k].crossing;
  }
}

Bytes leaving_by(const BoundGraph& graph, const BoundOperator& op, const Demand& demand) {
  Bytes all_written(0);
  Bytes leaving(0);
  for (const TensorUse& use : graph.outputs(op)) {
    if (use.again) continue;
    const Bytes bytes = graph.tensors[static_cast<std::size_t>(use.tensor)].bytes;
    all_written += bytes;
    leaving += bytes * use.crossing;
  }
  return leaving > Bytes(0) ? leaving * (demand.hbm_write / all_written) : Bytes(0);
}

namespace {

/// Tensors that are used by rows: no more than all of them together, nor than the whole. `read` has
/// the largest part of each tensor that any reader needs; rows move from there into `rows`.
void add_rows(const BoundGraph& graph, GraphFloors& result, Bytes& written) {
  std::fill(result.rows.begin(), result.rows.end(), Bytes(0));
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    if (graph.tensors[t].rows_of < 0) continue;
    result.rows[static_cast<std::size_t>(graph.tensors[t].rows_of)] += result.read[t];
    result.read[t] = Bytes(0);
  }
  for (std::size_t t = 0; t < graph.tensors.size(); ++t)
    result.read[t] = std::max(result.read[t], std::min(result.rows[t], graph.tensors[t].bytes));
  std::fill(result.rows.begin(), result.rows.end(), Bytes(0));
  for (const BoundOperator& op : graph.ops) {
    for (const TensorUse& use : graph.outputs(op)) {
      const BoundTensor& tensor = graph.tensors[static_cast<std::size_t>(use.tensor)];
      const bool leaves = tensor.role == TensorRole::output || tensor.role == TensorRole::state;
      if (tensor.rows_of < 0 || !leaves) continue;
      result.rows[static_cast<std::size_t>(tensor.rows_of)] += tensor.bytes * op.times;
    }
  }
  for (std::size_t t = 0; t < graph.tensors.size(); ++t)
    written += std::min(result.rows[t], graph.tensors[t].bytes);
}

}  // namespace

void fused_traffic(const BoundGraph& graph, GraphFloors& result) {
  for (const int t : result.sources) result.read[static_cast<std::size_t>(t)] = Bytes(0);
  for (const int use : result.entries) {
    const auto u = static_cast<std::size_t>(use);
    Bytes& most = result.read[static_cast<std::size_t>(graph.uses[u].tensor)];
    most = std::max(most, result.entering[u]);
  }
  Bytes written(0);
  for (const Bytes leaving : result.leaving) written += leaving;
  if (graph.has_rows) add_rows(graph, result, written);
  Bytes read(0);
  for (const int t : result.sources) read += result.read[static_cast<std::size_t>(t)];
  result.fused_demand.hbm_read = read;
  result.fused_demand.hbm_write = written;
}

void prepare_traffic(const BoundGraph& graph, GraphFloors& result) {
  std::vector<bool> source(graph.tensors.size(), false);
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    if (enters(graph.tensors[t])) source[t] = source[graph.storage(static_cast<int>(t))] = true;
  }
  result.sources.clear();
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    if (source[t]) result.sources.push_back(static_cast<int>(t));
  }
  result.entries.clear();
  for (const BoundOperator& op : graph.ops) {
    for (int use = op.first_input; use < op.first_input + op.input_count; ++use) {
      const int tensor = graph.uses[static_cast<std::size_t>(use)].tensor;
      if (enters(graph.tensors[static_cast<std::size_t>(tensor)])) result.entries.push_back(use);
    }
  }
  result.entering.assign(graph.uses.size(), Bytes(0));
  result.leaving.assign(graph.ops.size(), Bytes(0));
  result.read.assign(graph.tensors.size(), Bytes(0));
  result.rows.assign(graph.has_rows ? graph.tensors.size() : 0, Bytes(0));
}

}  // namespace floorline
