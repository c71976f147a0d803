// SPDX-License-Identifier: Apache-2.0
#include "model/device/rates.hpp"

#include <algorithm>

namespace floorline {

Rates::Rates() : rates_(1), ids_(1) {}

void Rates::set(ResourceId id, const Rate& rate) {
  std::uint16_t& slot = slot_[id.index()];
  if (slot == 0) {
    slot = static_cast<std::uint16_t>(rates_.size());
    rates_.push_back(rate);
    ids_.push_back(id);
  } else {
    rates_[slot] = rate;
  }
}

void Rates::set_observed(Unit unit, const Rate& rate) {
  observed_[static_cast<std::size_t>(unit)] = rate;
}

std::vector<ResourceId> Rates::known() const {
  std::vector<ResourceId> ids(ids_.begin() + 1, ids_.end());
  std::sort(ids.begin(), ids.end());
  return ids;
}

namespace {

const ClockSpec* find_clock(const DeviceSpec& device, const std::string& name) {
  for (const ClockSpec& clock : device.clocks) {
    if (clock.name == name) return &clock;
  }
  return nullptr;
}

struct ResolvedClock {
  std::optional<Hertz> published;
  std::optional<Hertz> highest;
};

/// A clock chosen by the user is exact at both ends.
ResolvedClock resolve_clock(const DeviceSpec& device, const std::string& name,
                            const ClockChoice& clocks) {
  if (clocks.sm_clock) return {clocks.sm_clock, clocks.sm_clock};
  const ClockSpec* clock = find_clock(device, name);
  if (clock == nullptr) return {};
  ResolvedClock r;
  if (clock->published) r.published = clock->published->value;
  if (clock->highest) r.highest = clock->highest->upper();
  if (!r.published && clock->highest) r.published = clock->highest->value;
  // A card held below the published clock is nominally no faster than it can run.
  if (r.published && r.highest) r.published = std::min(*r.published, *r.highest);
  return r;
}

/// A typed total scales with the chosen clock only if the file says which clock it was meant at.
double typed_scale(const DeviceSpec& device, const RateSpec& spec, const ClockChoice& clocks) {
  const ClockSpec* clock = find_clock(device, spec.clock);
  if (!clocks.sm_clock || clock == nullptr || !clock->published) return 1;
  return *clocks.sm_clock / clock->published->value;
}

void apply_cap(const RateSpec& spec, Rate& rate) {
  if (!spec.cap) return;
  const AmountPerSecond high(spec.cap->upper());
  const AmountPerSecond value(spec.cap->value);
  const bool is_ceiling = spec.cap->kind == RateKind::ceiling;
  if (is_ceiling && (!rate.has_ceiling || high < rate.ceiling)) {
    rate.ceiling = high;
    rate.has_ceiling = true;
    rate.how = "firmware cap";
  }
  if (!rate.known || value < rate.nominal) rate.nominal = value;
  rate.known = true;
}

void apply_typed_total(const DeviceSpec& device, const RateSpec& spec, const ClockChoice& clocks,
                       Rate& rate) {
  const double scale = typed_scale(device, spec, clocks);
  rate.nominal = AmountPerSecond(spec.rate->value * scale);
  rate.ceiling = AmountPerSecond(spec.rate->upper() * scale);
  rate.kind = spec.rate->kind;
  rate.has_ceiling = spec.rate->kind != RateKind::observed;
  rate.provisional = spec.rate->kind == RateKind::best_seen;
  rate.known = true;
}

Rate resolve_rate(const DeviceSpec& device, const RateSpec& spec, const ClockChoice& clocks) {
  Rate rate;
  rate.via = spec.id;
  if (spec.rate) {
    apply_typed_total(device, spec, clocks, rate);
  } else if (spec.per_clock_per_unit && device.units) {
    const ResolvedClock clock = resolve_clock(device, spec.clock, clocks);
    const double packing = spec.packing ? spec.packing->value : 1;
    const double packing_high = spec.packing ? spec.packing->upper() : 1;
    if (clock.published) {
      rate.nominal = AmountPerSecond(spec.per_clock_per_unit->value * device.units->value *
                                     packing * *clock.published);
      rate.known = true;
    }
    if (clock.highest) {
      rate.ceiling = AmountPerSecond(spec.per_clock_per_unit->upper() * device.units->upper() *
                                     packing_high * *clock.highest);
      rate.has_ceiling = true;
    }
  }
  apply_cap(spec, rate);
  return rate;
}

bool faster(const Rate& a, const Rate& b) {
  if (!b.known) return a.known;
  if (!a.known) return false;
  const AmountPerSecond x = a.has_ceiling ? a.ceiling : a.nominal;
  const AmountPerSecond y = b.has_ceiling ? b.ceiling : b.nominal;
  return x > y;
}

/// Proven only if both are bounded: a rate without a ceiling may be the faster one.
Rate fastest(const Rate& a, const Rate& b) {
  Rate r = faster(b, a) ? b : a;
  if (a.known && b.known) r.has_ceiling = a.has_ceiling && b.has_ceiling;
  return r;
}

/// Both units may run at once: the sum bounds what they do together.
Rate sum(const Rate& a, const Rate& b, const char* how) {
  if (!a.known) return b;
  if (!b.known) return a;
  Rate r = faster(b, a) ? b : a;
  r.nominal = a.nominal + b.nominal;
  r.ceiling = a.ceiling + b.ceiling;
  r.has_ceiling = a.has_ceiling && b.has_ceiling;
  r.provisional = a.provisional || b.provisional;
  r.how = how;
  r.pooled = true;
  return r;
}

ResourceId tensor_id(Precision in, Precision acc, bool sparse = false) {
  return {Unit::tensor, in, acc, sparse};
}
ResourceId unit_id(Unit unit, Precision in = Precision::none) { return {unit, in}; }

/// Fastest over a wildcard: tensor.any.ACC, tensor.IN.any, tensor.any.any, vector.any.
void resolve_wildcards(Rates& rates) {
  for (const ResourceId id : rates.known()) {
    if (id.unit == Unit::tensor) {
      for (const Precision in : {id.input, Precision::any}) {
        for (const Precision acc : {id.accumulate, Precision::any}) {
          const ResourceId wild = tensor_id(in, acc, id.sparse);
          if (wild != id) rates.set(wild, fastest(rates[wild], rates[id]));
        }
      }
    } else if (id.unit == Unit::vector) {
      const ResourceId wild = unit_id(Unit::vector, Precision::any);
      rates.set(wild, fastest(rates[wild], rates[id]));
    }
  }
}

Rate emulated(const Rates& rates, const EmulationSpec& spec) {
  Rate rate = rates[spec.uses];
  if (!rate.known || !spec.products) return {};
  rate.nominal = rate.nominal * (1 / spec.products->value);
  rate.ceiling = rate.ceiling * (1 / spec.products->lower());
  rate.how = "declared emulation";
  return rate;
}

void resolve_pools(const DeviceSpec& device, Rates& rates) {
  const Rate tensor = rates[tensor_id(Precision::any, Precision::any)];
  for (const PrecisionInfo& p : kPrecisions) {
    const Rate vector = rates[unit_id(Unit::vector, p.id)];
    if (vector.known) {
      Rate pool = sum(vector, tensor, "vector and tensor units together");
      pool.via = vector.via;
      rates.set(unit_id(Unit::linear, p.id), pool);
    }
    if (p.id != Precision::fp32 && p.id != Precision::fp64) continue;
    Rate product = sum(vector, rates[tensor_id(p.id, p.id)], "vector and tensor units together");
    for (const EmulationSpec& spec : device.emulations) {
      if (spec.emulates == p.id) product = fastest(product, emulated(rates, spec));
    }
    if (product.known) rates.set(unit_id(Unit::product, p.id), product);
  }
  const Rate sfu = rates[unit_id(Unit::sfu)];
  if (sfu.known) {
    const Rate vector = rates[unit_id(Unit::vector, Precision::any)];
    Rate pool = sum(sfu, vector, "sfu and vector units together");
    pool.via = unit_id(Unit::sfu);
    pool.known = vector.known;  // else what they do together is not known
    rates.set(unit_id(Unit::sfu), pool);
  }
}

void set_bandwidth(Rates& rates, Unit unit, const MaybeSourced<BytesPerSecond>& bandwidth,
                   double scale) {
  if (!bandwidth) return;
  Rate rate;
  rate.via = unit_id(unit);
  rate.known = true;
  rate.kind = bandwidth->kind;
  rate.nominal = AmountPerSecond(bandwidth->value * scale);
  rate.ceiling = AmountPerSecond(bandwidth->upper() * scale);
  rate.has_ceiling = bandwidth->kind != RateKind::observed;
  rate.provisional = bandwidth->kind == RateKind::best_seen;
  if (bandwidth->kind == RateKind::observed) {
    rates.set_observed(unit, rate);
  } else {
    rates.set(unit_id(unit), rate);
  }
}

/// Bytes per clock and unit, at the clock that the level names.
void set_per_clock(const DeviceSpec& device, const LevelSpec& level, const ClockChoice& clocks,
                   Unit unit, Rates& rates) {
  if (!level.bytes_per_clock_per_unit || !device.units) return;
  const ResolvedClock clock = resolve_clock(device, level.clock, clocks);
  if (!clock.published) return;
  Rate rate;
  rate.via = unit_id(unit);
  rate.known = true;
  rate.nominal = AmountPerSecond(level.bytes_per_clock_per_unit->value * device.units->value *
                                 *clock.published);
  rate.has_ceiling = clock.highest.has_value();
  if (clock.highest) {
    rate.ceiling = AmountPerSecond(level.bytes_per_clock_per_unit->upper() * device.units->upper() *
                                   *clock.highest);
  }
  rates.set(unit_id(unit), rate);
}

void resolve_links(const DeviceSpec& device, Rates& rates) {
  const auto both = [&rates](const LinkSpec& link, Unit out, Unit in) {
    for (const Unit unit : {out, in}) {
      set_bandwidth(rates, unit, link.bandwidth, 1);
      MaybeSourced<BytesPerSecond> observed = link.bandwidth_observed;
      if (observed) observed.known->kind = RateKind::observed;
      set_bandwidth(rates, unit, observed, 1);
    }
  };
  both(device.h2d, Unit::h2d, Unit::h2d);
  both(device.d2h, Unit::d2h, Unit::d2h);
  both(device.peer, Unit::peer_out, Unit::peer_in);
  both(device.network, Unit::net_out, Unit::net_in);
}

/// One transaction to one address an L2 clock, whatever the SM clock; one second of the host a
/// second.
void resolve_serial(const DeviceSpec& device, Rates& rates) {
  Rate host;
  host.via = unit_id(Unit::host);
  host.known = host.has_ceiling = true;
  host.nominal = host.ceiling = AmountPerSecond(FlopsPerSecond(1));
  rates.set(unit_id(Unit::host), host);
  const ResolvedClock clock = resolve_clock(device, "l2", {});
  if (!clock.published) return;
  Rate atomic = host;
  atomic.via = unit_id(Unit::atomic);
  atomic.has_ceiling = clock.highest.has_value();
  atomic.nominal = AmountPerSecond(FlopsPerSecond(clock.published->in_base_units()));
  if (clock.highest)
    atomic.ceiling = AmountPerSecond(FlopsPerSecond(clock.highest->in_base_units()));
  rates.set(unit_id(Unit::atomic), atomic);
}

}  // namespace

Rates resolve_rates(const DeviceSpec& device, const ClockChoice& clocks) {
  Rates rates;
  for (const RateSpec& spec : device.rates) {
    const Rate rate = resolve_rate(device, spec, clocks);
    if (rate.known) rates.set(spec.id, rate);
  }
  resolve_wildcards(rates);
  resolve_pools(device, rates);
  set_bandwidth(rates, Unit::hbm, device.hbm.bandwidth, clocks.memory_scale);
  set_bandwidth(rates, Unit::l2, device.l2.bandwidth, 1);
  set_bandwidth(rates, Unit::shared, device.shared.bandwidth, 1);
  set_bandwidth(rates, Unit::l1_port, device.l1_port.bandwidth, 1);
  set_per_clock(device, device.shared, clocks, Unit::shared, rates);
  set_per_clock(device, device.l1_port, clocks, Unit::l1_port, rates);
  resolve_links(device, rates);
  resolve_serial(device, rates);
  return rates;
}

OnChip resolve_on_chip(const DeviceSpec& device) {
  OnChip chip;
  if (device.l2.capacity) {
    chip.keep = device.l2.capacity->upper();
    chip.keep_known = device.last_level.capacity.unknown_because.empty();
  }
  if (device.last_level.capacity) chip.keep += device.last_level.capacity->upper();
  const auto per_unit = [&device](const MaybeSourced<Bytes>& bytes) {
    return bytes && device.units ? bytes->upper() * device.units->upper() : Bytes(0);
  };
  // A level that is stated as unknown, or that the vendor's chips are known to have, must be given.
  chip.all_known = chip.keep_known && device.shared.capacity_per_unit &&
                   device.registers.capacity_per_unit && device.units &&
                   device.tensor_memory.capacity_per_unit.unknown_because.empty();
  chip.units = per_unit(device.shared.capacity_per_unit) +
               per_unit(device.registers.capacity_per_unit) +
               per_unit(device.tensor_memory.capacity_per_unit);
  chip.all = chip.keep + chip.units;
  if (device.sector_bytes) chip.sector = device.sector_bytes->lower();
  const TopologySpec& fabric = device.topology;
  if (fabric.multicast) chip.multicast_possible = fabric.multicast->value;
  if (fabric.in_network_reduction) {
    chip.in_network_reduction_possible = fabric.in_network_reduction->value;
  }
  // The large end: what stays inside a node need not cross the network.
  if (fabric.devices_per_node) {
    chip.devices_per_node = static_cast<int>(fabric.devices_per_node->value);
  }
  return chip;
}

std::string device_key_of(ResourceId id) {
  switch (id.unit) {
    case Unit::tensor:
    case Unit::vector:
    case Unit::sfu:
      return "rate." + name_of(id);
    case Unit::product:
    case Unit::linear:
      return "rate.vector." + std::string(name_of(id.input));
    case Unit::hbm:
      return "memory.hbm.bandwidth";
    case Unit::l2:
      return "memory.l2.bandwidth";
    case Unit::shared:
      return "memory.shared.bytes_per_clock_per_unit";
    case Unit::l1_port:
      return "memory.l1_port.bytes_per_clock_per_unit";
    case Unit::h2d:
      return "link.h2d.bandwidth";
    case Unit::d2h:
      return "link.d2h.bandwidth";
    case Unit::peer_out:
    case Unit::peer_in:
      return "link.peer.bandwidth";
    case Unit::net_out:
    case Unit::net_in:
      return "link.network.bandwidth";
    default:
      return name_of(id);
  }
}

std::optional<FlopsPerByte> ridge_point(const Rates& rates, ResourceId compute, Unit level) {
  const Rate& p = rates[compute];
  const Rate& stated = rates[ResourceId{level}];
  const Rate& b = stated.known ? stated : rates.observed(level);
  if (!p.known || !b.known) return std::nullopt;
  return FlopsPerByte(p.nominal.in_base_units() / b.nominal.in_base_units());
}

}  // namespace floorline
