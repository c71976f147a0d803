// SPDX-License-Identifier: Apache-2.0
#include "model/whatif/variables.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "model/input/diagnostic.hpp"
#include "model/rewrite/graph_assignment.hpp"
#include "model/whatif/device_number.hpp"

namespace floorline {

namespace {

constexpr std::size_t kOp = 3;  // "op."

/// Everything that a factor scales: value = from x factor.
ChangePath scaled_path(const std::string& name, double from, double to, Dimension dimension) {
  ChangePath path;
  path.from = from;
  path.to = to;
  path.at = [name, from](double v) { return Assignment{name, exact_text(v / from), true}; };
  path.text = [dimension](double v) { return base_text(v, dimension); };
  return path;
}

std::string joined(const std::set<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

Variable device_variable(const Situation& s, const Assignment& a) {
  const DeviceNumber number = device_number(s.device, s.clocks, a.name);
  Variable v;
  v.from = number.stated ? number.text : "not stated";
  const Situation after = changed(s, {a});
  const DeviceNumber to = device_number(after.device, after.clocks, a.name);
  v.to = to.text.empty() ? a.value : to.text;
  if (number.number && number.base > 0 && to.base > 0) {
    v.path = scaled_path(a.name, number.base, to.base, number.dimension.value_or(Dimension::flops));
    if (!number.dimension) v.path->text = [](double x) { return exact_text(x); };
  }
  return v;
}

// ---- clocks

Variable clock_variable(const Situation& s, const Assignment& a) {
  const Situation after = changed(s, {a});
  Variable v;
  if (a.name == "mem_clock_scale") {
    v.from = exact_text(s.clocks.memory_scale);
    v.to = exact_text(after.clocks.memory_scale);
    v.path = scaled_path(a.name, s.clocks.memory_scale, after.clocks.memory_scale,
                         Dimension::flops_per_byte);
    return v;
  }
  v.to = to_text(*after.clocks.sm_clock);
  double from = 0;
  if (s.clocks.sm_clock) {
    from = s.clocks.sm_clock->in_base_units();
  } else if (!s.device.clocks.empty() && s.device.clocks.front().highest) {
    from = s.device.clocks.front().highest->value.in_base_units();
  }
  v.from = s.clocks.sm_clock ? to_text(Hertz(from)) : "the device's highest";
  if (from > 0) {
    v.path = ChangePath{from, after.clocks.sm_clock->in_base_units(), false,
                        [](double x) {
                          return Assignment{"sm_clock", exact_text(x) + " Hz", false};
                        },
                        [](double x) { return to_text(Hertz(x)); }};
  }
  return v;
}

// ---- parts of a graph

std::vector<std::size_t> operators_of(const OperatorGraph& graph, std::string_view name) {
  const std::string_view pattern = name.substr(kOp, name.rfind('.') - kOp);
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    if (graph.ops[i].name == pattern || glob_matches(pattern, graph.ops[i].name)) all.push_back(i);
  }
  return all;
}

/// Amounts of the operators that the name matches, summed; the path scales them all.
Variable amount_variable(const Outcome& before, const Assignment& a) {
  const Evaluation& e = before.evaluation;
  const bool bytes = a.name.ends_with(".bytes");
  const Dimension dimension = bytes ? Dimension::bytes : Dimension::flops;
  double sum = 0;
  const std::vector<std::size_t> ops = operators_of(e.graph, a.name);
  for (const std::size_t i : ops) {
    const Demand& d = e.floors.ops[i].demand;
    sum += bytes ? (d.hbm_read + d.hbm_write).in_base_units() : d.flops.in_base_units();
  }
  const double value = a.scale ? plain_number(a, "a factor") * sum
                               : amount_of(a, dimension) * static_cast<double>(ops.size());
  Variable v{base_text(sum, dimension), base_text(value, dimension), {}, {}};
  if (ops.empty()) return v;
  v.executions = e.floors.ops[ops.front()].times;
  for (const std::size_t i : ops) {
    if (e.floors.ops[i].times != v.executions) v.executions.reset();
  }
  if (sum > 0) v.path = scaled_path(a.name, sum, value, dimension);
  return v;
}

Variable precision_variable(const OperatorGraph& graph, const Assignment& a) {
  std::set<std::string> now;
  if (a.name.starts_with("op.")) {
    const bool compute = a.name.ends_with(".compute");
    for (const std::size_t i : operators_of(graph, a.name))
      for (const Operator* one : arithmetic_of(graph.ops[i]))
        now.emplace(name_of(compute ? one->compute : one->accumulate));
  } else {
    for (const std::string& word : precisions_under(graph, a.name)) now.insert(word);
  }
  return {joined(now), a.value, {}, 1};
}

Variable part_variable(const Outcome& before, const Assignment& a) {
  const OperatorGraph& graph = before.evaluation.graph;
  if (names_whole_operator(graph, a)) {
    const auto id = graph.find_op(std::string_view(a.name).substr(kOp));
    return {std::string(name_of(graph.ops[index(*id)].kind)),
            a.value == "remove" ? "removed" : a.value,
            {},
            1};
  }
  if (a.name.starts_with("op.") && (a.name.ends_with(".bytes") || a.name.ends_with(".flops")))
    return amount_variable(before, a);
  return precision_variable(graph, a);
}

// ---- symbols

Variable symbol_variable(const Situation& s, const Outcome& before, const Assignment& a) {
  const Situation after = changed(s, {a});
  std::optional<double> from;
  std::optional<double> to;
  Variable v;
  if (s.graph) {
    from = s.graph->symbol(a.name);
    to = after.graph->symbol(a.name);
    v.from = count_text(from.value_or(0));
    v.to = count_text(to.value_or(0));
  } else {
    const auto number = [&a](const Situation& x) -> std::optional<double> {
      const auto n = symbol_number(a.name, x.model->scenario, x.model->layout);
      if (!n) return std::nullopt;
      return static_cast<double>(*n);
    };
    from = number(s);
    to = number(after);
    v.from = symbol_text(a.name, s.model->scenario, s.model->layout);
    if (names_precision(a.name)) {
      const std::vector<std::string> now = precisions_under(before.evaluation.graph, a.name);
      if (!now.empty()) v.from = joined({now.begin(), now.end()});
    }
    v.to = to ? count_text(*to) : a.value;
  }
  if (from && to) {
    const std::string name = a.name;
    v.path = ChangePath{*from, *to, std::floor(*from) == *from && std::floor(*to) == *to,
                        [name](double x) {
                          return Assignment{name, count_text(x), false};
                        },
                        [](double x) { return count_text(x); }};
  }
  return v;
}

}  // namespace

Variable variable_of(const Situation& s, const Outcome& before, const Assignment& a) {
  if (s.kernel) {
    const KernelNumber from = number_of(*s.kernel, a.name);
    const KernelNumber to = number_of(*changed(s, {a}).kernel, a.name);
    Variable v{base_text(from.base, from.dimension), base_text(to.base, to.dimension), {}, 1};
    if (from.base > 0) v.path = scaled_path(a.name, from.base, to.base, from.dimension);
    return v;
  }
  if (a.name == "device") return {s.device.name, changed(s, {a}).device.name, {}, 1};
  const bool symbol = s.graph && s.graph->symbol(a.name).has_value();
  if (names_device_key(a.name)) return device_variable(s, a);
  if (names_clock(a.name) && !symbol) return clock_variable(s, a);
  if (names_graph_part(a.name)) return part_variable(before, a);
  if (s.graph && !symbol && names_precision(a.name))
    return precision_variable(before.evaluation.graph, a);
  return symbol_variable(s, before, a);
}

}  // namespace floorline
