// SPDX-License-Identifier: Apache-2.0
// One group under the rules. Internal to fuse_rules.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/rewrite/fuse_rules.hpp"

namespace floorline {

enum class MemberRole : std::uint8_t {
  pointwise,  ///< an element from the elements at the same place
  row_sum,    ///< a row to a number
  row_norm,   ///< a row to a row, by numbers of the whole row
  product,    ///< sums along the rows of the first factor, with all of the second
  attention,  ///< a block of queries with all keys and values
  other,      ///< not understood
};
MemberRole role_of(const BoundGraph& bound, const BoundOperator& op);

class GroupCheck {
 public:
  using Refuse = std::function<void(FusionRule, const std::function<std::string()>&)>;

  GroupCheck(const OperatorGraph& graph, const BoundGraph& bound,
             std::span<const OperatorId> group);

  /// False at the first refusal when `refuse` is empty.
  bool grid(const Refuse& refuse) const;
  [[nodiscard]] std::vector<OnChipNeed> needs() const;
  [[nodiscard]] bool made_inside(int tensor) const {
    return producer_[static_cast<std::size_t>(tensor)] >= 0;
  }
  [[nodiscard]] double tile_rows() const { return tile_rows_; }

 private:
  struct Member {
    int op = 0;
    MemberRole role = MemberRole::other;
    bool pure = false;             ///< element-wise, of nothing but element-wise members
    bool after_attention = false;  ///< reads, at some remove, what attention made
    int product = -1;              ///< the nearest product that it reads, a member; -1: none
  };
  [[nodiscard]] const BoundOperator& op(const Member& m) const {
    return bound_.ops[static_cast<std::size_t>(m.op)];
  }
  [[nodiscard]] const BoundTensor& tensor(int t) const {
    return bound_.tensors[static_cast<std::size_t>(t)];
  }
  [[nodiscard]] const Member* maker(int t) const {
    const int m = producer_[static_cast<std::size_t>(t)];
    return m < 0 ? nullptr : &members_[static_cast<std::size_t>(m)];
  }
  [[nodiscard]] std::string named(const Member& m) const {
    return "\"" + graph_.ops[static_cast<std::size_t>(m.op)].name + "\"";
  }
  [[nodiscard]] std::string named(int t) const {
    return "\"" + graph_.tensors[static_cast<std::size_t>(t)].name + "\"";
  }
  [[nodiscard]] double inner_length(const Member& m) const;
  [[nodiscard]] std::vector<int> row_inputs(const Member& m) const;
  [[nodiscard]] bool row_is_read_again(const Member& m) const;
  [[nodiscard]] bool corrected_on_the_way(const Member& m) const;
  [[nodiscard]] bool reads_rows(const Member& m, double elements) const;
  bool product_grid(const Member& m, const Refuse& refuse) const;
  bool attention_grid(const Member& m, const Refuse& refuse) const;
  bool row_grid(const Member& m, const Refuse& refuse) const;
  void add_rows(int t, double row, std::vector<OnChipNeed>& needs) const;
  void add_chain(const Member& m, std::vector<OnChipNeed>& needs) const;

  const OperatorGraph& graph_;
  const BoundGraph& bound_;
  std::vector<Member> members_;
  std::vector<int> producer_;  ///< by tensor: the member that makes it, -1: none
  double tile_rows_ = 1;
};

}  // namespace floorline
