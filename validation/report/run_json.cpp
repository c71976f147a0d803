// SPDX-License-Identifier: Apache-2.0
#include "validation/report/run_json.hpp"

#include "model/report/document_head.hpp"
#include "model/report/floor_json.hpp"
#include "validation/report/observation_json.hpp"
#include "validation/verdict/amount.hpp"

namespace floorline {

namespace {

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }
Json number_or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json limit_json(const LimitTerm& term) {
  Json json = Json::object();
  json.set("resource", name_of(term.resource));
  json.set(amount_key(term.resource), term.amount.in_base_units());
  json.set(rate_key(term.resource), term.rate.in_base_units());
  json.set("rate_kind", term.proven                       ? name_of(term.kind)
                        : term.kind == RateKind::observed ? std::string_view("observed")
                                                          : std::string_view("nominal"));
  json.set("how", text_or_null(term.how));
  json.set("time_s", term.time.in_base_units());
  return json;
}

Json floor_json(const CaseFloors& floors) {
  Json terms = Json::array();
  for (const LimitTerm& term : floors.terms) terms.push(limit_json(term));
  Json observed = Json::array();
  for (const LimitTerm& term : floors.observed) observed.push(limit_json(term));
  Json json = Json::object();
  json.set("time_s", floors.cold.in_base_units());
  json.set("condition", "cold");
  json.set("binding", floors.binding ? Json(name_of(*floors.binding)) : Json());
  json.set("any_residency_s", floors.any_ceiling.in_base_units());
  json.set("any_residency_best_seen_s", floors.any_best_seen.in_base_units());
  json.set("terms", std::move(terms));
  json.set("observed_terms", std::move(observed));
  return json;
}

Json doubts_json(const std::vector<Doubt>& doubts) {
  Json all = Json::array();
  for (const Doubt& doubt : doubts) {
    all.push(Json::object()
                 .set("doubt", doubt.symbol)
                 .set("why", doubt.why)
                 .set("next_measurement", doubt.next_measurement));
  }
  return all;
}

Json observed_json(const CaseObservations& observed) {
  const auto of = [](const std::optional<Observation>& o) {
    return o ? observation_json(*o) : Json();
  };
  return Json::object()
      .set("time", of(observed.time))
      .set("second_run", of(observed.second))
      .set("hbm_bytes", of(observed.hbm_bytes));
}

void set_finding(const CaseVerdict* v, Json& json) {
  if (v == nullptr) return;
  Json finding = Json::object();
  finding.set("finding", v->finding ? Json(name_of(*v->finding)) : Json());
  finding.set("residency", name_of(v->residency));
  finding.set("proven_line_s", v->proven_line.in_base_units());
  finding.set("provisional_line_s", v->provisional_line.in_base_units());
  finding.set("limit_line_s", v->limit_line ? Json(v->limit_line->in_base_units()) : Json());
  finding.set("reasons", json_of(v->reasons));
  finding.set("doubts", doubts_json(v->doubts));
  json.set("judged", std::move(finding));
}

/// Of a run on a CPU, what it ran; else at the sizes of a GPU, which are those that are predicted.
std::vector<Difference> changed_keys(const HypothesisRun& run) {
  const Hypothesis& h = run.hypothesis;
  return differences(h.baseline, h.variant, run.backend == "cpu" ? Scale::host : Scale::device);
}

Json change_json(const HypothesisRun& run) {
  const Hypothesis& h = run.hypothesis;
  Json keys = Json::array();
  for (const Difference& d : changed_keys(run)) {
    keys.push(Json::object()
                  .set("key", d.key)
                  .set("baseline", text_or_null(d.baseline))
                  .set("variant", text_or_null(d.variant)));
  }
  return Json::object().set("variable", h.change.variable).set("differences", std::move(keys));
}

Json prediction_json(const HypothesisRun& run) {
  const Prediction& p = run.hypothesis.prediction;
  const PredictedAmountInfo& info = info_of(p.amount);
  const std::string suffix(key_suffix(info.kind));
  Json json = Json::object();
  json.set("amount", info.name);
  json.set("meaning", info.meaning);
  json.set("kind", name_of(info.kind));
  json.set("low" + suffix, number_or_null(p.low));
  json.set("high" + suffix, number_or_null(p.high));
  json.set("source", text_or_null(p.source));
  json.set("refuted_if", p.refuted_if);
  json.set("engine" + suffix,
           number_or_null(engine_amount(p.amount, run.baseline.floors, run.variant.floors)));
  return json;
}

Json hypothesis_json(const HypothesisRun& run) {
  const Hypothesis& h = run.hypothesis;
  return Json::object()
      .set("name", h.name)
      .set("question", h.question)
      .set("boundary", h.boundary)
      .set("claimed_limit", h.claimed_limit)
      .set("limit_evidence", text_or_null(h.limit_evidence))
      .set("evidence", name_of(h.evidence))
      .set("device", text_or_null(h.device))
      .set("change", change_json(run))
      .set("prediction", prediction_json(run));
}

Json verdict_json(const HypothesisRun& run) {
  if (!run.verdict) return {};
  const HypothesisVerdict& v = *run.verdict;
  const std::string suffix(key_suffix(info_of(run.hypothesis.prediction.amount).kind));
  Json json = Json::object();
  json.set("verdict", name_of(v.verdict));
  json.set("prediction", name_of(v.prediction));
  json.set("value" + suffix, number_or_null(v.value));
  json.set("low" + suffix, v.observed ? Json(v.observed->low) : Json());
  json.set("high" + suffix, v.observed ? Json(v.observed->high) : Json());
  json.set("reasons", json_of(v.reasons));
  return json;
}

Json inputs_json(const HypothesisRun& run) {
  Json json = Json::object();
  json.set("hypothesis", run.hypothesis.file);
  json.set("backend", text_or_null(run.backend));
  json.set("observed", json_of(run.typed));
  json.set("tolerance", run.tolerance);
  json.set("quick", run.quick);
  return json;
}

}  // namespace

Json case_json(const HypothesisCase& what, const CaseRun& run, const CaseVerdict* verdict) {
  Json json = Json::object();
  json.set("op", text_or_null(what.op));
  json.set("workload", text_or_null(what.workload));
  json.set("set", json_of(what.set));
  json.set("device", run.device);
  json.set("schedule", name_of(what.schedule));
  json.set("experiment", text_or_null(what.experiment));
  json.set("experiment_at_size", text_or_null(run.experiment));
  json.set("flops", run.floors.work.in_base_units());
  json.set("hbm_bytes", run.floors.hbm_counted.in_base_units());
  json.set("keep_bytes", run.floors.caches_known ? Json(run.floors.keep.in_base_units()) : Json());
  json.set("floor", floor_json(run.floors));
  if (what.expected_time) {
    json.set("expected", Json::object()
                             .set("low_s", what.expected_time->low.in_base_units())
                             .set("high_s", what.expected_time->high.in_base_units())
                             .set("source", what.expected_source));
  }
  json.set("observed", observed_json(run.observed));
  json.set("not_measured", text_or_null(run.not_measured));
  set_finding(verdict, json);
  return json;
}

Json run_json(const HypothesisRun& run) {
  const HypothesisVerdict* v = run.verdict ? &*run.verdict : nullptr;
  Json json = document_head("validate");
  json.set("inputs", inputs_json(run));
  json.set("assumptions", json_of(run.assumptions));
  json.set("notes", json_of(run.notes));
  json.set("standing", standing_of(run));
  json.set("evidence", name_of(evidence_of(run)));
  json.set("hypothesis", hypothesis_json(run));
  json.set("baseline",
           case_json(run.hypothesis.baseline, run.baseline, v != nullptr ? &v->baseline : nullptr));
  json.set("variant",
           case_json(run.hypothesis.variant, run.variant, v != nullptr ? &v->variant : nullptr));
  json.set("result", verdict_json(run));
  return json;
}

}  // namespace floorline
