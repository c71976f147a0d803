// SPDX-License-Identifier: Apache-2.0
#include "validation/hypothesis/hypothesis_file.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include "model/input/table_reader.hpp"
#include "model/quantity/expect.hpp"
#include "model/quantity/resource.hpp"
#include "model/quantity/unit_names.hpp"
#include "validation/hypothesis/experiment_name.hpp"

namespace floorline {

namespace {

constexpr std::array<std::pair<KernelSchedule, std::string_view>, 3> kSchedules{{
    {KernelSchedule::serial, "serial"},
    {KernelSchedule::critical_path, "critical_path"},
    {KernelSchedule::fused, "fused"},
}};

std::optional<Dimension> dimension_of(MeasurandKind kind) {
  switch (kind) {
    case MeasurandKind::time:
      return Dimension::seconds;
    case MeasurandKind::bytes:
      return Dimension::bytes;
    case MeasurandKind::flops:
      return Dimension::flops;
    case MeasurandKind::bandwidth:
      return Dimension::bytes_per_second;
    case MeasurandKind::flop_rate:
      return Dimension::flops_per_second;
    case MeasurandKind::ratio:
      break;
  }
  return std::nullopt;
}

/// A bare number for ratios, text with its unit for everything else.
std::optional<double> value_of(const Node& node, std::string path, MeasurandKind kind,
                               Diagnostics& diagnostics) {
  const std::optional<Dimension> dimension = dimension_of(kind);
  if (!dimension) {
    if (node.is_number() && node.real >= 0) return node.real;
    diagnostics.add(node.at, std::move(path),
                    "expected a number, zero or above: this amount is a ratio");
    return std::nullopt;
  }
  if (node.kind != Node::Kind::text) {
    diagnostics.add(node.at, std::move(path),
                    "is " + std::string(name_of(node.kind)) + ", expected text with a unit, " +
                        std::string(name_of(*dimension)));
    return std::nullopt;
  }
  ParsedQuantity q = parse_quantity(node.text, *dimension);
  if (q.error.empty()) return q.base;
  diagnostics.add(node.at, std::move(path), std::move(q.error));
  return std::nullopt;
}

struct Ends {
  std::optional<double> low;
  std::optional<double> high;
};

/// [low, high] in order, of numbers or of texts with unit.
Ends interval_of(const Node& node, const std::string& path, MeasurandKind kind,
                 Diagnostics& diagnostics) {
  if (node.kind != Node::Kind::array || node.items.size() != 2) {
    diagnostics.add(node.at, path, "expected [low, high]");
    return {};
  }
  Ends ends;
  ends.low = value_of(node.items[0], join_index(path, 0), kind, diagnostics);
  ends.high = value_of(node.items[1], join_index(path, 1), kind, diagnostics);
  if (ends.low && ends.high && *ends.low > *ends.high) {
    diagnostics.add(node.at, path, "its low end is above its high end");
  }
  return ends;
}

/// A text that must be there and say something.
std::string told(TableReader& table, std::string_view key) {
  std::string text = table.required_text(key);
  if (table.has(key) && text.find_first_not_of(" \t\n") == std::string::npos) {
    table.error(key, "is empty");
  }
  return text;
}

void read_schedule(TableReader& table, HypothesisCase& c) {
  const std::optional<std::string> name = table.text("schedule");
  if (!name) return;
  if (const auto schedule = schedule_named(*name)) {
    c.schedule = *schedule;
  } else {
    table.error("schedule", floorline::quoted(*name) + " is no schedule" +
                                did_you_mean(*name, {"serial", "critical_path", "fused"}) +
                                "; expected serial, critical_path or fused");
  }
}

/// An operator that cannot be read is told with the file's other mistakes.
void check_op(TableReader& table, const std::string& op) {
  if (op.empty()) return;
  try {
    default_words(op);
  } catch (const InputError& error) {
    for (const Diagnostic& d : error.diagnostics()) {
      table.error("op", (d.key_path.empty() ? "" : d.key_path + ": ") + d.message);
    }
  }
}

/// NAME=0 of a size: a case that does nothing predicts nothing.
void refuse_no_work(TableReader& table, const HypothesisCase& c) {
  constexpr std::array<std::string_view, 12> kSizes{"rows",  "cols",   "m",      "n",
                                                    "k",     "batch",  "bytes",  "count",
                                                    "q_len", "kv_len", "groups", "items"};
  const auto zero = [&](std::string_view word) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) return false;
    const auto value = parse_number(word.substr(equals + 1));
    return value && *value == 0 &&
           std::find(kSizes.begin(), kSizes.end(), word.substr(0, equals)) != kSizes.end();
  };
  const char* const why = "leaves no work, and nothing to predict; expected a size above zero";
  for (std::size_t at = 0; at < c.op.size();) {
    const std::size_t end = std::min(c.op.find_first_of(" \t\n", at), c.op.size());
    const std::string word = c.op.substr(at, end - at);
    if (zero(word)) table.error("op", floorline::quoted(word) + " " + why);
    at = end + 1;
  }
  for (const std::string& text : c.set) {
    if (zero(text)) table.error("set", floorline::quoted(text) + " " + why);
  }
}

void read_experiment(TableReader& table, HypothesisCase& c) {
  c.experiment = table.text("experiment").value_or("");
  if (c.experiment.empty()) return;
  try {
    resolve_experiment(c.experiment, Scale::device);
  } catch (const InputError& error) {  // told with the file's other mistakes
    for (const Diagnostic& d : error.diagnostics()) {
      table.error("experiment", (d.key_path.empty() ? "" : d.key_path + ": ") + d.message);
    }
  }
}

HypothesisCase read_case(TableReader& hypothesis, std::string_view key, Diagnostics& diagnostics) {
  HypothesisCase c;
  const Node* node = hypothesis.required_node(key, "a table with op, workload or experiment");
  if (node == nullptr) return c;
  c.at = node->at;
  TableReader table(*node, hypothesis.path_of(key), diagnostics);
  c.op = table.text("op").value_or("");
  check_op(table, c.op);
  c.workload = table.text("workload").value_or("");
  read_experiment(table, c);
  if (!c.op.empty() && !c.workload.empty()) {
    diagnostics.add(node->at, table.path(), "has both op and workload; expected one of them");
  } else if (c.op.empty() && c.workload.empty() && c.experiment.empty()) {
    diagnostics.add(node->at, table.path(),
                    "has neither op, workload nor experiment; expected what predicts its time");
  }
  c.set = table.texts("set").value_or(std::vector<std::string>{});
  refuse_no_work(table, c);
  for (const std::string& text : c.set) {
    if (text.find('=') == std::string::npos) {
      table.error("set",
                  floorline::quoted(text) + " has no '='; expected NAME=VALUE or NAME*=FACTOR");
    }
  }
  c.device = table.text("device").value_or("");
  read_schedule(table, c);
  if (const Node* expected = table.node("expected_time")) {
    const Ends ends =
        interval_of(*expected, table.path_of("expected_time"), MeasurandKind::time, diagnostics);
    if (ends.low && ends.high)
      c.expected_time = TimeInterval{Seconds(*ends.low), Seconds(*ends.high)};
    c.expected_source = told(table, "expected_source");
  }
  return c;
}

void read_change(TableReader& hypothesis, Hypothesis& h, Diagnostics& diagnostics) {
  const Node* node = hypothesis.required_node("change", "a table: variable and keys");
  if (node == nullptr) return;
  h.change.at = node->at;
  TableReader table(*node, "change", diagnostics);
  h.change.variable = told(table, "variable");
  h.change.keys = table.texts("keys").value_or(std::vector<std::string>{});
  if (h.change.keys.empty()) table.error("keys", "names no key; expected those that change");
}

/// interval = [low, high], at_least = low, at_most = high: exactly one of them.
void read_prediction(TableReader& hypothesis, Hypothesis& h, Diagnostics& diagnostics) {
  const Node* node = hypothesis.required_node("prediction", "a table: amount and its interval");
  if (node == nullptr) return;
  TableReader table(*node, "prediction", diagnostics);
  const std::string name = told(table, "amount");
  const std::optional<PredictedAmount> amount = predicted_amount_named(name);
  if (!name.empty() && !amount) {
    std::vector<std::string> names;
    for (const PredictedAmountInfo& info : predicted_amounts()) names.emplace_back(info.name);
    table.error("amount", floorline::quoted(name) + " is no amount that can be predicted" +
                              did_you_mean(name, names));
  }
  h.prediction.amount = amount.value_or(PredictedAmount::time_ratio);
  const Node* interval = table.node("interval");
  const Node* at_least = table.node("at_least");
  const Node* at_most = table.node("at_most");
  h.prediction.source = table.text("source").value_or("");
  h.prediction.refuted_if = told(table, "refuted_if");
  if ((interval != nullptr) + (at_least != nullptr) + (at_most != nullptr) != 1) {
    diagnostics.add(node->at, "prediction", "expected one of interval, at_least and at_most");
    return;
  }
  if (!amount) return;
  const MeasurandKind kind = info_of(*amount).kind;
  Ends ends;
  if (interval != nullptr) ends = interval_of(*interval, "prediction.interval", kind, diagnostics);
  if (at_least != nullptr) ends.low = value_of(*at_least, "prediction.at_least", kind, diagnostics);
  if (at_most != nullptr) ends.high = value_of(*at_most, "prediction.at_most", kind, diagnostics);
  h.prediction.low = ends.low;
  h.prediction.high = ends.high;
}

void read_limit(TableReader& table, Hypothesis& h) {
  h.claimed_limit = told(table, "claimed_limit");
  h.limit_evidence = table.text("limit_evidence").value_or("");
  const std::vector<std::string>& words = limit_words();
  const bool word = std::find(words.begin(), words.end(), h.claimed_limit) != words.end();
  if (h.claimed_limit.empty() || word || resource_from(h.claimed_limit)) return;
  std::vector<std::string> known = words;
  for (const char* name :
       {"hbm", "l2", "shared", "sfu", "atomic", "h2d", "d2h", "peer_out", "peer_in", "net_out",
        "net_in", "host", "tensor.bf16.fp32", "vector.fp32"}) {
    known.emplace_back(name);
  }
  table.error("claimed_limit", floorline::quoted(h.claimed_limit) + " is no resource" +
                                   did_you_mean(h.claimed_limit, known) +
                                   "; expected a resource id, or launch, latency, occupancy or "
                                   "serialization");
}

/// More than the declared keys: all are listed. A declared key that does not change is one too.
void check_single_change(const Hypothesis& h, Diagnostics& diagnostics) {
  const std::vector<Difference> all = differences(h.baseline, h.variant);
  const auto value = [](const std::string& text) { return text.empty() ? "not given" : text; };
  std::string others;
  for (const Difference& d : all) {
    if (is_declared(d, h.change.keys)) continue;
    others +=
        (others.empty() ? "" : "; ") + d.key + ": " + value(d.baseline) + " -> " + value(d.variant);
  }
  if (!others.empty()) {
    diagnostics.add(h.change.at, "change.keys",
                    "baseline and variant differ in more than the declared variable " +
                        floorline::quoted(h.change.variable) + ": " + others +
                        "; expected exactly one changed variable");
  }
  for (const std::string& key : h.change.keys) {
    const bool changes = std::any_of(all.begin(), all.end(),
                                     [&](const Difference& d) { return is_declared(d, {key}); });
    if (changes) continue;
    std::vector<std::string> keys;
    for (const Difference& d : all) keys.push_back(d.key);
    diagnostics.add(h.change.at, "change.keys",
                    floorline::quoted(key) + " does not differ between baseline and variant" +
                        did_you_mean(key, keys));
  }
}

void read_schema(TableReader& table) {
  const auto schema = table.count("schema");
  if (!schema) {
    if (!table.has("schema")) table.error("schema", "missing; expected schema = 1");
  } else if (*schema != 1) {
    table.error("schema", "version " + std::to_string(*schema) +
                              " is not known; this program reads version 1");
  }
  const std::string kind = table.required_text("kind");
  if (table.has("kind") && kind != "hypothesis") {
    table.error("kind",
                floorline::quoted(kind) + " is not a hypothesis; expected kind = \"hypothesis\"");
  }
}

EvidenceClass read_evidence(TableReader& table) {
  const std::string name = told(table, "evidence");
  const std::optional<EvidenceClass> evidence = evidence_named(name);
  if (evidence && *evidence != EvidenceClass::typed) return *evidence;
  if (!name.empty()) {
    table.error("evidence", floorline::quoted(name) + " is no class of evidence" +
                                did_you_mean(name, {"mechanism", "measured"}) +
                                "; expected mechanism or measured");
  }
  return EvidenceClass::mechanism;
}

bool is_plain_name(const std::string& name) {
  constexpr std::size_t kLongest = 80;
  return !name.empty() && name.size() <= kLongest && name.front() != '.' &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '_' || c == '-' || c == '.';
         });
}

}  // namespace

std::string_view name_of(KernelSchedule schedule) {
  for (const auto& [value, name] : kSchedules) {
    if (value == schedule) return name;
  }
  FLOORLINE_EXPECT(!"a schedule without a name");
  return "";
}

std::optional<KernelSchedule> schedule_named(std::string_view name) {
  for (const auto& [value, known] : kSchedules) {
    if (known == name) return value;
  }
  return std::nullopt;
}

const std::vector<std::string>& limit_words() {
  static const std::vector<std::string> words{"launch", "latency", "occupancy", "serialization"};
  return words;
}

bool is_hypothesis_document(const Node& document) {
  const Node* kind = document.find("kind");
  return kind != nullptr && kind->text == "hypothesis";
}

Hypothesis parse_hypothesis(std::string_view text, std::string_view file_name) {
  const Node document = parse_document(text, file_name);
  Diagnostics diagnostics;
  Hypothesis h;
  h.file = file_name;
  h.text = text;
  {
    TableReader table(document, "", diagnostics);
    read_schema(table);
    h.name = table.text("name").value_or(std::filesystem::path(h.file).stem().string());
    if (!is_plain_name(h.name)) {
      table.error("name", floorline::quoted(h.name) +
                              " cannot name a record; expected at most 80 letters, "
                              "digits, '_', '-' and '.'");
    }
    h.question = told(table, "question");
    h.boundary = told(table, "boundary");
    read_limit(table, h);
    h.evidence = read_evidence(table);
    h.device = table.text("device").value_or("");
    h.backends = table.texts("backends").value_or(std::vector<std::string>{});
    for (const std::string& b : h.backends) {
      if (b != "cpu" && b != "cuda") {
        table.error("backends", floorline::quoted(b) + " is no backend; expected cpu or cuda");
      }
    }
    h.baseline = read_case(table, "baseline", diagnostics);
    h.variant = read_case(table, "variant", diagnostics);
    read_change(table, h, diagnostics);
    read_prediction(table, h, diagnostics);
    h.notes = table.texts("notes").value_or(std::vector<std::string>{});
  }
  if (diagnostics.empty()) check_single_change(h, diagnostics);
  diagnostics.throw_if_any();
  return h;
}

Hypothesis read_hypothesis_file(const std::string& path) {
  return parse_hypothesis(read_text_file(path), path);
}

}  // namespace floorline
