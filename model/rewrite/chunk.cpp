// SPDX-License-Identifier: Apache-2.0
#include "model/rewrite/chunk.hpp"

#include <algorithm>
#include <cctype>
#include <optional>

#include "model/input/diagnostic.hpp"
#include "model/quantity/unit_names.hpp"

namespace floorline {

namespace {

/// In parentheses unless it is a name or a number.
std::string factor(const std::string& text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '.';
  });
  return plain ? text : "(" + text + ")";
}

/// The same operators by rows: first the rest, then chunks in a block.
class Chunker {
 public:
  Chunker(const OperatorGraph& graph, const RowSplit& split, std::span<const OperatorId> group)
      : old_(graph), split_(split), group_(group.begin(), group.end()) {}

  ChunkedGraph run(double rows) {
    out_.graph = old_;
    out_.symbol = unique_symbol();
    out_.graph.set_symbol(out_.symbol, rows);
    for (std::size_t t = 0; t < old_.tensors.size(); ++t) out_.whole.push_back(static_cast<int>(t));
    const std::string all = factor(split_.rows_text());
    const std::string blocks = "ceil(" + all + "/" + out_.symbol + ")-1";
    sizes_[kFirst] = all + "-(" + blocks + ")*" + out_.symbol;
    sizes_[kBlock] = out_.symbol;
    place_tensors();
    place_operators(expression(blocks));
    return std::move(out_);
  }

 private:
  enum Part { kFirst = 0, kBlock = 1 };

  [[nodiscard]] std::string unique_symbol() const {
    std::string name = "chunk";
    while (old_.symbol(name)) name += "_rows";
    return name;
  }

  [[nodiscard]] Expression expression(const std::string& text) const {
    Diagnostics diagnostics;
    Expression e = Expression::parse(text, out_.graph.symbols, position_in("command line"),
                                     "--chunk", diagnostics);
    diagnostics.throw_if_any();
    return e;
  }

  TensorId add(TensorId of, const std::string& suffix, bool by_rows, Part part) {
    Tensor tensor = old_.tensors[index(of)];
    tensor.name += suffix;
    while (out_.graph.find_tensor(tensor.name)) tensor.name += "'";
    if (by_rows) tensor.shape.front() = expression(sizes_[part]);
    out_.graph.tensors.push_back(std::move(tensor));
    out_.whole.push_back(static_cast<int>(of));
    return static_cast<TensorId>(out_.graph.tensors.size() - 1);
  }
  TensorId add_rows(TensorId of, const std::string& suffix, bool by_rows, Part part) {
    const TensorId id = add(of, suffix, by_rows, part);
    out_.graph.tensors[index(id)].rows_of = of;
    return id;
  }

  /// Where each part finds each tensor of the old graph.
  void place_tensors() {
    for (std::vector<TensorId>& image : image_) {
      for (std::size_t t = 0; t < old_.tensors.size(); ++t)
        image.push_back(static_cast<TensorId>(t));
    }
    before_.resize(old_.tensors.size());
    const FusionBorder border = border_of(old_, group_);
    for (const TensorId t : border.inside) {
      image_[kFirst][index(t)] = add(t, ".first", true, kFirst);
      out_.graph.tensors[index(t)].shape.front() = expression(sizes_[kBlock]);
    }
    for (const TensorId t : border.inputs) {
      if (split_.by_rows(t)) {
        add_both(t);
      } else {
        out_.graph.tensors[index(t)].shared = true;
      }
    }
    for (const TensorId t : border.outputs) {
      if (split_.by_rows(t)) {
        add_both(t);
      } else {  // a sum over the rows, which grows in place
        image_[kFirst][index(t)] = add_rows(t, ".begun", false, kFirst);
        before_[index(t)] = add_rows(t, ".before", false, kBlock);
        image_[kBlock][index(t)] = add_rows(t, ".after", false, kBlock);
      }
    }
  }
  void add_both(TensorId t) {
    image_[kFirst][index(t)] = add_rows(t, ".first_rows", true, kFirst);
    image_[kBlock][index(t)] = add_rows(t, ".rows", true, kBlock);
  }

  [[nodiscard]] Operator moved(OperatorId id, Part part) const {
    Operator op = old_.ops[index(id)];
    for (TensorId& t : op.inputs) t = image_[part][index(t)];
    for (TensorId& t : op.outputs) t = image_[part][index(t)];
    for (Attribute& a : op.attributes) {
      const bool counts_rows =
          a.key == Key::rows || a.key == Key::n || (a.key == Key::k && split_.sums_rows(id));
      if (!counts_rows) continue;
      const bool just_rows = a.value.text() == split_.rows_text() ||
                             a.value.evaluate(old_.symbol_values) == split_.rows();
      a.value = just_rows ? expression(sizes_[part])
                          : expression(factor(a.value.text()) + "/" + factor(split_.rows_text()) +
                                       "*" + factor(sizes_[part]));
    }
    return op;
  }

  /// The sums so far are where the product's own begin: bytes, no work.
  Operator adding(Operator product, OperatorId id) {
    const TensorId whole = old_.ops[index(id)].outputs.front();
    Operator op;
    op.name = product.name;
    op.kind = OperatorKind::fused;
    op.at = product.at;
    op.inputs = product.inputs;
    op.inputs.push_back(*before_[index(whole)]);
    op.outputs = product.outputs;
    const TensorId own = add(whole, ".product", false, kBlock);
    out_.graph.tensors[index(own)].role = TensorRole::intermediate;
    Operator sum;
    sum.name = product.name + ".sum";
    sum.kind = OperatorKind::elementwise;
    sum.at = product.at;
    sum.inputs = {own, *before_[index(whole)]};
    sum.outputs = product.outputs;
    sum.attributes.push_back({Key::flops, Expression(0)});
    product.name += ".product";
    product.outputs = {own};
    op.parts = {std::move(product), std::move(sum)};
    return op;
  }

  std::string unique_operator(std::string name) const {
    while (old_.find_op(name)) name += "'";
    return name;
  }

  void place_operators(Expression times) {
    std::vector<std::size_t> old_at;  // by new operator
    out_.graph.ops.clear();
    std::vector<bool> inside(old_.ops.size(), false);
    for (const OperatorId id : group_) inside[index(id)] = true;
    Repeat block;
    block.name = "chunks";
    block.times = std::move(times);
    block.at = old_.ops[index(group_.front())].at;
    const auto push = [&](Operator op, std::size_t from) {
      out_.graph.ops.push_back(std::move(op));
      old_at.push_back(from);
    };
    bool placed = false;
    for (const std::size_t i : gathered_order(old_, inside)) {
      if (!inside[i]) push(old_.ops[i], i);
      if (!inside[i] || placed) continue;
      placed = true;
      for (const OperatorId id : group_) {
        Operator op = moved(id, kFirst);
        op.name = unique_operator(op.name + ".first");
        out_.members.push_back(static_cast<OperatorId>(out_.graph.ops.size()));
        push(std::move(op), old_.ops.size());
      }
      for (const OperatorId id : group_) {
        Operator op = moved(id, kBlock);
        if (split_.sums_rows(id)) op = adding(std::move(op), id);
        block.ops.push_back(static_cast<OperatorId>(out_.graph.ops.size()));
        push(std::move(op), old_.ops.size());
      }
    }
    out_.members.insert(out_.members.end(), block.ops.begin(), block.ops.end());
    place_repeats(old_at, std::move(block));
  }

  void place_repeats(const std::vector<std::size_t>& old_at, Repeat block) {
    for (Repeat& repeat : out_.graph.repeats) {
      for (OperatorId& id : repeat.ops) {
        const auto now = std::find(old_at.begin(), old_at.end(), index(id)) - old_at.begin();
        id = static_cast<OperatorId>(now);
      }
    }
    const auto taken = [this](const std::string& name) {
      return std::any_of(old_.repeats.begin(), old_.repeats.end(),
                         [&name](const Repeat& r) { return r.name == name; });
    };
    while (taken(block.name)) block.name += "'";
    out_.graph.repeats.push_back(std::move(block));
    std::stable_sort(out_.graph.repeats.begin(), out_.graph.repeats.end(),
                     [](const Repeat& a, const Repeat& b) { return a.ops < b.ops; });
  }

  const OperatorGraph& old_;
  const RowSplit& split_;
  std::vector<OperatorId> group_;
  ChunkedGraph out_;
  std::string sizes_[2];                         ///< rows of the first chunk, of the others
  std::vector<TensorId> image_[2];               ///< by old tensor
  std::vector<std::optional<TensorId>> before_;  ///< by old tensor: sums that a chunk finds
};

}  // namespace

RowSplit::RowSplit(const OperatorGraph& graph, const BoundGraph& bound,
                   std::span<const OperatorId> group)
    : graph_(graph), bound_(bound), group_(group.begin(), group.end()) {
  const std::vector<TensorId>& made = graph.ops[index(group_.front())].outputs;
  if (made.empty() || graph.tensors[index(made.front())].shape.empty()) return;
  const Expression& rows = graph.tensors[index(made.front())].shape.front();
  text_ = rows.text();
  rows_ = rows.evaluate(graph.symbol_values);
}

bool RowSplit::by_rows(TensorId tensor) const {
  const Tensor& t = graph_.tensors[index(tensor)];
  const bool parameter = t.role == TensorRole::weight || t.role == TensorRole::scale;
  return !parameter && !t.shape.empty() && t.shape.front().text() == text_;
}

bool RowSplit::sums_rows(OperatorId id) const {
  const Operator& op = graph_.ops[index(id)];
  if (op.kind != OperatorKind::gemm || op.inputs.size() != 2 || op.outputs.size() != 1)
    return false;
  const double k = bound_.ops[index(id)].attributes[static_cast<std::size_t>(Key::k)];
  return k == rows_ && by_rows(op.inputs[0]) && by_rows(op.inputs[1]) && !by_rows(op.outputs[0]);
}

/// Rows times all of a factor, or sums over the rows.
void RowSplit::check_product(OperatorId id, Refusals& all) const {
  if (sums_rows(id)) return;
  const Operator& op = graph_.ops[index(id)];
  const BoundOperator& b = bound_.ops[index(id)];
  const double k = b.attributes[static_cast<std::size_t>(Key::k)];
  const TensorId first = op.inputs.front();
  const bool along = by_rows(first) && graph_.tensors[index(first)].shape.size() > 1 &&
                     (k != k || k == bound_.tensors[index(first)].last_dim);
  if (!along) {
    all.push_back({FusionRule::grid, named(id) + " does not sum along the rows of " + named(first) +
                                         "; a chunk has only some of them"});
  }
  for (std::size_t i = 1; i < op.inputs.size(); ++i) {
    if (!by_rows(op.inputs[i])) continue;
    all.push_back({FusionRule::grid, named(id) + " multiplies every row with all of " +
                                         named(op.inputs[i]) +
                                         ", of which a chunk has only some rows"});
  }
  for (const TensorId out : op.outputs) {
    if (by_rows(out)) continue;
    all.push_back({FusionRule::grid,
                   named(id) + " makes " + named(out) + ", which has not the rows that are split"});
  }
}

void RowSplit::check_rowwise(OperatorId id, Refusals& all) const {
  const Operator& op = graph_.ops[index(id)];
  for (const TensorId out : op.outputs) {
    if (by_rows(out)) continue;
    all.push_back({FusionRule::grid, named(id) + " makes " + named(out) +
                                         " from all rows, and a chunk has only some of them"});
  }
  const double columns =
      op.outputs.empty() ? 0 : bound_.tensors[index(op.outputs.front())].last_dim;
  for (const TensorId in : op.inputs) {
    const Tensor& tensor = graph_.tensors[index(in)];
    const bool parameter = tensor.role == TensorRole::weight || tensor.role == TensorRole::scale;
    if (!by_rows(in) && !parameter && bound_.tensors[index(in)].elements > columns) {
      all.push_back({FusionRule::grid, named(id) + " reads " + named(in) +
                                           ", whose first dimension is not the " + text_ +
                                           " that are split"});
    }
    const bool row_is_all = by_rows(in) && tensor.shape.size() < 2 && op.inputs.size() == 1 &&
                            op.kind != OperatorKind::elementwise;
    if (!row_is_all) continue;
    all.push_back({FusionRule::grid, named(id) + " works along the rows that are split"});
  }
}

/// A sum over the rows is there when the last chunk has been.
void RowSplit::check_sums(Refusals& all) const {
  for (const OperatorId id : group_) {
    for (const TensorId out : graph_.ops[index(id)].outputs) {
      if (by_rows(out)) continue;
      for (const OperatorId reader : group_) {
        const std::vector<TensorId>& in = graph_.ops[index(reader)].inputs;
        if (std::find(in.begin(), in.end(), out) == in.end()) continue;
        all.push_back({FusionRule::grid, named(reader) + " reads " + named(out) +
                                             ", which is whole only after the last chunk"});
      }
    }
  }
}

/// Rows that others have of a tensor: those of the group's chunks would be of other sizes, and rows
/// of one tensor are different rows.
void RowSplit::check_made_whole(Refusals& all) const {
  const auto by_others = [this](TensorId whole) {
    return std::any_of(graph_.tensors.begin(), graph_.tensors.end(),
                       [whole](const Tensor& rows) { return rows.rows_of == whole; });
  };
  std::vector<TensorId> told;
  const auto check = [&](OperatorId id, const char* does, TensorId t) {
    if (!by_others(t) || std::find(told.begin(), told.end(), t) != told.end()) return;
    told.push_back(t);
    all.push_back({FusionRule::grid,
                   named(id) + does + named(t) + ", whose rows other chunks work on already"});
  };
  for (const OperatorId id : group_) {
    for (const TensorId out : graph_.ops[index(id)].outputs) check(id, " makes ", out);
    for (const TensorId in : graph_.ops[index(id)].inputs) {
      if (by_rows(in)) check(id, " reads ", in);
    }
  }
}

std::vector<FusionRefusal> RowSplit::refusals() const {
  Refusals all;
  if (text_.empty()) {
    all.push_back({FusionRule::grid, named(group_.front()) + " makes nothing that has rows"});
    return all;
  }
  check_made_whole(all);
  for (const OperatorId id : group_) {
    const Operator& op = graph_.ops[index(id)];
    if (bound_.ops[index(id)].repeat >= 0) {
      all.push_back({FusionRule::repeat, named(id) +
                                             " stands in a repeat block, and chunks are one: "
                                             "blocks do not nest"});
    } else if (op.kind == OperatorKind::attention || op.kind == OperatorKind::fused) {
      all.push_back({FusionRule::kind, named(id) + " is " + std::string(name_of(op.kind)) +
                                           ", whose rows are not split by chunks"});
    } else if (op.kind == OperatorKind::gemm) {
      check_product(id, all);
    } else {
      check_rowwise(id, all);
    }
  }
  check_sums(all);
  return all;
}

ChunkedGraph chunked_graph(const OperatorGraph& graph, const RowSplit& split,
                           std::span<const OperatorId> group, double rows) {
  return Chunker(graph, split, group).run(rows);
}

}  // namespace floorline
