// SPDX-License-Identifier: Apache-2.0
#include "model/whatif/amdahl.hpp"

#include "model/input/diagnostic.hpp"
#include "model/quantity/unit_names.hpp"

namespace floorline {

namespace {

[[noreturn]] void refuse(const std::string& key, const std::string& why) {
  throw InputError(Diagnostic{position_in("command line"), key, why});
}

constexpr std::string_view kOp = "op.";
constexpr std::string_view kTime = ".time";

Seconds time_above_zero(const std::string& key, const std::string& text) {
  const ParsedQuantity q = parse_quantity(text, Dimension::seconds);
  if (!q.error.empty()) refuse(key, q.error);
  if (!(q.base > 0)) refuse(key, quoted(text) + " is not a time above zero");
  return Seconds(q.base);
}

std::string names_of(const std::vector<MeasuredPart>& parts) {
  std::string text;
  for (const MeasuredPart& part : parts) text += (text.empty() ? "" : ", ") + part.name;
  return text.empty() ? "no operator has a measured time (--measured op.NAME=22ms)"
                      : "measured are " + text;
}

}  // namespace

const MeasuredPart* MeasuredTimes::find(std::string_view name) const {
  for (const MeasuredPart& part : parts) {
    if (part.name == name) return &part;
  }
  return nullptr;
}

MeasuredTimes read_measured(const std::vector<std::string>& texts) {
  MeasuredTimes measured;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) {
      if (!measured.given.empty())
        refuse("--measured", "given twice, " + measured.given + " and " + text +
                                 "; expected one time of the whole, others as op.NAME=22ms");
      measured.given = text;
      continue;
    }
    const std::string key = text.substr(0, equals);
    const std::string name = key.starts_with(kOp) ? key.substr(kOp.size()) : "";
    if (name.empty()) refuse("--measured", quoted(text) + " is neither a time nor op.NAME=22ms");
    if (measured.find(name) != nullptr) refuse("--measured", key + " is measured twice");
    measured.parts.push_back({name, time_above_zero("--measured " + key, text.substr(equals + 1))});
  }
  return measured;
}

void check_measured(const MeasuredTimes& measured) {
  if (!measured.whole) return;
  Seconds sum(0);
  for (const MeasuredPart& part : measured.parts) sum += part.time;
  constexpr double kRounding = 1e-9;
  if (sum > *measured.whole * (1 + kRounding)) {
    refuse("--measured", "the operators take " + to_text(sum) + ", more than the whole, " +
                             to_text(*measured.whole) + "; times that overlap cannot be added up");
  }
}

bool names_measured_time(std::string_view name) {
  return name.starts_with(kOp) && name.ends_with(kTime) && name.size() > kOp.size() + kTime.size();
}

std::optional<double> AmdahlPrediction::ceiling() const {
  const Seconds rest = before - changed_before;
  if (!(rest > Seconds(0))) return std::nullopt;
  return before / rest;
}

std::vector<PartChange> stated_parts(const MeasuredTimes& measured,
                                     const std::vector<Assignment>& changes) {
  std::vector<PartChange> parts;
  for (const Assignment& a : changes) {
    if (!names_measured_time(a.name)) continue;
    const std::string name = a.name.substr(kOp.size(), a.name.size() - kOp.size() - kTime.size());
    const MeasuredPart* part = measured.find(name);
    if (part == nullptr) refuse(a.name, "has no measured time; " + names_of(measured.parts));
    for (const PartChange& earlier : parts) {
      if (earlier.name == name) refuse(a.name, "changed twice; expected one change of a variable");
    }
    PartChange change{name, part->time, part->time, "stated"};
    if (a.scale) {
      const std::optional<double> factor = parse_number(a.value);
      if (!factor || !(*factor > 0))
        refuse(a.name, quoted(a.value) + " is not a factor above zero");
      change.after = part->time * *factor;
    } else {
      change.after = time_above_zero(a.name, a.value);
    }
    parts.push_back(std::move(change));
  }
  return parts;
}

AmdahlPrediction amdahl(Seconds whole, std::vector<PartChange> parts) {
  AmdahlPrediction p;
  p.before = p.after = whole;
  for (const PartChange& part : parts) {
    p.after += part.after - part.before;
    p.changed_before += part.before;
  }
  p.parts = std::move(parts);
  return p;
}

}  // namespace floorline
