// SPDX-License-Identifier: Apache-2.0
// What one operator asks of each resource: work F and bytes D at named levels, exact counts from
// shapes. Where the data decide (routing, rows of a table), the least that any data could cause.
// No rates here: a demand meets a device in model/floor.
#pragma once

#include <array>
#include <span>

#include "model/device/on_chip.hpp"
#include "model/quantity/resource.hpp"
#include "model/workload/bound_graph.hpp"

namespace floorline {

struct DemandEntry {
  ResourceId resource;
  Amount amount;
};

/// A flat list of fixed capacity. HBM bytes are kept as reads and writes, because residency on chip
/// is subtracted from each.
struct Demand {
  static constexpr int kCapacity = 6;
  Flops flops{0};      ///< F, for intensity and totals
  Bytes hbm_read{0};   ///< distinct input bytes, each once
  Bytes hbm_write{0};  ///< output bytes, each once
  /// Matrix products: bytes that a finite on-chip memory forces beyond the compulsory ones
  /// (2mnk·sqrt(abc/S) - 2S, 0 when it does not bind).
  Bytes hbm_least_total{0};
  std::array<DemandEntry, kCapacity> entries{};  ///< the ports of the units last, if at all
  int count = 0;

  /// Adds to the entry of `resource`, or makes one. Zero amounts are left out.
  void add(ResourceId resource, Amount amount);
  [[nodiscard]] std::span<const DemandEntry> list() const {
    return {entries.data(), static_cast<std::size_t>(count)};
  }
};

Demand demand_of(const BoundGraph& graph, const BoundOperator& op, const OnChip& chip);
/// The same into a demand that is there already; entries beyond its count keep what they were.
/// `reads`, one an input or none at all: what it reads of each at least, before what is stated.
void fill_demand(const BoundGraph& graph, const BoundOperator& op, const OnChip& chip,
                 std::span<Bytes> reads, Demand& demand);

/// One kernel by numbers: F on "compute", D on "memory".
Demand demand_by_numbers(Flops flops, Bytes bytes);

}  // namespace floorline
