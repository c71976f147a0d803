// SPDX-License-Identifier: Apache-2.0
// Single changes that nobody asked for, ranked by what they would buy: each resource twice as fast,
// each operator with half its traffic or half its work, narrower storage, a faster unit, fusion,
// overlapped communication, fewer launches.
//   gain        serial cold floor before / after
//   ceiling     Amdahl first: 1/(1 - share) of what the change touches. Share of measured time
//   where
//               the operators were measured; else of the floor, and then a bound on the floor's
//               gain, not on the time's
//   elasticity  -d ln(floor) / d ln(rate), or of an operator d ln(floor) / d ln(amount)
// Launches gain nothing in a floor: their saving is an expectation.
#pragma once

#include <cstdint>
#include <functional>

#include "model/quantity/byte_count.hpp"
#include "model/whatif/amdahl.hpp"
#include "model/whatif/ratios.hpp"

namespace floorline {

enum class RankedKind : std::uint8_t {
  resource,
  traffic,
  work,
  storage,
  compute,
  fusion,
  overlap,
  launches,
};
std::string_view name_of(RankedKind kind);

struct RankedChange {
  RankedKind kind = RankedKind::resource;
  std::string name;                 ///< in words
  std::vector<Assignment> changes;  ///< as --change would take them; empty: no change of a value
  Ratio gain;                       ///< serial
  std::optional<double> elasticity;
  double share = 0;
  bool share_measured = false;
  std::optional<double> ceiling;  ///< absent: it touches everything
  std::optional<Seconds> saving;  ///< expected, outside every floor
  std::optional<Bytes> memory;    ///< peak after minus before, one rank
  std::string note;
};

/// One fusion that a search offers.
struct FusionOffer {
  std::string name;  ///< "norm + quantize"
  OperatorGraph after;
};
using FusionSearch =
    std::function<std::vector<FusionOffer>(const OperatorGraph& graph, const Machine& machine)>;

struct RankingOptions {
  FusionSearch fusion;  ///< empty: only the bound on all fusion is listed
  const MeasuredTimes* measured = nullptr;
  int most_operators = 24;  ///< of the largest share; smaller ones have lower ceilings
};

struct Ranking {
  std::vector<RankedChange> changes;  ///< the largest gain first
  std::vector<std::string> notes;
};

/// `before` is the situation evaluated.
Ranking rank_changes(const Situation& situation, const Outcome& before,
                     const RankingOptions& options);

/// What is tried, before it is evaluated.
struct Candidate {
  RankedKind kind = RankedKind::resource;
  std::string name;
  std::vector<Assignment> changes;
  std::vector<std::size_t> operators;  ///< that it touches, by index in the graph shown
  bool needs_elasticity = false;
};
std::vector<Candidate> candidates_for(const Situation& situation, const Outcome& before,
                                      int most_operators);

/// Kernels of one step on the rank shown: every operator that is no host work, each time it runs.
double launches_of(const Outcome& outcome);

/// Peak of everything alive on the rank shown; absent for a kernel by numbers, and where it is
/// beyond counting.
std::optional<ByteCount> peak_memory(const Outcome& outcome);

}  // namespace floorline
