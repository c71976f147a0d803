// SPDX-License-Identifier: Apache-2.0
#include "model/report/explain.hpp"

#include <set>

#include "model/device/device_text.hpp"
#include "model/quantity/unit_names.hpp"
#include "model/report/resource_words.hpp"

namespace floorline {

namespace {

std::string position_text(const Position& at) {
  if (!at.file) return "no file";
  std::string text = *at.file;
  if (at.line > 0) text += ":" + std::to_string(at.line) + ":" + std::to_string(at.column);
  return text;
}

/// "units = 132 [datasheet, gh100-whitepaper, devices/h100_sxm.toml:6:9]"; the fast end when it
/// differs.
template <class Q>
std::string number_line(const std::string& key, const MaybeSourced<Q>& member) {
  if (!member.known) return key + ": " + number_to_text(member);
  const Sourced<Q>& s = *member.known;
  std::string text = key + " = " + plain_text(s.value);
  if (s.upper() != s.value) text += " (fast end " + plain_text(s.upper()) + ")";
  text += " [" + std::string(name_of(s.from.origin));
  if (!s.from.source.empty()) text += ", " + s.from.source;
  return text + ", " + position_text(s.from.at) + "]";
}

const ClockSpec* clock_of(const DeviceSpec& device, const std::string& name) {
  for (const ClockSpec& clock : device.clocks) {
    if (clock.name == name) return &clock;
  }
  return nullptr;
}

class RateLines {
 public:
  RateLines(const Machine& machine, std::vector<std::string>& lines)
      : machine_(machine), device_(machine.device), lines_(lines) {}

  void add(ResourceId id, const Rate& rate) {
    if (!done_.insert(name_of(id)).second) return;
    const AmountPerSecond used = rate.has_ceiling ? rate.ceiling : rate.nominal;
    lines_.push_back("rate of " + name_of(id) + " = " + rate_text(id, used) + " = " +
                     exact_text(used.in_base_units()) + " per second" +
                     (*rate.how != '\0' ? std::string(" (") + rate.how + ")" : ""));
    for (const RateSpec& spec : device_.rates) {
      if (spec.id == id) compute_rate(spec);
    }
    if (rate.pooled) pooled_rate(id, rate);
    if (!rate.pooled && *rate.how != '\0')
      lines_.push_back(std::string("    over its products: ") + rate.how);
    if (id.unit == Unit::hbm) line("memory.hbm.bandwidth", device_.hbm.bandwidth);
    if (id.unit == Unit::hbm && machine_.clocks.memory_scale != 1) {
      lines_.push_back("    x memory clock scale " + exact_text(machine_.clocks.memory_scale));
    }
    if (id.unit == Unit::l1_port) level("memory.l1_port", device_.l1_port);
    if (id.unit == Unit::shared) level("memory.shared", device_.shared);
    if (id.unit == Unit::peer_out || id.unit == Unit::peer_in)
      line("link.peer.bandwidth", device_.peer.bandwidth);
    if (id.unit == Unit::net_out || id.unit == Unit::net_in)
      line("link.network.bandwidth", device_.network.bandwidth);
    if (id.unit == Unit::h2d) line("link.h2d.bandwidth", device_.h2d.bandwidth);
    if (id.unit == Unit::d2h) line("link.d2h.bandwidth", device_.d2h.bandwidth);
  }

 private:
  template <class Q>
  void line(const std::string& key, const MaybeSourced<Q>& member) {
    lines_.push_back("    " + number_line(key, member));
  }
  void clock(const std::string& name) {
    if (machine_.clocks.sm_clock) {
      lines_.push_back("    x clock " + to_text(*machine_.clocks.sm_clock) + " [--sm-clock]");
      return;
    }
    if (const ClockSpec* spec = clock_of(device_, name)) {
      line("x clock." + name + ".highest", spec->highest);
      line("nominal: clock." + name + ".published", spec->published);
    }
  }
  void compute_rate(const RateSpec& spec) {
    const std::string key = "rate." + spec.key;
    if (spec.rate) line(key + ".rate", spec.rate);
    if (spec.per_clock_per_unit && !spec.rate) {
      line(key + ".per_clock_per_unit", spec.per_clock_per_unit);
      line("x units", device_.units);
      if (spec.packing) line("x " + key + ".packing", spec.packing);
      clock(spec.clock);
    }
    if (spec.cap) line(key + ".cap", spec.cap);
  }
  /// The other unit's share of a pooled rate: what is left of the sum.
  void pooled_rate(ResourceId id, const Rate& rate) {
    const ResourceId other = id.unit == Unit::vector
                                 ? ResourceId{Unit::tensor, Precision::any, Precision::any}
                                 : ResourceId{Unit::vector, Precision::any};
    const Rate& fastest = machine_.rates[other];
    if (!fastest.known) return;
    lines_.push_back(
        "    + " + rate_text(id, fastest.has_ceiling ? fastest.ceiling : fastest.nominal) + " of " +
        name_of(fastest.via) + ", the fastest of the other unit (" + rate.how + ")");
  }
  void level(const std::string& key, const LevelSpec& spec) {
    if (!spec.bytes_per_clock_per_unit) return line(key + ".bandwidth", spec.bandwidth);
    line(key + ".bytes_per_clock_per_unit", spec.bytes_per_clock_per_unit);
    line("x units", device_.units);
    clock(spec.clock);
  }

  const Machine& machine_;
  const DeviceSpec& device_;
  std::vector<std::string>& lines_;
  std::set<std::string> done_;
};

void explain_operator(const BoundReport& report, std::size_t i, std::vector<std::string>& lines) {
  const Operator& op = report.evaluation->graph.ops[i];
  const OperatorFloors& f = report.evaluation->floors.ops[i];
  const Floor cold = floor_in(report, i);
  lines.push_back(op.name + " (" + std::string(name_of(op.kind)) + "), once:");
  lines.push_back("  F = " + exact_text(f.demand.flops.in_base_units()) +
                  " FLOP; HBM reads = " + exact_text(f.demand.hbm_read.in_base_units()) +
                  " B, writes = " + exact_text(f.demand.hbm_write.in_base_units()) + " B");
  if (f.demand.hbm_least_total > f.demand.hbm_read + f.demand.hbm_write) {
    lines.push_back("  HBM bytes at least 2mnk sqrt(abc/S_all) - 2 S_all = " +
                    exact_text(f.demand.hbm_least_total.in_base_units()) +
                    " B, with widths a, b, c");
  }
  for (const Term& term : cold.list()) {
    const AmountPerSecond rate = term.rate->has_ceiling ? term.rate->ceiling : term.rate->nominal;
    lines.push_back("  " + name_of(term.resource) + ": " + exact_text(term.amount.in_base_units()) +
                    " / " + exact_text(rate.in_base_units()) + " = " +
                    exact_text(term.time.in_base_units()) + " s");
  }
  lines.push_back("  floor = max = " + exact_text(f.cold.time().in_base_units()) + " s" +
                  (f.cold.none() ? "" : ", " + name_of(f.cold.resource())));
}

void explain_caches(const Machine& machine, std::vector<std::string>& lines) {
  const OnChip& chip = machine.chip;
  if (!chip.keep_known) return;
  lines.push_back(
      "any residency: HBM bytes = max(0, reads - S) + max(0, writes - S); S is S_keep for an "
      "operator and serial, S_all for critical path and fused");
  lines.push_back("  S_keep = " + exact_text(chip.keep.in_base_units()) +
                  " B: " + number_line("memory.l2.capacity", machine.device.l2.capacity));
  if (chip.all_known) {
    lines.push_back(
        "  S_all = " + exact_text(chip.all.in_base_units()) + " B: S_keep + units x (shared " +
        number_to_text(machine.device.shared.capacity_per_unit) + " + registers " +
        number_to_text(machine.device.registers.capacity_per_unit) +
        (machine.device.tensor_memory.capacity_per_unit
             ? " + tensor memory " + number_to_text(machine.device.tensor_memory.capacity_per_unit)
             : std::string()) +
        ")");
  }
}

}  // namespace

std::vector<std::string> explain(const BoundReport& report) {
  std::vector<std::string> lines;
  const Evaluation& e = *report.evaluation;
  for (std::size_t i = 0; i < e.graph.ops.size(); ++i) {
    explain_operator(report, i, lines);
  }
  if (report.machine == nullptr) return lines;
  RateLines rates(*report.machine, lines);
  for (std::size_t i = 0; i < e.graph.ops.size(); ++i) {
    const Floor cold = floor_in(report, i);
    for (const Term& term : cold.list()) rates.add(term.resource, *term.rate);
  }
  explain_caches(*report.machine, lines);
  return lines;
}

}  // namespace floorline
