// SPDX-License-Identifier: Apache-2.0
// What one collective costs in the alpha-beta model: alpha = what one step costs however few bytes
// it moves, B = the bandwidth of one rank's link, one direction. S is the message as design §5
// counts it (all_reduce: the message; all_gather: the whole output; reduce_scatter: the whole
// input; all_to_all: one rank's buffer), p the ranks:
//
//   all_reduce      ring            2(p-1) alpha + 2(p-1)/p S/B
//                   tree            2 ceil(log2 p) alpha + 2 S/B     two binary trees, pipelined
//                   in_network      2 alpha + S/B                    the switch adds
//   all_gather,     ring            (p-1) alpha + (p-1)/p S/B
//   reduce_scatter  tree            ceil(log2 p) alpha + (p-1)/p S/B recursive doubling, halving
//                   in_network      alpha + (p-1)/p S/B              one direction carries all
//   all_to_all      (any)           (p-1) alpha + (p-1)/p S/B        pairwise exchange
//   broadcast       ring            (p-1) alpha + S/B                pipelined along the ring
//                   tree            ceil(log2 p) alpha + S/B
//                   in_network      alpha + S/B
//
// Thakur, Rabenseifner, Gropp, "Optimization of Collective Communication Operations in MPICH"
// (2005); Sanders, Speck, Träff, "Two-tree algorithms" (2009). An expectation, no floor: algorithms
// overlap steps differently and alpha must be measured for the library and the machine.
// Ignored: reduction arithmetic, congestion, unequal links, protocols that halve the bandwidth.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/quantity/quantity.hpp"

namespace floorline {

enum class CollectiveAlgorithm : std::uint8_t { ring, tree, in_network };
std::string_view name_of(CollectiveAlgorithm algorithm);
std::optional<CollectiveAlgorithm> collective_algorithm_from(std::string_view name);

enum class Collective : std::uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  broadcast
};
std::string_view name_of(Collective collective);
std::optional<Collective> collective_from(std::string_view name);

struct CollectiveLink {
  Seconds alpha{0};
  BytesPerSecond bandwidth{0};
};

struct CollectiveCost {
  Seconds latency{0};    ///< all steps' alphas
  Seconds bandwidth{0};  ///< bytes over the link
  [[nodiscard]] Seconds time() const { return latency + bandwidth; }
};

/// Nothing for one rank. `ranks` >= 1.
CollectiveCost collective_cost(Collective what, CollectiveAlgorithm how, Bytes message,
                               std::int64_t ranks, const CollectiveLink& link);

}  // namespace floorline
