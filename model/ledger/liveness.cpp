// SPDX-License-Identifier: Apache-2.0
#include "model/ledger/liveness.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/ledger/liveness_walk.hpp"

namespace floorline {

namespace {

using Instance = LivenessScratch::Instance;
using WideBytes = LivenessScratch::WideBytes;

constexpr int kNone = -1;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

ByteCount to_count(WideBytes bytes) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  return bytes > kMost ? ByteCount::overflow() : ByteCount(static_cast<std::int64_t>(bytes));
}

/// Past the largest count all are alike, so that sums stay within 128 bits.
WideBytes wide_bytes(const BoundGraph& graph, const Instance& instance) {
  const WideBytes one = byte_count(graph.tensors[at(instance.tensor)]).count().value_or(0);
  return std::min(one * instance.count, WideBytes{1} << 63U);
}

/// The step at which most is alive; -1: no intermediates.
int largest_step(const BoundGraph& graph, LivenessScratch& scratch, ByteCount& most) {
  scratch.balance.assign(scratch.step_op.size() + 1, 0);
  for (const Instance& instance : scratch.instances) {
    const WideBytes bytes = wide_bytes(graph, instance);
    scratch.balance[at(instance.born)] += bytes;
    scratch.balance[at(instance.last) + 1] -= bytes;
  }
  WideBytes sum = 0;
  WideBytes largest = 0;
  int step = kNone;
  for (std::size_t i = 0; i < scratch.step_op.size(); ++i) {
    sum += scratch.balance[i];
    if (sum <= largest) continue;
    largest = sum;
    step = static_cast<int>(i);
  }
  most = to_count(largest);
  return step;
}

/// An operator that reads a state of the same size, or an optimizer, writes it in place; gathering
/// what an optimizer wrote gives the weights.
bool is_updated_in_place(const BoundGraph& graph, const BoundTensor& tensor) {
  if (tensor.producer == kNone) return false;
  const BoundOperator& op = graph.ops[at(tensor.producer)];
  if (op.kind == OperatorKind::optimizer) return true;
  return std::any_of(graph.inputs(op).begin(), graph.inputs(op).end(), [&](const TensorUse& use) {
    const BoundTensor& in = graph.tensors[at(use.tensor)];
    if (in.role != TensorRole::state) return false;
    if (in.elements == tensor.elements && in.dtype == tensor.dtype) return true;
    return op.kind == OperatorKind::all_gather && in.producer != kNone &&
           graph.ops[at(in.producer)].kind == OperatorKind::optimizer;
  });
}

/// Tensors that only operators in blocks of no iteration use are not there.
enum class Use : int { none = 0, idle = 1, runs = 2 };

void find_uses(const BoundGraph& graph, std::vector<int>& uses) {
  uses.assign(graph.tensors.size(), static_cast<int>(Use::none));
  for (const BoundOperator& op : graph.ops) {
    const int how = static_cast<int>(op.times > 0 ? Use::runs : Use::idle);
    const auto mark = [&](const TensorUse& use) {
      int& known = uses[graph.storage(use.tensor)];
      known = std::max(known, how);
    };
    for (const TensorUse& use : graph.inputs(op)) mark(use);
    for (const TensorUse& use : graph.outputs(op)) mark(use);
  }
}

bool is_parameter(TensorRole role) {
  return role == TensorRole::weight || role == TensorRole::scale;
}

/// Whether it is there all the time, with memory of its own.
bool lasts(const BoundGraph& graph, const std::vector<int>& uses, std::size_t t) {
  const BoundTensor& tensor = graph.tensors[t];
  if (uses[t] == static_cast<int>(Use::idle) || tensor.rows_of != kNone) return false;
  if (is_parameter(tensor.role)) return tensor.producer == kNone;
  if (tensor.role == TensorRole::state) return !is_updated_in_place(graph, tensor);
  return tensor.role != TensorRole::intermediate;
}

void add_lasting(const BoundGraph& graph, LivenessScratch& scratch, GraphMemory& memory) {
  find_uses(graph, scratch.now);
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    if (!lasts(graph, scratch.now, t)) continue;
    const BoundTensor& tensor = graph.tensors[t];
    const ByteCount all = byte_count(tensor) * static_cast<std::int64_t>(tensor.copies);
    ByteCount& sum = is_parameter(tensor.role)           ? memory.weights
                     : tensor.role == TensorRole::state  ? memory.state
                     : tensor.role == TensorRole::output ? memory.outputs
                                                         : memory.inputs;
    sum = sum + all;
  }
}

}  // namespace

ByteCount byte_count(const BoundTensor& tensor) {
  // Storage bits are whole quarters: 4.25 of mxfp4.
  constexpr std::int64_t kParts = 4;
  constexpr double kMost = 9.2e18;  // past it no whole number of 64 bits
  if (!(tensor.elements < kMost)) return ByteCount::overflow();
  return ByteCount::from_bits(
      static_cast<std::int64_t>(tensor.elements),
      std::llround(storage_bits(tensor.dtype) * static_cast<double>(kParts)), kParts);
}

GraphMemory memory_of(const BoundGraph& graph, LivenessScratch& scratch) {
  GraphMemory memory;
  add_lasting(graph, scratch, memory);
  walk_liveness(graph, scratch);
  const int step = largest_step(graph, scratch, memory.peak_intermediates);
  if (step != kNone) memory.at = scratch.step_op[at(step)];
  return memory;
}

std::vector<int> resident_tensors(const BoundGraph& graph) {
  std::vector<int> uses;
  find_uses(graph, uses);
  std::vector<int> resident;
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    const TensorRole role = graph.tensors[t].role;
    const bool stays = is_parameter(role) || role == TensorRole::state;
    if (stays && lasts(graph, uses, t)) resident.push_back(static_cast<int>(t));
  }
  return resident;
}

Bytes resident_bytes(const BoundGraph& graph, std::span<const int> tensors) {
  Bytes sum(0);
  for (const int t : tensors) {
    const BoundTensor& tensor = graph.tensors[static_cast<std::size_t>(t)];
    sum += tensor.bytes * tensor.copies;
  }
  return sum;
}

Bytes resident_bytes(const BoundGraph& graph) {
  return resident_bytes(graph, resident_tensors(graph));
}

GraphMemory memory_of(const BoundGraph& graph) {
  LivenessScratch scratch;
  return memory_of(graph, scratch);
}

std::vector<AliveTensor> alive_at_peak(const BoundGraph& graph) {
  LivenessScratch scratch;
  walk_liveness(graph, scratch);
  ByteCount most;
  const int step = largest_step(graph, scratch, most);
  std::vector<AliveTensor> alive;
  std::vector<int> place(graph.tensors.size(), kNone);
  for (const Instance& instance : scratch.instances) {
    if (instance.born > step || instance.last < step) continue;
    int& p = place[at(instance.tensor)];
    if (p == kNone) {
      p = static_cast<int>(alive.size());
      alive.push_back({instance.tensor, 0, ByteCount(0)});
    }
    AliveTensor& entry = alive[at(p)];
    entry.instances += instance.count;
    entry.bytes = entry.bytes + to_count(wide_bytes(graph, instance));
  }
  std::stable_sort(alive.begin(), alive.end(),
                   [](const AliveTensor& a, const AliveTensor& b) { return a.bytes > b.bytes; });
  return alive;
}

}  // namespace floorline
