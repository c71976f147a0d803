// SPDX-License-Identifier: Apache-2.0
#include "model/rewrite/fuse_check.hpp"

#include <algorithm>
#include <cmath>

#include "model/quantity/unit_names.hpp"

namespace floorline {

namespace {

constexpr double kTileRows = 16;     // rows of the smallest tensor-unit tile (PTX mma.m16n8k16)
constexpr double kTileColumns = 16;  // columns taken at a time, its k
constexpr double kSumBytes = 4;      // fp32 sums

double width(const BoundTensor& tensor) { return storage_bits(tensor.dtype) / 8.0; }

bool is_parameter(const BoundTensor& tensor) {
  return tensor.role == TensorRole::weight || tensor.role == TensorRole::scale;
}

/// Elements of the largest tensor it reads that is no parameter.
double largest_input(const BoundGraph& bound, const BoundOperator& op) {
  double most = 0;
  for (const TensorUse& use : bound.inputs(op)) {
    const BoundTensor& t = bound.tensors[static_cast<std::size_t>(use.tensor)];
    if (!is_parameter(t)) most = std::max(most, t.elements);
  }
  return most;
}

double largest_output(const BoundGraph& bound, const BoundOperator& op) {
  double most = 0;
  for (const TensorUse& use : bound.outputs(op)) {
    most = std::max(most, bound.tensors[static_cast<std::size_t>(use.tensor)].elements);
  }
  return most;
}

/// No more results than the largest input has rows, such as a variance.
bool makes_one_of_a_row(const BoundGraph& bound, const BoundOperator& op) {
  const double most = largest_input(bound, op);
  for (const TensorUse& use : bound.inputs(op)) {
    const BoundTensor& t = bound.tensors[static_cast<std::size_t>(use.tensor)];
    if (t.elements != most || is_parameter(t) || !(t.last_dim > 1)) continue;
    return largest_output(bound, op) <= most / t.last_dim;
  }
  return false;
}

double key_or(const BoundOperator& op, Key key, double fallback) {
  const double value = op.attributes[static_cast<std::size_t>(key)];
  return std::isnan(value) ? fallback : value;
}

}  // namespace

MemberRole role_of(const BoundGraph& bound, const BoundOperator& op) {
  switch (op.kind) {
    case OperatorKind::elementwise:
      if (op.access == Access::random || key_or(op, Key::stride, 1) > 1) return MemberRole::other;
      return makes_one_of_a_row(bound, op) ? MemberRole::row_sum : MemberRole::pointwise;
    case OperatorKind::rope:
    case OperatorKind::quantize:
    case OperatorKind::dequantize:
      return MemberRole::pointwise;
    case OperatorKind::reduce:
      return MemberRole::row_sum;
    case OperatorKind::softmax:
    case OperatorKind::layernorm:
    case OperatorKind::rmsnorm:
    case OperatorKind::cross_entropy:
      return MemberRole::row_norm;
    case OperatorKind::gemm:
      return MemberRole::product;
    case OperatorKind::attention:
      return MemberRole::attention;
    default:
      return MemberRole::other;
  }
}

GroupCheck::GroupCheck(const OperatorGraph& graph, const BoundGraph& bound,
                       std::span<const OperatorId> group)
    : graph_(graph), bound_(bound), producer_(bound.tensors.size(), -1) {
  members_.reserve(group.size());
  for (const OperatorId id : group) {
    Member m;
    m.op = static_cast<int>(id);
    m.role = role_of(bound, op(m));
    m.pure = m.role == MemberRole::pointwise;
    m.after_attention = m.role == MemberRole::attention;
    for (const TensorUse& use : bound.inputs(op(m))) {
      const Member* from = maker(use.tensor);
      if (from == nullptr) continue;
      m.pure = m.pure && from->pure;
      m.after_attention = m.after_attention || from->after_attention;
      const bool is_product = from->role == MemberRole::product;
      const int nearest = is_product ? static_cast<int>(from - members_.data()) : from->product;
      m.product = std::max(m.product, nearest);
    }
    if (m.role == MemberRole::product) tile_rows_ = kTileRows;
    for (const TensorUse& use : bound.outputs(op(m)))
      producer_[static_cast<std::size_t>(use.tensor)] = static_cast<int>(members_.size());
    members_.push_back(m);
  }
}

double GroupCheck::inner_length(const Member& m) const {
  return key_or(op(m), Key::k, tensor(bound_.inputs(op(m))[0].tensor).last_dim);
}

bool GroupCheck::product_grid(const Member& m, const Refuse& refuse) const {
  const auto inputs = bound_.inputs(op(m));
  bool fine = true;
  const auto wrong = [&](const std::function<std::string()>& why) {
    if (refuse) refuse(FusionRule::grid, why);
    fine = false;
  };
  const int first = inputs[0].tensor;
  if (made_inside(first) && inner_length(m) != tensor(first).last_dim) {
    wrong([&] {
      return named(m) + " sums over the rows of " + named(first) + ", which other SMs make; " +
             "it needs all of them first";
    });
  }
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    const Member* from = maker(inputs[i].tensor);
    if (from == nullptr || from->pure || inputs[i].tensor == first) continue;
    wrong([&, i, from] {
      return named(m) + " multiplies every row with all of " + named(inputs[i].tensor) +
             ", which " + named(*from) + " makes on other SMs";
    });
  }
  return fine;
}

bool GroupCheck::attention_grid(const Member& m, const Refuse& refuse) const {
  bool fine = true;
  for (const TensorUse& use : bound_.inputs(op(m))) {
    const Member* from = maker(use.tensor);
    if (from == nullptr || from->pure) continue;
    if (refuse) {
      refuse(FusionRule::grid, [&] {
        return "each block of queries of " + named(m) + " reads all of " + named(use.tensor) +
               ", which " + named(*from) + " makes on other SMs";
      });
    }
    fine = false;
  }
  return fine;
}

/// Rows that span what several blocks make; numbers of a column that come from all rows.
bool GroupCheck::row_grid(const Member& m, const Refuse& refuse) const {
  bool fine = true;
  double out = 0;      // elements of the largest tensor it touches
  double columns = 1;  // and its row
  const auto widen = [&](std::span<const TensorUse> uses) {
    for (const TensorUse& use : uses) {
      const BoundTensor& t = tensor(use.tensor);
      if (is_parameter(t) || t.elements <= out) continue;
      out = t.elements;
      columns = t.last_dim;
    }
  };
  widen(bound_.inputs(op(m)));
  widen(bound_.outputs(op(m)));
  const auto wrong = [&](const std::function<std::string()>& why) {
    if (refuse) refuse(FusionRule::grid, why);
    fine = false;
  };
  for (const TensorUse& use : bound_.inputs(op(m))) {
    const Member* from = maker(use.tensor);
    if (from == nullptr) continue;
    const BoundTensor& t = tensor(use.tensor);
    const bool sums_row = m.role == MemberRole::row_sum || m.role == MemberRole::row_norm;
    if (sums_row && from->after_attention) {
      wrong([&] {
        return named(m) + " needs whole rows of " + named(use.tensor) +
               ", whose heads are made on different SMs";
      });
    }
    const bool per_column =
        t.elements < out && t.elements == columns && columns > 1 && t.elements * columns != out;
    if (per_column) {
      wrong([&] {
        return named(m) + " takes one number of " + named(use.tensor) +
               " for each column, summed over rows that other SMs hold";
      });
    }
  }
  return fine;
}

bool GroupCheck::grid(const Refuse& refuse) const {
  bool fine = true;
  for (const Member& m : members_) {
    bool good = true;
    switch (m.role) {
      case MemberRole::product:
        good = product_grid(m, refuse);
        if (m.after_attention && good) {
          good = false;
          if (refuse) {
            refuse(FusionRule::grid, [&] {
              return named(m) + " sums over all heads, which attention makes on different SMs";
            });
          }
        }
        break;
      case MemberRole::attention:
        good = attention_grid(m, refuse);
        break;
      default:
        good = row_grid(m, refuse);
    }
    fine = fine && good;
    if (!fine && !refuse) return false;
  }
  return fine;
}

/// The tensors whose rows a row-wise member works on.
std::vector<int> GroupCheck::row_inputs(const Member& m) const {
  const double most = largest_input(bound_, op(m));
  std::vector<int> rows;
  for (const TensorUse& use : bound_.inputs(op(m))) {
    const BoundTensor& t = tensor(use.tensor);
    if (!use.again && t.elements == most && !is_parameter(t)) rows.push_back(use.tensor);
  }
  return rows;
}

/// Reads whole rows of that many elements in all.
bool GroupCheck::reads_rows(const Member& m, double elements) const {
  for (const TensorUse& use : bound_.inputs(op(m))) {
    const BoundTensor& t = tensor(use.tensor);
    if (!is_parameter(t) && t.elements >= elements) return true;
  }
  return false;
}

/// A softmax that only feeds products along its row: sums so far are scaled when the maximum rises.
bool GroupCheck::corrected_on_the_way(const Member& m) const {
  if (op(m).kind != OperatorKind::softmax) return false;
  const int out = bound_.outputs(op(m))[0].tensor;
  if (tensor(out).role != TensorRole::intermediate) return false;
  for (const BoundTensor& rows : bound_.tensors) {
    if (rows.rows_of == out) return false;  // read by rows outside: written, so whole before
  }
  bool any = false;
  for (std::size_t i = 0; i < graph_.ops.size(); ++i) {
    const BoundOperator& reader = bound_.ops[i];
    for (const TensorUse& use : bound_.inputs(reader)) {
      if (use.tensor != out) continue;
      const auto inside = std::find_if(members_.begin(), members_.end(), [&](const Member& other) {
        return other.op == static_cast<int>(i);
      });
      if (inside == members_.end() || inside->role != MemberRole::product) return false;
      if (bound_.inputs(reader)[0].tensor != out) return false;
      any = true;
    }
  }
  return any;
}

bool GroupCheck::row_is_read_again(const Member& m) const {
  if (m.role == MemberRole::row_norm) return !corrected_on_the_way(m);
  if (m.role != MemberRole::row_sum) return false;
  // Whoever comes after the sum and reads rows of that size has to have them still.
  const double rows = largest_input(bound_, op(m));
  std::vector<bool> after(members_.size(), false);
  const auto self = static_cast<std::size_t>(&m - members_.data());
  after[self] = true;
  for (std::size_t i = self + 1; i < members_.size(); ++i) {
    for (const TensorUse& use : bound_.inputs(op(members_[i]))) {
      const int from = producer_[static_cast<std::size_t>(use.tensor)];
      if (from >= 0 && after[static_cast<std::size_t>(from)]) after[i] = true;
    }
    if (after[i] && reads_rows(members_[i], rows)) return true;
  }
  return false;
}

void GroupCheck::add_rows(int t, double row, std::vector<OnChipNeed>& needs) const {
  const bool there = std::any_of(needs.begin(), needs.end(), [&](const OnChipNeed& n) {
    return n.tensor == t && n.what == OnChipNeed::What::rows;
  });
  if (there) return;
  double bytes = tile_rows_ * row * width(tensor(t));
  const Member* from = maker(t);
  const int p = from == nullptr                     ? -1
                : from->role == MemberRole::product ? producer_[static_cast<std::size_t>(t)]
                                                    : from->product;
  if (p >= 0) {
    // All sums of the rows at once, or the rows of the first factor kept while columns are made.
    const Member& product = members_[static_cast<std::size_t>(p)];
    const BoundTensor& factor = tensor(bound_.inputs(op(product))[0].tensor);
    const double kept = tile_rows_ * inner_length(product) * width(factor);
    bytes = std::min(tile_rows_ * row * kSumBytes, bytes + kept);
  }
  needs.push_back({OnChipNeed::What::rows, t, tile_rows_, row, Bytes(bytes)});
}

/// Product after product: the rows of the first factor, a few columns of each second factor, a tile
/// of what lies between and all sums of the rows of the result.
void GroupCheck::add_chain(const Member& m, std::vector<OnChipNeed>& needs) const {
  const auto inputs = bound_.inputs(op(m));
  if (m.product < 0 || maker(inputs[0].tensor) == nullptr) return;
  if (inner_length(m) != tensor(inputs[0].tensor).last_dim) return;  // refused by grid
  const auto add = [&](OnChipNeed::What what, int t, double rows, double columns, double size) {
    const bool there = std::any_of(needs.begin(), needs.end(), [&](const OnChipNeed& n) {
      return n.what == what && n.tensor == t && n.columns == columns;
    });
    if (!there) needs.push_back({what, t, rows, columns, Bytes(rows * columns * size)});
  };
  const double k = inner_length(m);
  const double rows = k > 0 ? tensor(inputs[0].tensor).elements / k : 0;
  const int out = bound_.outputs(op(m))[0].tensor;
  double columns = 0;
  for (const TensorUse& use : bound_.outputs(op(m)))
    columns += rows > 0 ? tensor(use.tensor).elements / rows : 0;
  add(OnChipNeed::What::sums, out, tile_rows_, columns, kSumBytes);
  if (inputs.size() > 1) {
    const int second = inputs[1].tensor;
    add(OnChipNeed::What::columns, second, kTileColumns, columns, width(tensor(second)));
  }
  const Member& before = members_[static_cast<std::size_t>(m.product)];
  const auto first = bound_.inputs(op(before));
  const double length = inner_length(before);
  add(OnChipNeed::What::factor_rows, first[0].tensor, tile_rows_, length,
      width(tensor(first[0].tensor)));
  if (first.size() > 1) {
    add(OnChipNeed::What::columns, first[1].tensor, kTileColumns, length,
        width(tensor(first[1].tensor)));
  }
  add(OnChipNeed::What::sums, bound_.outputs(op(before))[0].tensor, tile_rows_, kTileColumns,
      kSumBytes);
}

std::vector<OnChipNeed> GroupCheck::needs() const {
  std::vector<OnChipNeed> needs;
  for (const Member& m : members_) {
    if (m.role == MemberRole::product) add_chain(m, needs);
    if (!row_is_read_again(m)) continue;
    for (const int t : row_inputs(m)) {
      const double sums = tensor(bound_.outputs(op(m))[0].tensor).elements;
      const bool shrinks = m.role == MemberRole::row_sum && sums > 0;
      add_rows(t, shrinks ? tensor(t).elements / sums : tensor(t).last_dim, needs);
    }
  }
  return needs;
}

}  // namespace floorline
