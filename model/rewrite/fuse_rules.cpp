// SPDX-License-Identifier: Apache-2.0
#include "model/rewrite/fuse_rules.hpp"

#include <algorithm>
#include <array>

#include "model/quantity/unit_names.hpp"
#include "model/rewrite/fuse_check.hpp"

namespace floorline {

namespace {

constexpr std::array<std::string_view, 7> kRuleNames{
    "kind", "stated_bytes", "repeat", "connected", "convex", "grid", "capacity"};

void add_level(const LevelSpec& level, UnitMemory& memory) {
  const MaybeSourced<Bytes>& per_unit =
      level.usable_per_unit ? level.usable_per_unit : level.capacity_per_unit;
  if (!per_unit) return;
  memory.bytes += per_unit->upper();
  memory.known = true;
}

std::string kind_reason(const Operator& op) {
  switch (op.kind) {
    case OperatorKind::host:
      return "runs on the host";
    case OperatorKind::copy:
      return "is a copy, which engines of its own may do";
    case OperatorKind::all_reduce:
    case OperatorKind::all_gather:
    case OperatorKind::reduce_scatter:
    case OperatorKind::all_to_all:
    case OperatorKind::broadcast:
    case OperatorKind::send_recv:
    case OperatorKind::dispatch:
    case OperatorKind::combine:
      return "waits for other devices";
    case OperatorKind::custom:
      return "is custom: which element depends on which is not known (the parts of a masked "
             "attention by --op: form=fused is the one kernel; causal=0 has parts that are known)";
    default:
      return "is " + std::string(name_of(op.kind)) + ", which fusion does not understand";
  }
}

constexpr std::string_view kStatedReason =
    "has its bytes stated or scaled by hand; which of them vanish is not known";

std::string need_text(const OperatorGraph& graph, const OnChipNeed& need) {
  const std::string name = "\"" + graph.tensors[static_cast<std::size_t>(need.tensor)].name + "\"";
  const std::string size = count_text(need.rows) + " x " + count_text(need.columns);
  switch (need.what) {
    case OnChipNeed::What::rows:
      return size + " of " + name + " (rows that are read again), " + to_text(need.bytes);
    case OnChipNeed::What::factor_rows:
      return size + " of " + name + " (rows of the first factor), " + to_text(need.bytes);
    case OnChipNeed::What::columns:
      return size + " of " + name + " (part of the second factor), " + to_text(need.bytes);
    case OnChipNeed::What::sums:
      return size + " sums of " + name + ", " + to_text(need.bytes);
  }
  return {};
}

/// Its tensors are parts of others, which a group would have to follow: chunks of a group are left
/// as they are.
bool works_on_rows(const BoundGraph& bound, const BoundOperator& op) {
  const auto is_rows = [&bound](const TensorUse& use) {
    return bound.tensors[static_cast<std::size_t>(use.tensor)].rows_of >= 0;
  };
  const auto in = bound.inputs(op);
  const auto out = bound.outputs(op);
  return bound.has_rows && (std::any_of(in.begin(), in.end(), is_rows) ||
                            std::any_of(out.begin(), out.end(), is_rows));
}

Bytes total(const std::vector<OnChipNeed>& needs) {
  Bytes sum(0);
  for (const OnChipNeed& need : needs) sum += need.bytes;
  return sum;
}

}  // namespace

std::string_view name_of(FusionRule rule) { return kRuleNames[static_cast<std::size_t>(rule)]; }

UnitMemory unit_memory(const DeviceSpec& device) {
  UnitMemory memory;
  memory.device = device.name;
  add_level(device.shared, memory);
  add_level(device.registers, memory);
  add_level(device.tensor_memory, memory);
  return memory;
}

/// The rules that look at the graph around the group.
class FusionRules::Check {
 public:
  Check(const FusionRules& rules, std::span<const OperatorId> group, GroupCheck::Refuse refuse)
      : rules_(rules),
        graph_(rules.graph_),
        group_(group),
        refuse_(std::move(refuse)),
        inside_(graph_.ops.size(), false) {
    for (const OperatorId op : group) inside_[index(op)] = true;
  }

  bool around() {
    bool fine = kinds() && stated();
    if (!fine) return false;
    fine = same_block();
    fine = (fine || refuse_) && connected() && fine;
    return (fine || refuse_) && convex() && fine;
  }

  bool run() {
    bool fine = around();
    if (!fine) return false;
    const GroupCheck check(graph_, rules_.bound_, group_);
    fine = check.grid(refuse_);
    return (fine || refuse_) && capacity(check) && fine;
  }

  bool capacity(const GroupCheck& check) {
    const std::vector<OnChipNeed> needs = check.needs();
    const Bytes sum = total(needs);
    if (!(sum > Bytes(0))) return true;
    if (!rules_.memory_.known) {
      return refuse(FusionRule::capacity, [&] {
        return "one SM has to keep " + to_text(sum) + ", and device " + rules_.memory_.device +
               " does not state memory.shared.capacity_per_unit or "
               "memory.registers.capacity_per_unit";
      });
    }
    if (sum <= rules_.memory_.bytes) return true;
    return refuse(FusionRule::capacity, [&] {
      std::string text = "one SM has to keep " + to_text(sum) + " and has " +
                         to_text(rules_.memory_.bytes) + " (shared memory and registers of " +
                         rules_.memory_.device + "): ";
      for (std::size_t i = 0; i < needs.size(); ++i)
        text += (i == 0 ? "" : "; ") + need_text(graph_, needs[i]);
      return text + alternative(needs);
    });
  }

 private:
  bool refuse(FusionRule rule, const std::function<std::string()>& why) {
    if (refuse_) refuse_(rule, why);
    return false;
  }
  [[nodiscard]] std::string named(std::size_t op) const {
    return "\"" + graph_.ops[op].name + "\"";
  }

  bool kinds() {
    bool fine = true;
    for (const OperatorId op : group_) {
      if (works_on_rows(rules_.bound_, rules_.bound_.ops[index(op)])) {
        fine = refuse(FusionRule::kind,
                      [&] { return named(index(op)) + " works on rows of a tensor already"; });
      }
      const BoundOperator& b = rules_.bound_.ops[index(op)];
      if (role_of(rules_.bound_, b) != MemberRole::other) continue;
      fine = refuse(FusionRule::kind,
                    [&] { return named(index(op)) + " " + kind_reason(graph_.ops[index(op)]); });
    }
    return fine;
  }

  bool stated() {
    bool fine = true;
    for (const OperatorId id : group_) {
      const Operator& op = graph_.ops[index(id)];
      if (!op.stated_traffic && op.traffic_scale == 1) continue;
      fine = refuse(FusionRule::stated_bytes,
                    [&] { return named(index(id)) + " " + std::string(kStatedReason); });
    }
    return fine;
  }

  bool same_block() {
    const std::vector<BoundOperator>& ops = rules_.bound_.ops;
    const int block = ops[index(group_.front())].repeat;
    for (const OperatorId op : group_) {
      if (ops[index(op)].repeat == block) continue;
      return refuse(FusionRule::repeat, [&] {
        return named(index(group_.front())) + " and " + named(index(op)) +
               " do not run equally often: one repeat block, or outside all of them";
      });
    }
    if (block >= 0) return true;
    for (std::size_t i = index(group_.front()); i < index(group_.back()); ++i) {
      if (ops[i].repeat < 0) continue;
      return refuse(FusionRule::repeat, [&] {
        return "the repeat block of " + named(i) + " stands between the members";
      });
    }
    return true;
  }

  bool connected() {
    std::vector<std::size_t> open{index(group_.front())};
    std::vector<bool> reached(graph_.ops.size(), false);
    reached[open.front()] = true;
    while (!open.empty()) {
      const std::size_t op = open.back();
      open.pop_back();
      for (const OperatorId other : group_) {
        const std::size_t o = index(other);
        if (!reached[o] && (reads(o, op) || reads(op, o))) {
          reached[o] = true;
          open.push_back(o);
        }
      }
    }
    bool fine = true;
    for (const OperatorId op : group_) {
      if (reached[index(op)]) continue;
      fine = refuse(FusionRule::connected, [&] {
        return named(index(op)) +
               " neither makes nor reads anything of the others; kernels side by "
               "side that only share an input are not modelled";
      });
    }
    return fine;
  }

  [[nodiscard]] bool reads(std::size_t reader, std::size_t maker) const {
    const std::vector<int>& all = rules_.readers_[maker];
    return std::find(all.begin(), all.end(), static_cast<int>(reader)) != all.end();
  }

  /// Operators outside that depend on a member and that a member depends on.
  bool convex() {
    std::vector<int> through(graph_.ops.size(), -1);  // the outside operator a path went through
    bool fine = true;
    for (std::size_t i = index(group_.front()); i <= index(group_.back()); ++i) {
      for (const int reader : rules_.readers_[i]) {
        const auto r = static_cast<std::size_t>(reader);
        const int via = inside_[i] ? (inside_[r] ? -1 : reader) : through[i];
        if (via < 0) continue;
        if (!inside_[r]) {
          through[r] = via;
        } else if (!inside_[i]) {
          fine = refuse(FusionRule::convex, [&] {
            return "a path leaves the group through " + named(static_cast<std::size_t>(via)) +
                   " and comes back to " + named(r) + ": it would have to run in the middle";
          });
        }
      }
      if (!fine && !refuse_) return false;
    }
    return fine;
  }

  /// What reading or computing a row twice would cost instead.
  [[nodiscard]] std::string alternative(const std::vector<OnChipNeed>& needs) const {
    for (const OnChipNeed& need : needs) {
      if (need.what != OnChipNeed::What::rows) continue;
      const BoundTensor& t = rules_.bound_.tensors[static_cast<std::size_t>(need.tensor)];
      const std::string name =
          "\"" + graph_.tensors[static_cast<std::size_t>(need.tensor)].name + "\"";
      if (t.producer < 0 || !inside_[static_cast<std::size_t>(t.producer)])
        return ". A second pass would read " + name + " again: " + to_text(t.bytes);
      const BoundOperator& maker = rules_.bound_.ops[static_cast<std::size_t>(t.producer)];
      if (maker.kind != OperatorKind::gemm)
        return ". A second pass would compute " + name + " again";
      const auto first = static_cast<std::size_t>(rules_.bound_.inputs(maker)[0].tensor);
      const Flops again(2 * t.elements * rules_.bound_.tensors[first].last_dim);
      return ". A second pass would compute " + name + " again: " + to_text(again) +
             ". By chunks of rows (--chunk ROWS) work stays as it is, what has no rows is read "
             "once a "
             "chunk, and only the memory is divided";
    }
    return {};
  }

  const FusionRules& rules_;
  const OperatorGraph& graph_;
  std::span<const OperatorId> group_;
  GroupCheck::Refuse refuse_;
  std::vector<bool> inside_;
};

FusionRules::FusionRules(const OperatorGraph& graph, const BoundGraph& bound,
                         const UnitMemory& memory)
    : graph_(graph), bound_(bound), memory_(memory), readers_(graph.ops.size()) {
  std::vector<int> writer(bound.tensors.size(), -1);  // the last so far, of each place in memory
  for (std::size_t i = 0; i < bound.ops.size(); ++i) {
    const auto follows = [&](const TensorUse& use) {
      const int maker = writer[bound.storage(use.tensor)];
      if (maker < 0) return;  // carried: the iteration before
      std::vector<int>& readers = readers_[static_cast<std::size_t>(maker)];
      if (readers.empty() || readers.back() != static_cast<int>(i))
        readers.push_back(static_cast<int>(i));
    };
    for (const TensorUse& use : bound.inputs(bound.ops[i])) follows(use);
    for (const TensorUse& use : bound.outputs(bound.ops[i])) follows(use);  // rows after rows
    for (const TensorUse& use : bound.outputs(bound.ops[i]))
      writer[bound.storage(use.tensor)] = static_cast<int>(i);
    const bool same = i > 0 && bound.ops[i].repeat == bound.ops[i - 1].repeat;
    segment_.push_back(i == 0 ? 0 : segment_.back() + (same ? 0 : 1));
  }
}

std::vector<FusionRefusal> FusionRules::refusals(std::span<const OperatorId> group) const {
  std::vector<FusionRefusal> all;
  Check(*this, group, [&all](FusionRule rule, const std::function<std::string()>& why) {
    all.push_back({rule, why()});
  }).run();
  return all;
}

std::vector<FusionRefusal> FusionRules::refusals_in_order(std::span<const OperatorId> group) const {
  std::vector<FusionRefusal> all;
  Check(*this, group, [&all](FusionRule rule, const std::function<std::string()>& why) {
    all.push_back({rule, why()});
  }).around();
  return all;
}

bool FusionRules::legal(std::span<const OperatorId> group) const {
  return group.size() < 2 || Check(*this, group, {}).run();
}

bool FusionRules::fits(std::span<const OperatorId> group) const {
  const GroupCheck check(graph_, bound_, group);
  return check.grid({}) && Check(*this, group, {}).capacity(check);
}

bool FusionRules::may_join(int op) const {
  const Operator& written = graph_.ops[static_cast<std::size_t>(op)];
  const BoundOperator& b = bound_.ops[static_cast<std::size_t>(op)];
  return role_of(bound_, b) != MemberRole::other && !works_on_rows(bound_, b) &&
         !written.stated_traffic && written.traffic_scale == 1;
}

std::string FusionRules::why_alone(int op) const {
  if (may_join(op)) return {};
  const auto i = static_cast<std::size_t>(op);
  const bool other = role_of(bound_, bound_.ops[i]) == MemberRole::other;
  return other ? kind_reason(graph_.ops[i]) : std::string(kStatedReason);
}

std::vector<OnChipNeed> FusionRules::needs(std::span<const OperatorId> group) const {
  return GroupCheck(graph_, bound_, group).needs();
}

std::vector<std::string> FusionRules::on_chip_lines(std::span<const OperatorId> group) const {
  std::vector<std::string> lines;
  const std::vector<OnChipNeed> needs = GroupCheck(graph_, bound_, group).needs();
  for (const OnChipNeed& need : needs) lines.push_back("one SM keeps " + need_text(graph_, need));
  if (!needs.empty() && memory_.known) {
    lines.push_back("of " + to_text(memory_.bytes) + " in shared memory and registers, " +
                    to_text(total(needs)) + " are taken");
  }
  return lines;
}

std::vector<std::string> FusionRules::conditions(std::span<const OperatorId> group) const {
  std::vector<std::string> lines;
  const GroupCheck check(graph_, bound_, group);
  for (const OperatorId id : group) {
    const BoundOperator& op = bound_.ops[index(id)];
    const MemberRole role = role_of(bound_, op);
    if (role != MemberRole::product && role != MemberRole::attention) continue;
    for (const TensorUse& use : bound_.inputs(op)) {
      if (!check.made_inside(use.tensor) || use.again) continue;
      const int maker = bound_.tensors[static_cast<std::size_t>(use.tensor)].producer;
      if (bound_.ops[static_cast<std::size_t>(maker)].kind == OperatorKind::softmax) continue;
      std::string line = "\"" + graph_.ops[static_cast<std::size_t>(maker)].name +
                         "\" is computed again by every SM that reads its rows for \"" +
                         graph_.ops[index(id)].name + "\" (counted once)";
      if (lines.empty() || lines.back() != line) lines.push_back(std::move(line));
    }
  }
  for (const TensorId t : border_of(graph_, group).outputs) {
    const bool between = graph_.tensors[index(t)].role == TensorRole::intermediate;
    const bool read_inside = std::any_of(group.begin(), group.end(), [&](OperatorId op) {
      const std::vector<TensorId>& in = graph_.ops[index(op)].inputs;
      return std::find(in.begin(), in.end(), t) != in.end();
    });
    if (between && read_inside) {
      lines.push_back("\"" + graph_.tensors[index(t)].name +
                      "\" is written all the same: others read it too");
    }
  }
  return lines;
}

std::vector<std::string> fused_on_chip(const OperatorGraph& graph, const UnitMemory& memory) {
  std::vector<std::string> lines;
  const SplitGraph split = split_graph(graph);
  if (split.groups.empty()) return lines;
  const BoundGraph bound = bind(split.graph);
  const FusionRules rules(split.graph, bound, memory);
  for (std::size_t i = 0; i < split.groups.size(); ++i) {
    const std::string& name = split.names[i];
    const Bytes sum = total(rules.needs(split.groups[i]));
    for (const std::string& line : rules.on_chip_lines(split.groups[i]))
      lines.push_back("if " + name + " is one kernel: " + line);
    if (!memory.known || sum <= memory.bytes) continue;
    lines.push_back("DOES NOT FIT ON CHIP: " + name + " as one kernel would have to keep " +
                    to_text(sum) + " in one SM, which has " + to_text(memory.bytes) +
                    " of shared memory and registers; its floors count a kernel that cannot run");
  }
  return lines;
}

}  // namespace floorline
