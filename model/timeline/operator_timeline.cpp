// SPDX-License-Identifier: Apache-2.0
#include "model/timeline/operator_timeline.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "model/input/diagnostic.hpp"
#include "model/quantity/unit_names.hpp"

namespace floorline {

namespace {

enum class Lane : std::uint8_t { compute, comm, h2d, d2h, host };
constexpr std::size_t kLanes = 5;

Lane lane_of(const BoundOperator& op) {
  switch (op.kind) {
    case OperatorKind::all_reduce:
    case OperatorKind::all_gather:
    case OperatorKind::reduce_scatter:
    case OperatorKind::all_to_all:
    case OperatorKind::broadcast:
    case OperatorKind::send_recv:
    case OperatorKind::dispatch:
    case OperatorKind::combine:
      return Lane::comm;
    case OperatorKind::copy:
      if (op.path == CopyPath::h2d) return Lane::h2d;
      return op.path == CopyPath::d2h ? Lane::d2h : Lane::compute;
    case OperatorKind::host:
      return Lane::host;
    default:
      return Lane::compute;
  }
}

Pool pool_of(Lane lane) {
  switch (lane) {
    case Lane::compute:
      return {.name = "compute", .kind = PoolKind::gpu};
    case Lane::comm:
      return {.name = "comm", .kind = PoolKind::link};
    case Lane::h2d:
      return {.name = "h2d", .kind = PoolKind::h2d};
    case Lane::d2h:
      return {.name = "d2h", .kind = PoolKind::d2h};
    case Lane::host:
      return {.name = "host", .kind = PoolKind::host};
  }
  return {};
}

void check_size(const OperatorGraph& graph, const BoundGraph& bound) {
  double all = 0;
  for (const BoundOperator& op : bound.ops) all += op.times;
  if (all <= kMostUnrolledOperators) return;
  throw InputError(Diagnostic{graph.ops.empty() ? Position{} : graph.ops.front().at, "",
                              "unrolls to " + number_text(all) +
                                  " operators; a timeline takes at most " +
                                  number_text(kMostUnrolledOperators, 6) +
                                  ": ask for fewer layers, a shorter output or larger chunks"});
}

class Unroller {
 public:
  Unroller(const OperatorGraph& graph, const BoundGraph& bound, const GraphFloors& floors,
           OperatorDuration duration)
      : graph_(graph),
        bound_(bound),
        floors_(floors),
        duration_(duration),
        maker_(bound.tensors.size()) {}

  Pipeline pipeline() {
    out_.name = graph_.name;
    for (std::size_t i = 0; i < bound_.ops.size();) {
      const int r = bound_.ops[i].repeat;
      if (r < 0) {
        add(i, "");
        ++i;
      } else {
        const BoundRepeat& repeat = bound_.repeats[static_cast<std::size_t>(r)];
        unroll(repeat);
        i = static_cast<std::size_t>(repeat.first_op + repeat.op_count);
      }
    }
    return std::move(out_);
  }

 private:
  void unroll(const BoundRepeat& repeat) {
    if (repeat.times < 1) return pass_through(repeat);
    const auto times = static_cast<std::int64_t>(repeat.times);
    for (std::int64_t n = 0; n < times; ++n) {
      if (n > 0) carry(repeat);
      const std::string suffix = " [" + std::to_string(n) + "]";
      for (int k = 0; k < repeat.op_count; ++k)
        add(static_cast<std::size_t>(repeat.first_op + k), suffix);
    }
  }

  [[nodiscard]] std::span<const BoundCarry> carries(const BoundRepeat& repeat) const {
    return {bound_.carries.data() + repeat.first_carry,
            static_cast<std::size_t>(repeat.carry_count)};
  }

  /// What the last iteration made is what this one reads.
  void carry(const BoundRepeat& repeat) {
    std::vector<std::optional<StageId>> made;
    for (const BoundCarry& c : carries(repeat))
      made.push_back(maker_[static_cast<std::size_t>(c.made)]);
    std::size_t next = 0;
    for (const BoundCarry& c : carries(repeat))
      maker_[static_cast<std::size_t>(c.read)] = made[next++];
  }

  /// No iteration: what would be made is what would be read.
  void pass_through(const BoundRepeat& repeat) {
    for (const BoundCarry& c : carries(repeat))
      maker_[static_cast<std::size_t>(c.made)] = maker_[static_cast<std::size_t>(c.read)];
  }

  PoolId pool(Lane lane) {
    std::optional<PoolId>& known = pools_[static_cast<std::size_t>(lane)];
    if (!known) known = out_.add(pool_of(lane));
    return *known;
  }

  void add(std::size_t i, const std::string& suffix) {
    const BoundOperator& op = bound_.ops[i];
    const OperatorFloors& floors = floors_.ops[i];
    const Limit& floor = duration_ == OperatorDuration::cold ? floors.cold : floors.any;
    const Lane lane = lane_of(op);
    Stage stage{.name = graph_.ops[i].name + suffix,
                .pool = pool(lane),
                .time = {floor.time(), {}},
                .group = graph_.ops[i].name,
                .collective = lane == Lane::comm};
    for (const TensorUse& use : bound_.inputs(op)) depend(stage, bound_.storage(use.tensor));
    const StageId id = out_.add(std::move(stage));
    for (const TensorUse& use : bound_.outputs(op)) maker_[bound_.storage(use.tensor)] = id;
  }

  void depend(Stage& stage, std::size_t tensor) const {
    if (!maker_[tensor]) return;
    const StageId maker = *maker_[tensor];
    const auto same = [maker](const Dependency& d) { return d.stage == maker; };
    if (std::none_of(stage.after.begin(), stage.after.end(), same)) stage.after.push_back({maker});
  }

  const OperatorGraph& graph_;
  const BoundGraph& bound_;
  const GraphFloors& floors_;
  OperatorDuration duration_;
  std::vector<std::optional<StageId>> maker_;  ///< by tensor
  std::array<std::optional<PoolId>, kLanes> pools_{};
  Pipeline out_;
};

}  // namespace

Pipeline operator_pipeline(const OperatorGraph& graph, const BoundGraph& bound,
                           const GraphFloors& floors, OperatorDuration duration) {
  check_size(graph, bound);
  return Unroller(graph, bound, floors, duration).pipeline();
}

}  // namespace floorline
