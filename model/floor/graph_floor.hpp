// SPDX-License-Identifier: Apache-2.0
// Floors of a whole graph, each cold and at any residency:
//   fused          per resource the whole graph's demand over its rate; graph inputs, weights and
//                  state read once, outputs written once, S subtracted once. Unconditional.
//   critical path  max(longest dependency path, per-resource sums): if operators start after their
//                  producers end.
//   serial         sum over operators: if kernels do not overlap.
// fused ≤ critical path ≤ serial. A floor that holds under weaker conditions holds under stronger
// ones too, so at any residency the larger of the two is taken (the sum of floors of kernels that
// each fit on chip is 0, the whole graph is not).
// Repeat blocks are folded: paths through one iteration form a max-plus matrix over the carried
// tensors, whose power is taken by squaring.
#pragma once

#include <array>
#include <vector>

#include "model/floor/floor.hpp"

namespace floorline {

struct ResidencyTimes {
  Seconds cold{0};
  Seconds any{0};
};

/// Per-resource sums over the whole graph. Fixed size: the resources of a graph are few, and those
/// that find no place are left out (weaker).
struct GraphDemand {
  static constexpr int kCapacity = 24;
  std::array<DemandEntry, kCapacity> entries{};
  int count = 0;
  Flops flops{0};
  Bytes hbm_read{0};
  Bytes hbm_write{0};
  [[nodiscard]] std::span<const DemandEntry> list() const {
    return {entries.data(), static_cast<std::size_t>(count)};
  }
  /// `place`: where it was the last time, and now is.
  void add(ResourceId id, Amount amount, int& place);
  void add(ResourceId id, Amount amount) {
    int first = 0;
    add(id, amount, first);
  }
};

struct GraphFloors {
  std::vector<OperatorFloors> ops;  ///< as the graph's operators
  ResidencyTimes serial, critical_path, fused;
  Seconds fused_proven{0};    ///< fused, any residency, of resources with a ceiling only
  GraphDemand sum;            ///< every operator's demand, times its count
  GraphDemand fused_demand;   ///< bytes of the graph's own inputs and outputs only
  GraphDemand bound_by;       ///< seconds of the serial cold floor, by what binds its operators
  ResourceId serial_binding;  ///< with the largest share of the serial cold floor
  ResourceId fused_binding;   ///< of the fused cold floor
  bool proven = true;
  bool served = true;     ///< every operator finds the rates that it needs
  bool any_known = true;  ///< caches known, so that any-residency floors have a memory term

  /// Every operator waits for the one before it, whatever they take: known from the graph alone.
  bool chain = false;
  std::vector<int> sources;  ///< tensors that enter the graph: inputs, weights, state
  std::vector<int> entries;  ///< uses that read them
  /// By operator and entry of its demand: where it was in `sum` the last time.
  std::vector<int> places;
  std::vector<int> bound_places;  ///< by operator, likewise in `bound_by`
  std::vector<Bytes> entering;    ///< by use, of `entries` only: what enters, all iterations
  std::vector<Bytes> leaving;     ///< by operator: what leaves the graph, all iterations

  // Scratch of the longest path, kept so that evaluation allocates nothing.
  std::vector<Bytes> read;     ///< by tensor
  std::vector<Bytes> rows;     ///< by tensor, of graphs in which some are rows of others
  std::vector<double> ready;   ///< by tensor
  std::vector<double> work;    ///< by tensor
  std::vector<double> matrix;  ///< max-plus matrices of the carried tensors
};

/// Sizes the arrays for `graph`; after this graph_floors() allocates nothing.
void prepare(const BoundGraph& graph, GraphFloors& result);
void graph_floors(const BoundGraph& graph, const Rates& rates, const OnChip& chip,
                  GraphFloors& result);
/// The same where only the operators `changed` ask for other amounts since the last time.
void graph_floors(const BoundGraph& graph, const Rates& rates, const OnChip& chip,
                  std::span<const int> changed, GraphFloors& result);

/// Fraction of the serial cold floor bound by each resource, largest first.
struct Share {
  ResourceId resource;
  double fraction;
};
ResourceId largest_serial_resource(const GraphFloors& floors);
std::vector<Share> serial_shares(const GraphFloors& floors);

}  // namespace floorline
