// SPDX-License-Identifier: Apache-2.0
#include "model/report/measured_section.hpp"

#include <algorithm>

#include "model/quantity/unit_names.hpp"
#include "model/report/resource_words.hpp"

namespace floorline {

namespace {

constexpr double kFarAbove =
    2;  // design §11: above twice the floor the claimed limit does not hold it

/// The compute resource that most FLOPs are asked of, and its published peak.
struct MainCompute {
  const Rate* rate = nullptr;
  double flops = 0;
};

MainCompute main_compute(const BoundReport& report) {
  MainCompute best;
  const std::vector<OperatorFloors>& ops = report.evaluation->floors.ops;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const Floor cold = floor_in(report, i);
    for (const Term& term : cold.list()) {
      // Two units together have no published peak.
      if (amount_kind(term.resource.unit) != AmountKind::flops || term.rate->pooled) continue;
      const double flops = term.amount.in_base_units() * ops[i].times;
      if (flops > best.flops) best = {term.rate, flops};
    }
  }
  return best;
}

std::vector<std::string> doubts_impossible(const BoundReport& report) {
  std::vector<std::string> doubt{
      "t: does the time cover the whole work, once, and is its unit right?",
      "F and D: do shape, mask, window and batch describe what ran?",
      "precision: did the products run narrower than stated, or with 2:4 sparsity?"};
  if (report.machine != nullptr) {
    doubt.push_back("P and B: is this the device, at or below the clocks of " +
                    report.machine->device.name + "?");
  } else {
    doubt.push_back("P: is it a ceiling, or a figure that a chip at a higher clock exceeds?");
  }
  return doubt;
}

/// Of one rank.
struct Achieved {
  double flops_per_s = 0;
  double bytes_per_s = 0;
  std::optional<double> mfu;
  std::optional<double> peak;
  /// Of a training step; rates of one rank.
  std::optional<double> hfu;
  double conventional_flops_per_s = 0;
  std::optional<double> conventional_mfu;
  std::optional<double> conventional_hfu;
};

/// Work a token over the time of all replicas' tokens, divided over all ranks.
void add_training(const BoundReport& report, const Measured& m, Achieved& a) {
  if (!report.model || !report.model->training) return;
  const TrainingWork& t = *report.model->training;
  const double tokens_per_s =
      report.model->judging.tokens / m.time.in_base_units() / report.inputs.ranks;
  a.conventional_flops_per_s = t.conventional.model.in_base_units() * tokens_per_s;
  if (!a.peak) return;
  a.hfu = t.hardware.in_base_units() * tokens_per_s / *a.peak;
  a.conventional_mfu = a.conventional_flops_per_s / *a.peak;
  a.conventional_hfu = t.conventional.hardware.in_base_units() * tokens_per_s / *a.peak;
}

Achieved achieved(const BoundReport& report, const Measured& m) {
  const MeasuredWork work = judging_of(report).work;
  Achieved a;
  a.flops_per_s = work.flops.in_base_units() / m.time.in_base_units();
  a.bytes_per_s = work.bytes.in_base_units() / m.time.in_base_units();
  const MainCompute compute = main_compute(report);
  if (compute.rate != nullptr && compute.rate->nominal > AmountPerSecond()) {
    a.peak = compute.rate->nominal.in_base_units();
    a.mfu = a.flops_per_s / *a.peak;
  }
  add_training(report, m, a);
  return a;
}

bool rests_on_probe(const BoundReport& report) {
  const auto& ops = report.evaluation->floors.ops;
  return std::any_of(ops.begin(), ops.end(),
                     [](const OperatorFloors& op) { return op.cold.provisional(); });
}

std::vector<std::string> doubts(const BoundReport& report, const Measured& m) {
  if (m.verdict == MeasuredVerdict::impossible) return doubts_impossible(report);
  if (m.verdict == MeasuredVerdict::warm) {
    return {
        "below the cold floor: part of the data was on chip, or the run was not cold; compare with "
        "the any-residency floor"};
  }
  std::vector<std::string> lines;
  const Achieved a = achieved(report, m);
  if (!report.evaluation->floors.proven && m.ratio_cold < 1) {
    lines.push_back(rests_on_probe(report)
                        ? "faster than the best that a probe saw of a binding rate: the probe's "
                          "rate is refuted first (above_observed)"
                        : "below a floor that is not proven sound: ask at which clock it ran, and "
                          "give it (--sm-clock)");
  }
  if (a.mfu && *a.mfu > 1) {
    lines.push_back(
        "above the published peak: the chip ran above the clock that peak assumes (it may, "
        "up to the highest clock of the floor), or F, precision or sparsity is not as stated");
  }
  const Seconds serial = judging_of(report).serial;
  if (serial > Seconds(0) && m.time / serial > kFarAbove) {
    lines.push_back(
        "above twice the floor of kernels that do not overlap: " +
        words_for(report.evaluation->floors.serial_binding) +
        " alone does not explain it; look at latency, occupancy and launches, or at lower clocks");
  }
  return lines;
}

}  // namespace

Json measured_json(const BoundReport& report, const Measured& m) {
  const Achieved a = achieved(report, m);
  Json json = Json::object();
  json.set("time_s", m.time.in_base_units());
  json.set("given", report.inputs.measured.value_or(""));
  json.set("ratio_cold", m.ratio_cold > 0 ? Json(m.ratio_cold) : Json());
  json.set("ratio_any_residency", m.ratio_any ? Json(*m.ratio_any) : Json());
  json.set("flops_per_s", a.flops_per_s);
  json.set("bytes_per_s", a.bytes_per_s);
  json.set("gib_per_s", a.bytes_per_s / 1073741824.0);
  json.set("mfu", a.mfu ? Json(*a.mfu) : Json());
  json.set("peak_flops_per_s", a.peak ? Json(*a.peak) : Json());
  if (a.hfu) {
    json.set("hfu", *a.hfu);
    json.set("conventional", Json::object()
                                 .set("flops_per_s", a.conventional_flops_per_s)
                                 .set("mfu", *a.conventional_mfu)
                                 .set("hfu", *a.conventional_hfu));
  }
  json.set("verdict", name_of(m.verdict));
  Json doubt = Json::array();
  for (const std::string& line : doubts(report, m)) doubt.push(line);
  json.set("doubt", std::move(doubt));
  return json;
}

Section measured_section(const BoundReport& report, const Measured& m) {
  const Achieved a = achieved(report, m);
  Section section;
  section.title = "Measured";
  const auto field = [&section](const char* name, std::string value) {
    section.fields.push_back({name, std::move(value)});
  };
  const std::string given = report.inputs.measured.value_or("");
  field("time", to_text(m.time) + " (given " + given + ")");
  field("verdict", std::string(name_of(m.verdict)));
  if (m.ratio_cold > 0) {
    field("against the cold floor", factor_text(m.ratio_cold) + "; the floor is " +
                                        percent_text(1 / m.ratio_cold) + " of the time");
  }
  const Seconds serial = judging_of(report).serial;
  if (report.evaluation->floors.ops.size() > 1 && serial > Seconds(0)) {
    field("against the serial floor", factor_text(m.time / serial) + " (kernels do not overlap)");
  }
  if (report.machine != nullptr)
    field("against any residency", m.ratio_any ? factor_text(*m.ratio_any) : "no floor above zero");
  const Judging judging = judging_of(report);
  if (judging.cold > Seconds(0) && judging.work.flops > Flops(0)) {
    const FlopsPerSecond roof(judging.work.flops.in_base_units() / judging.cold.in_base_units());
    field("roof at this intensity", to_text(roof) + " (work over the cold floor)");
  }
  if (a.flops_per_s > 0) field("work rate", to_text(FlopsPerSecond(a.flops_per_s)));
  if (a.bytes_per_s > 0) {
    field("traffic rate", to_text(BytesPerSecond(a.bytes_per_s)) + " = " +
                              number_text(a.bytes_per_s / 1073741824.0) +
                              " GiB/s of the bytes counted here");
  }
  if (a.hfu) {
    field("MFU, HFU", percent_text(*a.mfu) + ", " + percent_text(*a.hfu) +
                          " of the published dense peak " + to_text(FlopsPerSecond(*a.peak)) +
                          " (causal pairs; HFU: what is computed again included)");
    field("by convention", percent_text(*a.conventional_mfu) + ", " +
                               percent_text(*a.conventional_hfu) + " at " +
                               to_text(FlopsPerSecond(a.conventional_flops_per_s)) +
                               " (6 N + 12 heads head_dim layers sequence, no causal mask)");
  } else if (a.mfu) {
    const char* whose =
        report.machine == nullptr ? " of the given peak " : " of the published dense peak ";
    field("utilization", percent_text(*a.mfu) + whose + to_text(FlopsPerSecond(*a.peak)));
  }
  for (const std::string& line : doubts(report, m)) section.lines.push_back("- " + line);
  return section;
}

}  // namespace floorline
