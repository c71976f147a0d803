// SPDX-License-Identifier: Apache-2.0
#include "cli/run_backend.hpp"

#include "cli/hypothesis_case.hpp"
#include "model/input/diagnostic.hpp"
#include "validation/experiment/method.hpp"
#include "validation/experiment/runner.hpp"

namespace floorline {

namespace {

std::optional<Observation> measure(Backend& backend, const HypothesisCase& c, const Method& method,
                                   CaseRun& run) {
  if (c.experiment.empty()) {
    run.not_measured = "the hypothesis names no experiment for it";
    return std::nullopt;
  }
  ExperimentRun measured = run_experiment(backend, parse_experiment(c.experiment), method);
  run.not_measured = measured.why_not;
  return std::move(measured.observation);
}

class ExperimentRunner : public BackendRunner {
 public:
  ExperimentRunner(std::unique_ptr<Backend> backend, bool quick)
      : backend_(std::move(backend)), method_(quick ? quick_method() : Method{}) {}

  [[nodiscard]] const Machine& machine() const override { return backend_->machine(); }

  void observe(HypothesisRun& run) override {
    const Hypothesis& h = run.hypothesis;
    run.backend = backend_->name();
    run.baseline.observed.time = measure(*backend_, h.baseline, method_, run.baseline);
    run.variant.observed.time = measure(*backend_, h.variant, method_, run.variant);
    judge_run(run);
    const bool again = confirm(h.baseline, run.verdict->baseline, run.baseline) |
                       confirm(h.variant, run.verdict->variant, run.variant);
    if (again) judge_run(run);
  }

 private:
  /// Below a floor: a second run, with other data, must confirm it.
  bool confirm(const HypothesisCase& c, const CaseVerdict& verdict, CaseRun& run) {
    if (verdict.doubts.empty()) return false;
    Method again = method_;
    again.seed += 1;
    run.observed.second = measure(*backend_, c, again, run);
    return run.observed.second.has_value();
  }

  std::unique_ptr<Backend> backend_;
  Method method_;
};

}  // namespace

std::unique_ptr<BackendRunner> open_backend(const std::string& name, bool quick) {
  if (name != "cpu" && name != "cuda") {
    throw InputError(Diagnostic{position_in("command line"), "--backend",
                                "\"" + name + "\" is no backend" +
                                    did_you_mean(name, {"cpu", "cuda"}) +
                                    "; expected cpu or cuda"});
  }
  static_cast<void>(quick);
  throw MeasurementError("the " + name + " backend is not built into this program");
}

}  // namespace floorline
