// SPDX-License-Identifier: Apache-2.0
// Whether several operators could be one kernel. Each rule is one predicate with its reason:
//   kind          only kinds whose access is understood: element-wise, rope, casts, reductions,
//   norms,
//                 softmax, matrix products, attention
//   stated_bytes  bytes stated by hand do not say which of them vanish
//   repeat        one iteration of one repeat block, or outside all of them
//   connected     every member makes or reads something of another member
//   convex        no path leaves the group and comes back
//   grid          what a member reads is made by other SMs: rows summed across, second factors of
//                 products, keys and values, per-column sums. Element-wise producers are no
//                 obstacle: each SM computes them again
//   capacity      rows that are read again after their reduction, and tiles of chained products,
//   fit
//                 into one SM's shared memory, registers and tensor memory together
// Rows on chip: a norm reads its row twice; a softmax that only feeds a product along its row does
// not (its sums are corrected on the way: Milakov and Gimelshein 2018; Dao et al. 2022). A product
// works on kTileRows rows at least, the m16n8k16 of PTX's mma. Generous on purpose: what is refused
// could not be done in one pass, what passes may still be hard. Not modelled: clusters of SMs that
// share memory, registers lost to addresses, launch limits.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/device/device.hpp"
#include "model/rewrite/fuse.hpp"
#include "model/workload/bound_graph.hpp"

namespace floorline {

/// What one SM, CU or core keeps while a kernel runs.
struct UnitMemory {
  Bytes bytes{0};
  bool known = false;
  std::string device;
};
UnitMemory unit_memory(const DeviceSpec& device);

enum class FusionRule : std::uint8_t {
  kind,
  stated_bytes,
  repeat,
  connected,
  convex,
  grid,
  capacity
};
std::string_view name_of(FusionRule rule);

struct FusionRefusal {
  FusionRule rule;
  std::string reason;
};

/// One thing that has to stay in an SM: rows of a tensor, or a tile of a product.
struct OnChipNeed {
  enum class What : std::uint8_t { rows, factor_rows, columns, sums } what = What::rows;
  int tensor = 0;  ///< of which it is a part
  double rows = 1;
  double columns = 1;
  Bytes bytes{0};
};

class FusionRules {
 public:
  /// All three must outlive the rules.
  FusionRules(const OperatorGraph& graph, const BoundGraph& bound, const UnitMemory& memory);

  /// Everything that stands against the group; empty: it is legal.
  [[nodiscard]] std::vector<FusionRefusal> refusals(std::span<const OperatorId> group) const;
  /// Those that stand against running them one after another as well: all but grid and capacity.
  [[nodiscard]] std::vector<FusionRefusal> refusals_in_order(
      std::span<const OperatorId> group) const;
  /// The same as refusals().empty(), without its texts.
  [[nodiscard]] bool legal(std::span<const OperatorId> group) const;
  /// grid and capacity alone, for groups that are known to keep the other rules.
  [[nodiscard]] bool fits(std::span<const OperatorId> group) const;

  /// What must hold for the group to run as counted, besides what it keeps on chip.
  [[nodiscard]] std::vector<std::string> conditions(std::span<const OperatorId> group) const;
  /// What it keeps on chip, at the sizes of now.
  [[nodiscard]] std::vector<std::string> on_chip_lines(std::span<const OperatorId> group) const;
  [[nodiscard]] std::vector<OnChipNeed> needs(std::span<const OperatorId> group) const;

  /// Whether rules kind and stated_bytes let this operator into any group.
  [[nodiscard]] bool may_join(int op) const;
  /// Why not: the end of a sentence about the operator. Empty: it may.
  [[nodiscard]] std::string why_alone(int op) const;
  /// Whether two operators could ever stand in one group, by the rules kind, stated_bytes, repeat.
  [[nodiscard]] bool may_share(OperatorId a, OperatorId b) const {
    return segment_[index(a)] == segment_[index(b)] && may_join(static_cast<int>(a)) &&
           may_join(static_cast<int>(b));
  }
  /// Operators that read what `op` makes, in this iteration.
  [[nodiscard]] const std::vector<int>& readers_of(int op) const {
    return readers_[static_cast<std::size_t>(op)];
  }

 private:
  class Check;
  const OperatorGraph& graph_;
  const BoundGraph& bound_;
  const UnitMemory& memory_;
  std::vector<std::vector<int>> readers_;
  std::vector<int> segment_;  ///< by operator: equal within one repeat block, or between two
};

/// Of each operator of kind `fused`, whose parts were written for other sizes perhaps: what one SM
/// has to keep now, and a line that begins with DOES NOT FIT where it has not as much.
std::vector<std::string> fused_on_chip(const OperatorGraph& graph, const UnitMemory& memory);

}  // namespace floorline
