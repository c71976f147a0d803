// SPDX-License-Identifier: Apache-2.0
// What a fusion buys: traffic a tensor, floors cold and at any residency, launches, intermediates,
// before and after; or why the group cannot be one kernel. A ratio of floors is not a promise: at
// any residency an intermediate that fits into S_keep need not have crossed HBM before either.
// Launches are counted for the expectation's side only: no floor has launch time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/evaluate.hpp"
#include "model/quantity/byte_count.hpp"
#include "model/rewrite/fuse_rules.hpp"
#include "model/whatif/fusion_search.hpp"

namespace floorline {

/// HBM bytes of all iterations, cold.
struct TensorTraffic {
  std::string name;
  Bytes read_before{0}, written_before{0};
  Bytes read_after{0}, written_after{0};
};

struct GroupTimes {
  Seconds cold{0};
  Seconds any{0};  ///< kernels do not overlap
  Bytes hbm{0};    ///< cold
  ResourceId binding;
};

/// A group that runs as the kernels it was, chunk after chunk of its rows (rewrite/chunk).
struct Chunking {
  double rows = 0;  ///< of a chunk
  double all_rows = 0;
  double chunks = 0;
  std::string symbol;  ///< of the rewritten graph: the rows of a chunk
  Bytes inside{0};     ///< of a chunk: what is alive of the intermediates
  Bytes more{0};       ///< crosses HBM beyond before: what every chunk reads whole, sums so far
  std::vector<std::string> whole_inputs;
  Bytes largest_whole_input{0};
  bool has_sums = false;          ///< over rows, which grow from chunk to chunk
  std::vector<std::string> sums;  ///< those, with their storage: "d_weight" in bf16
  /// The least power of two of rows from which on the cold floor stays within kNear of the one
  /// before; absent: none.
  std::optional<double> near_from;
  static constexpr double kNear = 1.05;
};

struct GroupFusion {
  std::string name;
  std::vector<std::string> operators;
  double times = 1;
  std::vector<FusionRefusal> refusals;  ///< empty: legal
  std::vector<std::string> conditions;
  std::vector<OnChipNeed> needs;
  Bytes inside{0};  ///< of one iteration: what vanishes, or would
  std::vector<TensorTraffic> tensors;
  GroupTimes before;
  std::optional<GroupTimes> after;
  std::optional<Chunking> chunk;  ///< of chunk_group; present where it is legal
};

struct Launches {
  double before = 0;
  double after = 0;
  std::optional<Seconds> saved;  ///< absent: the device states no launch time
};

struct FusionResult {
  Evaluation before;
  std::optional<Evaluation> after;  ///< absent when a group is refused
  std::vector<GroupFusion> groups;
  std::optional<FusionPlan> plan;  ///< of a search
  Launches launches;
  ByteCount peak_before;  ///< most intermediates alive at one operator (model/ledger/liveness)
  std::optional<ByteCount> peak_after;
  ByteCount memory_before;  ///< with weights, state, inputs and outputs
  std::optional<ByteCount> memory_after;
  [[nodiscard]] bool legal() const { return after.has_value(); }
};

/// Groups by operators' names. Throws InputError for names that do not exist, groups of fewer than
/// two, operators in two groups.
FusionResult fuse_groups(Evaluation before, const Machine& machine,
                         const std::vector<std::vector<std::string>>& groups);
/// The group as kernels that run chunk after chunk. Throws InputError besides for rows that are no
/// chunk.
FusionResult chunk_group(Evaluation before, const Machine& machine,
                         const std::vector<std::string>& group, double rows);
FusionResult fuse_best(Evaluation before, const Machine& machine);

}  // namespace floorline
