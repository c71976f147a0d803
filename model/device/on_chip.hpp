// SPDX-License-Identifier: Apache-2.0
// What demand and residency need to know of a device: capacities, sector, and what the fabric may
// do. Where a fact is unknown the possibility that gives the lower floor is taken (design §3, §5).
#pragma once

#include <algorithm>

#include "model/quantity/quantity.hpp"

namespace floorline {

struct OnChip {
  Bytes keep{0};   ///< S_keep: every cache that keeps data across a kernel boundary
  Bytes all{0};    ///< S_all: S_keep + shared memory, registers, tensor memory
  Bytes units{0};  ///< all - keep: what is lost at a kernel boundary
  bool keep_known = false;
  bool all_known = false;
  Bytes sector{32};
  bool multicast_possible = true;
  bool in_network_reduction_possible = true;
  /// Devices that peer links join; more ranks than this cross the network. 0: unknown, all joined.
  int devices_per_node = 0;
};

/// What of an amount cannot be among what is kept. By way of doubles, which a compiler compares
/// without a branch.
inline Bytes beyond(Bytes amount, Bytes kept) {
  return Bytes(std::max(0.0, (amount - kept).in_base_units()));
}

}  // namespace floorline
