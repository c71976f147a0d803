// SPDX-License-Identifier: Apache-2.0
#include "validation/verdict/experiment_suite.hpp"

#include <algorithm>

#include "model/quantity/unit_names.hpp"
#include "validation/experiment/prediction.hpp"

namespace floorline {

namespace {

/// A stream or a product by a library: what is far from its floor there is a busy machine.
bool comes_near(const std::string& name) {
  return name == "stream_copy" || name == "triad" || name == "gemm_square_fp32";
}

void judge_row(Backend& backend, const Method& method, SuiteRow& row) {
  const Evaluation evaluation = evaluate(prediction_graph(row.run.spec), backend.machine());
  row.floors = case_floors(evaluation, backend.machine(), KernelSchedule::serial);
  CaseObservations observed;
  observed.time = row.run.observation;
  row.verdict = judge_time(*row.floors, observed, kDefaultTolerance);
  if (row.verdict.doubts.empty()) return;
  Method again = method;
  again.seed += 1;
  row.second = run_experiment(backend, row.run.spec, again).observation;
  observed.second = row.second;
  row.verdict = judge_time(*row.floors, observed, kDefaultTolerance);
}

}  // namespace

std::optional<double> SuiteRow::times_floor() const {
  if (!floors || !run.observation || !(floors->cold > Seconds(0))) return std::nullopt;
  return run.observation->summary.minimum / floors->cold.in_base_units();
}

std::vector<SuiteRow> run_suite(Backend& backend, const Method& method,
                                const std::function<void(const SuiteRow&)>& done) {
  std::vector<SuiteRow> rows;
  for (const ExperimentSpec& spec : experiment_table(backend.scale())) {
    SuiteRow row;
    row.prediction = prediction_text(spec);
    row.run = run_experiment(backend, spec, method);
    if (row.run.observation) judge_row(backend, method, row);
    done(row);
    rows.push_back(std::move(row));
  }
  return rows;
}

SuiteStanding standing_of(const std::vector<SuiteRow>& rows) {
  SuiteStanding standing;
  for (const SuiteRow& row : rows) {
    if (!comes_near(row.run.spec.name)) continue;
    const std::optional<double> times = row.times_floor();
    if (times && *times <= kNearFloor) continue;
    standing.proves = false;
    standing.slow.push_back(row.run.spec.name + ": " +
                            (times ? number_text(*times, 3) + " times its floor" : "not measured"));
  }
  return standing;
}

bool sound(const std::vector<SuiteRow>& rows) {
  return std::none_of(rows.begin(), rows.end(), [](const SuiteRow& row) {
    return row.run.wrong || row.verdict.finding == Verdict::floor_violated;
  });
}

}  // namespace floorline
