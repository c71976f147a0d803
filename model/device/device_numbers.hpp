// SPDX-License-Identifier: Apache-2.0
// The one list of the numbers of a device file: table, key, member. Included by device.hpp.
#pragma once

#include <string>

#include "model/device/device.hpp"

namespace floorline {

namespace detail {

template <class Level, class Visitor>
void visit_level(const std::string& table, Level& level, Visitor& visit) {
  visit(table, "bandwidth", level.bandwidth);
  visit(table, "capacity", level.capacity);
  visit(table, "driver_capacity", level.driver_capacity);
  visit(table, "capacity_per_unit", level.capacity_per_unit);
  visit(table, "usable_per_unit", level.usable_per_unit);
  visit(table, "bytes_per_clock_per_unit", level.bytes_per_clock_per_unit);
}

template <class Link, class Visitor>
void visit_link(const std::string& table, Link& link, Visitor& visit) {
  visit(table, "bandwidth", link.bandwidth);
  visit(table, "bandwidth_observed", link.bandwidth_observed);
  visit(table, "latency", link.latency);
}

}  // namespace detail

template <class Device, class Visitor>
void visit_numbers(Device& d, Visitor&& visit) {
  visit("", "units", d.units);
  for (auto& clock : d.clocks) {
    visit("clock." + clock.name, "published", clock.published);
    visit("clock." + clock.name, "highest", clock.highest);
  }
  for (auto& rate : d.rates) {
    visit("rate." + rate.key, "per_clock_per_unit", rate.per_clock_per_unit);
    visit("rate." + rate.key, "rate", rate.rate);
    visit("rate." + rate.key, "cap", rate.cap);
    visit("rate." + rate.key, "packing", rate.packing);
  }
  for (auto& emulation : d.emulations) {
    visit("emulation." + emulation.name, "products", emulation.products);
  }
  visit("memory", "sector_bytes", d.sector_bytes);
  detail::visit_level("memory.hbm", d.hbm, visit);
  detail::visit_level("memory.l2", d.l2, visit);
  detail::visit_level("memory.last_level", d.last_level, visit);
  detail::visit_level("memory.shared", d.shared, visit);
  detail::visit_level("memory.l1_port", d.l1_port, visit);
  detail::visit_level("memory.registers", d.registers, visit);
  detail::visit_level("memory.tensor", d.tensor_memory, visit);
  detail::visit_link("link.h2d", d.h2d, visit);
  detail::visit_link("link.d2h", d.d2h, visit);
  detail::visit_link("link.peer", d.peer, visit);
  detail::visit_link("link.network", d.network, visit);
  visit("topology", "devices_per_node", d.topology.devices_per_node);
  visit("topology", "kind", d.topology.kind);
  visit("topology", "in_network_reduction", d.topology.in_network_reduction);
  visit("topology", "multicast", d.topology.multicast);
  for (auto& overhead : d.overheads) visit("overhead." + overhead.name, "time", overhead.time);
  visit("power", "limit", d.power_limit);
}

}  // namespace floorline
