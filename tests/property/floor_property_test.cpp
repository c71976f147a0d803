// SPDX-License-Identifier: Apache-2.0
// What must hold for every graph and device. Seeds are printed with a failure (CAPTURE).
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "tests/demand/one_op.hpp"
#include "tests/floor/test_machine.hpp"
#include "tests/property/random_graph.hpp"

using namespace floorline;
using namespace floorline::testing;

namespace {

constexpr int kSeeds = 300;
constexpr double kRounding = 1e-12;

struct Times {
  Seconds serial, critical_path, fused;
};
/// a ≤ b but for rounding.
bool at_most(Seconds a, Seconds b) {
  return a.in_base_units() <= b.in_base_units() * (1 + kRounding);
}
bool equal(Seconds a, Seconds b) { return at_most(a, b) && at_most(b, a); }

GraphFloors floors_of(const OperatorGraph& graph, const Rates& rates, const OnChip& chip) {
  const BoundGraph bound = bind(graph);
  GraphFloors floors;
  prepare(bound, floors);
  graph_floors(bound, rates, chip, floors);
  return floors;
}
GraphFloors floors_of(const OperatorGraph& graph, const Machine& machine) {
  return floors_of(graph, machine.rates, machine.chip);
}

OnChip random_chip(Dice& dice) {
  OnChip chip;
  chip.keep = Bytes(dice.real(0, 4e6));
  chip.units = Bytes(dice.real(0, 4e6));
  chip.all = chip.keep + chip.units;
  chip.keep_known = dice.chance(80);
  chip.all_known = chip.keep_known && dice.chance(80);
  return chip;
}

/// The round device with one rate key scaled, as by a what-if.
Machine scaled(const Machine& machine, const std::vector<std::string>& keys, double factor) {
  DeviceSpec device = machine.device;
  for (const std::string& key : keys) scale_device_key(device, key, factor);
  return machine_of(std::move(device), {});
}
const std::vector<std::string> kAllRates{"clock.sm.published",   "clock.sm.highest",
                                         "memory.hbm.bandwidth", "link.h2d.bandwidth",
                                         "link.d2h.bandwidth",   "link.peer.bandwidth"};

/// Copies ask their link for what their tensors hold, whatever is stated of their HBM bytes.
OperatorGraph without_copies(OperatorGraph graph) {
  for (Operator& op : graph.ops) {
    if (op.kind == OperatorKind::copy) op.kind = OperatorKind::custom;
  }
  return graph;
}

/// The operators in another order in which producers still come first.
OperatorGraph shuffled(const OperatorGraph& graph, Dice& dice) {
  std::vector<bool> made(graph.tensors.size(), true);
  for (const Operator& op : graph.ops) {
    for (const TensorId out : op.outputs) made[index(out)] = false;
  }
  OperatorGraph other = graph;
  other.ops.clear();
  std::vector<Operator> left = graph.ops;
  while (!left.empty()) {
    std::vector<std::size_t> ready;
    for (std::size_t i = 0; i < left.size(); ++i) {
      const auto& inputs = left[i].inputs;
      if (std::all_of(inputs.begin(), inputs.end(), [&](TensorId t) { return made[index(t)]; })) {
        ready.push_back(i);
      }
    }
    const std::size_t next =
        ready[static_cast<std::size_t>(dice.whole(0, static_cast<int>(ready.size()) - 1))];
    for (const TensorId out : left[next].outputs) made[index(out)] = true;
    other.ops.push_back(left[next]);
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(next));
  }
  return other;
}

std::string random_op_text(Dice& dice) {
  const auto size = [&dice](int high) { return std::to_string(dice.whole(1, high)); };
  const std::array<const char*, 4> dtypes{"bf16", "fp32", "fp8", "int4"};
  const std::string in = std::string(" in=") + dtypes[static_cast<std::size_t>(dice.whole(0, 3))];
  const std::string rows = " rows=" + size(3000) + " cols=" + size(3000) + in + " compute=fp32";
  switch (dice.whole(0, 7)) {
    case 0:
      return "gemm m=" + size(3000) + " n=" + size(3000) + " k=" + size(3000) + in +
             " compute=bf16";
    case 1:
      return "elementwise n=" + size(3000000) + " reads=" + size(3) + in + " compute=fp32";
    case 2:
      return "reduce" + rows;
    case 3:
      return "softmax" + rows;
    case 4:
      return "layernorm" + rows;
    case 5:
      return "rmsnorm" + rows;
    case 6: {
      const int q = dice.whole(1, 300);
      return "attention batch=" + size(4) +
             " q_heads=8 kv_heads=2 head_dim=64 compute=bf16 q_len=" + std::to_string(q) +
             " kv_len=" + std::to_string(q + dice.whole(0, 3000)) +
             " window=" + std::to_string(dice.whole(0, 2000));
    }
    default:
      return "copy bytes=" + size(3000) + "kB path=" + (dice.chance(50) ? "h2d" : "d2d");
  }
}

}  // namespace

TEST_SUITE("property") {
  TEST_CASE("fused <= critical path <= serial, cold and at any residency; cold >= any residency") {
    const Machine machine = round_machine();
    for (int seed = 0; seed < kSeeds; ++seed) {
      CAPTURE(seed);
      Dice dice(static_cast<std::uint64_t>(seed));
      const OperatorGraph graph = random_graph(dice, true);
      const GraphFloors f = floors_of(graph, machine.rates, random_chip(dice));
      CHECK(at_most(f.fused.cold, f.critical_path.cold));
      CHECK(at_most(f.critical_path.cold, f.serial.cold));
      CHECK(at_most(f.fused.any, f.critical_path.any));
      CHECK(at_most(f.critical_path.any, f.serial.any));
      CHECK(at_most(f.fused.any, f.fused.cold));
      CHECK(at_most(f.critical_path.any, f.critical_path.cold));
      CHECK(at_most(f.serial.any, f.serial.cold));
      for (const OperatorFloors& op : f.ops) {
        CHECK(at_most(op.any.time(), op.cold.time()));
        CHECK(at_most(op.any_overlapped, op.any.time()));
        CHECK(at_most(op.cold.time() * std::min(op.times, 1.0), f.critical_path.cold));
      }
    }
  }

  TEST_CASE("the limits of an operator are the longest of the terms that its floors list") {
    const Machine machine = round_machine();
    const auto is_longest_of = [](const Limit& limit, const Floor& floor) {
      CHECK(limit.none() == (floor.binding < 0));
      CHECK(limit.time() == floor.time());
      CHECK(limit.proven() == floor.proven);
      if (limit.none() || floor.binding < 0) return;
      CHECK(limit.resource() == floor.binding_term().resource);
      CHECK(limit.amount == floor.binding_term().amount);
      CHECK(limit.rate == floor.binding_term().rate);
    };
    for (int seed = 0; seed < kSeeds; ++seed) {
      CAPTURE(seed);
      Dice dice(static_cast<std::uint64_t>(seed));
      const OperatorGraph graph = random_graph(dice, true);
      const OnChip chip = random_chip(dice);
      const GraphFloors f = floors_of(graph, machine.rates, chip);
      for (const OperatorFloors& op : f.ops) {
        const auto floor = [&](Residency r) { return floor_of(op.demand, machine.rates, chip, r); };
        is_longest_of(op.cold, floor(Residency::cold));
        is_longest_of(op.any, floor(Residency::any_keep));
        CHECK(equal(op.any_overlapped, floor(Residency::any_all).time()));
        CHECK(op.memory_unknown == floor(Residency::any_keep).memory_unknown);
      }
    }
  }

  TEST_CASE("the longest operator and the serial sum hold every operator's floor") {
    const Machine machine = round_machine();
    for (int seed = 0; seed < kSeeds; ++seed) {
      CAPTURE(seed);
      Dice dice(static_cast<std::uint64_t>(seed));
      const GraphFloors f = floors_of(random_graph(dice, true), machine);
      Seconds sum(0);
      for (const OperatorFloors& op : f.ops) sum += op.cold.time() * op.times;
      CHECK(equal(sum, f.serial.cold));
      double shares = 0;
      for (const Share& share : serial_shares(f)) shares += share.fraction;
      const bool any_work = f.serial.cold > Seconds(0);
      CHECK(shares == doctest::Approx(any_work ? 1.0 : 0.0).epsilon(1e-9));
    }
  }

  TEST_CASE("all rates times s: every time divided by s, nothing else changes") {
    const Machine machine = round_machine();
    for (int seed = 0; seed < kSeeds; ++seed) {
      CAPTURE(seed);
      Dice dice(static_cast<std::uint64_t>(seed));
      const OperatorGraph graph = random_graph(dice, true);
      const double s = dice.real(0.1, 10);
      const GraphFloors before = floors_of(graph, machine);
      const GraphFloors after = floors_of(graph, scaled(machine, kAllRates, s));
      CHECK(equal(after.serial.cold * s, before.serial.cold));
      CHECK(equal(after.serial.any * s, before.serial.any));
      CHECK(equal(after.critical_path.cold * s, before.critical_path.cold));
      CHECK(equal(after.critical_path.any * s, before.critical_path.any));
      CHECK(equal(after.fused.cold * s, before.fused.cold));
      CHECK(equal(after.fused.any * s, before.fused.any));
      CHECK(after.serial_binding == before.serial_binding);
      CHECK(after.fused_binding == before.fused_binding);
    }
  }

  TEST_CASE("all work and all bytes times s: every cold time times s") {
    const Machine machine = round_machine();
    for (int seed = 0; seed < kSeeds; ++seed) {
      CAPTURE(seed);
      Dice dice(static_cast<std::uint64_t>(seed));
      const OperatorGraph graph = without_copies(random_graph(dice, true));
      const double s = dice.real(0.1, 10);
      OperatorGraph larger = graph;
      for (Operator& op : larger.ops) op.work_scale = op.traffic_scale = s;
      const GraphFloors before = floors_of(graph, machine);
      const GraphFloors after = floors_of(larger, machine);
      CHECK(equal(after.serial.cold, before.serial.cold * s));
      CHECK(equal(after.critical_path.cold, before.critical_path.cold * s));
      CHECK(equal(after.fused.cold, before.fused.cold * s));
      CHECK(after.fused_binding == before.fused_binding);
    }
  }

  TEST_CASE("no floor falls when one operator's F or D grows") {
    const Machine machine = round_machine();
    for (int seed = 0; seed < kSeeds; ++seed) {
      CAPTURE(seed);
      Dice dice(static_cast<std::uint64_t>(seed));
      OperatorGraph graph = random_graph(dice, true);
      const GraphFloors before = floors_of(graph, machine);
      Operator& op =
          graph
              .ops[static_cast<std::size_t>(dice.whole(0, static_cast<int>(graph.ops.size()) - 1))];
      (dice.chance(50) ? op.work_scale : op.traffic_scale) = dice.real(1, 20);
      const GraphFloors after = floors_of(graph, machine);
      CHECK(at_most(before.serial.cold, after.serial.cold));
      CHECK(at_most(before.serial.any, after.serial.any));
      CHECK(at_most(before.critical_path.cold, after.critical_path.cold));
      CHECK(at_most(before.critical_path.any, after.critical_path.any));
      CHECK(at_most(before.fused.cold, after.fused.cold));
      CHECK(at_most(before.fused.any, after.fused.any));
    }
  }

  TEST_CASE("no floor rises when a rate grows, nor when caches do") {
    const Machine machine = round_machine();
    for (int seed = 0; seed < kSeeds; ++seed) {
      CAPTURE(seed);
      Dice dice(static_cast<std::uint64_t>(seed));
      const OperatorGraph graph = random_graph(dice, true);
      const GraphFloors before = floors_of(graph, machine);
      std::vector<Machine> others;
      for (const std::string& key : kAllRates) others.push_back(scaled(machine, {key}, 3));
      others.push_back(scaled(machine, {"memory.l2.capacity"}, 3));
      others.push_back(scaled(machine, {"memory.registers.capacity_per_unit"}, 3));
      others.push_back(scaled(machine, {"rate.tensor.bf16.fp32"}, 3));
      for (const Machine& other : others) {
        const GraphFloors after = floors_of(graph, other);
        CHECK(at_most(after.serial.cold, before.serial.cold));
        CHECK(at_most(after.serial.any, before.serial.any));
        CHECK(at_most(after.critical_path.cold, before.critical_path.cold));
        CHECK(at_most(after.critical_path.any, before.critical_path.any));
        CHECK(at_most(after.fused.cold, before.fused.cold));
        CHECK(at_most(after.fused.any, before.fused.any));
      }
    }
  }

  TEST_CASE("the order of independent operators does not matter") {
    const Machine machine = round_machine();
    for (int seed = 0; seed < kSeeds; ++seed) {
      CAPTURE(seed);
      Dice dice(static_cast<std::uint64_t>(seed));
      const OperatorGraph graph = random_graph(dice, false);
      const GraphFloors one = floors_of(graph, machine);
      const GraphFloors two = floors_of(shuffled(graph, dice), machine);
      CHECK(equal(one.serial.cold, two.serial.cold));
      CHECK(equal(one.serial.any, two.serial.any));
      CHECK(equal(one.critical_path.cold, two.critical_path.cold));
      CHECK(equal(one.critical_path.any, two.critical_path.any));
      CHECK(equal(one.fused.cold, two.fused.cold));
      CHECK(equal(one.fused.any, two.fused.any));
    }
  }

  TEST_CASE(
      "one operator of any kind: cold >= any residency >= overlapping; terms are the maximum") {
    const Machine machine = machine_of(load_device("devices/h100_sxm.toml", {}), {});
    for (int seed = 0; seed < kSeeds; ++seed) {
      Dice dice(static_cast<std::uint64_t>(seed));
      const std::string text = random_op_text(dice);
      CAPTURE(seed);
      CAPTURE(text);
      const Demand d = demand_of_op(text, machine.chip);
      CHECK(missing_rates(d, machine.rates).count == 0);
      const Floor cold = floor_of(d, machine.rates, machine.chip, Residency::cold);
      const Floor keep = floor_of(d, machine.rates, machine.chip, Residency::any_keep);
      const Floor all = floor_of(d, machine.rates, machine.chip, Residency::any_all);
      CHECK(at_most(keep.time(), cold.time()));
      CHECK(at_most(all.time(), keep.time()));
      REQUIRE(cold.binding >= 0);
      for (const Term& term : cold.list()) {
        CHECK(at_most(term.time, cold.time()));
        if (term.nominal_time()) CHECK(at_most(term.time, *term.nominal_time()));
      }
      const std::optional<BreakEven> even = cold.break_even();
      if (even) CHECK((even->factor > 0 && even->factor <= 1 + kRounding));
    }
  }
}
