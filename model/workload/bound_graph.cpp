// SPDX-License-Identifier: Apache-2.0
#include "model/workload/bound_graph.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/quantity/unit_names.hpp"
#include "model/workload/operator_agreement.hpp"

namespace floorline {

namespace {

constexpr double kLargestAmount = 1e30;               // beyond what any machine or run could mean
constexpr double kLargestWhole = 9007199254740992.0;  // 2^53: whole numbers stay exact below it

bool is_size(double x) { return x >= 0 && x < kLargestWhole && std::floor(x) == x; }

/// Elements of a tensor; a part of a shape that is not whole makes the whole product bad.
bool measure(const Tensor& tensor, std::span<const double> values, BoundTensor& bound) {
  double elements = 1;
  bound.last_dim = 1;
  bool fine = true;
  for (const Expression& dim : tensor.shape) {
    const double size = dim.evaluate(values);
    fine = fine && is_size(size);
    elements *= size;
    bound.last_dim = size;
  }
  fine = fine && elements <= kLargestWhole;
  bound.elements = elements;
  bound.dtype = tensor.dtype;
  bound.bytes = Bytes(elements * storage_bits(tensor.dtype) / 8.0);
  return fine;
}

double copies_of(const Tensor& tensor, double times) {
  const bool per_iteration = tensor.role == TensorRole::weight ||
                             tensor.role == TensorRole::scale || tensor.role == TensorRole::state;
  return per_iteration && !tensor.shared ? times : 1;
}

bool fill_operator(const Operator& op, std::span<const double> values, BoundOperator& bound) {
  bound.attributes.fill(std::numeric_limits<double>::quiet_NaN());
  bool fine = true;
  for (const Attribute& a : op.attributes) {
    const double value = a.value.evaluate(values);
    bound.attributes[static_cast<std::size_t>(a.key)] = value;
    fine = fine && value >= 0 && value <= kLargestAmount;
  }
  bound.stated_work = Flops(op.stated_work ? op.stated_work->evaluate(values) : -1);
  bound.stated_traffic = Bytes(op.stated_traffic ? op.stated_traffic->evaluate(values) : -1);
  return fine && bound.stated_work >= Flops(-1) && bound.stated_traffic >= Bytes(-1);
}

double key_or(const BoundOperator& op, Key key, double fallback) {
  const double value = op.attributes[static_cast<std::size_t>(key)];
  return std::isnan(value) ? fallback : value;
}

bool is_attention(OperatorKind kind) {
  return kind == OperatorKind::attention || kind == OperatorKind::attention_backward;
}

/// A causal mask needs a key for each query; a window is one of a causal mask.
bool mask_agrees(const BoundGraph& bound, const BoundOperator& op) {
  if (!is_attention(op.kind)) return true;
  if (key_or(op, Key::causal, 1) == 0) return key_or(op, Key::window, 0) == 0;
  for (const SequenceGroup& group : bound.sequences_of(op)) {
    if (group.q_len > group.kv_len) return false;
  }
  return op.sequence_count > 0 || key_or(op, Key::q_len, 1) <= key_or(op, Key::kv_len, 1);
}

void add_uses(const std::vector<TensorId>& ids, BoundGraph& bound, int& first, int& count) {
  first = static_cast<int>(bound.uses.size());
  count = static_cast<int>(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    bool again = false;
    for (std::size_t j = 0; j < i; ++j) again = again || ids[j] == ids[i];
    bound.uses.push_back({static_cast<int>(ids[i]), again});
  }
}

BoundOperator laid_out(const Operator& op, BoundGraph& bound) {
  BoundOperator b;
  b.kind = op.kind;
  b.compute = op.compute;
  b.accumulate = op.accumulate;
  b.sparse = op.sparse;
  b.path = op.path;
  b.access = op.access;
  b.algorithm = op.algorithm;
  b.work_scale = op.work_scale;
  b.traffic_scale = op.traffic_scale;
  add_uses(op.inputs, bound, b.first_input, b.input_count);
  add_uses(op.outputs, bound, b.first_output, b.output_count);
  b.first_sequence = static_cast<int>(bound.sequences.size());
  b.sequence_count = static_cast<int>(op.sequences.size());
  bound.sequences.insert(bound.sequences.end(), op.sequences.begin(), op.sequences.end());
  return b;
}

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

void lay_out(const OperatorGraph& graph, BoundGraph& bound) {
  bound.routing = graph.routing;
  bound.tensors.resize(graph.tensors.size());
  for (std::size_t t = 0; t < graph.tensors.size(); ++t)
    bound.tensors[t].role = graph.tensors[t].role;
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    const Operator& op = graph.ops[i];
    BoundOperator b = laid_out(op, bound);
    b.first_part = static_cast<int>(bound.parts.size());
    b.part_count = static_cast<int>(op.parts.size());
    for (const Operator& part : op.parts) bound.parts.push_back(laid_out(part, bound));
    for (const TensorId out : op.outputs) bound.tensors[index(out)].producer = static_cast<int>(i);
    bound.ops.push_back(b);
  }
  for (std::size_t r = 0; r < graph.repeats.size(); ++r) {
    const Repeat& repeat = graph.repeats[r];
    BoundRepeat b;
    b.first_op = repeat.ops.empty() ? 0 : static_cast<int>(repeat.ops.front());
    b.op_count = static_cast<int>(repeat.ops.size());
    b.first_carry = static_cast<int>(bound.carries.size());
    b.carry_count = static_cast<int>(repeat.carry.size());
    for (const auto& [made, read] : repeat.carry) {
      bound.carries.push_back({static_cast<int>(made), static_cast<int>(read)});
    }
    for (const OperatorId op : repeat.ops) bound.ops[index(op)].repeat = static_cast<int>(r);
    bound.repeats.push_back(b);
  }
}

void apply_copies(const OperatorGraph& graph, BoundGraph& bound) {
  for (BoundTensor& tensor : bound.tensors) tensor.copies = 1;
  for (BoundOperator& op : bound.ops) {
    op.times = op.repeat < 0 ? 1 : bound.repeats[static_cast<std::size_t>(op.repeat)].times;
    const auto mark = [&](std::span<const TensorUse> uses) {
      for (const TensorUse& use : uses) {
        const auto t = static_cast<std::size_t>(use.tensor);
        bound.tensors[t].copies =
            std::max(bound.tensors[t].copies, copies_of(graph.tensors[t], op.times));
      }
    };
    mark(bound.inputs(op));
    mark(bound.outputs(op));
  }
}

/// Products summed into one output: first the left factors x1…xp, then the weights w1…wp; k is the
/// length of all inner products together (the gradient of what several projections read).
bool summed_products_agree(const BoundGraph& bound, const BoundOperator& op, double k) {
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
bool product_agrees(const BoundGraph& bound, const BoundOperator& op, double k) {
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

void explain_sizes(const OperatorGraph& graph, const BoundGraph& bound, Diagnostics& diagnostics) {
  for (const Tensor& tensor : graph.tensors) {
    BoundTensor scratch;
    for (std::size_t d = 0; d < tensor.shape.size(); ++d) {
      const double size = tensor.shape[d].evaluate(graph.symbol_values);
      if (is_size(size)) continue;
      diagnostics.add(tensor.at, "tensor." + tensor.name + ".shape",
                      "\"" + tensor.shape[d].text() + "\" is " + number_text(size, 6) +
                          " here; expected a whole number from 0 to 2^53");
    }
    if (diagnostics.empty() && !measure(tensor, graph.symbol_values, scratch)) {
      diagnostics.add(tensor.at, "tensor." + tensor.name + ".shape",
                      "more than 2^53 elements; expected a tensor that could exist");
    }
  }
  each_operator(graph, bound, [&](const Operator& written, const BoundOperator& b) {
    BoundOperator scratch = b;
    if (!fill_operator(written, graph.symbol_values, scratch)) {
      diagnostics.add(written.at, "op." + written.name,
                      "a key is negative or not finite; expected numbers from 0 up");
    } else if (const char* wrong = contradiction(bound, scratch)) {
      diagnostics.add(written.at, "op." + written.name, wrong);
    } else if (!mask_agrees(bound, scratch)) {
      diagnostics.add(written.at, "op." + written.name,
                      key_or(scratch, Key::causal, 1) == 0
                          ? "window is counted under a causal mask only; expected causal = 1"
                          : "q_len is above kv_len; expected the new keys to be included");
    }
  });
  for (const Repeat& repeat : graph.repeats) {
    if (is_size(repeat.times.evaluate(graph.symbol_values))) continue;
    diagnostics.add(repeat.at, "repeat." + repeat.name + ".times",
                    "\"" + repeat.times.text() + "\" is not a count; expected a whole number");
  }
}

void explain_products(const OperatorGraph& graph, const BoundGraph& bound,
                      Diagnostics& diagnostics) {
  each_operator(graph, bound, [&](const Operator& written, const BoundOperator& op) {
    if (op.kind != OperatorKind::gemm) return;
    if (op.input_count == 0 || op.output_count == 0) {
      diagnostics.add(written.at, "op." + written.name,
                      "a matrix product needs inputs and an output");
      return;
    }
    double k = op.attributes[static_cast<std::size_t>(Key::k)];
    if (std::isnan(k))
      k = bound.tensors[static_cast<std::size_t>(bound.inputs(op)[0].tensor)].last_dim;
    if (product_agrees(bound, op, k)) return;
    diagnostics.add(
        written.at, "op." + written.name,
        "the tensors do not agree with k = " + std::to_string(static_cast<long long>(k)) +
            ": expected (first input / k) x (second input / k) elements in the output, "
            "times batch if the second input has one matrix for each product");
  });
}

/// What a fused attention kernel could not be: uneven heads, more new tokens than keys.
void explain_attention(const OperatorGraph& graph, const BoundGraph& bound,
                       Diagnostics& diagnostics) {
  each_operator(graph, bound, [&](const Operator& written, const BoundOperator& op) {
    if (!is_attention(op.kind)) return;
    const auto key = [&op](Key k) { return op.attributes[static_cast<std::size_t>(k)]; };
    const auto complain = [&](const char* what) {
      diagnostics.add(written.at, "op." + written.name, what);
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

/// What an iteration makes must be what the next one reads: as many elements of the same storage.
void explain_carries(const OperatorGraph& graph, const BoundGraph& bound,
                     Diagnostics& diagnostics) {
  for (const Repeat& repeat : graph.repeats) {
    for (const auto& [made, read] : repeat.carry) {
      const BoundTensor& a = bound.tensors[index(made)];
      const BoundTensor& b = bound.tensors[index(read)];
      if (a.elements == b.elements && a.dtype == b.dtype) continue;
      diagnostics.add(repeat.at, "repeat." + repeat.name + ".carry",
                      "\"" + graph.tensors[index(made)].name + "\" and \"" +
                          graph.tensors[index(read)].name +
                          "\" differ in elements or dtype; expected the same");
    }
  }
}

}  // namespace

bool rebind(const OperatorGraph& graph, std::span<const double> symbol_values, BoundGraph& bound) {
  bool fine = true;
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    fine = measure(graph.tensors[t], symbol_values, bound.tensors[t]) && fine;
  }
  each_operator(graph, bound, [&](const Operator& op, BoundOperator& b) {
    fine = fill_operator(op, symbol_values, b) && fine;
    fine = fine && mask_agrees(bound, b) && contradiction(bound, b) == nullptr;
  });
  for (std::size_t r = 0; r < graph.repeats.size(); ++r) {
    bound.repeats[r].times = graph.repeats[r].times.evaluate(symbol_values);
    fine = fine && is_size(bound.repeats[r].times);
  }
  apply_copies(graph, bound);
  return fine;
}

BoundGraph bind(const OperatorGraph& graph) {
  if (graph.ops.empty()) {
    throw InputError(Diagnostic{{}, "op", "this graph has no operators; expected at least one"});
  }
  BoundGraph bound;
  lay_out(graph, bound);
  Diagnostics diagnostics;
  if (!rebind(graph, graph.symbol_values, bound)) {
    explain_sizes(graph, bound, diagnostics);
    if (diagnostics.empty()) {
      diagnostics.add(graph.ops.empty() ? Position{} : graph.ops.front().at, "",
                      "the sizes of this graph are out of range");
    }
  } else {
    explain_products(graph, bound, diagnostics);
    explain_attention(graph, bound, diagnostics);
    explain_carries(graph, bound, diagnostics);
  }
  diagnostics.throw_if_any();
  return bound;
}

}  // namespace floorline
