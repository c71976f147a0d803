// SPDX-License-Identifier: Apache-2.0
#include "model/whatif/whatif.hpp"

#include <cmath>

#include "model/device/memory_capacity.hpp"
#include "model/input/diagnostic.hpp"

namespace floorline {

namespace {

[[noreturn]] void refuse(const std::string& key, const std::string& why) {
  throw InputError(Diagnostic{position_in("command line"), key, why});
}

std::string all_messages(const InputError& error) {
  std::string text;
  for (const Diagnostic& d : error.diagnostics())
    text += (text.empty() ? "" : "; ") + d.key_path + ": " + d.message;
  return text;
}

SingleChange single(const Situation& s, const Outcome& before, const Assignment& a) {
  SingleChange c;
  c.change = a;
  try {
    const Variable v = variable_of(s, before, a);
    c.from = v.from;
    c.to = v.to;
    c.executions = v.executions;
    c.alone = ratios_of(before, evaluate(changed(s, {a})));
    c.break_even = break_even_along(s, before, v);
  } catch (const InputError& error) {
    c.cannot = all_messages(error);
    c.break_even.reason = "the change cannot be made alone";
    if (c.to.empty()) c.to = a.value;
  }
  return c;
}

std::optional<Interaction> interaction_of(const Whatif& w) {
  if (w.changes.size() < 2 || !w.ratios.serial.cold) return std::nullopt;
  Interaction i;
  i.joint = *w.ratios.serial.cold;
  for (const SingleChange& c : w.changes) {
    if (!c.alone || !c.alone->serial.cold) return std::nullopt;
    i.product *= *c.alone->serial.cold;
  }
  return i;
}

/// Measured operators that the changes touch: their time is taken to go as their floor does.
std::vector<PartChange> scaled_parts(const Whatif& w, const WhatifQuestion& q,
                                     std::vector<PartChange> stated) {
  const Evaluation& before = w.before.evaluation;
  const Evaluation& after = w.after.evaluation;
  for (const MeasuredPart& part : q.measured.parts) {
    const auto was = before.graph.find_op(part.name);
    if (!was) {
      if (w.situation.kernel) continue;
      refuse("--measured op." + part.name, "is no operator of this workload");
    }
    const bool is_stated = std::any_of(stated.begin(), stated.end(),
                                       [&](const PartChange& p) { return p.name == part.name; });
    if (is_stated) continue;
    const auto now = after.graph.find_op(part.name);
    if (!now) {
      stated.push_back({part.name, part.time, Seconds(0), "removed"});
      continue;
    }
    const Seconds t0 = before.floors.ops[index(*was)].cold.time();
    const Seconds t1 = after.floors.ops[index(*now)].cold.time();
    if (!(t0 > Seconds(0)) || t0 == t1) continue;
    stated.push_back({part.name, part.time, part.time * (t1 / t0), "as its cold floor goes"});
  }
  return stated;
}

// ---- the calibrated line

std::vector<Assignment> changes_in(const std::string& text) {
  std::vector<Assignment> changes;
  std::size_t start = 0;
  while (start <= text.size()) {
    const std::size_t end = std::min(text.find(';', start), text.size());
    changes.push_back(parse_assignment(std::string_view(text).substr(start, end - start)));
    start = end + 1;
  }
  return changes;
}

/// No bytes of a cache can be in the way: all but twice what the caches keep moves at the ceiling.
std::optional<Seconds> floor_of_bytes(const Outcome& before, Bytes traffic) {
  const Rates& rates = before.machine ? before.machine->rates : *before.numbers;
  const Rate& rate = rates[ResourceId{before.machine ? Unit::hbm : Unit::memory}];
  if (!rate.has_ceiling || rate.provisional) return std::nullopt;
  if (before.machine && !before.machine->chip.keep_known) return std::nullopt;
  const Bytes kept = before.machine ? before.machine->chip.keep * 2 : Bytes(0);
  if (traffic <= kept) return std::nullopt;
  return (traffic - kept) / BytesPerSecond(rate.ceiling.in_base_units());
}

/// A point of the line: the bytes it moves, and the least time it can take where one is proven.
struct PointFacts {
  Bytes traffic{0};
  std::optional<Seconds> floor;
};

PointFacts facts_of(const Whatif& w, const PointText& point) {
  if (point.what == "base") return {traffic_of(w.before), proven_floor(w.before)};
  const ParsedQuantity bytes = parse_quantity(point.what, Dimension::bytes);
  if (bytes.error.empty()) return {Bytes(bytes.base), floor_of_bytes(w.before, Bytes(bytes.base))};
  if (point.what.find('=') == std::string::npos)
    refuse("--point", quoted(point.what) + " is neither base, an amount of bytes nor NAME=VALUE");
  const std::vector<Assignment> changes = changes_in(point.what);
  check_changes(w.situation, w.before, changes);
  const Outcome outcome = evaluate(changed(w.situation, changes));
  return {traffic_of(outcome), proven_floor(outcome)};
}

std::vector<std::string> line_doubts(const LineFit& fit, const Outcome& before) {
  std::vector<std::string> doubts;
  const Rates& rates = before.machine ? before.machine->rates : *before.numbers;
  const Rate& rate = rates[ResourceId{before.machine ? Unit::hbm : Unit::memory}];
  const double ceiling = rate.has_ceiling ? rate.ceiling.in_base_units() : 0;
  if (ceiling > 0 && fit.bandwidth.in_base_units() > ceiling) {
    doubts.push_back("the line's bandwidth " + to_text(fit.bandwidth) +
                     " is above the device's ceiling " + to_text(BytesPerSecond(ceiling)) +
                     ": the points differ in more than bytes (dequantisation, other kernels); read "
                     "between them, not beyond");
  }
  if (fit.fixed < Seconds(0))
    doubts.push_back("the line crosses zero bytes below zero time: it is no fixed cost");
  return doubts;
}

LineAnswer line_answer(const Whatif& w, const std::vector<PointText>& points) {
  std::vector<LinePoint> all;
  LineAnswer line;
  for (const PointText& p : points) {
    const PointFacts facts = facts_of(w, p);
    all.push_back({p.what, facts.traffic, p.time});
    if (facts.floor && p.time < *facts.floor)
      line.impossible.push_back(p.what + " in " + to_text(p.time) +
                                " is below its floor at any residency, " + to_text(*facts.floor) +
                                ": the time, or what was timed, is not as stated");
  }
  line.fit = fit_line(std::move(all));
  line.before = traffic_of(w.before);
  line.after = traffic_of(w.after);
  line.time_before = line.fit.at(line.before);
  line.time_after = line.fit.at(line.after);
  line.doubts = line_doubts(line.fit, w.before);
  if (const auto floor = proven_floor(w.after); floor && line.time_after < *floor) {
    line.doubts.push_back("the line falls below the floor at any residency, " + to_text(*floor) +
                          ", which is taken instead");
    line.time_after = *floor;
  }
  return line;
}

/// What a storage change drags along by default is told: compute precision that follows operands.
void note_compute(const Whatif& w, std::vector<std::string>& notes) {
  const auto& before = w.before.evaluation.graph.ops;
  const OperatorGraph& graph = w.after.evaluation.graph;
  bool asked = false;
  for (const SingleChange& c : w.changes)
    asked = asked || c.change.name.find("compute") != std::string::npos;
  if (asked) return;
  for (const Operator& op : before) {
    const auto now = graph.find_op(op.name);
    if (!now || graph.ops[index(*now)].kind != op.kind) continue;
    const Precision then = graph.ops[index(*now)].compute;
    if (then == op.compute) continue;
    notes.push_back("compute precision follows the wider operand: " + op.name + " " +
                    std::string(name_of(op.compute)) + " -> " + std::string(name_of(then)) +
                    " (compute_dtype keeps it)");
    return;
  }
}

/// No verdict of the ledger, but never silent.
void note_memory(const Outcome& outcome, const char* when, std::vector<std::string>& notes) {
  const auto peak = peak_memory(outcome);
  if (!peak) return;
  const auto capacity = exceeded_capacity(outcome.machine->device, peak->to_bytes());
  if (!capacity) return;
  notes.push_back(std::string("DOES NOT FIT ") + when +
                  " the change: " + to_text_binary(peak->to_bytes()) +
                  " alive at the peak, the device has " + to_text_binary(*capacity));
}

/// Operators whose floor the change moves and that have no measured time.
std::vector<std::string> changed_unmeasured(const Whatif& w, const MeasuredTimes& measured) {
  const Evaluation& before = w.before.evaluation;
  const Evaluation& after = w.after.evaluation;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < before.graph.ops.size(); ++i) {
    const std::string& name = before.graph.ops[i].name;
    if (measured.find(name) != nullptr) continue;
    const auto now = after.graph.find_op(name);
    const Seconds t0 = before.floors.ops[i].cold.time();
    if (!now || after.floors.ops[index(*now)].cold.time() != t0) names.push_back(name);
  }
  return names;
}

/// Nothing follows from a time that cannot be. Where parts were measured, theirs is the one
/// expectation: what the floors alone would expect is withdrawn.
void answer_measured(Whatif& w, const WhatifQuestion& q, std::vector<PartChange> parts) {
  check_measured(q.measured);
  w.measured = answer_measured(w.before, w.after, q.measured);
  if (w.measured->impossible || parts.empty()) return;
  w.amdahl = amdahl(*q.measured.whole, std::move(parts));
  w.amdahl->unmeasured = changed_unmeasured(w, q.measured);
  w.measured->expected.reset();
}

/// Parts that were stated may add up to less than is possible.
void note_below_floor(Whatif& w) {
  const auto& floor = w.measured->floor_after;
  if (!w.amdahl || !floor || w.amdahl->after >= *floor) return;
  w.notes.push_back("the time by measured parts, " + to_text(w.amdahl->after) +
                    ", lies below the floor at any residency, " + to_text(*floor) +
                    ": not all of these parts can be that fast");
}

}  // namespace

bool Interaction::interact() const {
  constexpr double kSame = 1e-6;
  return std::abs(joint / product - 1) > kSame;
}

PointText read_point(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    refuse(
        "--point",
        quoted(text) + " is not WHAT=TIME; expected base=9.5ms, 6.87GB=6.4ms or NAME=VALUE=6.4ms");
  }
  PointText point{text, text.substr(0, equals), Seconds(0)};
  const ParsedQuantity q = parse_quantity(text.substr(equals + 1), Dimension::seconds);
  if (!q.error.empty()) refuse("--point", q.error);
  if (!(q.base > 0)) refuse("--point", quoted(text) + " has no time above zero");
  point.time = Seconds(q.base);
  return point;
}

Bytes traffic_of(const Outcome& outcome) {
  const GraphDemand& sum = outcome.evaluation.floors.sum;
  for (int i = 0; i < sum.count; ++i) {
    const DemandEntry& entry = sum.entries[static_cast<std::size_t>(i)];
    if (entry.resource.unit == Unit::memory) return Bytes(entry.amount.in_base_units());
  }
  return sum.hbm_read + sum.hbm_write;
}

std::optional<ResourceId> runner_up_of(const Outcome& outcome) {
  const GraphFloors& f = outcome.evaluation.floors;
  if (f.ops.size() == 1) {
    const Floor floor = floor_in(outcome, 0);
    if (floor.runner_up() < 0) return std::nullopt;
    return floor.list()[static_cast<std::size_t>(floor.runner_up())].resource;
  }
  const std::vector<Share> shares = serial_shares(f);
  if (shares.size() < 2 || !(shares[1].fraction > 0)) return std::nullopt;
  return shares[1].resource;
}

Whatif ask(const Situation& situation, const WhatifQuestion& q) {
  std::vector<Assignment> changes;
  std::vector<Assignment> times;
  for (const Assignment& a : q.changes)
    (names_measured_time(a.name) ? times : changes).push_back(a);
  Whatif w;
  w.situation = situation;
  w.before = evaluate(situation);
  check_changes(situation, w.before, changes);
  w.variant = changed(situation, changes);
  w.after = evaluate(w.variant);
  w.ratios = ratios_of(w.before, w.after);
  for (const Assignment& a : changes) w.changes.push_back(single(situation, w.before, a));
  w.interaction = interaction_of(w);
  if (const auto& b = w.before.evaluation.uniform; b && w.after.evaluation.uniform)
    w.uniform = ratio_of(b->serial.cold, w.after.evaluation.uniform->serial.cold);
  note_compute(w, w.notes);
  note_memory(w.before, "before", w.unfit);
  note_memory(w.after, "after", w.unfit);
  std::vector<PartChange> parts = scaled_parts(w, q, stated_parts(q.measured, times));
  if (q.measured.whole) {
    answer_measured(w, q, std::move(parts));
    note_below_floor(w);
  } else if (!times.empty() || !q.measured.parts.empty()) {
    refuse("--measured", "the time of the whole is missing; what a part buys is a share of it");
  }
  if (!q.points.empty()) w.line = line_answer(w, q.points);
  if (q.rank) {
    RankingOptions options = q.ranking;
    if (!w.measured || !w.measured->impossible) options.measured = &q.measured;
    w.ranking = rank_changes(situation, w.before, options);
  }
  return w;
}

}  // namespace floorline
