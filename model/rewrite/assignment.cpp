// SPDX-License-Identifier: Apache-2.0
#include "model/rewrite/assignment.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "model/device/device_file.hpp"
#include "model/input/diagnostic.hpp"
#include "model/quantity/unit_names.hpp"

namespace floorline {

namespace {

Position here() { return position_in("command line"); }

[[noreturn]] void refuse(const std::string& name, const std::string& why) {
  throw InputError(Diagnostic{here(), name, why});
}

double plain_number(const Assignment& a, const char* expected) {
  const std::optional<double> value = parse_number(a.value);
  if (!value) refuse(a.name, "\"" + a.value + "\" is not a number; expected " + expected);
  return *value;
}

double amount(const Assignment& a, Dimension dimension) {
  const ParsedQuantity q = parse_quantity(a.value, dimension);
  if (!q.error.empty()) refuse(a.name, q.error);
  return q.base;
}

bool is_routed(const OperatorGraph& graph);

std::vector<std::string> assignable(const OperatorGraph& graph) {
  std::vector<std::string> names = graph.symbols.names();
  for (const Operator& op : graph.ops) {
    names.push_back("op." + op.name + ".bytes");
    names.push_back("op." + op.name + ".flops");
  }
  if (is_routed(graph)) names.emplace_back("routing");
  return names;
}

/// op.NAME.bytes: the whole HBM traffic of that operator; scaling multiplies what its shapes say.
void assign_operator(OperatorGraph& graph, const Assignment& a) {
  const std::size_t dot = a.name.rfind('.');
  const std::string field = a.name.substr(dot + 1);
  const auto id = dot > 3 ? graph.find_op(a.name.substr(3, dot - 3)) : std::nullopt;
  if (!id || (field != "bytes" && field != "flops")) {
    refuse(a.name, "is not an amount of this workload" + did_you_mean(a.name, assignable(graph)));
  }
  Operator& op = graph.ops[index(*id)];
  if (a.scale) {
    const double factor = plain_number(a, "a factor");
    if (factor < 0) refuse(a.name, "a factor cannot be negative");
    (field == "bytes" ? op.traffic_scale : op.work_scale) *= factor;
  } else if (field == "bytes") {
    op.stated_traffic = Expression(amount(a, Dimension::bytes));
    op.traffic_scale = 1;
  } else {
    op.stated_work = Expression(amount(a, Dimension::flops));
    op.work_scale = 1;
  }
}

bool is_routed(const OperatorGraph& graph) {
  return std::any_of(graph.ops.begin(), graph.ops.end(), [](const Operator& op) {
    return op.kind == OperatorKind::grouped_gemm || op.kind == OperatorKind::dispatch ||
           op.kind == OperatorKind::combine;
  });
}

void assign_routing(OperatorGraph& graph, const Assignment& a) {
  const auto routing = routing_from(a.value);
  if (!routing || a.scale) refuse(a.name, "\"" + a.value + "\" is not one of least, uniform, all");
  graph.routing = *routing;
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
  a.name = std::string(text.substr(0, equals - (a.scale ? 1 : 0)));
  a.value = std::string(text.substr(equals + 1));
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

void assign(OperatorGraph& graph, const Assignment& a) {
  if (a.name.starts_with("op.")) return assign_operator(graph, a);
  if (a.name == "routing" && is_routed(graph)) return assign_routing(graph, a);
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

}  // namespace floorline
