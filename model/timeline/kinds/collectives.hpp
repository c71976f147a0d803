// SPDX-License-Identifier: Apache-2.0
// Many collectives in a row, each after the piece of compute before it (tensor parallel: two
// all-reduces a layer): what do they cost, how much of it is latency, what does a smaller alpha
// buy? One step = count x (compute_time, then collective); nothing overlaps. The cost of one is
// that of collective_cost.hpp; alpha is a measured number of the library and the machine.
#pragma once

#include <cstdint>
#include <optional>

#include "model/timeline/kinds/built_kind.hpp"
#include "model/timeline/kinds/collective_cost.hpp"

namespace floorline {

class TableReader;

/// The keys that every kind with collectives shares: algorithm, ranks, alpha, bandwidth.
struct CollectiveKeys {
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::ring;
  std::int64_t ranks = 2;
  CollectiveLink link{Seconds(0), BytesPerSecond(1)};
  [[nodiscard]] CollectiveCost cost(Collective what, Bytes message) const {
    return collective_cost(what, algorithm, message, ranks, link);
  }
};
CollectiveKeys read_collective_keys(TableReader& table);

struct Collectives {
  Collective collective = Collective::all_reduce;
  CollectiveKeys keys;
  std::int64_t count = 1;
  Bytes message{0};
  Seconds compute{0};                  ///< before each
  std::optional<Seconds> other_alpha;  ///< compared with
};

Collectives read_collectives(TableReader& table, std::vector<std::string>& assumptions);
BuiltKind build(const Collectives& collectives);

}  // namespace floorline
