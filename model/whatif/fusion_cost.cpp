// SPDX-License-Identifier: Apache-2.0
#include "model/whatif/fusion_cost.hpp"

#include <algorithm>

namespace floorline {

FusionCost::FusionCost(const Evaluation& evaluation, const Machine& machine)
    : evaluation_(evaluation),
      machine_(machine),
      scratch_(evaluation.bound),
      uses_(evaluation.bound.uses.size()) {
  const std::size_t tensors = scratch_.tensors.size();
  readers_.assign(tensors, 0);
  inside_reads_.assign(tensors, 0);
  made_.assign(tensors, 0);
  seen_.assign(tensors, 0);
  stays_.assign(tensors, 0);
  for (const BoundOperator& op : scratch_.ops) {
    for (const TensorUse& use : scratch_.inputs(op)) {
      if (!use.again) ++readers_[static_cast<std::size_t>(use.tensor)];
    }
  }
  for (std::size_t t = 0; t < tensors; ++t)
    stays_[t] = scratch_.tensors[t].role != TensorRole::intermediate || readers_[t] == 0 ? 1 : 0;
  for (const BoundCarry& carry : scratch_.carries) {
    stays_[static_cast<std::size_t>(carry.made)] = 1;
    stays_[static_cast<std::size_t>(carry.read)] = 1;
  }
}

Demand FusionCost::demand(std::span<const OperatorId> group) {
  BoundGraph& g = scratch_;
  const auto ops = [&](auto visit) {
    for (const OperatorId id : group) visit(g.ops[index(id)]);
  };
  BoundOperator whole;
  whole.kind = OperatorKind::fused;
  whole.first_part = 0;
  whole.part_count = static_cast<int>(group.size());
  g.parts.clear();
  ops([&](const BoundOperator& op) {
    g.parts.push_back(op);
    for (int i = 0; i < op.input_count; ++i) {
      const TensorUse& use = g.uses[static_cast<std::size_t>(op.first_input + i)];
      if (!use.again) ++inside_reads_[static_cast<std::size_t>(use.tensor)];
    }
    for (const TensorUse& use : g.outputs(op)) made_[static_cast<std::size_t>(use.tensor)] = 1;
  });
  const auto add = [&](int first, int count, bool inputs) {
    for (int i = 0; i < count; ++i) {
      const int tensor = g.uses[static_cast<std::size_t>(first + i)].tensor;
      const auto t = static_cast<std::size_t>(tensor);
      const bool crosses =
          inputs ? made_[t] == 0 : stays_[t] != 0 || readers_[t] > inside_reads_[t];
      if (!crosses || seen_[t] != 0) continue;
      seen_[t] = 1;
      g.uses.push_back({tensor, false});
    }
  };
  whole.first_input = static_cast<int>(g.uses.size());
  ops([&](const BoundOperator& op) { add(op.first_input, op.input_count, true); });
  whole.input_count = static_cast<int>(g.uses.size()) - whole.first_input;
  whole.first_output = static_cast<int>(g.uses.size());
  ops([&](const BoundOperator& op) { add(op.first_output, op.output_count, false); });
  whole.output_count = static_cast<int>(g.uses.size()) - whole.first_output;
  const Demand demand = demand_of(g, whole, machine_.chip);
  ops([&](const BoundOperator& op) {
    for (const TensorUse& use : g.inputs(op))
      inside_reads_[static_cast<std::size_t>(use.tensor)] = 0;
    for (const TensorUse& use : g.outputs(op)) made_[static_cast<std::size_t>(use.tensor)] = 0;
  });
  for (std::size_t u = uses_; u < g.uses.size(); ++u)
    seen_[static_cast<std::size_t>(g.uses[u].tensor)] = 0;
  g.uses.resize(uses_);
  return demand;
}

Seconds FusionCost::cold_with(std::span<const OperatorId> group, Bytes read, Bytes written) {
  Demand whole = demand(group);
  whole.hbm_read += read;
  whole.hbm_write += written;
  const Floor floor = floor_of(whole, machine_.rates, machine_.chip, Residency::cold);
  return floor.time() * evaluation_.floors.ops[index(group.front())].times;
}

Seconds FusionCost::cold(std::span<const OperatorId> group) {
  if (group.size() > 1) return cold_with(group, Bytes(0), Bytes(0));
  const OperatorFloors& op = evaluation_.floors.ops[index(group.front())];
  return op.cold.time() * op.times;
}

}  // namespace floorline
