// SPDX-License-Identifier: Apache-2.0
#include "model/workload/bound_graph.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "model/quantity/unit_names.hpp"
#include "model/workload/bound_graph_check.hpp"
#include "model/workload/bound_graph_layout.hpp"
#include "model/workload/operator_agreement.hpp"

namespace floorline {

namespace {

constexpr double kLargestAmount = 1e30;               // beyond what any machine or run could mean
constexpr double kLargestWhole = 9007199254740992.0;  // 2^53: whole numbers stay exact below it

bool is_size(double x) {
  return x >= 0 && x < kLargestWhole && static_cast<double>(static_cast<std::int64_t>(x)) == x;
}

/// False when it is no size: what has it is then no tensor either.
bool measure_size(const OperatorGraph& graph, std::span<const double> values, std::size_t i,
                  BoundGraph& bound) {
  const SizePlace& place = bound.size_places[i];
  const Tensor& tensor = graph.tensors[static_cast<std::size_t>(place.tensor)];
  bound.sizes[i] = tensor.shape[static_cast<std::size_t>(place.dim)].evaluate(values);
  return is_size(bound.sizes[i]);
}

/// From the sizes that were measured; false when it has too many elements.
bool fill_shape(std::size_t i, BoundGraph& bound) {
  BoundShape& shape = bound.shapes[i];
  shape.elements = shape.last_dim = 1;
  for (int k = shape.first_dim; k < shape.first_dim + shape.dim_count; ++k) {
    shape.last_dim = bound.sizes[static_cast<std::size_t>(bound.dims[static_cast<std::size_t>(k)])];
    shape.elements *= shape.last_dim;
  }
  return shape.elements <= kLargestWhole;
}

void fill_tensor(std::size_t i, BoundGraph& bound) {
  BoundTensor& tensor = bound.tensors[i];
  const BoundShape& shape = bound.shapes[static_cast<std::size_t>(tensor.shape)];
  tensor.elements = shape.elements;
  tensor.last_dim = shape.last_dim;
  tensor.bytes = Bytes(shape.elements * tensor.width);
}

double copies_of(const Tensor& tensor, double times) {
  const bool per_iteration = tensor.role == TensorRole::weight ||
                             tensor.role == TensorRole::scale || tensor.role == TensorRole::state ||
                             tensor.rows_of.has_value();
  return per_iteration && !tensor.shared ? times : 1;
}

/// Keys that an operator does not have stay as they are.
bool refill_operator(const Operator& op, std::span<const double> values, BoundOperator& bound) {
  bool fine = true;
  for (const Attribute& a : op.attributes) {
    const double value = a.value.evaluate(values);
    bound.attributes[static_cast<std::size_t>(a.key)] = value;
    fine = fine && value >= 0 && value <= kLargestAmount;
  }
  bound.stated_work = Flops(op.stated_work ? op.stated_work->evaluate(values) : -1);
  bound.stated_traffic = Bytes(op.stated_traffic ? op.stated_traffic->evaluate(values) : -1);
  bound.overridden =
      op.stated_work || op.stated_traffic || bound.work_scale != 1 || bound.traffic_scale != 1;
  return fine && bound.stated_work >= Flops(-1) && bound.stated_traffic >= Bytes(-1);
}

bool fill_operator(const Operator& op, std::span<const double> values, BoundOperator& bound) {
  bound.attributes.fill(std::numeric_limits<double>::quiet_NaN());
  return refill_operator(op, values, bound);
}

double key_or(const BoundOperator& op, Key key, double fallback) {
  const double value = op.attributes[static_cast<std::size_t>(key)];
  return std::isnan(value) ? fallback : value;
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

/// An operator touches no more instances of a tensor than it has iterations.
void count_crossings(BoundGraph& bound) {
  for (BoundOperator& op : bound.ops) {
    op.enters = op.leaves = false;
    for (int k = 0; k < op.input_count + op.output_count; ++k) {
      const bool in = k < op.input_count;
      const int place = in ? op.first_input + k : op.first_output + k - op.input_count;
      TensorUse& use = bound.uses[static_cast<std::size_t>(place)];
      const BoundTensor& tensor = bound.tensors[static_cast<std::size_t>(use.tensor)];
      const bool leaves = (tensor.role == TensorRole::output || tensor.role == TensorRole::state) &&
                          tensor.rows_of < 0;  // rows leave with the whole
      use.crossing =
          (in ? enters(tensor) : leaves && !use.again) ? std::min(tensor.copies, op.times) : 0;
      (in ? op.enters : op.leaves) |= use.crossing > 0;
    }
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
  count_crossings(bound);
}

/// A symbol that is 0 where the expression would be a number if it were 1, as a chunk of no rows.
std::string divided_by(const OperatorGraph& graph, const Expression& e) {
  std::vector<double> values = graph.symbol_values;
  for (std::size_t slot = 0; slot < values.size(); ++slot) {
    if (values[slot] != 0 || !e.uses(static_cast<int>(slot))) continue;
    values[slot] = 1;
    if (std::isfinite(e.evaluate(values))) return graph.symbols.names()[slot];
    values[slot] = 0;
  }
  return {};
}

/// Why an expression that should count something does not.
std::string no_count(const OperatorGraph& graph, const Expression& e) {
  const double value = e.evaluate(graph.symbol_values);
  const std::string zero = std::isfinite(value) ? "" : divided_by(graph, e);
  if (!zero.empty())
    return "\"" + e.text() + "\" divides by " + zero + ", which is 0; expected " + zero +
           " to be at least 1";
  return "\"" + e.text() + "\" is " + number_text(value, 6) +
         " here; expected a whole number from 0 to 2^53";
}

void explain_sizes(const OperatorGraph& graph, const BoundGraph& bound, Diagnostics& diagnostics) {
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    const Tensor& tensor = graph.tensors[t];
    for (std::size_t d = 0; d < tensor.shape.size(); ++d) {
      const double size = tensor.shape[d].evaluate(graph.symbol_values);
      if (is_size(size)) continue;
      diagnostics.add(tensor.at, "tensor." + tensor.name + ".shape",
                      no_count(graph, tensor.shape[d]));
    }
    if (diagnostics.empty() && !(bound.tensors[t].elements <= kLargestWhole)) {
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

}  // namespace

bool rebind(const OperatorGraph& graph, std::span<const double> symbol_values, BoundGraph& bound) {
  bool fine = true;
  for (std::size_t i = 0; i < bound.sizes.size(); ++i) {
    fine = measure_size(graph, symbol_values, i, bound) && fine;
  }
  for (std::size_t i = 0; i < bound.shapes.size(); ++i) fine = fill_shape(i, bound) && fine;
  for (std::size_t t = 0; t < bound.tensors.size(); ++t) {
    bound.tensors[t].dtype = graph.tensors[t].dtype;
    bound.tensors[t].width = storage_bits(graph.tensors[t].dtype) / 8.0;
    fill_tensor(t, bound);
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

namespace {

bool uses_any(const Expression& e, std::span<const int> slots) {
  return std::any_of(slots.begin(), slots.end(), [&e](int slot) { return e.uses(slot); });
}

bool keys_use(const Operator& op, std::span<const int> slots) {
  const auto part_uses = [slots](const Operator& part) { return keys_use(part, slots); };
  return std::any_of(op.attributes.begin(), op.attributes.end(),
                     [slots](const Attribute& a) { return uses_any(a.value, slots); }) ||
         (op.stated_work && uses_any(*op.stated_work, slots)) ||
         (op.stated_traffic && uses_any(*op.stated_traffic, slots)) ||
         std::any_of(op.parts.begin(), op.parts.end(), part_uses);
}

/// Of other kinds only the keys are compared, with each other.
bool compares_tensors(OperatorKind kind) {
  return kind == OperatorKind::conv || kind == OperatorKind::grouped_gemm ||
         kind == OperatorKind::fused;
}

/// The operator and, of a fused one, its parts.
template <class Visit>
void with_parts(const Operator& op, BoundOperator& b, BoundGraph& bound, Visit visit) {
  visit(op, b);
  for (std::size_t k = 0; k < op.parts.size(); ++k)
    visit(op.parts[k], bound.parts[static_cast<std::size_t>(b.first_part) + k]);
}

}  // namespace

Touched touched_by(const OperatorGraph& graph, const BoundGraph& bound,
                   std::span<const int> slots) {
  Touched touched;
  for (std::size_t i = 0; i < bound.size_places.size(); ++i) {
    const SizePlace& place = bound.size_places[i];
    const Tensor& tensor = graph.tensors[static_cast<std::size_t>(place.tensor)];
    if (uses_any(tensor.shape[static_cast<std::size_t>(place.dim)], slots))
      touched.sizes.push_back(static_cast<int>(i));
  }
  std::vector<bool> changes(graph.tensors.size(), false);
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    for (const Expression& dim : graph.tensors[t].shape)
      changes[t] = changes[t] || uses_any(dim, slots);
    if (changes[t]) touched.tensors.push_back(static_cast<int>(t));
  }
  std::vector<bool> moves(bound.shapes.size(), false);
  for (const int t : touched.tensors) {
    const int shape = bound.tensors[static_cast<std::size_t>(t)].shape;
    if (moves[static_cast<std::size_t>(shape)]) continue;
    moves[static_cast<std::size_t>(shape)] = true;
    touched.shapes.push_back(shape);
  }
  std::vector<bool> repeats(graph.repeats.size(), false);
  for (std::size_t r = 0; r < graph.repeats.size(); ++r) {
    repeats[r] = uses_any(graph.repeats[r].times, slots);
    if (repeats[r]) touched.repeats.push_back(static_cast<int>(r));
  }
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    const Operator& op = graph.ops[i];
    const auto changed = [&changes](TensorId t) { return changes[index(t)]; };
    const auto tensors_change = [&changed](const Operator& o) {
      return std::any_of(o.inputs.begin(), o.inputs.end(), changed) ||
             std::any_of(o.outputs.begin(), o.outputs.end(), changed);
    };
    const bool keys = keys_use(op, slots);
    const int block = bound.ops[i].repeat;
    const bool often = block >= 0 && repeats[static_cast<std::size_t>(block)];
    const bool tensors =
        tensors_change(op) || std::any_of(op.parts.begin(), op.parts.end(), tensors_change);
    if (keys) touched.ops.push_back(static_cast<int>(i));
    if (keys || often || tensors) touched.demands.push_back(static_cast<int>(i));
    if (keys || (tensors && compares_tensors(op.kind)))
      touched.checks.push_back(static_cast<int>(i));
  }
  return touched;
}

bool rebind(const OperatorGraph& graph, std::span<const double> symbol_values,
            const Touched& touched, BoundGraph& bound) {
  bool fine = true;
  for (const int i : touched.sizes)
    fine = measure_size(graph, symbol_values, static_cast<std::size_t>(i), bound) && fine;
  for (const int i : touched.shapes) fine = fill_shape(static_cast<std::size_t>(i), bound) && fine;
  for (const int t : touched.tensors) fill_tensor(static_cast<std::size_t>(t), bound);
  for (const int o : touched.ops) {
    const auto i = static_cast<std::size_t>(o);
    with_parts(graph.ops[i], bound.ops[i], bound, [&](const Operator& op, BoundOperator& b) {
      fine = refill_operator(op, symbol_values, b) && fine;
    });
  }
  for (const int o : touched.checks) {
    const auto i = static_cast<std::size_t>(o);
    with_parts(graph.ops[i], bound.ops[i], bound, [&](const Operator&, BoundOperator& b) {
      fine = fine && mask_agrees(bound, b) && contradiction(bound, b) == nullptr;
    });
  }
  for (const int r : touched.repeats) {
    const auto i = static_cast<std::size_t>(r);
    bound.repeats[i].times = graph.repeats[i].times.evaluate(symbol_values);
    fine = fine && is_size(bound.repeats[i].times);
  }
  if (!touched.repeats.empty()) apply_copies(graph, bound);
  return fine;
}

bool agrees(const OperatorGraph& graph, const BoundGraph& bound) {
  bool fine = true;
  check_agreement(graph, bound, [&fine](const auto&...) { fine = false; });
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
    check_agreement(graph, bound,
                    [&](const Position& at, const std::string& key, const auto& what) {
                      diagnostics.add(at, key, what());
                    });
  }
  diagnostics.throw_if_any();
  return bound;
}

}  // namespace floorline
