// SPDX-License-Identifier: Apache-2.0
#include "model/report/bound_document.hpp"

#include <algorithm>
#include <numeric>

#include "model/device/memory_capacity.hpp"
#include "model/input/diagnostic.hpp"
#include "model/quantity/unit_names.hpp"
#include "model/report/document_head.hpp"
#include "model/report/explain.hpp"
#include "model/report/floor_json.hpp"
#include "model/report/measured_section.hpp"
#include "model/report/resource_words.hpp"
#include "model/report/routing_section.hpp"

namespace floorline {

namespace {

const Rates& rates_of(const BoundReport& report) {
  return report.machine != nullptr ? report.machine->rates : report.numbers;
}

/// Operators by their share of the serial floor, largest first; the order of the graph at a tie.
std::vector<std::size_t> by_share(const GraphFloors& floors) {
  std::vector<std::size_t> order(floors.ops.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return floors.ops[a].cold.time() * floors.ops[a].times >
           floors.ops[b].cold.time() * floors.ops[b].times;
  });
  return order;
}

/// At HBM; of a kernel by numbers at its memory.
std::optional<FlopsPerByte> intensity(const Demand& demand) {
  Bytes bytes = demand.hbm_read + demand.hbm_write;
  for (const DemandEntry& entry : demand.list()) {
    if (entry.resource.unit == Unit::memory) bytes = Bytes(entry.amount.in_base_units());
  }
  if (!(bytes > Bytes(0))) return std::nullopt;
  return demand.flops / bytes;
}

Json intensity_json(const Demand& demand) {
  Json json = Json::object();
  const bool hbm = demand.hbm_read + demand.hbm_write > Bytes(0);
  if (const auto i = intensity(demand)) json.set(hbm ? "hbm" : "memory", i->in_base_units());
  return json;
}

/// A kernel by numbers: an operator without tensors. What crosses HBM is not among the numbers.
bool by_numbers(const Operator& op) {
  return op.kind == OperatorKind::custom && op.inputs.empty() && op.outputs.empty();
}
std::string kind_of(const Operator& op) {
  return by_numbers(op) ? "numbers" : std::string(name_of(op.kind));
}

Json op_json(const BoundReport& report, std::size_t i) {
  const Operator& op = report.evaluation->graph.ops[i];
  const OperatorFloors& floors = report.evaluation->floors.ops[i];
  Json json = Json::object();
  json.set("name", op.name);
  json.set("kind", kind_of(op));
  json.set("count", floors.times);
  json.set("flops", floors.demand.flops.in_base_units());
  const bool numbers = by_numbers(op);
  json.set("hbm_read_bytes", numbers ? Json() : Json(floors.demand.hbm_read.in_base_units()));
  json.set("hbm_write_bytes", numbers ? Json() : Json(floors.demand.hbm_write.in_base_units()));
  json.set("intensity", intensity_json(floors.demand));
  json.set("floor", json_of(floor_in(report, i)));
  json.set("floor_any_residency", json_of_any_residency(floors));
  json.set("observed_terms", json_of(observed_terms(floors.demand, rates_of(report))));
  return json;
}

Json ops_json(const BoundReport& report) {
  Json ops = Json::array();
  const Evaluation& e = *report.evaluation;
  for (std::size_t i = 0; i < e.graph.ops.size(); ++i) {
    Json op = op_json(report, i);
    if (auto experts = experts_json(e, i)) op.set("experts", std::move(*experts));
    ops.push(std::move(op));
  }
  return ops;
}

Json model_json(const ModelFloors& model) {
  Json json = Json::object();
  json.set("phase", model.phase);
  json.set("condition", "fused, any residency");
  json.set("step_floor_s", model.step.in_base_units());
  json.set("tokens_per_step", model.tokens_per_step);
  json.set("tokens_per_s_ceiling", model.tokens_per_s_ceiling);
  if (model.ttft) json.set("ttft_floor_s", model.ttft->in_base_units());
  if (model.tpot) json.set("tpot_floor_s", model.tpot->in_base_units());
  if (model.request) json.set("request_floor_s", model.request->in_base_units());
  json.set("flops_per_token", model.work_per_token.in_base_units());
  if (model.training) {
    const TrainingWork& t = *model.training;
    json.set("model_flops_per_token", t.model.in_base_units());
    json.set("hardware_flops_per_token", t.hardware.in_base_units());
    json.set("score_recompute_flops_per_token", t.scores.in_base_units());
    json.set("conventional_flops_per_token", t.conventional.model.in_base_units());
  }
  json.set("parameters", model.parameters);
  json.set("active_parameters", model.active_parameters);
  json.set("resident_bytes", model.resident.in_base_units());
  if (model.cache_per_token > Bytes(0)) {
    json.set("kv_bytes_per_token", model.cache_per_token.in_base_units());
  }
  return json;
}

Json inputs_json(const BoundReport& report) {
  Json json = Json::object();
  json.set("workload", report.inputs.workload.empty() ? Json() : Json(report.inputs.workload));
  json.set("device", report.machine == nullptr ? Json() : device_json(*report.machine));
  if (report.machine == nullptr) json.set("numbers", report.inputs.numbers);
  Json symbols = Json::object();
  const OperatorGraph& graph = report.evaluation->graph;
  for (std::size_t i = 0; i < graph.symbol_values.size(); ++i) {
    symbols.set(graph.symbols.names()[i], graph.symbol_values[i]);
  }
  json.set("symbols", std::move(symbols));
  json.set("set", json_of(report.inputs.set));
  if (report.inputs.measured) json.set("measured", *report.inputs.measured);
  return json;
}

std::vector<std::string> all_notes(const BoundReport& report) {
  std::vector<std::string> notes = report.evaluation->graph.notes;
  for (std::string& line : fused_notes(report.evaluation->graph, report.machine))
    notes.push_back(std::move(line));
  notes.insert(notes.end(), report.notes.begin(), report.notes.end());
  const bool by_numbers = report.machine == nullptr;
  if (by_numbers) {
    notes.push_back("no any-residency floor: on-chip capacities are not among the numbers given");
  } else if (!report.machine->chip.keep_known) {
    notes.push_back("no any-residency memory floor: device " + report.machine->device.name +
                    " does not state memory.l2.capacity");
  } else if (!report.machine->chip.all_known) {
    notes.push_back("no fused any-residency floor: device " + report.machine->device.name +
                    " does not state shared-memory and register capacities");
  }
  for (const std::string& line : floor_conditions(*report.evaluation, report.machine)) {
    notes.push_back("condition: " + line);
  }
  return notes;
}

std::string times_text(Seconds t, bool known) { return known ? to_text(t) : "not known"; }

std::string runner_up_text(const Floor& floor) {
  if (floor.tie())
    return "tie with " +
           short_words_for(floor.list()[static_cast<std::size_t>(floor.runner_up())].resource);
  const auto even = floor.break_even();
  if (!even) return "none";
  const Term& next = floor.list()[static_cast<std::size_t>(floor.runner_up())];
  return short_words_for(next.resource) + " at " + percent_text(even->factor);
}

std::vector<std::string> op_row(const BoundReport& report, std::size_t op, double whole) {
  const OperatorFloors& f = report.evaluation->floors.ops[op];
  const Bytes bytes = f.demand.hbm_read + f.demand.hbm_write;
  const auto i = intensity(f.demand);
  const Seconds time = f.cold.time() * f.times;
  return {report.evaluation->graph.ops[op].name,
          count_text(f.times),
          to_text(f.demand.flops * f.times),
          to_text(bytes * f.times),
          i ? number_text(i->in_base_units(), 3) : "-",
          to_text(time),
          whole > 0 ? percent_text(time.in_base_units() / whole) : "-",
          f.cold.none() ? "nothing" : words_for(f.cold.term()),
          runner_up_text(floor_in(report, op))};
}

Table operator_table(const BoundReport& report) {
  const Evaluation& e = *report.evaluation;
  Table table;
  table.columns = {{"operator", false, true}, {"count", true},     {"FLOPs", true},
                   {"HBM bytes", true},       {"FLOP/B", true},    {"floor (cold)", true},
                   {"share", true},           {"bound by", false}, {"next limit", false}};
  const double whole = e.floors.serial.cold.in_base_units();
  const std::vector<std::size_t> order = by_share(e.floors);
  const std::size_t rows = report.inputs.top > 0
                               ? std::min(order.size(), static_cast<std::size_t>(report.inputs.top))
                               : order.size();
  for (std::size_t k = 0; k < rows; ++k) {
    table.rows.push_back(op_row(report, order[k], whole));
  }
  if (order.size() > 1) {
    const GraphDemand& sum = e.floors.sum;
    table.totals = {"all " + std::to_string(order.size()),
                    "",
                    to_text(sum.flops),
                    to_text(sum.hbm_read + sum.hbm_write),
                    "",
                    to_text(e.floors.serial.cold),
                    "100 %",
                    "",
                    ""};
  }
  table.footnotes.push_back("next limit: the runner-up and its time as a share of the floor");
  if (rows < order.size()) {
    table.footnotes.push_back(std::to_string(order.size() - rows) + " more operators (--top)");
  }
  return table;
}

Section totals_section(const BoundReport& report) {
  const GraphFloors& f = report.evaluation->floors;
  Section section;
  section.title = "Floors of the whole";
  Table table;
  table.columns = {{"", false}, {"cold", true}, {"any residency", true}, {"holds if", false}};
  const auto row = [&](const char* name, const ResidencyTimes& t, const char* holds) {
    table.rows.push_back({name, to_text(t.cold), times_text(t.any, f.any_known), holds});
  };
  const bool some = holds_for_some_routing(*report.evaluation);
  row("fused", f.fused, some ? "the routing is as chosen" : "always");
  row("critical path", f.critical_path,
      "operators start after their producers end; cold: nothing kept on chip between");
  row("serial", f.serial, "kernels do not overlap; cold: nothing kept on chip between");
  std::string shares;
  for (const Share& share : serial_shares(f)) {
    shares += (shares.empty() ? "" : ", ") + words_for(share.resource) + " " +
              percent_text(share.fraction);
  }
  table.footnotes.push_back("serial floor bound by: " + (shares.empty() ? "nothing" : shares));
  for (std::string& line : routing_lines(*report.evaluation))
    table.footnotes.push_back(std::move(line));
  section.tables.push_back(std::move(table));
  return section;
}

/// Weights and state against the device's memory: no verdict, but never silent.
std::string resident_text(const BoundReport& report) {
  const Bytes resident = report.model->resident;
  std::string text = to_text_binary(resident) + " = " + to_text(resident) + " a rank";
  const LevelSpec& hbm = report.machine->device.hbm;
  const MaybeSourced<Bytes>& capacity = hbm.driver_capacity ? hbm.driver_capacity : hbm.capacity;
  if (!capacity) return text;
  text += exceeded_capacity(report.machine->device, resident) ? "; DOES NOT FIT: the device has "
                                                              : "; the device has ";
  return text + to_text_binary(capacity->value);
}

Section model_section(const BoundReport& report) {
  const ModelFloors& model = *report.model;
  Section section;
  section.title = "Model";
  const auto field = [&section](const char* name, std::string value) {
    section.fields.push_back({name, std::move(value)});
  };
  field("parameters", number_text(model.parameters / 1e9, 5) + " billion");
  field("FLOPs per token", to_text(model.work_per_token));
  if (model.training) {
    const TrainingWork& t = *model.training;
    field("model FLOPs",
          to_text(t.model) + " per token (forward and backward, products and attention)");
    field("hardware FLOPs", to_text(t.hardware) + " per token (what is computed again included); " +
                                to_text(t.scores) + " more if scores are computed again");
    field("by convention",
          to_text(t.conventional.model) + " per token (6 N + 12 heads head_dim layers sequence)");
  }
  field("weights and state", resident_text(report));
  if (model.cache_per_token > Bytes(0)) {
    field("KV cache a token",
          exact_text(model.cache_per_token.in_base_units()) + " B a rank, all layers in full");
  }
  field(model.phase == "prefill" ? "prefill" : (model.request ? "last step" : "step"),
        "at least " + to_text(model.step));
  field("tokens", "at most " + number_text(model.tokens_per_s_ceiling, 4) + " token/s");
  if (model.ttft) field("time to first token", "at least " + to_text(*model.ttft));
  if (model.tpot) field("time per output token", "at least " + to_text(*model.tpot));
  if (model.request) field("whole request", "at least " + to_text(*model.request));
  section.lines.push_back(
      "From the fused floors at any residency: they hold whatever was on chip and however kernels "
      "overlap. Batching, sampling and host time come on top.");
  return section;
}

/// One operator, told in full: what a reader of one kernel wants.
Section single_section(const BoundReport& report) {
  const OperatorFloors& f = report.evaluation->floors.ops.front();
  const Floor cold = floor_in(report, 0);
  Section section;
  const auto field = [&section](const char* name, std::string value) {
    section.fields.push_back({name, std::move(value)});
  };
  Table table;
  table.columns = {{"resource", false},
                   {"demand", true},
                   {"at most", true},
                   {"at least", true},
                   {"nominal", true}};
  for (const Term& term : cold.list()) {
    const AmountPerSecond rate = term.rate->has_ceiling ? term.rate->ceiling : term.rate->nominal;
    table.rows.push_back(
        {words_for(term), amount_text(term.resource, term.amount),
         rate_text(term.resource, rate) + (term.rate->has_ceiling ? "" : " (nominal)"),
         to_text(term.time), term.nominal_time() ? to_text(*term.nominal_time()) : "-"});
  }
  if (f.cold.none()) field("floor (cold)", "0 s: nothing is asked of any resource");
  if (!f.cold.none()) {
    field("floor (cold)", to_text(cold.time()) + ", bound by " + words_for(cold.binding_term()) +
                              (cold.tie() ? " (tie)" : "") +
                              (cold.proven ? "" : "; not proven sound"));
    field("next limit", runner_up_text(cold));
  }
  if (const auto even = cold.break_even()) {
    field("break-even", amount_text(f.cold.resource(), even->amount) + " of " +
                            demand_words_for(f.cold.resource()) + " (factor " +
                            number_text(even->factor, 4) + ")");
  }
  if (const auto i = intensity(f.demand))
    field("intensity", to_text(*i) + (report.machine == nullptr ? "" : " at HBM"));
  if (report.machine != nullptr) {
    field("any residency",
          f.memory_unknown ? "not known" : to_text(f.any.time()) + " (kernels do not overlap)");
  }
  for (std::string& line : routing_lines(*report.evaluation))
    table.footnotes.push_back(std::move(line));
  section.tables.push_back(std::move(table));
  return section;
}

Table csv_table(const BoundReport& report) {
  Table csv;
  for (const char* name : {"name", "kind", "count", "flops", "hbm_read_bytes", "hbm_write_bytes",
                           "intensity_flops_per_byte", "floor_cold_s", "floor_any_residency_s",
                           "binding", "runner_up"}) {
    csv.columns.push_back({name, false});
  }
  const Evaluation& e = *report.evaluation;
  for (std::size_t k = 0; k < e.graph.ops.size(); ++k) {
    const OperatorFloors& f = e.floors.ops[k];
    const auto i = intensity(f.demand);
    const Floor cold = floor_in(report, k);
    const bool numbers = by_numbers(e.graph.ops[k]);
    csv.rows.push_back(
        {e.graph.ops[k].name, kind_of(e.graph.ops[k]), exact_text(f.times),
         exact_text(f.demand.flops.in_base_units()),
         numbers ? "" : exact_text(f.demand.hbm_read.in_base_units()),
         numbers ? "" : exact_text(f.demand.hbm_write.in_base_units()),
         i ? exact_text(i->in_base_units()) : "", exact_text(f.cold.time().in_base_units()),
         f.memory_unknown ? "" : exact_text(f.any.time().in_base_units()),
         f.cold.none() ? "" : name_of(f.cold.resource()),
         cold.runner_up() < 0
             ? ""
             : name_of(cold.list()[static_cast<std::size_t>(cold.runner_up())].resource)});
  }
  return csv;
}

std::vector<std::string> all_assumptions(const BoundReport& report) {
  return unique_lines({report.evaluation->graph.assumptions, report.assumptions});
}

Section small_print(const BoundReport& report) {
  Section section;
  section.title = "Conditions and assumptions";
  section.lines = small_print_lines(all_notes(report), all_assumptions(report));
  return section;
}

Section head_section(const BoundReport& report) {
  Section section;
  std::string what = report.evaluation->graph.name;
  if (report.evaluation->graph.ops.size() == 1) what = report.inputs.workload;
  if (report.inputs.workload.empty()) what = "kernel by numbers";
  section.title = what + (report.machine == nullptr ? "" : " on " + device_line(*report.machine));
  if (report.inputs.ranks > 1) {
    section.lines.push_back("Amounts are for one of " + count_text(report.inputs.ranks) +
                            " ranks.");
  }
  return section;
}

}  // namespace

Floor floor_in(const BoundReport& report, std::size_t op, Residency residency) {
  const OnChip chip = report.machine != nullptr ? report.machine->chip : OnChip{};
  return floor_of(report.evaluation->floors.ops[op].demand, rates_of(report), chip, residency);
}

Judging judging_of(const BoundReport& report) {
  const GraphFloors& f = report.evaluation->floors;
  Judging j;
  if (report.model) {
    const ModelJudging& m = report.model->judging;
    const bool rate = report.inputs.measured && is_token_rate(*report.inputs.measured);
    const ResidencyTimes& times = rate ? m.throughput : m.latency;
    return {{m.work_per_rank, m.traffic_per_rank, m.tokens},
            times.cold,
            rate ? m.throughput_proven : m.latency_proven,
            rate ? m.throughput_serial : m.latency_serial};
  }
  j.work = {f.sum.flops, f.sum.hbm_read + f.sum.hbm_write, 0};
  for (int i = 0; i < f.sum.count; ++i) {
    const DemandEntry& entry = f.sum.entries[static_cast<std::size_t>(i)];
    if (entry.resource.unit == Unit::memory) j.work.bytes = Bytes(entry.amount.in_base_units());
  }
  j.cold = f.fused.cold;
  j.any = f.fused_proven;
  j.serial = f.serial.cold;
  if (f.ops.size() == 1 && f.ops.front().times == 1) {
    // Kernels do not overlap; by numbers nothing says what is on chip: the compute term alone.
    j.cold = f.ops.front().cold.time();
    j.any = std::max(floor_in(report, 0, Residency::any_keep).proven_time(), f.fused_proven);
  }
  return j;
}

bool only_collectives(const OperatorGraph& graph) {
  return std::all_of(graph.ops.begin(), graph.ops.end(), [](const Operator& op) {
    return op.kind >= OperatorKind::all_reduce && op.kind <= OperatorKind::send_recv;
  });
}

std::optional<Measured> judge_measured(const BoundReport& report) {
  if (!report.inputs.measured) return std::nullopt;
  const auto given = parse_any_quantity(*report.inputs.measured);
  const bool rate = given && given->dimension == Dimension::bytes_per_second;
  if (rate && only_collectives(report.evaluation->graph)) {
    throw InputError(
        Diagnostic{position_in("command line"), "--measured",
                   "a bandwidth of a collective may be its algorithm's (message / time), the "
                   "bus's or HBM's; expected the time"});
  }
  Judging j = judging_of(report);
  if (holds_for_some_routing(*report.evaluation)) j.any.reset();
  return judge(measured_time(*report.inputs.measured, j.work), j.cold, j.any,
               report.evaluation->floors.proven);
}

Document bound_document(const BoundReport& report) {
  Document doc;
  const Evaluation& e = *report.evaluation;
  const std::optional<Measured> measured = judge_measured(report);
  doc.json = document_head(report.inputs.command);
  doc.json.set("inputs", inputs_json(report));
  doc.json.set("assumptions", json_of(all_assumptions(report)));
  doc.json.set("notes", json_of(all_notes(report)));
  doc.json.set("ops", ops_json(report));
  Json total = json_of_total(e.floors, report.inputs.ranks, report.machine != nullptr);
  if (e.uniform) total.set("uniform_routing", json_of_uniform(*e.uniform));
  doc.json.set("total", std::move(total));
  if (report.model) doc.json.set("model", model_json(*report.model));
  if (measured) doc.json.set("measured", measured_json(report, *measured));
  if (report.inputs.explain) doc.json.set("derivation", json_of(explain(report)));

  doc.sections.push_back(head_section(report));
  if (e.graph.ops.size() == 1 && e.floors.ops.front().times == 1) {
    doc.sections.push_back(single_section(report));
  } else {
    doc.sections.push_back({"", {}, {}, {operator_table(report)}});
    doc.sections.push_back(totals_section(report));
  }
  if (report.model) doc.sections.push_back(model_section(report));
  if (measured) doc.sections.push_back(measured_section(report, *measured));
  if (report.inputs.explain) doc.sections.push_back({"Derivation", {}, explain(report), {}});
  doc.sections.push_back(small_print(report));
  doc.csv = csv_table(report);
  return doc;
}

}  // namespace floorline
