// SPDX-License-Identifier: Apache-2.0
// A claim written down before it is tested: question, boundary, baseline, claimed limit and its
// evidence, exactly one changed variable, a prediction with its interval, and what would refute it.
// Format: validation/HYPOTHESES.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/quantity/quantity.hpp"
#include "model/quantity/sourced.hpp"
#include "validation/experiment/experiment.hpp"
#include "validation/hypothesis/predicted_amount.hpp"
#include "validation/observation/sample.hpp"

namespace floorline {

/// Which floor of a graph a case is held against: kernels one after another, along the longest
/// dependency path, or with nothing assumed.
enum class KernelSchedule : std::uint8_t { serial, critical_path, fused };
std::string_view name_of(KernelSchedule schedule);
std::optional<KernelSchedule> schedule_named(std::string_view name);

struct TimeInterval {
  Seconds low{0};
  Seconds high{0};
};

/// [baseline] or [variant]: what runs, and the operator graph that predicts it.
struct HypothesisCase {
  std::string op;        ///< the text of --op, or
  std::string workload;  ///< a graph file, a config.json or the name of a shipped workload, or
                         ///< neither: the graph that the experiment names
  std::vector<std::string> set;  ///< NAME=VALUE of symbols, operators and device keys
  std::string device;            ///< where this case has a device of its own
  KernelSchedule schedule = KernelSchedule::serial;
  std::string experiment;  ///< what runs: a name of the suite, or 'KIND key=value …'
  std::optional<TimeInterval> expected_time;  ///< calibrated; outside it the limit is refuted
  std::string expected_source;
  Position at;
};

/// The one variable; several keys may be one variable ("activation storage": in and out).
struct ChangedVariable {
  std::string variable;
  std::vector<std::string> keys;
  Position at;
};

struct Prediction {
  PredictedAmount amount = PredictedAmount::time_ratio;
  std::optional<double> low;  ///< base units of the amount; an absent end is open
  std::optional<double> high;
  std::string source;  ///< what the numbers rest on
  std::string refuted_if;
};

struct Hypothesis {
  std::string name;
  std::string question;
  std::string boundary;
  /// A resource id, or one of limit_words(): what no rate bounds.
  std::string claimed_limit;
  std::string limit_evidence;  ///< why that is believed
  EvidenceClass evidence = EvidenceClass::mechanism;
  std::string device;
  std::vector<std::string> backends;  ///< that its experiments mean something on; empty: all
  HypothesisCase baseline;
  HypothesisCase variant;
  ChangedVariable change;
  Prediction prediction;
  std::vector<std::string> notes;
  std::string file;
  std::string text;  ///< as read: what the record hashes and keeps
};

/// "launch", "latency", "occupancy", "serialization": limits without a rate in a device file.
const std::vector<std::string>& limit_words();

/// The words of --op that the text leaves out, with the values that the engine then takes. Throws
/// InputError for a text that it cannot read.
std::vector<std::pair<std::string, std::string>> default_words(const std::string& op);

/// One key that differs: "in", "kind", "set.rows", "experiment.stride", "experiment.kind"…
struct Difference {
  std::string key;
  std::string baseline;  ///< empty: not given
  std::string variant;
};
/// Key by key, in the order of the baseline. Numbers that are equal are no difference (1e3, 1000).
/// A declared key K also stands for experiment.K: one variable, seen by engine and program.
bool is_declared(const Difference& difference, const std::vector<std::string>& keys);
std::vector<Difference> differences(const HypothesisCase& baseline, const HypothesisCase& variant);
/// Of what runs at the sizes of one scale only.
std::vector<Difference> differences(const HypothesisCase& baseline, const HypothesisCase& variant,
                                    Scale scale);

}  // namespace floorline
