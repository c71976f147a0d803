// SPDX-License-Identifier: Apache-2.0
// What the tensors of a bound graph must say alike: factors of products, heads, carried tensors.
// wrong(position, key path, text on demand) is called for each contradiction. Internal to
// bound_graph.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "model/quantity/unit_names.hpp"
#include "model/workload/bound_graph.hpp"

namespace floorline {

/// visit(operator as written, its numbers): every operator, and the parts of fused ones.
template <class Bound, class Visit>
void each_operator(const OperatorGraph& graph, Bound& bound, Visit visit) {
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    visit(graph.ops[i], bound.ops[i]);
    const auto first = static_cast<std::size_t>(bound.ops[i].first_part);
    for (std::size_t k = 0; k < graph.ops[i].parts.size(); ++k) {
      visit(graph.ops[i].parts[k], bound.parts[first + k]);
    }
  }
}

inline bool is_attention(OperatorKind kind) {
  return kind == OperatorKind::attention || kind == OperatorKind::attention_backward;
}

/// Products summed into one output: first the left factors x1…xp, then the weights w1…wp; k is the
/// length of all inner products together (the gradient of what several projections read).
inline bool summed_products_agree(const BoundGraph& bound, const BoundOperator& op, double k) {
  const auto inputs = bound.inputs(op);
  const std::size_t products = inputs.size() / 2;
  if (products < 2 || inputs.size() != 2 * products || op.output_count != 1) return false;
  const auto tensor = [&](const TensorUse& use) {
    return bound.tensors[static_cast<std::size_t>(use.tensor)];
  };
  const double out = tensor(bound.outputs(op)[0]).elements;
  double length = 0;
  for (std::size_t i = 0; i < products; ++i) {
    const BoundTensor& x = tensor(inputs[i]);
    length += x.last_dim;
    if ((x.elements / x.last_dim) * (tensor(inputs[products + i]).elements / x.last_dim) != out) {
      return false;
    }
  }
  return length == k;
}

/// |in|/k rows times |weight|/k columns is |out|, for some number of independent products.
inline bool product_agrees(const BoundGraph& bound, const BoundOperator& op, double k) {
  if (op.input_count < 2 || op.output_count < 1 || k == 0) return true;
  if (summed_products_agree(bound, op, k)) return true;
  const auto later = bound.inputs(op).subspan(1);
  const bool all_made = std::all_of(later.begin(), later.end(), [&](const TensorUse& use) {
    return bound.tensors[static_cast<std::size_t>(use.tensor)].role == TensorRole::intermediate;
  });
  const double in = bound.tensors[static_cast<std::size_t>(bound.inputs(op)[0].tensor)].elements;
  double weight = 0;
  for (const TensorUse& use : bound.inputs(op).subspan(1)) {
    if (bound.tensors[static_cast<std::size_t>(use.tensor)].role == TensorRole::scale) continue;
    if (bound.tensors[static_cast<std::size_t>(use.tensor)].role != TensorRole::intermediate ||
        all_made) {
      weight += bound.tensors[static_cast<std::size_t>(use.tensor)].elements;
    }
  }
  double out = 0;
  for (const TensorUse& use : bound.outputs(op)) {
    out += bound.tensors[static_cast<std::size_t>(use.tensor)].elements;
  }
  const double batch = op.attributes[static_cast<std::size_t>(Key::batch)];
  const double products = std::isnan(batch) ? 1 : batch;
  if (out == 0 || in == 0) return true;
  const double whole = (in / k) * (weight / k);
  return whole == out || whole == out * products;
}

template <class Wrong>
void check_products(const OperatorGraph& graph, const BoundGraph& bound, Wrong wrong) {
  each_operator(graph, bound, [&](const Operator& written, const BoundOperator& op) {
    if (op.kind != OperatorKind::gemm) return;
    if (op.input_count == 0 || op.output_count == 0) {
      wrong(written, [] { return std::string("a matrix product needs inputs and an output"); });
      return;
    }
    double k = op.attributes[static_cast<std::size_t>(Key::k)];
    if (std::isnan(k))
      k = bound.tensors[static_cast<std::size_t>(bound.inputs(op)[0].tensor)].last_dim;
    if (product_agrees(bound, op, k)) return;
    wrong(written, [k] {
      return "the tensors do not agree with k = " + std::to_string(static_cast<long long>(k)) +
             ": expected (first input / k) x (second input / k) elements in the output, "
             "times batch if the second input has one matrix for each product";
    });
  });
}

/// What a fused attention kernel could not be: uneven heads, more new tokens than keys.
template <class Wrong>
void check_attention(const OperatorGraph& graph, const BoundGraph& bound, Wrong wrong) {
  each_operator(graph, bound, [&](const Operator& written, const BoundOperator& op) {
    if (!is_attention(op.kind)) return;
    const auto key = [&op](Key k) { return op.attributes[static_cast<std::size_t>(k)]; };
    const auto complain = [&](const char* what) {
      wrong(written, [what] { return std::string(what); });
    };
    const double q_heads = key(Key::q_heads);
    const double kv_heads = key(Key::kv_heads);
    if (kv_heads < 1 && q_heads > 0) complain("kv_heads is below 1; expected key and value heads");
    if (kv_heads > 0 && std::fmod(q_heads, kv_heads) != 0) {
      complain("q_heads is no multiple of kv_heads; expected equal groups of query heads");
    }
    const bool causal = !(key(Key::causal) == 0);
    if (causal && key(Key::q_len) > key(Key::kv_len)) {
      complain("q_len is above kv_len; kv_len counts the new tokens too (or say causal=0)");
    }
    for (const SequenceGroup& s : bound.sequences_of(op)) {
      if (causal && s.q_len > s.kv_len) complain("a sequence has q_len above kv_len");
    }
  });
}

/// Rows lie within the tensor they are rows of, those of all iterations together.
template <class Wrong>
void check_rows(const OperatorGraph& graph, const BoundGraph& bound, Wrong wrong) {
  if (!bound.has_rows) return;
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {  // parts use no others than their whole
    const BoundOperator& op = bound.ops[i];
    const auto check = [&](const TensorUse& use) {
      const BoundTensor& rows = bound.tensors[static_cast<std::size_t>(use.tensor)];
      if (rows.rows_of < 0 || !(op.times > 0)) return;
      const double whole = bound.tensors[static_cast<std::size_t>(rows.rows_of)].elements;
      if (rows.elements == whole || rows.elements * op.times <= whole) return;
      wrong(graph.ops[i], [&] {
        return "\"" + graph.tensors[static_cast<std::size_t>(use.tensor)].name +
               "\" has more elements, over all iterations, than \"" +
               graph.tensors[static_cast<std::size_t>(rows.rows_of)].name +
               "\", whose rows they are";
      });
    };
    for (const TensorUse& use : bound.inputs(op)) check(use);
    for (const TensorUse& use : bound.outputs(op)) check(use);
  }
}

/// Rows of a tensor are as long as its own: the same sizes but the first.
template <class Wrong>
void check_row_shapes(const OperatorGraph& graph, const BoundGraph& bound, Wrong wrong) {
  if (!bound.has_rows) return;
  const auto dims = [&bound](const BoundTensor& tensor) {
    const BoundShape& shape = bound.shapes[static_cast<std::size_t>(tensor.shape)];
    std::vector<double> sizes;
    for (int d = shape.first_dim; d < shape.first_dim + shape.dim_count; ++d)
      sizes.push_back(
          bound.sizes[static_cast<std::size_t>(bound.dims[static_cast<std::size_t>(d)])]);
    return sizes;
  };
  const auto text = [](const std::vector<double>& sizes) {
    std::string all;
    for (const double size : sizes) all += (all.empty() ? "" : ", ") + exact_text(size);
    return "[" + all + "]";
  };
  for (std::size_t t = 0; t < bound.tensors.size(); ++t) {
    if (bound.tensors[t].rows_of < 0) continue;
    const auto whole = static_cast<std::size_t>(bound.tensors[t].rows_of);
    const std::vector<double> rows = dims(bound.tensors[t]);
    const std::vector<double> all = dims(bound.tensors[whole]);
    const bool same = rows.size() == all.size() &&
                      (rows.empty() || std::equal(rows.begin() + 1, rows.end(), all.begin() + 1));
    if (same) continue;
    wrong(graph.tensors[t].at, "tensor." + graph.tensors[t].name + ".rows_of", [&] {
      return "the shape " + text(rows) + " is not rows of \"" + graph.tensors[whole].name + "\", " +
             text(all) + "; expected the same sizes but the first";
    });
  }
}

/// An operator reads, and writes, each row once: its rows of one tensor, of all iterations
/// together, are no more than the tensor.
template <class Wrong>
void check_rows_once(const OperatorGraph& graph, const BoundGraph& bound, Wrong wrong) {
  if (!bound.has_rows) return;
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {  // parts use no others than their whole
    const BoundOperator& op = bound.ops[i];
    if (!(op.times > 0)) continue;
    const auto check = [&](std::span<const TensorUse> uses, const char* does) {
      std::map<std::size_t, double> touched;  // elements, by where they lie
      std::map<std::size_t, bool> told;
      for (const TensorUse& use : uses) {
        const BoundTensor& tensor = bound.tensors[static_cast<std::size_t>(use.tensor)];
        const std::size_t lies = bound.storage(use.tensor);
        const double whole = bound.tensors[lies].elements;
        if (use.again || tensor.elements == 0) continue;
        touched[lies] += tensor.elements == whole ? whole : tensor.elements * op.times;
        const bool alone = touched[lies] == tensor.elements * op.times;
        if (touched[lies] <= whole || alone || told[lies]) continue;
        told[lies] = true;
        wrong(graph.ops[i], [&] {
          return std::string(does) + " rows of \"" + graph.tensors[lies].name +
                 "\" that together are more than it, \"" +
                 graph.tensors[static_cast<std::size_t>(use.tensor)].name +
                 "\" the last of them; expected different rows, or the whole alone";
        });
      }
    };
    check(bound.inputs(op), "reads");
    check(bound.outputs(op), "writes");
  }
}

/// Where a tensor of the graph's own is written by rows, what others read of it, but for just these
/// rows, needs all of them.
template <class Wrong>
void check_all_rows_written(const OperatorGraph& graph, const BoundGraph& bound, Wrong wrong) {
  if (!bound.has_rows) return;
  std::vector<double> written(bound.tensors.size(), 0);  // elements, by where they lie
  std::vector<bool> itself(bound.tensors.size(), false), by_rows(bound.tensors.size(), false);
  for (const BoundOperator& op : bound.ops) {
    for (const TensorUse& use : bound.outputs(op)) {
      const auto t = static_cast<std::size_t>(use.tensor);
      const std::size_t lies = bound.storage(use.tensor);
      itself[t] = true;
      if (bound.tensors[t].rows_of < 0) continue;
      by_rows[lies] = true;
      written[lies] += bound.tensors[t].elements * op.times;
    }
  }
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    if (!(bound.ops[i].times > 0)) continue;
    for (const TensorUse& use : bound.inputs(bound.ops[i])) {
      const auto t = static_cast<std::size_t>(use.tensor);
      const std::size_t lies = bound.storage(use.tensor);
      const TensorRole role = bound.tensors[lies].role;
      const bool made_here = role == TensorRole::intermediate || role == TensorRole::output;
      if (!by_rows[lies] || itself[t] || !made_here) continue;
      if (written[lies] >= bound.tensors[lies].elements) continue;
      wrong(graph.ops[i], [&] {
        return "reads \"" + graph.tensors[t].name + "\", but of the rows of \"" +
               graph.tensors[lies].name + "\" only some are written; expected writers of all rows";
      });
    }
  }
}

template <class Wrong>
void check_agreement(const OperatorGraph& graph, const BoundGraph& bound, Wrong wrong) {
  const auto operator_wrong = [&](const Operator& op, const auto& what) {
    wrong(op.at, "op." + op.name, what);
  };
  check_products(graph, bound, operator_wrong);
  check_attention(graph, bound, operator_wrong);
  check_row_shapes(graph, bound, wrong);
  check_rows(graph, bound, operator_wrong);
  check_rows_once(graph, bound, operator_wrong);
  check_all_rows_written(graph, bound, operator_wrong);
  // What an iteration makes must be what the next one reads: as many elements of the same storage.
  for (const Repeat& repeat : graph.repeats) {
    for (const auto& [made, read] : repeat.carry) {
      const BoundTensor& a = bound.tensors[index(made)];
      const BoundTensor& b = bound.tensors[index(read)];
      if (a.elements == b.elements && a.dtype == b.dtype) continue;
      const std::string names = "\"" + graph.tensors[index(made)].name + "\" and \"" +
                                graph.tensors[index(read)].name + "\"";
      wrong(repeat.at, "repeat." + repeat.name + ".carry",
            [&names] { return names + " differ in elements or dtype; expected the same"; });
    }
  }
}

}  // namespace floorline
