// SPDX-License-Identifier: Apache-2.0
#include "model/whatif/variables.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "model/input/diagnostic.hpp"
#include "model/rewrite/graph_assignment.hpp"

namespace floorline {

namespace {

constexpr std::size_t kOp = 3;       // "op."
constexpr std::size_t kListed = 12;  // names of one sort in an error

std::string base_text(double base, Dimension dimension) {
  switch (dimension) {
    case Dimension::bytes:
      return to_text(Bytes(base));
    case Dimension::flops:
      return to_text(Flops(base));
    case Dimension::seconds:
      return to_text(Seconds(base));
    case Dimension::bytes_per_second:
      return to_text(BytesPerSecond(base));
    case Dimension::flops_per_second:
      return to_text(FlopsPerSecond(base));
    case Dimension::hertz:
      return to_text(Hertz(base));
    default:
      return exact_text(base);
  }
}

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

// ---- numbers of a device

struct DeviceNumber {
  bool found = false;
  bool stated = false;
  std::string text;
  double base = 0;
  std::optional<Dimension> dimension;  ///< absent: a plain number; text and booleans have no base
  bool number = false;
};

struct ReadNumber {
  std::string_view key;
  DeviceNumber& out;
  template <class Member>
  void operator()(const std::string& table, const char* name, const Member& member) const {
    if ((table.empty() ? std::string(name) : table + "." + name) != key) return;
    out.found = true;
    out.stated = static_cast<bool>(member);
    if (out.stated) take(member->value);
  }
  void take(double value) const {
    out.base = value;
    out.text = exact_text(value);
    out.number = true;
  }
  void take(bool value) const { out.text = value ? "true" : "false"; }
  void take(const std::string& value) const { out.text = value; }
  template <class Q>
  void take(Q value) const {
    out.base = value.in_base_units();
    out.dimension = DimensionOf<Q>::value;
    out.text = base_text(out.base, *out.dimension);
    out.number = true;
  }
};

DeviceNumber device_number(const DeviceSpec& device, const ClockChoice& clocks,
                           std::string_view key) {
  DeviceNumber number;
  visit_numbers(device, ReadNumber{key, number});
  if (number.found || !key.starts_with("rate.")) return number;
  const auto id = resource_from(key.substr(5));
  if (!id) return number;
  number.found = true;
  const Rate rate = resolve_rates(device, clocks)[*id];
  number.stated = rate.known;
  if (!rate.known) return number;
  number.number = true;
  number.dimension = Dimension::flops_per_second;
  number.base = rate.nominal.in_base_units();
  number.text = base_text(number.base, *number.dimension);
  return number;
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

bool is_whole_operator(const OperatorGraph& graph, const Assignment& a) {
  return a.name.starts_with("op.") && graph.find_op(std::string_view(a.name).substr(kOp)) &&
         !a.scale;
}

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
  Variable v{base_text(sum, dimension), base_text(value, dimension), std::nullopt};
  if (sum > 0) v.path = scaled_path(a.name, sum, value, dimension);
  return v;
}

Variable precision_variable(const OperatorGraph& graph, const Assignment& a) {
  std::set<std::string> now;
  if (a.name.starts_with("op.")) {
    const bool compute = a.name.ends_with(".compute");
    for (const std::size_t i : operators_of(graph, a.name))
      now.emplace(name_of(compute ? graph.ops[i].compute : graph.ops[i].accumulate));
  } else {
    for (const std::string& word : precisions_under(graph, a.name)) now.insert(word);
  }
  return {joined(now), a.value, std::nullopt};
}

Variable part_variable(const Outcome& before, const Assignment& a) {
  const OperatorGraph& graph = before.evaluation.graph;
  if (is_whole_operator(graph, a)) {
    const auto id = graph.find_op(std::string_view(a.name).substr(kOp));
    return {std::string(name_of(graph.ops[index(*id)].kind)),
            a.value == "remove" ? "removed" : a.value, std::nullopt};
  }
  if (a.name.starts_with("op.") && (a.name.ends_with(".bytes") || a.name.ends_with(".flops")))
    return amount_variable(before, a);
  return precision_variable(graph, a);
}

// ---- symbols

Variable symbol_variable(const Situation& s, const Assignment& a) {
  const Situation after = changed(s, {a});
  std::optional<double> from;
  std::optional<double> to;
  Variable v;
  if (s.graph) {
    from = s.graph->symbol(a.name);
    to = after.graph->symbol(a.name);
    v.from = exact_text(from.value_or(0));
    v.to = exact_text(to.value_or(0));
  } else {
    const auto number = [&a](const Situation& x) -> std::optional<double> {
      const auto n = symbol_number(a.name, x.model->scenario, x.model->layout);
      if (!n) return std::nullopt;
      return static_cast<double>(*n);
    };
    from = number(s);
    to = number(after);
    v.from = symbol_text(a.name, s.model->scenario, s.model->layout);
    v.to = to ? exact_text(*to) : a.value;
  }
  if (from && to) {
    const std::string name = a.name;
    v.path = ChangePath{*from, *to, std::floor(*from) == *from && std::floor(*to) == *to,
                        [name](double x) {
                          return Assignment{name, exact_text(x), false};
                        },
                        [](double x) { return exact_text(x); }};
  }
  return v;
}

// ---- which names there are

bool exists(const Situation& s, const Outcome& before, const Assignment& a) {
  if (s.kernel) {
    const std::vector<std::string> names = kernel_number_names();
    return std::find(names.begin(), names.end(), a.name) != names.end();
  }
  if (a.name == "device" || names_clock(a.name)) return true;
  if (names_device_key(a.name)) return device_number(s.device, s.clocks, a.name).found;
  const OperatorGraph& graph = before.evaluation.graph;
  if (names_graph_part(a.name)) {
    if (!is_part_of(graph, a.name)) return false;
    if (a.name.starts_with("tensor.") || is_whole_operator(graph, a)) return true;
    for (const char* field : {".bytes", ".flops", ".compute", ".accumulate"}) {
      if (a.name.ends_with(field)) return true;
    }
    return false;
  }
  if (s.model) {
    if (a.name.starts_with("weight_dtype.")) return true;
    return std::any_of(model_symbols().begin(), model_symbols().end(),
                       [&](const SymbolInfo& symbol) { return symbol.name == a.name; });
  }
  return s.graph->symbol(a.name).has_value() || names_precision(a.name) || a.name == "routing";
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kListed; ++i)
    text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kListed) text += " and " + std::to_string(names.size() - kListed) + " more";
  return text;
}

/// A value may be zero only where zero is a choice and not an amount.
bool zero_is_a_choice(const Situation& s, const std::string& name) {
  if (s.model) return true;  // each symbol knows its own range
  for (const char* flag : {"causal", "initial", "delta", "gated", "window", "pad", "context"}) {
    if (name == flag) return true;
  }
  return false;
}

/// What is wrong with the value, or "".
std::string wrong_value(const Situation& s, const Assignment& a) {
  const std::optional<double> plain = parse_number(a.value);
  if (a.scale) {
    const bool fine = plain && *plain > 0 && std::isfinite(*plain);
    return fine ? "" : quoted(a.value) + " is not a factor above zero";
  }
  const auto quantity = parse_any_quantity(a.value);
  const std::optional<double> value =
      plain ? plain : (quantity ? std::optional(quantity->base) : std::nullopt);
  if (value && *value < 0) return quoted(a.value) + " is below zero";
  if (value && *value == 0 && !zero_is_a_choice(s, a.name))
    return quoted(a.value) +
           " leaves nothing; expected a value above zero (op.NAME=remove takes "
           "an operator out)";
  std::string lower = a.value;
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  for (const char* word : {"nan", "-nan", "inf", "-inf", "infinity"}) {
    if (lower == word) return quoted(a.value) + " is not a number";
  }
  return "";
}

/// op.NAME and op.NAME.bytes are of one operator; once removed it has no bytes.
bool same_variable(const Assignment& a, const Assignment& b) {
  if (a.name == b.name) return true;
  const auto within = [](const std::string& whole, const std::string& part) {
    return whole.starts_with("op.") && part.starts_with(whole + ".");
  };
  return within(a.name, b.name) || within(b.name, a.name);
}

}  // namespace

std::string what_can_change(const Situation& s, const Outcome& before) {
  if (s.kernel) return "there are " + listed(kernel_number_names());
  const OperatorGraph& graph = before.evaluation.graph;
  std::vector<std::string> symbols;
  if (s.model) {
    for (const SymbolInfo& symbol : model_symbols()) symbols.emplace_back(symbol.name);
  } else {
    symbols = graph.symbols.names();
  }
  std::vector<std::string> ops;
  std::vector<std::string> tensors;
  for (const Operator& op : graph.ops) ops.push_back("op." + op.name);
  for (const Tensor& tensor : graph.tensors) tensors.push_back("tensor." + tensor.name + ".dtype");
  return "there are symbols " + listed(symbols) + "; operators " + listed(ops) +
         ", each with .bytes, .flops, .compute, .accumulate, =remove or ='KIND key=value …'; " +
         "storage " + listed(tensors) +
         ", weight_dtype, activation_dtype, kv_dtype; compute_dtype, accumulate_dtype; device, "
         "sm_clock, mem_clock_scale and the keys of the device (floorline devices show " +
         s.device.name + ")";
}

void check_changes(const Situation& s, const Outcome& before,
                   const std::vector<Assignment>& changes) {
  Diagnostics diagnostics;
  const Position at = position_in("command line");
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const Assignment& a = changes[i];
    for (std::size_t k = 0; k < i; ++k) {
      if (!same_variable(a, changes[k])) continue;
      diagnostics.add(at, a.name,
                      "changed twice, to " + changes[k].value + " and to " + a.value +
                          "; expected one change of a variable");
      break;
    }
    if (!exists(s, before, a)) {
      diagnostics.add(at, a.name, "does not exist here; " + what_can_change(s, before));
      continue;
    }
    const std::string wrong = wrong_value(s, a);
    if (!wrong.empty()) diagnostics.add(at, a.name, wrong);
  }
  diagnostics.throw_if_any();
}

Variable variable_of(const Situation& s, const Outcome& before, const Assignment& a) {
  if (s.kernel) {
    const KernelNumber from = number_of(*s.kernel, a.name);
    const KernelNumber to = number_of(*changed(s, {a}).kernel, a.name);
    Variable v{base_text(from.base, from.dimension), base_text(to.base, to.dimension), {}};
    if (from.base > 0) v.path = scaled_path(a.name, from.base, to.base, from.dimension);
    return v;
  }
  if (a.name == "device") return {s.device.name, changed(s, {a}).device.name, std::nullopt};
  const bool symbol = s.graph && s.graph->symbol(a.name).has_value();
  if (names_device_key(a.name)) return device_variable(s, a);
  if (names_clock(a.name) && !symbol) return clock_variable(s, a);
  if (names_graph_part(a.name)) return part_variable(before, a);
  if (s.graph && !symbol && names_precision(a.name))
    return precision_variable(before.evaluation.graph, a);
  return symbol_variable(s, a);
}

}  // namespace floorline
