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

bool equal_times(Seconds a, Seconds b) {
  const double x = a.in_base_units();
  const double y = b.in_base_units();
  return std::abs(x - y) <= kTieTolerance * std::max(x, y);
}

bool comes_first(const Term& a, const Term& b) {
  if (equal_times(a.time, b.time)) return a.resource < b.resource;
  return a.time > b.time;
}

/// The longest of the list binds; of equal ones the first by resource.
void push(const Term& term, Floor& floor) {
  if (floor.binding < 0 || comes_first(term, floor.binding_term())) floor.binding = floor.count;
  floor.terms[static_cast<std::size_t>(floor.count++)] = term;
}

inline void add_term(Amount amount, const Rate& rate, Floor& floor) {
  if (!rate.known || !(amount > Amount())) return;
  push({rate.via, amount, &rate, time_at(amount, rate)}, floor);
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

namespace {

Bytes cold_bytes(const Demand& demand) {
  return std::max(demand.hbm_read + demand.hbm_write, demand.hbm_least_total);
}

/// What cannot have been on chip, nor stay there.
Bytes warm_bytes(const Demand& demand, const OnChip& chip, Bytes kept) {
  const Bytes two_sided = beyond(demand.hbm_read, kept) + beyond(demand.hbm_write, kept);
  return std::max(two_sided, beyond(demand.hbm_least_total, chip.all));
}

}  // namespace

Bytes hbm_bytes(const Demand& demand, const OnChip& chip, Residency residency) {
  if (residency == Residency::cold) return cold_bytes(demand);
  return warm_bytes(demand, chip, residency == Residency::any_keep ? chip.keep : chip.all);
}

namespace {

/// Of the port's amount. Cold, it carries no more than HBM; where it is no slower it cannot bind.
Amount port_amount(Amount amount, const Rates& rates, const OnChip& chip, Residency residency) {
  if (residency == Residency::cold) return port_is_slower(rates) ? amount : Amount();
  if (residency == Residency::any_keep) return amount;
  if (!chip.all_known) return {};
  const double kept = chip.units.in_base_units();
  return Amount(Bytes(std::max(0.0, amount.in_base_units() - kept)));
}

Amount hbm_amount(const Demand& demand, const OnChip& chip, Residency residency) {
  return memory_known(chip, residency) ? Amount(hbm_bytes(demand, chip, residency)) : Amount();
}

void clear(const Demand& demand, const OnChip& chip, Residency residency, Floor& floor) {
  floor.count = 0;
  floor.binding = -1;
  floor.memory_unknown =
      !memory_known(chip, residency) && demand.hbm_read + demand.hbm_write > Bytes(0);
}

void judge(Floor& floor) {
  floor.proven = floor.binding < 0 || floor.binding_term().rate->proves();
}

/// The others only tighten a floor; without them it is still sound.
bool cannot_do_without(Unit unit) {
  return unit != Unit::sfu && unit != Unit::l1_port && unit != Unit::atomic;
}

}  // namespace

Floor floor_of(const Demand& demand, const Rates& rates, const OnChip& chip, Residency residency) {
  Floor floor;
  clear(demand, chip, residency, floor);
  for (const DemandEntry& entry : demand.list()) {
    const bool is_port = entry.resource.unit == Unit::l1_port;
    add_term(is_port ? port_amount(entry.amount, rates, chip, residency) : entry.amount,
             rates[entry.resource], floor);
  }
  add_term(hbm_amount(demand, chip, residency), rates[{Unit::hbm}], floor);
  judge(floor);
  return floor;
}

namespace {

/// An amount that residency changes, into both floors and the time that overlaps.
void add_residencies(const std::array<Amount, 3>& amounts, const Rate& rate, OperatorFloors& op) {
  if (!rate.known) return;
  add_term(amounts[0], rate, op.cold);
  add_term(amounts[1], rate, op.any);
  if (amounts[2] > Amount()) op.any_overlapped = std::max(op.any_overlapped, time_at(amounts[2], rate));
}

/// Work is the same wherever the operands are: reckoned once, then copied.
void fill_work(const Rates& rates, OperatorFloors& op) {
  for (const DemandEntry& entry : op.demand.list()) {
    const Unit unit = entry.resource.unit;
    const Rate& rate = rates[entry.resource];
    if (!rate.known && cannot_do_without(unit)) op.served = false;
    if (!rate.known || unit == Unit::l1_port || !(entry.amount > Amount())) continue;
    const Term term{rate.via, entry.amount, &rate, time_at(entry.amount, rate)};
    push(term, op.cold);
    op.any_overlapped = std::max(op.any_overlapped, term.time);
  }
  op.any.count = op.cold.count;
  op.any.binding = op.cold.binding;
  std::copy_n(op.cold.terms.begin(), op.cold.count, op.any.terms.begin());
}

}  // namespace

void fill_floors(const Rates& rates, const OnChip& chip, OperatorFloors& op) {
  const Demand& demand = op.demand;
  clear(demand, chip, Residency::cold, op.cold);
  clear(demand, chip, Residency::any_keep, op.any);
  op.served = true;
  op.any_overlapped = Seconds(0);
  fill_work(rates, op);
  if (demand.count > 0 && demand.list().back().resource.unit == Unit::l1_port) {
    const Amount amount = demand.list().back().amount;
    add_residencies({port_amount(amount, rates, chip, Residency::cold),
                     port_amount(amount, rates, chip, Residency::any_keep),
                     port_amount(amount, rates, chip, Residency::any_all)},
                    rates[{Unit::l1_port}], op);
  }
  const Rate& hbm = rates[{Unit::hbm}];
  if (!hbm.known && demand.hbm_read + demand.hbm_write > Bytes(0)) op.served = false;
  add_residencies({Amount(cold_bytes(demand)),
                   chip.keep_known ? Amount(warm_bytes(demand, chip, chip.keep)) : Amount(),
                   chip.all_known ? Amount(warm_bytes(demand, chip, chip.all)) : Amount()},
                  hbm, op);
  judge(op.cold);
  judge(op.any);
}

int Floor::runner_up() const {
  int first = -1;
  int second = -1;
  const auto before = [this](int a, int b) {
    return b < 0 ||
           comes_first(terms[static_cast<std::size_t>(a)], terms[static_cast<std::size_t>(b)]);
  };
  for (int i = 0; i < count; ++i) {
    if (before(i, first)) {
      second = first;
      first = i;
    } else if (before(i, second)) {
      second = i;
    }
  }
  return second;
}

bool Floor::tie() const {
  const int next = runner_up();
  return next >= 0 && equal_times(time(), terms[static_cast<std::size_t>(next)].time);
}

Seconds Floor::proven_time() const {
  Seconds longest(0);
  for (const Term& term : list()) {
    if (term.rate->proves()) longest = std::max(longest, term.time);
  }
  return longest;
}

std::optional<BreakEven> Floor::break_even() const {
  const int next = runner_up();
  if (binding < 0 || next < 0) return std::nullopt;
  const Term& top = binding_term();
  const double factor = terms[static_cast<std::size_t>(next)].time / top.time;
  return BreakEven{top.amount * factor, factor};
}

MissingRates missing_rates(const Demand& demand, const Rates& rates) {
  MissingRates missing;
  const auto need = [&](ResourceId id) {
    if (!rates[id].known) missing.ids[static_cast<std::size_t>(missing.count++)] = id;
  };
  for (const DemandEntry& entry : demand.list()) {
    if (cannot_do_without(entry.resource.unit)) need(entry.resource);
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
