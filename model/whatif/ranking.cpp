// SPDX-License-Identifier: Apache-2.0
#include "model/whatif/ranking.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "model/input/diagnostic.hpp"
#include "model/ledger/liveness.hpp"

namespace floorline {

namespace {

constexpr double kStep = 1e-4;  // of a rate or amount, for elasticities

bool is_link(Unit unit) {
  return unit == Unit::h2d || unit == Unit::d2h || unit == Unit::peer_out ||
         unit == Unit::peer_in || unit == Unit::net_out || unit == Unit::net_in;
}

class Ranker {
 public:
  Ranker(const Situation& s, const Outcome& before, const RankingOptions& options)
      : situation_(step_shown(s)), before_(before), options_(options), peak_(peak_memory(before)) {}

  Ranking rank() {
    for (const Candidate& c : candidates_for(situation_, before_, options_.most_operators))
      try_it(c);
    if (before_.machine) {
      fusion();
      overlap();
      launches();
    }
    std::stable_sort(ranking_.changes.begin(), ranking_.changes.end(),
                     [](const RankedChange& a, const RankedChange& b) {
                       return a.gain.cold.value_or(1) > b.gain.cold.value_or(1);
                     });
    if (situation_.model && (situation_.model->layout.pp > 1 || before_.model->request)) {
      ranking_.notes.push_back(
          "ranked: single changes of the stage or step that limits, not of the whole");
    }
    const std::size_t ops = floors().ops.size();
    if (ops > static_cast<std::size_t>(options_.most_operators)) {
      ranking_.notes.push_back("ranked: the " + std::to_string(options_.most_operators) +
                               " operators of the largest share, of " + std::to_string(ops));
    }
    return std::move(ranking_);
  }

 private:
  [[nodiscard]] const GraphFloors& floors() const { return before_.evaluation.floors; }
  [[nodiscard]] Seconds time_of(const GraphFloors& f, std::size_t i) const {
    return f.ops[i].cold.time() * f.ops[i].times;
  }

  [[nodiscard]] std::optional<Outcome> after(const std::vector<Assignment>& changes) const {
    try {
      return evaluate(changed(situation_, changes));
    } catch (const InputError&) {
      return std::nullopt;  // this device or workload cannot: no row
    }
  }

  void try_it(const Candidate& c) {
    const auto then = after(c.changes);
    if (!then) return;
    RankedChange r;
    r.kind = c.kind;
    r.name = c.name;
    r.changes = c.changes;
    r.gain = gain_of(then->evaluation.floors);
    set_share(r, touched(c, then->evaluation.floors));
    if (c.needs_elasticity) r.elasticity = elasticity(c);
    set_memory(r, *then);
    ranking_.changes.push_back(std::move(r));
  }

  [[nodiscard]] Ratio gain_of(const GraphFloors& then) const {
    const bool known = floors().any_known && then.any_known;
    return {ratio_of(floors().serial.cold, then.serial.cold),
            known ? ratio_of(floors().serial.any, then.serial.any) : std::nullopt};
  }

  /// What the candidate names, and whatever else became faster with it (units that share work).
  [[nodiscard]] std::vector<bool> touched(const Candidate& c, const GraphFloors& then) const {
    std::vector<bool> touched(floors().ops.size(), false);
    for (const std::size_t i : c.operators) touched[i] = true;
    if (then.ops.size() != floors().ops.size()) return std::vector<bool>(touched.size(), true);
    for (std::size_t i = 0; i < touched.size(); ++i) {
      if (time_of(then, i) < time_of(floors(), i)) touched[i] = true;
    }
    return touched;
  }

  /// Measured times where every operator that is touched has one and the whole is known.
  void set_share(RankedChange& r, const std::vector<bool>& touched) const {
    Seconds part(0);
    Seconds rest(0);
    for (std::size_t i = 0; i < touched.size(); ++i)
      (touched[i] ? part : rest) += time_of(floors(), i);
    const Seconds whole = part + rest;
    if (whole > Seconds(0)) r.share = part / whole;
    const auto measured = measured_time(touched);
    if (measured) {
      part = *measured;
      rest = *options_.measured->whole - part;
      r.share = part / *options_.measured->whole;
      r.share_measured = true;
    }
    if (rest > Seconds(0)) r.ceiling = (part + rest) / rest;
  }

  [[nodiscard]] std::optional<Seconds> measured_time(const std::vector<bool>& touched) const {
    const MeasuredTimes* m = options_.measured;
    if (m == nullptr || !m->whole || m->parts.empty()) return std::nullopt;
    Seconds sum(0);
    for (std::size_t i = 0; i < touched.size(); ++i) {
      if (!touched[i]) continue;
      const MeasuredPart* part = m->find(before_.evaluation.graph.ops[i].name);
      if (part == nullptr) return std::nullopt;
      sum += part->time;
    }
    return sum;
  }

  /// By one small step. A resource: of its rate, with the sign turned, so that more is better.
  [[nodiscard]] std::optional<double> elasticity(const Candidate& c) const {
    std::vector<Assignment> step = c.changes;
    const bool resource = c.kind == RankedKind::resource;
    step.front().value = resource ? "1.0001" : "0.9999";
    const auto then = after(step);
    if (!then) return std::nullopt;
    const auto ratio = ratio_of(floors().serial.cold, then->evaluation.floors.serial.cold);
    if (!ratio) return std::nullopt;
    return std::log(*ratio) / (resource ? std::log1p(kStep) : -std::log1p(-kStep));
  }

  void set_memory(RankedChange& r, const Outcome& then) const {
    const auto peak = peak_memory(then);
    if (peak && peak_) r.memory = peak->to_bytes() - peak_->to_bytes();
  }

  void fusion() {
    const GraphFloors& f = floors();
    if (f.ops.size() < 2) return;
    RankedChange r;
    r.kind = RankedKind::fusion;
    r.name = "all fusion together, at most";
    r.gain = {ratio_of(f.serial.cold, f.fused.cold),
              f.any_known ? fusion_ratio_any(f.serial.any, f.fused.any) : std::nullopt};
    r.share = 1;
    r.note = "the fused floor: no intermediate crosses HBM, all resources overlap";
    ranking_.changes.push_back(std::move(r));
    if (!options_.fusion) return;
    for (const FusionOffer& offer : options_.fusion(before_.evaluation.graph, *before_.machine))
      add_offer(offer);
  }

  void add_offer(const FusionOffer& offer) {
    Situation s = situation_;
    s.model.reset();
    s.graph = offer.after;
    const Outcome then = evaluate(s);
    RankedChange r;
    r.kind = RankedKind::fusion;
    r.name = "fuse " + offer.name;
    r.gain = gain_of(then.evaluation.floors);
    if (r.gain.any)
      r.gain.any = fusion_ratio_any(floors().serial.any, then.evaluation.floors.serial.any);
    r.share = 1;
    set_memory(r, then);
    ranking_.changes.push_back(std::move(r));
  }

  /// Communication that waits for nothing but its producers.
  void overlap() {
    const GraphFloors& f = floors();
    std::vector<bool> links(f.ops.size(), false);
    bool any = false;
    for (std::size_t i = 0; i < f.ops.size(); ++i) {
      const Limit& limit = f.ops[i].cold;
      links[i] = !limit.none() && is_link(limit.resource().unit);
      any = any || links[i];
    }
    if (!any) return;
    RankedChange r;
    r.kind = RankedKind::overlap;
    r.name = "communication and copies overlapped";
    r.gain = {ratio_of(f.serial.cold, f.critical_path.cold),
              f.any_known ? ratio_of(f.serial.any, f.critical_path.any) : std::nullopt};
    r.share = 1;
    r.note =
        "serial to critical path: every operator starts when its producers end; a chain with "
        "nothing beside it gains nothing";
    ranking_.changes.push_back(std::move(r));
  }

  void launches() {
    const double count = launches_of(before_);
    std::optional<Seconds> launch;
    std::optional<Seconds> node;
    for (const OverheadSpec& o : before_.machine->device.overheads) {
      if (o.name == "kernel_launch" && o.time) launch = o.time->value;
      if (o.name == "graph_node" && o.time) node = o.time->value;
    }
    if (count < 2) return;
    if (!launch) {
      ranking_.notes.push_back("fewer launches (" + count_text(count) +
                               " kernels): what a launch takes is not known: device " +
                               before_.machine->device.name +
                               " does not state overhead.kernel_launch");
      return;
    }
    RankedChange r;
    r.kind = RankedKind::launches;
    r.name = "fewer launches (" + count_text(count) + " kernels)";
    r.gain = {1.0, 1.0};
    r.saving = *launch * (count - 1);
    r.note = "expectation, in no floor: " + to_text(*launch) + " a launch if nothing hides it";
    if (node && *node < *launch)
      r.note += "; in a graph " + to_text(*node) + " a kernel, which saves " +
                to_text((*launch - *node) * count);
    ranking_.changes.push_back(std::move(r));
  }

  Situation situation_;
  const Outcome& before_;
  const RankingOptions& options_;
  std::optional<ByteCount> peak_;
  Ranking ranking_;
};

}  // namespace

std::string_view name_of(RankedKind kind) {
  constexpr std::array<std::string_view, 8> kNames{"resource", "traffic", "work",    "storage",
                                                   "compute",  "fusion",  "overlap", "launches"};
  return kNames[static_cast<std::size_t>(kind)];
}

double launches_of(const Outcome& outcome) {
  double count = 0;
  for (std::size_t i = 0; i < outcome.evaluation.graph.ops.size(); ++i) {
    if (outcome.evaluation.graph.ops[i].kind == OperatorKind::host) continue;
    count += outcome.evaluation.floors.ops[i].times;
  }
  return count;
}

std::optional<ByteCount> peak_memory(const Outcome& outcome) {
  if (!outcome.machine) return std::nullopt;
  const ByteCount peak = memory_of(outcome.evaluation.bound).peak();
  if (peak.overflowed()) return std::nullopt;
  return peak;
}

Ranking rank_changes(const Situation& situation, const Outcome& before,
                     const RankingOptions& options) {
  return Ranker(situation, before, options).rank();
}

}  // namespace floorline
