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

/// By how much `a` is longer, 0 at a tie.
double longer_by(Seconds a, Seconds b) {
  const double x = a.in_base_units();
  const double y = b.in_base_units();
  return std::abs(x - y) <= kTieTolerance * std::max(x, y) ? 0 : x - y;
}
bool equal_times(Seconds a, Seconds b) { return longer_by(a, b) == 0; }

bool comes_first(const Term& a, const Term& b) {
  const double longer = longer_by(a.time, b.time);
  return longer == 0 ? a.resource < b.resource : longer > 0;
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

/// The others only tighten a floor; without them it is still sound.
bool cannot_do_without(Unit unit) {
  return unit != Unit::sfu && unit != Unit::l1_port && unit != Unit::atomic;
}

}  // namespace

Floor floor_of(const Demand& demand, const Rates& rates, const OnChip& chip, Residency residency) {
  Floor floor;
  floor.memory_unknown =
      !memory_known(chip, residency) && demand.hbm_read + demand.hbm_write > Bytes(0);
  for (const DemandEntry& entry : demand.list()) {
    const bool is_port = entry.resource.unit == Unit::l1_port;
    // By numbers nothing says what of the bytes crosses HBM.
    if (entry.resource.unit == Unit::memory && residency != Residency::cold) continue;
    add_term(is_port ? port_amount(entry.amount, rates, chip, residency) : entry.amount,
             rates[entry.resource], floor);
  }
  add_term(hbm_amount(demand, chip, residency), rates[{Unit::hbm}], floor);
  floor.proven = floor.binding < 0 || floor.binding_term().rate->proves();
  return floor;
}

namespace {

/// Takes the term if it is longer; of equal ones the first by resource stays. Returns its time.
inline Seconds consider(Amount amount, const Rate& rate, Limit& limit) {
  if (!(amount > Amount())) return Seconds(0);
  const Seconds time = time_at(amount, rate);
  const double longer = longer_by(time, limit.longest);
  const bool first = longer > 0 || (longer == 0 && !limit.none() && rate.via < limit.rate->via);
  if (first) limit = {time, amount, &rate};
  return time;
}

struct Limits {
  Limit cold;
  Limit any;
  Seconds overlapped{0};
  bool served = true;
};

/// Work is the same wherever the operands are. A kernel by numbers does not say what of its bytes
/// crosses HBM.
inline void add_work(const Demand& demand, const Rates& rates, Limits& limits) {
  const DemandEntry* by_numbers = nullptr;
  for (const DemandEntry& entry : demand.list()) {
    const Unit unit = entry.resource.unit;
    const Rate& rate = rates[entry.resource];
    if (!rate.known) {
      limits.served = limits.served && !cannot_do_without(unit);
    } else if (unit == Unit::memory) {
      by_numbers = &entry;
    } else if (unit != Unit::l1_port) {
      limits.overlapped = std::max(limits.overlapped, consider(entry.amount, rate, limits.cold));
    }
  }
  limits.any = limits.cold;
  if (by_numbers != nullptr) consider(by_numbers->amount, rates[{Unit::memory}], limits.cold);
}

/// What crosses a level that residency spares.
inline void add_traffic(const std::array<Amount, 3>& amounts, const Rate& rate, Limits& limits) {
  if (!rate.known) return;
  consider(amounts[0], rate, limits.cold);
  consider(amounts[1], rate, limits.any);
  if (amounts[2] > Amount())
    limits.overlapped = std::max(limits.overlapped, time_at(amounts[2], rate));
}

}  // namespace

void fill_floors(const Rates& rates, const OnChip& chip, OperatorFloors& op) {
  const Demand& demand = op.demand;
  const Rate& hbm = rates[{Unit::hbm}];
  const bool moves = demand.hbm_read + demand.hbm_write > Bytes(0);
  Limits limits;
  limits.served = hbm.known || !moves;
  add_work(demand, rates, limits);
  if (demand.count > 0 && demand.list().back().resource.unit == Unit::l1_port) {
    const Amount amount = demand.list().back().amount;
    add_traffic({port_amount(amount, rates, chip, Residency::cold),
                 port_amount(amount, rates, chip, Residency::any_keep),
                 port_amount(amount, rates, chip, Residency::any_all)},
                rates[{Unit::l1_port}], limits);
  }
  add_traffic({Amount(cold_bytes(demand)),
               chip.keep_known ? Amount(warm_bytes(demand, chip, chip.keep)) : Amount(),
               chip.all_known ? Amount(warm_bytes(demand, chip, chip.all)) : Amount()},
              hbm, limits);
  op.cold = limits.cold;
  op.any = limits.any;
  op.any_overlapped = limits.overlapped;
  op.memory_unknown = moves && !chip.keep_known;
  op.served = limits.served;
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
