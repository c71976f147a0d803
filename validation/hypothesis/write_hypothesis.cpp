// SPDX-License-Identifier: Apache-2.0
// A hypothesis as the text of its file.
#include "model/quantity/unit_names.hpp"
#include "validation/hypothesis/hypothesis_file.hpp"

namespace floorline {

namespace {

/// A basic TOML string; control characters are escaped, so that any text reads back.
std::string toml_text(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7F) {
      out += "\\u00";
      out += kHex[byte >> 4U];
      out += kHex[byte & 0xFU];
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string toml_list(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (const std::string& text : texts) out += (out.size() > 1 ? ", " : "") + toml_text(text);
  return out + "]";
}

void add_text(std::string& out, std::string_view key, const std::string& text) {
  if (!text.empty()) out += std::string(key) + " = " + toml_text(text) + "\n";
}

/// The unit that a value of this kind is written with; a bare number for ratios.
std::string value_text(double value, MeasurandKind kind) {
  const char* unit = nullptr;
  switch (kind) {
    case MeasurandKind::ratio:
      return exact_text(value);
    case MeasurandKind::time:
      unit = " s";
      break;
    case MeasurandKind::bytes:
      unit = " B";
      break;
    case MeasurandKind::flops:
      unit = " FLOP";
      break;
    case MeasurandKind::bandwidth:
      unit = " B/s";
      break;
    case MeasurandKind::flop_rate:
      unit = " FLOP/s";
      break;
  }
  return '"' + exact_text(value) + unit + '"';
}

void add_case(std::string& out, const char* name, const HypothesisCase& c) {
  out += "\n[" + std::string(name) + "]\n";
  add_text(out, "op", c.op);
  add_text(out, "workload", c.workload);
  if (!c.set.empty()) out += "set = " + toml_list(c.set) + "\n";
  add_text(out, "device", c.device);
  if (c.schedule != KernelSchedule::serial)
    add_text(out, "schedule", std::string(name_of(c.schedule)));
  add_text(out, "experiment", c.experiment);
  if (c.expected_time) {
    const auto end = [](Seconds t) { return value_text(t.in_base_units(), MeasurandKind::time); };
    out +=
        "expected_time = [" + end(c.expected_time->low) + ", " + end(c.expected_time->high) + "]\n";
    add_text(out, "expected_source", c.expected_source);
  }
}

void add_prediction(std::string& out, const Prediction& p) {
  const PredictedAmountInfo& info = info_of(p.amount);
  out += "\n[prediction]\n";
  add_text(out, "amount", std::string(info.name));
  if (p.low && p.high) {
    out += "interval = [" + value_text(*p.low, info.kind) + ", " + value_text(*p.high, info.kind) +
           "]\n";
  } else if (p.low) {
    out += "at_least = " + value_text(*p.low, info.kind) + "\n";
  } else if (p.high) {
    out += "at_most = " + value_text(*p.high, info.kind) + "\n";
  }
  add_text(out, "source", p.source);
  add_text(out, "refuted_if", p.refuted_if);
}

}  // namespace

std::string write_hypothesis(const Hypothesis& h) {
  std::string out = "schema = 1\nkind = \"hypothesis\"\n";
  add_text(out, "name", h.name);
  add_text(out, "question", h.question);
  add_text(out, "boundary", h.boundary);
  add_text(out, "claimed_limit", h.claimed_limit);
  add_text(out, "limit_evidence", h.limit_evidence);
  add_text(out, "evidence", std::string(name_of(h.evidence)));
  add_text(out, "device", h.device);
  if (!h.backends.empty()) out += "backends = " + toml_list(h.backends) + "\n";
  if (!h.notes.empty()) out += "notes = " + toml_list(h.notes) + "\n";
  add_case(out, "baseline", h.baseline);
  add_case(out, "variant", h.variant);
  out += "\n[change]\n";
  add_text(out, "variable", h.change.variable);
  out += "keys = " + toml_list(h.change.keys) + "\n";
  add_prediction(out, h.prediction);
  return out;
}

}  // namespace floorline
