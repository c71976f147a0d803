// SPDX-License-Identifier: Apache-2.0
#include "model/rewrite/assignment.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "model/device/device_file.hpp"
#include "model/input/diagnostic.hpp"
#include "model/quantity/unit_names.hpp"
#include "model/rewrite/graph_assignment.hpp"

namespace floorline {

namespace {

Position here() { return position_in("command line"); }

[[noreturn]] void refuse(const std::string& name, const std::string& why) {
  throw InputError(Diagnostic{here(), name, why});
}

bool is_routed(const OperatorGraph& graph) {
  return std::any_of(graph.ops.begin(), graph.ops.end(), [](const Operator& op) {
    return op.kind == OperatorKind::grouped_gemm || op.kind == OperatorKind::dispatch ||
           op.kind == OperatorKind::combine;
  });
}

}  // namespace

double plain_number(const Assignment& a, const char* expected) {
  const std::optional<double> value = parse_number(a.value);
  if (!value) refuse(a.name, "\"" + a.value + "\" is not a number; expected " + expected);
  return *value;
}

double amount_of(const Assignment& a, Dimension dimension) {
  const ParsedQuantity q = parse_quantity(a.value, dimension);
  if (!q.error.empty()) refuse(a.name, q.error);
  return q.base;
}

namespace {

void assign_routing(OperatorGraph& graph, const Assignment& a) {
  const auto routing = routing_from(a.value);
  if (!routing || a.scale) refuse(a.name, "\"" + a.value + "\" is not one of least, uniform, all");
  graph.routing = *routing;
}

void assign_symbol(OperatorGraph& graph, const Assignment& a) {
  const std::optional<double> before = graph.symbol(a.name);
  if (!before) {
    refuse(a.name, "is not a symbol of this workload" + did_you_mean(a.name, assignable(graph)));
  }
  double value = 0;
  const ParsedQuantity as_bytes = parse_quantity(a.value, Dimension::bytes);
  if (!parse_number(a.value) && as_bytes.error.empty()) {
    value = std::round(as_bytes.base);
  } else {
    value = plain_number(a, "a number");
  }
  graph.set_symbol(a.name, a.scale ? *before * value : value);
}

}  // namespace

namespace {

std::string without_spaces_around(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(' ') + 1 - first));
}

}  // namespace

Assignment parse_assignment(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    refuse(std::string(text), "expected NAME=VALUE or NAME*=FACTOR");
  }
  Assignment a;
  // The '*' before '=' may end a glob of weight names.
  a.scale = text[equals - 1] == '*' && !text.starts_with("weight_dtype.");
  a.name = without_spaces_around(text.substr(0, equals - (a.scale ? 1 : 0)));
  a.value = without_spaces_around(text.substr(equals + 1));
  if (a.name.empty()) refuse(std::string(text), "expected a name before the sign");
  if (a.value.empty()) refuse(a.name, "has no value; expected NAME=VALUE");
  return a;
}

bool names_device_key(std::string_view name) {
  constexpr std::array<std::string_view, 8> kTables{
      "memory.", "rate.", "link.", "clock.", "topology.", "overhead.", "power.", "emulation."};
  if (name == "units") return true;
  for (const std::string_view table : kTables) {
    if (name.starts_with(table)) return true;
  }
  return false;
}

void assign(DeviceSpec& device, const Assignment& a) {
  if (!a.scale) {
    set_device_key(device, a.name, a.value);
    return;
  }
  const double factor = plain_number(a, "a factor");
  if (!(factor > 0)) refuse(a.name, "a factor must be above 0");
  scale_device_key(device, a.name, factor);
}

bool names_graph_part(std::string_view name) {
  return name.starts_with("op.") || name.starts_with("tensor.");
}

bool names_clock(std::string_view name) { return name == "sm_clock" || name == "mem_clock_scale"; }

void assign(ClockChoice& clocks, const Assignment& a) {
  if (a.name == "sm_clock") return set_sm_clock(clocks, a);
  set_memory_scale(clocks, a);
}

void set_memory_scale(ClockChoice& clocks, const Assignment& a) {
  const std::optional<double> factor = parse_number(a.value);
  const double after = factor.value_or(0) * (a.scale ? clocks.memory_scale : 1);
  constexpr double kMost = 1e6;
  if (!(after >= 1 / kMost && after <= kMost))
    refuse(a.name, "\"" + a.value + "\" is not a factor above zero, such as 0.8");
  clocks.memory_scale = after;
}

void set_sm_clock(ClockChoice& clocks, const Assignment& a) {
  if (a.scale && !clocks.sm_clock)
    refuse(a.name, "has no value yet that a factor could scale; expected sm_clock=1410MHz");
  const double after = a.scale ? clocks.sm_clock->in_base_units() * plain_number(a, "a factor")
                               : amount_of(a, Dimension::hertz);
  constexpr double kSlowest = 1e3;
  constexpr double kFastest = 1e12;
  if (!(after >= kSlowest && after <= kFastest))
    refuse(a.name, "expected a clock that a device could have, such as 1410MHz");
  clocks.sm_clock = Hertz(after);
}

std::vector<std::string> assignable(const OperatorGraph& graph) {
  std::vector<std::string> names = graph.symbols.names();
  for (const Operator& op : graph.ops) {
    for (const char* field : {".bytes", ".flops", ".compute", ".accumulate"})
      names.push_back("op." + op.name + field);
  }
  for (const Tensor& tensor : graph.tensors) names.push_back("tensor." + tensor.name + ".dtype");
  for (const char* name :
       {"weight_dtype", "activation_dtype", "kv_dtype", "compute_dtype", "accumulate_dtype"}) {
    names.emplace_back(name);
  }
  if (is_routed(graph)) names.emplace_back("routing");
  return names;
}

void assign(OperatorGraph& graph, const Assignment& a) {
  if (a.name.starts_with("op.")) return assign_operator(graph, a);
  if (a.name == "routing" && is_routed(graph)) return assign_routing(graph, a);
  if (!graph.symbol(a.name) && names_precision(a.name)) return assign_precision(graph, a);
  assign_symbol(graph, a);
}

}  // namespace floorline
