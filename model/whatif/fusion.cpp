// SPDX-License-Identifier: Apache-2.0
#include "model/whatif/fusion.hpp"

#include <algorithm>
#include <cmath>

#include "model/demand/input_reads.hpp"
#include "model/input/diagnostic.hpp"
#include "model/ledger/liveness.hpp"
#include "model/quantity/unit_names.hpp"
#include "model/rewrite/chunk.hpp"

namespace floorline {

namespace {

Position here() { return position_in("command line"); }

std::vector<std::string> operator_names(const OperatorGraph& graph) {
  std::vector<std::string> names;
  for (const Operator& op : graph.ops) names.push_back(op.name);
  return names;
}

FusionGroup group_of(const OperatorGraph& graph, const std::vector<std::string>& names,
                     std::vector<bool>& taken, Diagnostics& diagnostics) {
  FusionGroup group;
  for (const std::string& name : names) {
    const auto op = graph.find_op(name);
    if (!op) {
      diagnostics.add(here(), "--group",
                      "there is no operator \"" + name + "\" in " + graph.name +
                          did_you_mean(name, operator_names(graph)));
      continue;
    }
    if (taken[index(*op)]) {
      diagnostics.add(here(), "--group", "\"" + name + "\" is named twice; expected each once");
      continue;
    }
    taken[index(*op)] = true;
    group.push_back(*op);
  }
  if (names.size() < 2)
    diagnostics.add(here(), "--group", "expected two operators or more, such as a,b,c");
  std::sort(group.begin(), group.end());
  return group;
}

/// What the operator reads and writes of each of its tensors, over all its iterations.
template <class Visit>
void each_traffic(const Evaluation& e, std::size_t op, const OnChip& chip, Visit visit) {
  const BoundOperator& b = e.bound.ops[op];
  const InputReads reads(e.bound, b, chip);
  for (int i = 0; i < b.input_count; ++i) {
    const TensorUse& use = e.bound.inputs(b)[static_cast<std::size_t>(i)];
    if (!use.again) visit(use.tensor, reads.bytes(i) * b.times, Bytes(0));
  }
  for (const TensorUse& use : e.bound.outputs(b)) {
    if (use.again) continue;
    visit(use.tensor, Bytes(0),
          e.bound.tensors[static_cast<std::size_t>(use.tensor)].bytes * b.times);
  }
}

GroupTimes times_before(const Evaluation& e, const FusionGroup& group) {
  GroupTimes times;
  Seconds longest(-1);
  for (const OperatorId id : group) {
    const OperatorFloors& f = e.floors.ops[index(id)];
    times.cold += f.cold.time() * f.times;
    times.any += f.any.time() * f.times;
    times.hbm += (f.demand.hbm_read + f.demand.hbm_write) * f.times;
    if (f.cold.none() || f.cold.time() <= longest) continue;
    longest = f.cold.time();
    times.binding = f.cold.resource();
  }
  return times;
}

/// All but whether it is legal.
GroupFusion described(const Evaluation& e, const FusionGroup& group, const OnChip& chip) {
  GroupFusion result;
  result.name = fused_name(e.graph, group);
  for (const OperatorId id : group) result.operators.push_back(e.graph.ops[index(id)].name);
  result.times = e.floors.ops[index(group.front())].times;
  for (const TensorId t : border_of(e.graph, group).inside)
    result.inside += e.bound.tensors[index(t)].bytes;
  result.before = times_before(e, group);
  std::vector<int> row(e.bound.tensors.size(), -1);
  for (const OperatorId id : group) {
    each_traffic(e, index(id), chip, [&](int t, Bytes read, Bytes written) {
      int& at = row[static_cast<std::size_t>(t)];
      if (at < 0) {
        at = static_cast<int>(result.tensors.size());
        result.tensors.push_back({e.graph.tensors[static_cast<std::size_t>(t)].name});
      }
      result.tensors[static_cast<std::size_t>(at)].read_before += read;
      result.tensors[static_cast<std::size_t>(at)].written_before += written;
    });
  }
  return result;
}

GroupFusion judged(const Evaluation& e, const FusionRules& rules, const FusionGroup& group,
                   const OnChip& chip) {
  GroupFusion result = described(e, group, chip);
  result.refusals = rules.refusals(group);
  if (result.refusals.empty()) {
    result.conditions = rules.on_chip_lines(group);
    for (std::string& line : rules.conditions(group)) result.conditions.push_back(std::move(line));
    result.needs = rules.needs(group);
  }
  return result;
}

void add_after(const Evaluation& after, const OnChip& chip, GroupFusion& group) {
  // Parts of what was fused before belong to the new operator: found by its first part.
  const auto op = std::find_if(after.graph.ops.begin(), after.graph.ops.end(),
                               [&](const Operator& o) { return o.name == group.name; });
  const auto i = static_cast<std::size_t>(op - after.graph.ops.begin());
  const OperatorFloors& f = after.floors.ops[i];
  GroupTimes times;
  times.cold = f.cold.time() * f.times;
  times.any = f.any.time() * f.times;
  times.hbm = (f.demand.hbm_read + f.demand.hbm_write) * f.times;
  if (!f.cold.none()) times.binding = f.cold.resource();
  group.after = times;
  each_traffic(after, i, chip, [&](int t, Bytes read, Bytes written) {
    const std::string& name = after.graph.tensors[static_cast<std::size_t>(t)].name;
    for (TensorTraffic& row : group.tensors) {
      if (row.name != name) continue;
      row.read_after += read;
      row.written_after += written;
    }
  });
}

double launches_of(const Evaluation& e) {
  double launches = 0;
  for (std::size_t i = 0; i < e.graph.ops.size(); ++i) {
    if (e.graph.ops[i].kind != OperatorKind::host) launches += e.floors.ops[i].times;
  }
  return launches;
}

void count_launches(const DeviceSpec& device, FusionResult& result) {
  result.launches.before = launches_of(result.before);
  result.launches.after = result.after ? launches_of(*result.after) : result.launches.before;
  for (const OverheadSpec& overhead : device.overheads) {
    if (overhead.name != "kernel_launch" || !overhead.time) continue;
    result.launches.saved = overhead.time->value * (result.launches.before - result.launches.after);
  }
}

/// What is counted of the whole, before and after.
void finish(const Machine& machine, FusionResult& result) {
  const GraphMemory before = memory_of(result.before.bound);
  result.peak_before = before.peak_intermediates;
  result.memory_before = before.peak();
  if (result.after) {
    const GraphMemory after = memory_of(result.after->bound);
    result.peak_after = after.peak_intermediates;
    result.memory_after = after.peak();
  }
  count_launches(machine.device, result);
}

/// Groups that are legal one by one but not together are refused together.
void check_order(const FusionRules& rules, const OperatorGraph& graph,
                 const std::vector<FusionGroup>& groups, std::vector<GroupFusion>& all) {
  if (can_be_ordered(rules, graph.ops.size(), groups)) return;
  for (GroupFusion& group : all) {
    group.refusals.push_back(
        {FusionRule::convex, "the groups would wait for one another in a circle"});
  }
}

FusionResult result_of(Evaluation before, const Machine& machine, const FusionRules& rules,
                       const std::vector<FusionGroup>& groups) {
  FusionResult result;
  for (const FusionGroup& group : groups)
    result.groups.push_back(judged(before, rules, group, machine.chip));
  const auto legal = [](const GroupFusion& g) { return g.refusals.empty(); };
  if (std::all_of(result.groups.begin(), result.groups.end(), legal))
    check_order(rules, before.graph, groups, result.groups);
  if (std::all_of(result.groups.begin(), result.groups.end(), legal)) {
    OperatorGraph graph = fused_graph(before.graph, std::span<const FusionGroup>(groups));
    for (std::size_t i = 0; i < groups.size(); ++i) {  // what it keeps on chip goes with sizes
      for (const std::string& line : rules.conditions(groups[i]))
        graph.notes.push_back("if " + result.groups[i].name + " is one kernel: " + line);
    }
    result.after = evaluate(std::move(graph), machine);
    for (GroupFusion& group : result.groups) add_after(*result.after, machine.chip, group);
  }
  result.before = std::move(before);
  finish(machine, result);
  return result;
}

Seconds cold_of(const Evaluation& e, const std::vector<OperatorId>& members) {
  Seconds sum(0);
  for (const OperatorId id : members) {
    const OperatorFloors& f = e.floors.ops[index(id)];
    sum += f.cold.time() * f.times;
  }
  return sum;
}

/// From the largest chunk down, by halves.
std::optional<double> near_from(const ChunkedGraph& chunked, const RowSplit& split,
                                const Machine& machine, Seconds before) {
  std::optional<double> least;
  double rows = 1;
  while (rows * 2 < split.rows()) rows *= 2;
  for (OperatorGraph graph = chunked.graph; rows >= 1; rows /= 2) {
    graph.set_symbol(chunked.symbol, rows);
    if (cold_of(evaluate(graph, machine), chunked.members) > before * Chunking::kNear) break;
    least = rows;
  }
  return least;
}

/// Traffic and times of the members in the graph of chunks.
void add_chunks(const FusionResult& r, const ChunkedGraph& chunked, const RowSplit& split,
                const OnChip& chip, GroupFusion& group) {
  const Evaluation& after = *r.after;
  group.after = times_before(after, chunked.members);
  Chunking& chunk = *group.chunk;
  for (const OperatorId id : chunked.members) {
    each_traffic(after, index(id), chip, [&](int t, Bytes read, Bytes written) {
      const int whole = chunked.whole[static_cast<std::size_t>(t)];
      const std::string& name = r.before.graph.tensors[static_cast<std::size_t>(whole)].name;
      for (TensorTraffic& row : group.tensors) {
        if (row.name != name) continue;
        row.read_after += read;
        row.written_after += written;
      }
    });
  }
  for (const TensorTraffic& row : group.tensors) {
    const TensorId t = r.before.graph.find_tensor(row.name).value();
    if (split.by_rows(t)) continue;
    if (row.written_after > Bytes(0)) {
      chunk.has_sums = true;
      chunk.sums.push_back("\"" + row.name + "\" in " +
                           std::string(name_of(r.before.bound.tensors[index(t)].dtype)));
    }
    chunk.more += row.read_after + row.written_after - row.read_before - row.written_before;
    if (!(row.read_before > Bytes(0))) continue;
    chunk.whole_inputs.push_back(row.name);
    chunk.largest_whole_input =
        std::max(chunk.largest_whole_input, r.before.bound.tensors[index(t)].bytes);
  }
}

/// Rows of a chunk that are some and not all.
void check_chunk(double rows, const RowSplit& split) {
  if (rows < split.rows()) return;
  throw InputError(Diagnostic{here(), "--chunk",
                              count_text(rows) + " rows are all of \"" + split.rows_text() +
                                  "\" = " + count_text(split.rows()) +
                                  "; expected fewer rows a chunk"});
}

}  // namespace

FusionResult chunk_group(Evaluation before, const Machine& machine,
                         const std::vector<std::string>& names, double rows) {
  Diagnostics diagnostics;
  std::vector<bool> taken(before.graph.ops.size(), false);
  const FusionGroup group = group_of(before.graph, names, taken, diagnostics);
  diagnostics.throw_if_any();
  const UnitMemory memory = unit_memory(machine.device);
  const FusionRules rules(before.graph, before.bound, memory);
  const RowSplit split(before.graph, before.bound, group);
  FusionResult result;
  result.groups.push_back(described(before, group, machine.chip));
  GroupFusion& only = result.groups.front();
  only.refusals = rules.refusals_in_order(group);
  if (only.refusals.empty()) only.refusals = split.refusals();
  if (only.refusals.empty()) {
    check_chunk(rows, split);
    const ChunkedGraph chunked = chunked_graph(before.graph, split, group, rows);
    only.chunk = Chunking{};
    only.chunk->rows = rows;
    only.chunk->all_rows = split.rows();
    only.chunk->chunks = std::ceil(split.rows() / rows);
    only.chunk->symbol = chunked.symbol;
    only.chunk->near_from = near_from(chunked, split, machine, only.before.cold);
    only.chunk->inside = only.inside * (rows / split.rows());
    result.after = evaluate(chunked.graph, machine);
    result.before = before;
    add_chunks(result, chunked, split, machine.chip, only);
  }
  result.before = std::move(before);
  finish(machine, result);
  return result;
}

FusionResult fuse_groups(Evaluation before, const Machine& machine,
                         const std::vector<std::vector<std::string>>& groups) {
  Diagnostics diagnostics;
  std::vector<bool> taken(before.graph.ops.size(), false);
  std::vector<FusionGroup> all;
  for (const std::vector<std::string>& names : groups)
    all.push_back(group_of(before.graph, names, taken, diagnostics));
  diagnostics.throw_if_any();
  const UnitMemory memory = unit_memory(machine.device);
  const OperatorGraph graph = before.graph;
  const BoundGraph bound = before.bound;
  const FusionRules rules(graph, bound, memory);
  return result_of(std::move(before), machine, rules, all);
}

namespace {

/// Operators with the same reason in one line.
std::vector<std::string> lines_alone(const OperatorGraph& graph, const FusionRules& rules) {
  constexpr std::size_t kMostNamed = 6;
  struct Reason {
    std::string why, names;
    std::size_t count = 0;
  };
  std::vector<Reason> reasons;
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    std::string why = rules.why_alone(static_cast<int>(i));
    if (why.empty()) continue;
    auto at = std::find_if(reasons.begin(), reasons.end(),
                           [&why](const Reason& r) { return r.why == why; });
    if (at == reasons.end()) at = reasons.insert(at, Reason{std::move(why), "", 0});
    if (++at->count <= kMostNamed)
      at->names += (at->count == 1 ? "\"" : ", \"") + graph.ops[i].name + "\"";
  }
  std::vector<std::string> lines;
  for (const Reason& r : reasons) {
    const std::string more =
        r.count > kMostNamed ? " and " + std::to_string(r.count - kMostNamed) + " more" : "";
    lines.push_back(r.names + more + (r.count > 1 ? ": each " : " ") + r.why);
  }
  return lines;
}

}  // namespace

FusionResult fuse_best(Evaluation before, const Machine& machine) {
  const UnitMemory memory = unit_memory(machine.device);
  const OperatorGraph graph = before.graph;
  const BoundGraph bound = before.bound;
  const FusionRules rules(graph, bound, memory);
  FusionPlan plan = search_fusions(before, machine, rules);
  plan.alone = lines_alone(graph, rules);
  FusionResult result = result_of(std::move(before), machine, rules, plan.groups);
  result.plan = std::move(plan);
  return result;
}

}  // namespace floorline
