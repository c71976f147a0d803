// SPDX-License-Identifier: Apache-2.0
#include "model/ledger/graph_ledger.hpp"

#include "model/ledger/liveness.hpp"

namespace floorline {

namespace {

std::string counted(std::size_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// "gate 32 x 117440512 B + …": the largest, and how many more.
std::string alive_text(const OperatorGraph& graph, const std::vector<AliveTensor>& alive) {
  constexpr std::size_t kMostNamed = 4;
  std::string text;
  for (std::size_t i = 0; i < alive.size() && i < kMostNamed; ++i) {
    const AliveTensor& tensor = alive[i];
    text += (i == 0 ? "" : " + ") + graph.tensors[static_cast<std::size_t>(tensor.tensor)].name;
    if (tensor.instances > 1) text += " (" + std::to_string(tensor.instances) + ")";
    text += " " + (tensor.bytes.count() ? std::to_string(*tensor.bytes.count()) + " B"
                                        : std::string("more than 9.2e18 B"));
  }
  if (alive.size() > kMostNamed)
    text += " + " + counted(alive.size() - kMostNamed, "smaller tensor");
  return text;
}

}  // namespace

MemoryLedger graph_ledger(const OperatorGraph& graph, const BoundGraph& bound) {
  const GraphMemory memory = memory_of(bound);
  MemoryLedger ledger;
  ledger.instants.push_back(
      memory.at < 0 ? "throughout" : "at " + graph.ops[static_cast<std::size_t>(memory.at)].name);
  const auto add = [&](const char* name, ByteCount bytes, std::string formula, const char* source) {
    if (bytes == ByteCount(0)) return;
    LedgerEntry entry;
    entry.name = name;
    entry.bytes = bytes;
    entry.alive = Lifetime::all(1);
    entry.formula = std::move(formula);
    entry.source = source;
    ledger.lines.push_back(std::move(entry));
  };
  const auto all_of = [&](auto&& belongs) {
    std::size_t count = 0;
    for (const BoundTensor& tensor : bound.tensors)
      count += tensor.rows_of < 0 && belongs(tensor) ? 1U : 0U;
    return counted(count, "tensor");
  };
  const auto of_role = [&](TensorRole role) {
    return all_of([role](const BoundTensor& tensor) { return tensor.role == role; });
  };
  add("weights", memory.weights,
      all_of([](const BoundTensor& tensor) {
        return tensor.producer < 0 &&
               (tensor.role == TensorRole::weight || tensor.role == TensorRole::scale);
      }) + ", one an iteration of its block",
      "graph");
  add("state", memory.state, of_role(TensorRole::state) + ", one an iteration of its block",
      "graph");
  add("inputs", memory.inputs, of_role(TensorRole::input), "graph");
  add("outputs", memory.outputs, of_role(TensorRole::output), "graph");
  const std::string where =
      memory.at < 0 ? "" : "at " + graph.ops[static_cast<std::size_t>(memory.at)].name + ": ";
  add("intermediates", memory.peak_intermediates, where + alive_text(graph, alive_at_peak(bound)),
      "from the operator that makes a tensor to the last one that reads it");
  return ledger;
}

}  // namespace floorline
