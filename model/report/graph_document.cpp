// SPDX-License-Identifier: Apache-2.0
#include "model/report/graph_document.hpp"

#include "model/quantity/unit_names.hpp"
#include "model/report/document_head.hpp"

namespace floorline {

namespace {

/// Numbers stay numbers, so that the JSON reads back as written.
Json expression_json(const Expression& e) {
  if (const auto value = e.constant()) return Json(*value);
  return Json(e.text());
}

Json tensor_json(const OperatorGraph& graph, const Tensor& tensor, const BoundTensor& bound) {
  Json shape = Json::array();
  for (const Expression& dim : tensor.shape) shape.push(expression_json(dim));
  Json json = Json::object();
  json.set("name", tensor.name).set("shape", std::move(shape)).set("dtype", name_of(tensor.dtype));
  json.set("role", name_of(tensor.role));
  if (tensor.shared) json.set("shared", true);
  if (tensor.rows_of) json.set("rows_of", graph.tensors[index(*tensor.rows_of)].name);
  json.set("elements", bound.elements).set("bytes", bound.bytes.in_base_units());
  return json;
}

Json names_json(const std::vector<TensorId>& ids, const OperatorGraph& graph) {
  Json names = Json::array();
  for (const TensorId id : ids) names.push(graph.tensors[index(id)].name);
  return names;
}

Json sequences_json(const Operator& op) {
  Json all = Json::array();
  for (const SequenceGroup& s : op.sequences) {
    all.push(Json::object().set("count", s.count).set("q_len", s.q_len).set("kv_len", s.kv_len));
  }
  return all;
}

/// As the file says it.
Json operator_json(const Operator& op, const OperatorGraph& graph) {
  Json json = Json::object();
  json.set("name", op.name).set("kind", name_of(op.kind));
  json.set("inputs", names_json(op.inputs, graph)).set("outputs", names_json(op.outputs, graph));
  for (const Attribute& a : op.attributes) json.set(name_of(a.key), expression_json(a.value));
  json.set("compute", name_of(op.compute)).set("accumulate", name_of(op.accumulate));
  if (op.sparse) json.set("sparse", true);
  if (op.kind == OperatorKind::copy) json.set("path", name_of(op.path));
  if (op.access == Access::random) json.set("access", "random");
  if (op.kind == OperatorKind::conv) json.set("algorithm", name_of(op.algorithm));
  if (!op.sequences.empty()) json.set("sequences", sequences_json(op));
  if (op.stated_work) json.set("stated_flops", expression_json(*op.stated_work));
  if (op.stated_traffic) json.set("stated_bytes", expression_json(*op.stated_traffic));
  if (op.work_scale != 1) json.set("flops_scale", op.work_scale);
  if (op.traffic_scale != 1) json.set("bytes_scale", op.traffic_scale);
  if (!op.parts.empty()) {
    Json parts = Json::array();
    for (const Operator& part : op.parts) parts.push(operator_json(part, graph));
    json.set("parts", std::move(parts));
  }
  return json;
}

Json repeats_json(const OperatorGraph& graph) {
  Json all = Json::array();
  for (const Repeat& repeat : graph.repeats) {
    Json ops = Json::array();
    for (const OperatorId op : repeat.ops) ops.push(graph.ops[index(op)].name);
    Json carry = Json::array();
    for (const auto& [made, read] : repeat.carry) {
      carry.push(Json::array()
                     .push(graph.tensors[index(made)].name)
                     .push(graph.tensors[index(read)].name));
    }
    Json json = Json::object();
    json.set("name", repeat.name).set("times", expression_json(repeat.times));
    json.set("ops", std::move(ops)).set("carry", std::move(carry));
    all.push(std::move(json));
  }
  return all;
}

std::string shape_text(const Tensor& tensor) {
  std::string text;
  for (const Expression& dim : tensor.shape) text += (text.empty() ? "" : " x ") + dim.text();
  return "[" + text + "]";
}

std::string joined(const std::vector<TensorId>& ids, const OperatorGraph& graph) {
  std::string text;
  for (const TensorId id : ids) text += (text.empty() ? "" : ", ") + graph.tensors[index(id)].name;
  return text;
}

Table operator_table(const GraphReport& report) {
  Table table;
  table.title = "Operators";
  table.columns = {{"operator", false}, {"kind", false},  {"times", true},
                   {"compute", false},  {"reads", false}, {"writes", false}};
  for (std::size_t i = 0; i < report.graph->ops.size(); ++i) {
    const Operator& op = report.graph->ops[i];
    table.rows.push_back(
        {op.name, std::string(name_of(op.kind)), exact_text(report.bound->ops[i].times),
         std::string(name_of(op.compute)) + "/" + std::string(name_of(op.accumulate)),
         joined(op.inputs, *report.graph), joined(op.outputs, *report.graph)});
  }
  return table;
}

Table tensor_table(const GraphReport& report) {
  Table table;
  table.title = "Tensors";
  table.columns = {
      {"tensor", false}, {"role", false}, {"dtype", false}, {"shape", false}, {"bytes", true}};
  for (std::size_t t = 0; t < report.graph->tensors.size(); ++t) {
    const Tensor& tensor = report.graph->tensors[t];
    table.rows.push_back({tensor.name, std::string(name_of(tensor.role)),
                          std::string(name_of(tensor.dtype)), shape_text(tensor),
                          to_text(report.bound->tensors[t].bytes)});
  }
  return table;
}

Section head_section(const GraphReport& report) {
  Section head;
  head.title = report.graph->name;
  if (report.parameters) head.fields.push_back({"parameters", exact_text(*report.parameters)});
  std::string symbols;
  for (std::size_t i = 0; i < report.graph->symbol_values.size(); ++i) {
    symbols += (symbols.empty() ? "" : ", ") + report.graph->symbols.names()[i] + " = " +
               exact_text(report.graph->symbol_values[i]);
  }
  if (!symbols.empty()) head.fields.push_back({"symbols", symbols});
  return head;
}

}  // namespace

Document graph_document(const GraphReport& report) {
  const OperatorGraph& graph = *report.graph;
  Document doc;
  doc.json = document_head("graph");
  doc.json.set("kind", "graph").set("name", graph.name);
  if (graph.routing != Routing::least) doc.json.set("routing", name_of(graph.routing));
  doc.json.set("inputs", Json::object()
                             .set("workload", report.workload)
                             .set("set", json_of(report.set))
                             .set("stage", report.stage));
  const std::vector<std::string> assumed = unique_lines({graph.assumptions, report.assumptions});
  const std::vector<std::string> notes = unique_lines({graph.notes, report.notes});
  doc.json.set("assumptions", json_of(assumed)).set("notes", json_of(notes));
  doc.json.set(
      "parameters",
      Json::object()
          .set("total", report.parameters ? Json(*report.parameters) : Json())
          .set("active", report.active_parameters ? Json(*report.active_parameters) : Json()));
  Json symbols = Json::object();
  for (std::size_t i = 0; i < graph.symbol_values.size(); ++i) {
    symbols.set(graph.symbols.names()[i], graph.symbol_values[i]);
  }
  Json tensors = Json::array();
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    tensors.push(tensor_json(graph, graph.tensors[t], report.bound->tensors[t]));
  }
  Json ops = Json::array();
  for (std::size_t i = 0; i < graph.ops.size(); ++i) {
    Json op = operator_json(graph.ops[i], graph);
    op.set("times", report.bound->ops[i].times);
    ops.push(std::move(op));
  }
  doc.json.set("symbols", std::move(symbols))
      .set("tensors", std::move(tensors))
      .set("ops", std::move(ops));
  doc.json.set("repeats", repeats_json(graph));

  doc.sections.push_back(head_section(report));
  doc.sections.push_back({"", {}, {}, {operator_table(report)}});
  doc.sections.push_back({"", {}, {}, {tensor_table(report)}});
  Section small{"Assumptions and notes", {}, small_print_lines(notes, assumed), {}};
  if (!small.lines.empty()) doc.sections.push_back(std::move(small));
  doc.csv = tensor_table(report);
  return doc;
}

Document kinds_document() {
  Document doc = document_frame("graph");
  Json kinds = Json::array();
  Table table;
  table.columns = {{"kind", false, true},
                   {"keys (optional ones with their default)", false, true},
                   {"what", false, true}};
  std::vector<KindInfo> rows(operator_kinds().begin(), operator_kinds().end());
  rows.push_back(moe_shorthand());
  for (const KindInfo& kind : rows) {
    std::string keys = kind.kind == OperatorKind::copy ? "path" : "";
    Json list = Json::array();
    for (const KeyInfo& key : kind.keys) {
      const std::string name(name_of(key.key));
      const std::string fallback = *key.fallback == '\0' ? "" : std::string("=") + key.fallback;
      keys += (keys.empty() ? "" : " ") + (key.required ? name : "[" + name + fallback + "]");
      list.push(Json::object()
                    .set("name", name)
                    .set("required", key.required)
                    .set("meaning", key.meaning));
    }
    kinds.push(Json::object()
                   .set("kind", kind.name)
                   .set("summary", kind.summary)
                   .set("keys", std::move(list)));
    table.rows.push_back({kind.name, keys, kind.summary});
  }
  table.footnotes.push_back(
      "Everywhere: in, weight, out, kv (storage), compute, accumulate, sparse; "
      "attention also form=fused|naive; copy also path=h2d|d2h|d2d; "
      "conv also algorithm=any|direct|winograd; elementwise, gather and scatter "
      "also access=contiguous|strided|random. moe is a name for several "
      "operators, in --op only.");
  doc.json.set("kinds", std::move(kinds));
  doc.csv = table;
  doc.sections.push_back({"", {}, {}, {table}});
  return doc;
}

}  // namespace floorline
