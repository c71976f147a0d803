// SPDX-License-Identifier: Apache-2.0
#include "model/report/routing_section.hpp"

#include <algorithm>

#include "model/demand/routed.hpp"
#include "model/quantity/unit_names.hpp"

namespace floorline {

namespace {

Json times_json(const ResidencyTimes& times, bool any_known) {
  return Json::object()
      .set("cold_s", times.cold.in_base_units())
      .set("any_residency_s", any_known ? Json(times.any.in_base_units()) : Json());
}

bool has_kind(const OperatorGraph& graph, OperatorKind kind) {
  return std::any_of(graph.ops.begin(), graph.ops.end(),
                     [kind](const Operator& op) { return op.kind == kind; });
}

bool asks_for(const GraphFloors& floors, Unit unit) {
  for (int i = 0; i < floors.sum.count; ++i) {
    if (floors.sum.entries[static_cast<std::size_t>(i)].resource.unit == unit) return true;
  }
  return false;
}

std::string routing_condition(Routing routing) {
  switch (routing) {
    case Routing::least:
      return "experts: the fewest that any routing could need";
    case Routing::uniform:
      return "uniform routing: expected experts and bytes; the mean step is no faster, one step "
             "may be, which refutes nothing";
    case Routing::all:
      return "routing = all: the most experts that data could need; other data take less";
  }
  return "";
}

}  // namespace

std::optional<Json> experts_json(const Evaluation& evaluation, std::size_t i) {
  if (i >= evaluation.bound.ops.size()) return std::nullopt;
  const auto counts = expert_counts(evaluation.bound, evaluation.bound.ops[i]);
  if (!counts) return std::nullopt;
  return Json::object()
      .set("least", counts->least)
      .set("uniform", counts->uniform)
      .set("all", counts->all);
}

Json json_of_uniform(const GraphFloors& uniform) {
  const bool known = uniform.any_known;
  Json json = Json::object();
  json.set("condition",
           "expected amounts under uniform routing: the mean step takes at least this");
  json.set("hbm_read_bytes", uniform.sum.hbm_read.in_base_units());
  json.set("hbm_write_bytes", uniform.sum.hbm_write.in_base_units());
  json.set("serial", times_json(uniform.serial, known));
  json.set("critical_path", times_json(uniform.critical_path, known));
  json.set("fused", times_json(uniform.fused, known));
  return json;
}

std::vector<std::string> routing_lines(const Evaluation& evaluation) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < evaluation.bound.ops.size(); ++i) {
    const auto counts = expert_counts(evaluation.bound, evaluation.bound.ops[i]);
    if (!counts) continue;
    std::string line = evaluation.graph.ops[i].name + " reads distinct experts: at least " +
                       number_text(counts->least, 4) + ", by uniform routing " +
                       number_text(counts->uniform, 4) + ", at most " + number_text(counts->all, 4);
    // Layers of a model route alike.
    const std::string what = line.substr(evaluation.graph.ops[i].name.size());
    const bool told = std::any_of(lines.begin(), lines.end(),
                                  [&what](const std::string& l) { return l.ends_with(what); });
    if (!told) lines.push_back(std::move(line));
  }
  if (const auto& u = evaluation.uniform) {
    lines.push_back("by uniform routing the mean step takes at least, cold: fused " +
                    to_text(u->fused.cold) + ", critical path " + to_text(u->critical_path.cold) +
                    ", serial " + to_text(u->serial.cold));
  }
  return lines;
}

std::vector<std::string> kind_conditions(const Evaluation& evaluation, const Machine* machine) {
  std::vector<std::string> all;
  const OperatorGraph& graph = evaluation.graph;
  if (is_routed(evaluation.bound)) all.push_back(routing_condition(graph.routing));
  const auto counts_as_direct = [](const Operator& op) {
    return op.kind == OperatorKind::conv && op.algorithm != ConvAlgorithm::winograd;
  };
  if (std::any_of(graph.ops.begin(), graph.ops.end(), counts_as_direct)) {
    all.push_back("convolution by the direct algorithm (algorithm=winograd counts fewer products)");
  }
  if (has_kind(graph, OperatorKind::host)) {
    all.push_back("time of the host as stated, its operators one after another on one thread");
  }
  if (machine != nullptr && asks_for(evaluation.floors, Unit::atomic) &&
      !machine->rates[{Unit::atomic}].known) {
    all.push_back("no term for serialized transactions: device " + machine->device.name +
                  " does not state clock.l2");
  }
  return all;
}

bool holds_for_some_routing(const Evaluation& evaluation) {
  return evaluation.graph.routing != Routing::least && is_routed(evaluation.bound);
}

}  // namespace floorline
