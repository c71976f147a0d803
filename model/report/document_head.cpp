// SPDX-License-Identifier: Apache-2.0
#include "model/report/document_head.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include "model/quantity/unit_names.hpp"
#include "model/report/resource_words.hpp"
#include "model/report/routing_section.hpp"
#include "model/rewrite/fuse_rules.hpp"

namespace floorline {

namespace {

/// An operator, or a part of a fused one.
template <class Is>
bool any_operator(const OperatorGraph& graph, Is is) {
  return std::any_of(graph.ops.begin(), graph.ops.end(), [&is](const Operator& op) {
    return is(op) || std::any_of(op.parts.begin(), op.parts.end(), is);
  });
}

bool has_kind(const OperatorGraph& graph, OperatorKind kind) {
  return any_operator(graph, [kind](const Operator& op) { return op.kind == kind; });
}

bool has_unit(const GraphFloors& floors, Unit unit) {
  for (const OperatorFloors& op : floors.ops) {
    for (const DemandEntry& entry : op.demand.list()) {
      if (entry.resource.unit == unit && entry.amount > Amount()) return true;
    }
  }
  return false;
}

bool has_sparse(const OperatorGraph& graph) {
  return any_operator(graph, [](const Operator& op) { return op.sparse; });
}

/// What the links' amounts rest on: the fabric, and the size of a node.
std::vector<std::string> fabric_conditions(const GraphFloors& floors, const Machine* machine) {
  const bool peers = has_unit(floors, Unit::peer_out) || has_unit(floors, Unit::peer_in);
  const bool network = has_unit(floors, Unit::net_out) || has_unit(floors, Unit::net_in);
  std::vector<std::string> lines;
  if (machine == nullptr || (!peers && !network)) return lines;
  const OnChip& chip = machine->chip;
  if (peers) {
    lines.push_back(std::string("peer fabric: in-network reduction ") +
                    (chip.in_network_reduction_possible ? "possible" : "not possible") +
                    ", multicast " + (chip.multicast_possible ? "possible" : "not possible"));
  }
  if (chip.devices_per_node > 0) {
    lines.push_back(
        std::to_string(chip.devices_per_node) + " devices a node" +
        (network ? "; of a group over several nodes only the cut between nodes is counted" : ""));
  }
  const MaybeSourced<BytesPerSecond>& rate = machine->device.network.bandwidth;
  if (network && rate && rate.known->from.origin == Origin::assumed) {
    const Sourced<BytesPerSecond>& r = *rate.known;
    const bool range = r.upper() > r.value;
    lines.push_back("network rate assumed: " + to_text(r.value) + " a device" +
                    (range ? "; a floor takes the fast end, " + to_text(r.upper()) : ""));
  }
  return lines;
}

}  // namespace

Json document_head(std::string_view command) {
  Json json = Json::object();
  json.set("schema", 1);
  json.set("floorline", FLOORLINE_VERSION);
  json.set("command", command);
  return json;
}

Document document_frame(std::string_view command) {
  Document doc;
  doc.json = document_head(command);
  doc.json.set("inputs", Json::object())
      .set("assumptions", Json::array())
      .set("notes", Json::array());
  return doc;
}

std::vector<std::string> unique_lines(const std::vector<std::vector<std::string>>& lists) {
  std::vector<std::string> all;
  std::set<std::string_view> seen;
  for (const std::vector<std::string>& list : lists) {
    for (const std::string& line : list) {
      if (seen.insert(line).second) all.push_back(line);
    }
  }
  return all;
}

std::vector<std::string> small_print_lines(const std::vector<std::string>& notes,
                                           const std::vector<std::string>& assumptions) {
  constexpr std::string_view kCondition = "condition: ";
  constexpr std::string_view kDefault = " (default)";
  std::string conditions;
  std::string defaults;
  std::vector<std::string> lines;
  for (const std::string& note : notes) {
    if (note.starts_with(kCondition)) {
      conditions += (conditions.empty() ? "" : "; ") + note.substr(kCondition.size());
    } else {
      lines.push_back("- " + note);
    }
  }
  for (const std::string& line : assumptions) {
    if (line.ends_with(kDefault) && line.find(':') == std::string::npos) {
      defaults += (defaults.empty() ? "" : ", ") + line.substr(0, line.size() - kDefault.size());
    } else {
      lines.push_back("- assumed: " + line);
    }
  }
  if (!conditions.empty()) lines.push_back("- conditions: " + conditions);
  if (!defaults.empty()) lines.push_back("- defaults: " + defaults);
  return lines;
}

Json json_of(const std::vector<std::string>& lines) {
  Json json = Json::array();
  for (const std::string& line : lines) json.push(line);
  return json;
}

Json device_json(const Machine& machine) {
  const DeviceSpec& device = machine.device;
  Json json = Json::object();
  json.set("name", device.name);
  json.set("title", device.title);
  if (machine.clocks.sm_clock) json.set("sm_clock_hz", machine.clocks.sm_clock->in_base_units());
  if (machine.clocks.memory_scale != 1) {
    json.set("memory_clock_scale", machine.clocks.memory_scale);
  }
  if (!device.overrides.empty()) {
    Json overrides = Json::array();
    for (const Override& o : device.overrides) {
      overrides.push(
          Json::object().set("key", o.key).set("before", o.before).set("after", o.after));
    }
    json.set("overrides", std::move(overrides));
  }
  return json;
}

std::string device_line(const Machine& machine) {
  std::string line = machine.device.name;
  if (!machine.device.title.empty()) line += " (" + machine.device.title + ")";
  if (machine.clocks.sm_clock) line += ", SM clock " + to_text(*machine.clocks.sm_clock);
  if (machine.clocks.memory_scale != 1) {
    line += ", memory clock x " + number_text(machine.clocks.memory_scale, 3);
  }
  return line;
}

std::vector<std::string> fused_notes(const OperatorGraph& graph, const Machine* machine) {
  if (machine == nullptr) return {};
  return fused_on_chip(graph, unit_memory(machine->device));
}

std::vector<std::string> floor_conditions(const Evaluation& evaluation, const Machine* machine) {
  std::vector<std::string> all;
  const OperatorGraph& graph = evaluation.graph;
  all.push_back(
      "cold: nothing of it on chip when the interval opens, every output in HBM when it closes");
  const bool multiplies =
      has_kind(graph, OperatorKind::gemm) || has_kind(graph, OperatorKind::attention) ||
      has_kind(graph, OperatorKind::attention_backward) ||
      has_kind(graph, OperatorKind::grouped_gemm) || has_kind(graph, OperatorKind::ssm_scan) ||
      has_kind(graph, OperatorKind::linear_attention);
  if (multiplies) {
    all.push_back(
        std::string("matrix products by the classical algorithm, at the precisions shown, ") +
        (has_sparse(graph) ? "2:4 sparse where stated, else dense" : "dense"));
  }
  if (has_unit(evaluation.floors, Unit::tensor)) {
    all.push_back("products of 16-bit and narrower inputs run on the tensor unit");
  }
  if (has_unit(evaluation.floors, Unit::product)) {
    all.push_back(
        "fp32 and fp64 products run on the native units or by a declared emulation, not both at "
        "once");
  }
  if (has_unit(evaluation.floors, Unit::vector)) {
    all.push_back("element-wise arithmetic runs on the vector unit");
  }
  if (machine != nullptr && has_unit(evaluation.floors, Unit::sfu) &&
      machine->rates[ResourceId{Unit::sfu}].pooled) {
    all.push_back("exponentials may run on the vector unit too");
  }
  if (has_unit(evaluation.floors, Unit::linear)) {
    all.push_back("sums and scalings of norms and softmax may share vector and tensor unit");
  }
  for (std::string& line : kind_conditions(evaluation, machine)) all.push_back(std::move(line));
  for (std::string& line : fabric_conditions(evaluation.floors, machine))
    all.push_back(std::move(line));
  all.push_back("no compressible allocations; no operand shared between sequences");
  const Rates* rates = machine == nullptr ? nullptr : &machine->rates;
  if (rates != nullptr && !evaluation.floors.proven) {
    const auto& ops = evaluation.floors.ops;
    const bool probed = std::any_of(ops.begin(), ops.end(),
                                    [](const OperatorFloors& op) { return op.cold.provisional(); });
    all.push_back(
        probed ? "PROVISIONAL: a binding rate is the best that a probe saw, no ceiling: a faster "
                 "run refutes the probe first and is not impossible"
               : "NOT PROVEN SOUND: a binding rate has no known ceiling on this device (see "
                 "devices show), its nominal figure stands in and calls nothing impossible");
  }
  return all;
}

}  // namespace floorline
