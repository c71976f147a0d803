// SPDX-License-Identifier: Apache-2.0
#include "validation/hypothesis/draft.hpp"

#include <algorithm>

#include "model/input/diagnostic.hpp"
#include "model/quantity/unit_names.hpp"
#include "model/rewrite/assignment.hpp"
#include "validation/experiment/experiment.hpp"

namespace floorline {

namespace {

[[noreturn]] void refuse(const std::string& key, const std::string& why) {
  throw InputError(Diagnostic{position_in("command line"), key, why});
}

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// "gemm m=8 in=bf16" with in=fp8: the word replaced, or added at the end.
std::string with_word(const std::string& op, const std::string& key, const std::string& value) {
  std::string out;
  bool replaced = false;
  std::size_t at = 0;
  while (at < op.size()) {
    const std::size_t begin = op.find_first_not_of(" \t\n", at);
    if (begin == std::string::npos) break;
    const std::size_t end = std::min(op.find_first_of(" \t\n", begin), op.size());
    std::string word = op.substr(begin, end - begin);
    if (word.starts_with(key + "=")) {
      word = key + "=" + value;
      replaced = true;
    }
    out += (out.empty() ? "" : " ") + word;
    at = end;
  }
  if (!replaced) out += " " + key + "=" + value;
  return out;
}

/// What the op's text gives for a key, or "".
std::string value_of_word(const std::string& op, const std::string& key) {
  const std::string start = " " + key + "=";
  const std::size_t at = op.find(start);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + start.size();
  return op.substr(begin, op.find_first_of(" \t\n", begin) - begin);
}

/// Defaults written out, so that none follows the change; one that is another key (v_dim =
/// head_dim) by that key's value.
std::string with_defaults(std::string op) {
  for (const auto& [key, value] : default_words(op)) {
    const std::string other = value_of_word(op, value);
    op += " " + key + "=" + (other.empty() ? value : other);
  }
  return op;
}

bool names_setting(const std::string& set, const std::string& name) {
  return parse_assignment(set).name == name;
}

/// A size or a precision as --op writes it (m, in, compute), and no name of the graph as a whole.
bool is_word(const Assignment& a, const HypothesisCase& c) {
  const bool of_graph = names_device_key(a.name) || names_clock(a.name) ||
                        a.name.ends_with("_dtype") || a.name == "routing" ||
                        a.name.find('.') != std::string::npos;
  const bool set = std::any_of(c.set.begin(), c.set.end(), [&](const std::string& text) {
    return names_setting(text, a.name);
  });
  return !c.op.empty() && !a.scale && !of_graph && !set;
}

/// What whatif answers but no hypothesis can hold.
void refuse_change(const Assignment& a) {
  if (a.name == "device") {
    refuse("--change device=" + a.value,
           "a hypothesis runs both cases on one device; write it without this change, then "
           "floorline validate FILE --device " +
               a.value + " judges it there");
  }
  if (a.name.starts_with("op.") && a.name.ends_with(".time"))
    refuse(a.name, "is a measured time, which nothing could run; expected what would make it so");
}

/// Operators are taken out and replaced after sizes are set, as whatif does.
bool replaces_operator(const std::string& change) {
  const Assignment a = parse_assignment(change);
  return a.name.starts_with("op.") && !a.scale &&
         (a.value == "remove" || a.value.find(' ') != std::string::npos);
}

/// Sizes and precisions of one operator are words of its text; all else is a setting, after those
/// that are there: a factor scales what they set.
std::string apply_change(const std::string& text, HypothesisCase& c) {
  const Assignment a = parse_assignment(text);
  refuse_change(a);
  if (is_word(a, c)) {
    c.op = with_word(c.op, a.name, a.value);
    return a.name;
  }
  if (!a.scale)
    std::erase_if(c.set, [&](const std::string& set) { return names_setting(set, a.name); });
  c.set.push_back(text);
  return "set." + a.name;
}

std::string kind_of(const HypothesisDraft& draft) {
  const std::string& subject = draft.op.empty() ? draft.workload : draft.op;
  const std::size_t slash = draft.op.empty() ? subject.rfind('/') : std::string::npos;
  const std::size_t begin = slash == std::string::npos ? 0 : slash + 1;
  if (!draft.op.empty()) {
    const std::size_t word = std::min(subject.find_first_not_of(" \t\n"), subject.size());
    return subject.substr(word, subject.find_first_of(" \t\n", word) - word);
  }
  std::string stem = subject.substr(begin);
  for (const std::string_view ending : {".toml", ".json"}) {
    if (stem.size() > ending.size() && stem.ends_with(ending))
      stem.resize(stem.size() - ending.size());
  }
  return stem;
}

std::string name_of_draft(const HypothesisDraft& draft, const std::vector<std::string>& keys) {
  std::string name = kind_of(draft);
  for (const std::string& key : keys) name += '_' + key.substr(key.rfind('.') + 1);
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !is_name_character(c); }, '_');
  constexpr std::size_t kLongest = 60;
  return name.substr(0, kLongest);
}

/// The same words are often an experiment's: then it can be run.
void add_experiments(Hypothesis& h) {
  if (h.baseline.op.empty() || !h.baseline.set.empty() || !h.variant.set.empty()) return;
  try {
    const std::string before = text_of(parse_experiment(h.baseline.op));
    const std::string after = text_of(parse_experiment(h.variant.op));
    h.baseline.experiment = before;
    h.variant.experiment = after;
  } catch (const InputError&) {  // an operator that no experiment runs: typed numbers judge it
  }
}

/// Neutral: what the floors say may be slower.
std::string question_of(const HypothesisDraft& draft) {
  std::string changes;
  for (const std::string& text : draft.changes) changes += (changes.empty() ? "" : ", ") + text;
  return "How " + std::string(draft.changes.size() > 1 ? "do " : "does ") + changes + " change " +
         kind_of(draft) + "'s time?";
}

}  // namespace

Hypothesis draft_hypothesis(const HypothesisDraft& draft) {
  if (draft.changes.empty()) refuse("--change", "missing; expected the one change, NAME=VALUE");
  if (draft.changes.size() > 1 && draft.variable.empty()) {
    refuse("--variable",
           "missing; several keys change, which is one variable only if it has one name");
  }
  Hypothesis h;
  h.baseline.op = h.variant.op = with_defaults(draft.op);
  h.baseline.workload = h.variant.workload = draft.workload;
  h.baseline.set = h.variant.set = draft.set;
  std::vector<std::string> ordered = draft.changes;
  std::stable_partition(ordered.begin(), ordered.end(),
                        [](const std::string& change) { return !replaces_operator(change); });
  for (const std::string& change : ordered) {
    h.change.keys.push_back(apply_change(change, h.variant));
  }
  add_experiments(h);
  h.change.variable = draft.variable.empty() ? h.change.keys.front() : draft.variable;
  h.name = draft.name.empty() ? name_of_draft(draft, h.change.keys) : draft.name;
  h.device = draft.device;
  h.claimed_limit = draft.claimed_limit;
  h.question = draft.question.empty() ? question_of(draft) : draft.question;
  h.boundary = draft.boundary.empty() ? "kernels of the workload, device events, cold caches"
                                      : draft.boundary;
  return h;
}

void predict_from_floors(Hypothesis& h, const DraftFloors& floors) {
  constexpr double kLess = 0.85;
  constexpr double kMore = 1.15;
  if (h.claimed_limit.empty())
    h.claimed_limit = floors.binding.empty() ? "latency" : floors.binding;
  if (h.limit_evidence.empty()) {
    h.limit_evidence = floors.binding.empty() ? "the floor has no term: no rate holds it"
                                              : "the largest term of the baseline's cold floor";
  }
  const auto rounded = [](double x) { return parse_number(number_text(x, 4)).value_or(x); };
  h.prediction.amount = PredictedAmount::time_ratio;
  h.prediction.low = rounded(floors.floor_ratio * kLess);
  h.prediction.high = rounded(floors.floor_ratio * kMore);
  h.prediction.source = "ratio of the cold floors, " + number_text(floors.floor_ratio, 4) +
                        ", 15 % less to 15 % more: a ratio of floors is not a promise";
  h.prediction.refuted_if = "the interval of the ratio lies outside";
}

}  // namespace floorline
