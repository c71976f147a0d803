// SPDX-License-Identifier: Apache-2.0
#include "model/rewrite/graph_assignment.hpp"

#include <algorithm>
#include <set>

#include "model/input/diagnostic.hpp"
#include "model/rewrite/splice.hpp"
#include "model/workload/scenario.hpp"

namespace floorline {

namespace {

[[noreturn]] void refuse(const std::string& name, const std::string& why) {
  throw InputError(Diagnostic{position_in("command line"), name, why});
}

Precision precision_value(const Assignment& a, bool storage) {
  if (a.scale) refuse(a.name, "is a precision; expected NAME=PRECISION");
  const std::optional<Precision> p = precision_from(a.value);
  if (p && !(storage && storage_bits(*p) == 0)) return *p;
  refuse(a.name, not_a_precision(a.value));
}

bool is_glob(std::string_view name) { return name.find_first_of("*?") != std::string_view::npos; }

std::vector<OperatorId> operators_named(const OperatorGraph& graph, std::string_view name) {
  std::vector<OperatorId> found;
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    const std::string& op = graph.ops[i].name;
    if (op == name || (is_glob(name) && glob_matches(name, op)))
      found.push_back(static_cast<OperatorId>(i));
  }
  return found;
}

std::vector<TensorId> tensors_named(const OperatorGraph& graph, std::string_view name) {
  std::vector<TensorId> found;
  for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
    const std::string& tensor = graph.tensors[i].name;
    if (tensor == name || (is_glob(name) && glob_matches(name, tensor)))
      found.push_back(static_cast<TensorId>(i));
  }
  return found;
}

struct PartName {
  std::string_view name;   ///< of the operator or tensor
  std::string_view field;  ///< after the last dot
};
PartName part_of(std::string_view text, std::size_t prefix) {
  const std::size_t dot = text.rfind('.');
  if (dot == std::string_view::npos || dot < prefix) return {};
  return {text.substr(prefix, dot - prefix), text.substr(dot + 1)};
}

constexpr std::size_t kOp = 3;      // "op."
constexpr std::size_t kTensor = 7;  // "tensor."

/// op.NAME.bytes: the whole HBM traffic of that operator; scaling multiplies what its shapes say.
void assign_amount(Operator& op, bool bytes, const Assignment& a) {
  if (a.scale) {
    const double factor = plain_number(a, "a factor");
    if (factor < 0) refuse(a.name, "a factor cannot be negative");
    (bytes ? op.traffic_scale : op.work_scale) *= factor;
  } else if (bytes) {
    op.stated_traffic = Expression(amount_of(a, Dimension::bytes));
    op.traffic_scale = 1;
  } else {
    op.stated_work = Expression(amount_of(a, Dimension::flops));
    op.work_scale = 1;
  }
}

/// As arithmetic_of, of an operator or one to change.
template <class Op>
std::vector<Op*> arithmetic_in(Op& op) {
  if (op.parts.empty()) return {&op};
  std::vector<Op*> products;
  std::vector<Op*> all;
  for (auto& part : op.parts) {
    all.push_back(&part);
    if (info(part.kind).matrix) products.push_back(&part);
  }
  return products.empty() ? all : products;
}

bool assign_field(Operator& op, std::string_view field, const Assignment& a) {
  if (field == "bytes" || field == "flops") {
    assign_amount(op, field == "bytes", a);
  } else if (field == "compute" || field == "accumulate") {
    const Precision p = precision_value(a, false);
    for (Operator* one : arithmetic_in(op))
      (field == "compute" ? one->compute : one->accumulate) = p;
  } else {
    return false;
  }
  return true;
}

}  // namespace

std::vector<const Operator*> arithmetic_of(const Operator& op) { return arithmetic_in(op); }

bool names_whole_operator(const OperatorGraph& graph, const Assignment& a) {
  return a.name.starts_with("op.") && !a.scale &&
         graph.find_op(std::string_view(a.name).substr(kOp)).has_value();
}

void assign_operator(OperatorGraph& graph, const Assignment& a) {
  if (names_whole_operator(graph, a)) {
    const OperatorId whole = *graph.find_op(std::string_view(a.name).substr(kOp));
    if (a.value == "remove") return remove_operator(graph, whole);
    return replace_operator(graph, whole, a.value);
  }
  const PartName part = part_of(a.name, kOp);
  bool done = false;
  for (const OperatorId id : operators_named(graph, part.name)) {
    done = assign_field(graph.ops[index(id)], part.field, a);
  }
  if (!done)
    refuse(a.name, "is not an amount of this workload" + did_you_mean(a.name, assignable(graph)));
}

std::vector<TensorId> cache_tensors(const OperatorGraph& graph) {
  std::vector<bool> cached(graph.tensors.size(), false);
  for (std::size_t t = 0; t < graph.tensors.size(); ++t)
    cached[t] = graph.tensors[t].role == TensorRole::state;
  for (const Operator& op : graph.ops) {
    for (const Operator* one : arithmetic_of(op)) {
      if (one->kind != OperatorKind::attention) continue;
      for (std::size_t i = 1; i < one->inputs.size(); ++i) {
        const std::size_t t = index(one->inputs[i]);
        if (graph.tensors[t].role == TensorRole::input) cached[t] = true;
      }
    }
  }
  std::vector<TensorId> all;
  for (std::size_t t = 0; t < cached.size(); ++t) {
    if (cached[t]) all.push_back(static_cast<TensorId>(t));
  }
  return all;
}

namespace {

bool is_matrix_weight(const Tensor& tensor) {
  return tensor.role == TensorRole::weight && tensor.shape.size() > 1;
}

/// Floating-point tensors that operators hand on; integers are ids and raw bytes.
bool is_activation(const Tensor& tensor) {
  const bool integer = tensor.dtype == Precision::int32 || tensor.dtype == Precision::int8;
  return !integer && (tensor.role == TensorRole::input || tensor.role == TensorRole::output ||
                      tensor.role == TensorRole::intermediate);
}

std::vector<TensorId> tensors_if(const OperatorGraph& graph, bool (*wanted)(const Tensor&)) {
  std::vector<TensorId> all;
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    if (wanted(graph.tensors[t])) all.push_back(static_cast<TensorId>(t));
  }
  return all;
}

constexpr std::string_view kWeights = "weight_dtype.";

}  // namespace

std::vector<TensorId> tensors_under(const OperatorGraph& graph, std::string_view name) {
  if (name.starts_with("tensor.")) {
    const PartName part = part_of(name, kTensor);
    return part.field == "dtype" ? tensors_named(graph, part.name) : std::vector<TensorId>{};
  }
  if (name.starts_with(kWeights)) {
    std::vector<TensorId> weights;
    for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
      const Tensor& tensor = graph.tensors[t];
      if (tensor.role == TensorRole::weight &&
          glob_matches(name.substr(kWeights.size()), tensor.name)) {
        weights.push_back(static_cast<TensorId>(t));
      }
    }
    return weights;
  }
  if (name == "weight_dtype") return tensors_if(graph, is_matrix_weight);
  if (name == "kv_dtype") return cache_tensors(graph);
  const std::vector<TensorId> cache = cache_tensors(graph);
  std::vector<TensorId> activations = tensors_if(graph, is_activation);
  std::erase_if(activations, [&](TensorId id) {
    return std::find(cache.begin(), cache.end(), id) != cache.end();
  });
  return activations;
}

namespace {

void assign_arithmetic(OperatorGraph& graph, const Assignment& a) {
  const Precision p = precision_value(a, false);
  bool any = false;
  for (Operator& op : graph.ops) {
    for (Operator* one : arithmetic_in(op)) {
      if (!info(one->kind).matrix) continue;
      (a.name == "compute_dtype" ? one->compute : one->accumulate) = p;
      any = true;
    }
  }
  if (!any)
    refuse(a.name,
           "is of matrix products and attention, of which there are none; "
           "op.NAME.compute and op.NAME.accumulate are of one operator");
}

/// Rows have no precision of their own: whose tensor is not named too would change beyond them.
void check_rows_named(const OperatorGraph& graph, const std::string& name,
                      const std::vector<TensorId>& tensors) {
  if (!name.starts_with("tensor.") && !name.starts_with(kWeights)) return;
  for (const TensorId id : tensors) {
    const Tensor& rows = graph.tensors[index(id)];
    if (!rows.rows_of) continue;
    if (std::find(tensors.begin(), tensors.end(), *rows.rows_of) != tensors.end()) continue;
    const std::string& whole = graph.tensors[index(*rows.rows_of)].name;
    refuse(name, "\"" + rows.name + "\" is rows of \"" + whole +
                     "\", which have its precision; expected tensor." + whole + ".dtype");
  }
}

}  // namespace

bool names_precision(std::string_view name) {
  return name.starts_with("tensor.") || name.starts_with(kWeights) || name == "weight_dtype" ||
         name == "activation_dtype" || name == "kv_dtype" || name == "compute_dtype" ||
         name == "accumulate_dtype";
}

void assign_precision(OperatorGraph& graph, const Assignment& a) {
  if (a.name == "compute_dtype" || a.name == "accumulate_dtype") return assign_arithmetic(graph, a);
  const Precision p = precision_value(a, true);
  const std::vector<TensorId> tensors = tensors_under(graph, a.name);
  if (tensors.empty())
    refuse(a.name, "names no tensor of this workload" + did_you_mean(a.name, assignable(graph)));
  check_rows_named(graph, a.name, tensors);
  for (const TensorId id : tensors) {
    const Tensor& named = graph.tensors[index(id)];
    graph.tensors[index(named.rows_of.value_or(id))].dtype = p;
  }
  for (Tensor& rows : graph.tensors) {
    if (rows.rows_of) rows.dtype = graph.tensors[index(*rows.rows_of)].dtype;
  }
}

std::vector<std::string> precisions_under(const OperatorGraph& graph, std::string_view name) {
  std::set<std::string> now;
  if (name == "compute_dtype" || name == "accumulate_dtype") {
    for (const Operator& op : graph.ops) {
      for (const Operator* one : arithmetic_of(op)) {
        if (info(one->kind).matrix)
          now.emplace(name_of(name == "compute_dtype" ? one->compute : one->accumulate));
      }
    }
  } else {
    for (const TensorId id : tensors_under(graph, name))
      now.emplace(name_of(graph.tensors[index(id)].dtype));
  }
  return {now.begin(), now.end()};
}

bool is_part_of(const OperatorGraph& graph, std::string_view name) {
  if (name.starts_with("tensor.")) return !tensors_under(graph, name).empty();
  return graph.find_op(name.substr(kOp)).has_value() ||
         !operators_named(graph, part_of(name, kOp).name).empty();
}

}  // namespace floorline
