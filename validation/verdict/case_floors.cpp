// SPDX-License-Identifier: Apache-2.0
#include "validation/verdict/case_floors.hpp"

#include <algorithm>

namespace floorline {

namespace {

enum class Proof : std::uint8_t { ceiling, best_seen };

/// Whether a rate proves a floor, and of which kind.
bool proves(const Rate& rate, Proof proof) {
  return rate.known && rate.has_ceiling && (proof == Proof::best_seen || !rate.provisional);
}

struct Longest {
  Seconds time{0};
  std::optional<ResourceId> resource;
  void consider(Seconds t, ResourceId id) {
    if (t > time) *this = {t, id};
  }
};

/// Kernels one after another, whatever is on chip before each: S_keep (model/floor).
Longest serial_any(const GraphFloors& floors, const Machine& machine, Proof proof) {
  Seconds sum(0);
  Longest largest;
  for (const OperatorFloors& op : floors.ops) {
    Longest longest;
    const Floor any = floor_of(op.demand, machine.rates, machine.chip, Residency::any_keep);
    for (const Term& term : any.list()) {
      if (proves(*term.rate, proof)) longest.consider(term.time, term.resource);
    }
    sum += longest.time * op.times;
    if (longest.resource) largest.consider(longest.time * op.times, *longest.resource);
  }
  return {sum, largest.resource};
}

/// The whole graph's own inputs and outputs, S_all subtracted once from each side.
Longest fused_any(const GraphFloors& floors, const Machine& machine, Proof proof) {
  Longest longest;
  const auto consider = [&](ResourceId id, Amount amount) {
    const Rate& rate = machine.rates[id];
    if (amount > Amount() && proves(rate, proof)) longest.consider(amount / rate.ceiling, rate.via);
  };
  const GraphDemand& fused = floors.fused_demand;
  for (int i = 0; i < fused.count; ++i) {
    const DemandEntry& entry = fused.entries[static_cast<std::size_t>(i)];
    consider(entry.resource, entry.amount);
  }
  if (machine.chip.all_known) {
    const Bytes kept = machine.chip.all;
    consider({Unit::hbm}, Amount(beyond(fused.hbm_read, kept) + beyond(fused.hbm_write, kept)));
  }
  return longest;
}

Longest any_residency(const GraphFloors& floors, const Machine& machine, KernelSchedule schedule,
                      Proof proof) {
  const Longest fused = fused_any(floors, machine, proof);
  if (schedule != KernelSchedule::serial) return fused;
  const Longest serial = serial_any(floors, machine, proof);
  return serial.time > fused.time ? serial : fused;
}

LimitTerm limit_term(ResourceId via, Amount amount, const Rate& rate, Seconds time) {
  LimitTerm term{via,
                 amount,
                 rate.has_ceiling ? rate.ceiling : rate.nominal,
                 time,
                 RateKind::ceiling,
                 rate.has_ceiling,
                 rate.how};
  if (rate.provisional) term.kind = RateKind::best_seen;
  return term;
}

/// Of one kernel its floor's terms; of a graph the sums of its demands.
std::vector<LimitTerm> cold_terms(const GraphFloors& floors, const Machine& machine,
                                  KernelSchedule schedule) {
  std::vector<LimitTerm> terms;
  if (floors.ops.size() == 1 && floors.ops.front().times == 1) {
    const Floor cold =
        floor_of(floors.ops.front().demand, machine.rates, machine.chip, Residency::cold);
    for (const Term& term : cold.list()) {
      terms.push_back(limit_term(term.resource, term.amount, *term.rate, term.time));
    }
  } else {
    const GraphDemand& demand =
        schedule == KernelSchedule::fused ? floors.fused_demand : floors.sum;
    const auto add = [&](ResourceId id, Amount amount) {
      const Rate& rate = machine.rates[id];
      if (!rate.known || !(amount > Amount())) return;
      const AmountPerSecond used = rate.has_ceiling ? rate.ceiling : rate.nominal;
      terms.push_back(limit_term(rate.via, amount, rate, amount / used));
    };
    for (int i = 0; i < demand.count; ++i) {
      const DemandEntry& entry = demand.entries[static_cast<std::size_t>(i)];
      if (entry.resource.unit != Unit::l1_port) add(entry.resource, entry.amount);
    }
    add({Unit::hbm}, Amount(demand.hbm_read + demand.hbm_write));
  }
  std::stable_sort(terms.begin(), terms.end(),
                   [](const LimitTerm& a, const LimitTerm& b) { return a.time > b.time; });
  return terms;
}

std::vector<LimitTerm> observed_limits(const GraphFloors& floors, const Machine& machine) {
  std::vector<LimitTerm> all;
  for (const OperatorFloors& op : floors.ops) {
    const ObservedTerms observed = observed_terms(op.demand, machine.rates);
    for (int i = 0; i < observed.count; ++i) {
      const Term& term = observed.terms[static_cast<std::size_t>(i)];
      const auto same = std::find_if(all.begin(), all.end(), [&](const LimitTerm& known) {
        return known.resource == term.resource;
      });
      if (same == all.end()) {
        all.push_back({term.resource, term.amount * op.times, term.rate->nominal,
                       term.time * op.times, RateKind::observed, false, ""});
      } else {
        same->amount += term.amount * op.times;
        same->time += term.time * op.times;
      }
    }
  }
  return all;
}

Seconds cold_floor(const GraphFloors& floors, KernelSchedule schedule) {
  switch (schedule) {
    case KernelSchedule::serial:
      return floors.serial.cold;
    case KernelSchedule::critical_path:
      return floors.critical_path.cold;
    case KernelSchedule::fused:
      return floors.fused.cold;
  }
  return Seconds(0);
}

}  // namespace

const LimitTerm* CaseFloors::term(ResourceId resource) const {
  for (const LimitTerm& t : terms) {
    if (t.resource == resource) return &t;
  }
  return nullptr;
}

CaseFloors case_floors(const Evaluation& evaluation, const Machine& machine,
                       KernelSchedule schedule) {
  const GraphFloors& floors = evaluation.floors;
  CaseFloors c;
  c.work = floors.sum.flops;
  const GraphDemand& demand = schedule == KernelSchedule::fused ? floors.fused_demand : floors.sum;
  c.hbm_counted = demand.hbm_read + demand.hbm_write;
  c.cold = cold_floor(floors, schedule);
  if (c.cold > Seconds(0)) {
    c.binding = schedule == KernelSchedule::fused ? floors.fused_binding : floors.serial_binding;
  }
  c.terms = cold_terms(floors, machine, schedule);
  c.observed = observed_limits(floors, machine);
  const Longest proven = any_residency(floors, machine, schedule, Proof::ceiling);
  c.any_ceiling = proven.time;
  c.any_binding = proven.resource;
  c.any_best_seen = any_residency(floors, machine, schedule, Proof::best_seen).time;
  c.caches_known = machine.chip.keep_known;
  c.keep = machine.chip.keep;
  const Rate& hbm = machine.rates[{Unit::hbm}];
  if (hbm.known && hbm.has_ceiling) {
    c.hbm_rate = BytesPerSecond(hbm.ceiling.in_base_units());
    c.hbm_kind = hbm.provisional ? RateKind::best_seen : RateKind::ceiling;
  }
  return c;
}

CaseFloors case_floors(const Evaluation& evaluation, const ModelFloors& model,
                       const Machine& machine, KernelSchedule schedule) {
  CaseFloors c = case_floors(evaluation, machine, schedule);
  const ModelJudging& judging = model.judging;
  c.work = judging.work_per_rank;
  c.hbm_counted = judging.traffic_per_rank;
  c.cold = schedule == KernelSchedule::serial ? judging.latency_serial : judging.latency.cold;
  c.any_best_seen = judging.latency_proven;
  // Several stages: what proves is their sum, of which one is shown. A best-seen rate anywhere
  // makes all of it provisional.
  const bool provisional = std::any_of(c.terms.begin(), c.terms.end(), [](const LimitTerm& t) {
    return t.kind == RateKind::best_seen;
  });
  c.any_ceiling = provisional ? Seconds(0) : judging.latency_proven;
  return c;
}

}  // namespace floorline
