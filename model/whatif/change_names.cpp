// SPDX-License-Identifier: Apache-2.0
// Which names a change may have, and which values.
#include <algorithm>
#include <cmath>

#include "model/input/diagnostic.hpp"
#include "model/rewrite/graph_assignment.hpp"
#include "model/whatif/device_number.hpp"
#include "model/whatif/variables.hpp"

namespace floorline {

namespace {

constexpr std::size_t kListed = 12;  // names of one sort in an error

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
    if (a.name.starts_with("tensor.") || names_whole_operator(graph, a)) return true;
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

std::string known_names(const std::vector<std::string>& names, std::string_view name) {
  return did_you_mean(name, names) + "; there are " + listed(names);
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

/// op.NAME and op.NAME.bytes are of one operator; once removed it has no bytes. op.NAME.first is
/// another operator, that of a first chunk.
bool same_variable(const Assignment& a, const Assignment& b) {
  if (a.name == b.name) return true;
  const auto within = [](const std::string& whole, const std::string& part) {
    if (!whole.starts_with("op.") || !part.starts_with(whole + ".")) return false;
    const std::string field = part.substr(whole.size() + 1);
    return field == "bytes" || field == "flops" || field == "compute" || field == "accumulate";
  };
  const bool part = names_graph_part(a.name) && names_graph_part(b.name);
  const bool covers = part && (glob_matches(a.name, b.name) || glob_matches(b.name, a.name));
  return covers || within(a.name, b.name) || within(b.name, a.name);
}

}  // namespace

std::string what_can_change(const Situation& s, const Outcome& before, std::string_view name) {
  if (s.kernel) return known_names(kernel_number_names(), name);
  const OperatorGraph& graph = before.evaluation.graph;
  if (names_device_key(name)) {
    std::vector<std::string> keys = device_keys(s.device);
    const std::string nearest = did_you_mean(name, keys);
    const std::string_view table = name.substr(0, name.find('.'));
    std::erase_if(keys, [&](const std::string& key) { return !key.starts_with(table); });
    return nearest + "; device " + s.device.name + " has " + listed(keys) +
           " (floorline devices show " + s.device.name + ")";
  }
  std::vector<std::string> ops;
  for (const Operator& op : graph.ops) ops.push_back("op." + op.name);
  constexpr const char* kFields =
      ", each with .bytes, .flops, .compute, .accumulate, =remove or ='KIND key=value …'";
  if (name.starts_with("op."))
    return did_you_mean(name, assignable(graph)) + "; there are " + listed(ops) + kFields;
  std::vector<std::string> tensors;
  for (const Tensor& tensor : graph.tensors) tensors.push_back("tensor." + tensor.name + ".dtype");
  if (name.starts_with("tensor.")) return known_names(tensors, name);
  std::vector<std::string> symbols = graph.symbols.names();
  if (s.model) {
    symbols.clear();
    for (const SymbolInfo& symbol : model_symbols()) symbols.emplace_back(symbol.name);
  }
  std::vector<std::string> all = assignable(graph);
  all.insert(all.end(), symbols.begin(), symbols.end());
  const std::vector<std::string> keys = device_keys(s.device);
  all.insert(all.end(), keys.begin(), keys.end());
  return did_you_mean(name, all) + "; there are symbols " + listed(symbols) + "; operators " +
         listed(ops) + kFields + "; storage " + listed(tensors) +
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
      diagnostics.add(at, a.name, "does not exist here" + what_can_change(s, before, a.name));
      continue;
    }
    const std::string wrong = wrong_value(s, a);
    if (!wrong.empty()) diagnostics.add(at, a.name, wrong);
  }
  diagnostics.throw_if_any();
}

}  // namespace floorline
