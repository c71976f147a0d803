// SPDX-License-Identifier: Apache-2.0
#include "model/floor/floor.hpp"

#include <algorithm>
#include <cmath>

namespace floorline {

namespace {

constexpr double kTieTolerance = 1e-12;  // rounding of two divisions, relative

/// Without a ceiling the nominal rate stands in, and the result says "not proven sound".
Seconds time_at(Amount amount, const Rate& rate) {
  return rate.has_ceiling ? amount / rate.ceiling : amount / rate.nominal;
}

void add_term(ResourceId asked, Amount amount, const Rates& rates, Floor& floor) {
  if (!(amount > Amount())) return;
  const Rate& rate = rates[asked];
  if (!rate.known) return;
  Term& term = floor.terms[static_cast<std::size_t>(floor.count++)];
  term.resource = rate.via;
  term.amount = amount;
  term.rate = &rate;
  term.time = time_at(amount, rate);
}

bool equal_times(Seconds a, Seconds b) {
  const double x = a.in_base_units();
  const double y = b.in_base_units();
  return std::abs(x - y) <= kTieTolerance * std::max(x, y);
}

bool comes_first(const Term& a, const Term& b) {
  if (equal_times(a.time, b.time)) return a.resource < b.resource;
  return a.time > b.time;
}

void rank_terms(Floor& floor) {
  for (int i = 0; i < floor.count; ++i) {
    const Term& term = floor.terms[static_cast<std::size_t>(i)];
    if (floor.binding < 0 ||
        comes_first(term, floor.terms[static_cast<std::size_t>(floor.binding)])) {
      floor.runner_up = floor.binding;
      floor.binding = i;
    } else if (floor.runner_up < 0 ||
               comes_first(term, floor.terms[static_cast<std::size_t>(floor.runner_up)])) {
      floor.runner_up = i;
    }
  }
  if (floor.binding < 0) return;
  floor.provisional = floor.binding_term().rate->provisional;
  floor.proven = floor.binding_term().rate->proves();
  floor.tie =
      floor.runner_up >= 0 &&
      equal_times(floor.time(), floor.terms[static_cast<std::size_t>(floor.runner_up)].time);
}

/// Than HBM: at a low SM clock it may be.
bool port_is_slower(const Rates& rates) {
  const Rate& port = rates[{Unit::l1_port}];
  const Rate& hbm = rates[{Unit::hbm}];
  return port.has_ceiling && hbm.has_ceiling && port.ceiling < hbm.ceiling;
}

bool memory_known(const OnChip& chip, Residency residency) {
  if (residency == Residency::cold) return true;
  return residency == Residency::any_keep ? chip.keep_known : chip.all_known;
}

Bytes beyond(Bytes amount, Bytes kept) { return std::max(Bytes(0), amount - kept); }

}  // namespace

Bytes hbm_bytes(const Demand& demand, const OnChip& chip, Residency residency) {
  if (residency == Residency::cold) {
    return std::max(demand.hbm_read + demand.hbm_write, demand.hbm_least_total);
  }
  const Bytes kept = residency == Residency::any_keep ? chip.keep : chip.all;
  const Bytes two_sided = beyond(demand.hbm_read, kept) + beyond(demand.hbm_write, kept);
  return std::max(two_sided, beyond(demand.hbm_least_total, chip.all));
}

Floor floor_of(const Demand& demand, const Rates& rates, const OnChip& chip, Residency residency) {
  Floor floor;
  fill_floor(demand, rates, chip, residency, floor);
  return floor;
}

namespace {

/// visit(resource, amount) for each amount that the residency leaves.
template <class Visit>
void each_amount(const Demand& demand, const Rates& rates, const OnChip& chip, Residency residency,
                 Visit visit) {
  for (const DemandEntry& entry : demand.list()) {
    Amount amount = entry.amount;
    // Cold, the port carries no more than HBM; where it is no slower it cannot bind.
    const bool is_port = entry.resource.unit == Unit::l1_port;
    if (is_port && residency == Residency::cold && !port_is_slower(rates)) continue;
    if (is_port && residency == Residency::any_all) {
      if (!chip.all_known) continue;
      const double kept = chip.units.in_base_units();
      amount = Amount(Bytes(std::max(0.0, amount.in_base_units() - kept)));
    }
    visit(entry.resource, amount);
  }
  if (memory_known(chip, residency)) {
    visit(ResourceId{Unit::hbm}, Amount(hbm_bytes(demand, chip, residency)));
  }
}

}  // namespace

void fill_floor(const Demand& demand, const Rates& rates, const OnChip& chip, Residency residency,
                Floor& floor) {
  floor.count = 0;
  floor.binding = floor.runner_up = -1;
  floor.tie = floor.provisional = false;
  floor.proven = true;
  floor.memory_unknown =
      !memory_known(chip, residency) && demand.hbm_read + demand.hbm_write > Bytes(0);
  each_amount(demand, rates, chip, residency,
              [&](ResourceId id, Amount amount) { add_term(id, amount, rates, floor); });
  rank_terms(floor);
}

Seconds longest_term(const Demand& demand, const Rates& rates, const OnChip& chip,
                     Residency residency) {
  Seconds longest(0);
  each_amount(demand, rates, chip, residency, [&](ResourceId id, Amount amount) {
    const Rate& rate = rates[id];
    if (rate.known && amount > Amount()) longest = std::max(longest, time_at(amount, rate));
  });
  return longest;
}

Seconds Floor::proven_time() const {
  Seconds longest(0);
  for (const Term& term : list()) {
    if (term.rate->proves()) longest = std::max(longest, term.time);
  }
  return longest;
}

std::optional<BreakEven> Floor::break_even() const {
  if (binding < 0 || runner_up < 0) return std::nullopt;
  const Term& top = binding_term();
  const double factor = terms[static_cast<std::size_t>(runner_up)].time / top.time;
  return BreakEven{top.amount * factor, factor};
}

MissingRates missing_rates(const Demand& demand, const Rates& rates) {
  MissingRates missing;
  const auto need = [&](ResourceId id) {
    if (!rates[id].known) missing.ids[static_cast<std::size_t>(missing.count++)] = id;
  };
  for (const DemandEntry& entry : demand.list()) {
    // These only tighten a floor; without them it is still sound.
    if (entry.resource.unit == Unit::sfu || entry.resource.unit == Unit::l1_port ||
        entry.resource.unit == Unit::atomic) {
      continue;
    }
    need(entry.resource);
  }
  if (demand.hbm_read + demand.hbm_write > Bytes(0)) need({Unit::hbm});
  return missing;
}

ObservedTerms observed_terms(const Demand& demand, const Rates& rates) {
  ObservedTerms observed;
  const auto add = [&](Unit unit, Amount amount) {
    const Rate& rate = rates.observed(unit);
    if (!rate.known || !(amount > Amount()) || observed.count >= 4) return;
    Term& term = observed.terms[static_cast<std::size_t>(observed.count++)];
    term = {ResourceId{unit}, amount, &rate, amount / rate.nominal};
  };
  add(Unit::hbm, Amount(demand.hbm_read + demand.hbm_write));
  add(Unit::l2, Amount(demand.hbm_read + demand.hbm_write));
  for (const DemandEntry& entry : demand.list()) {
    if (amount_kind(entry.resource.unit) == AmountKind::bytes &&
        entry.resource.unit != Unit::l1_port) {
      add(entry.resource.unit, entry.amount);
    }
  }
  return observed;
}

}  // namespace floorline
