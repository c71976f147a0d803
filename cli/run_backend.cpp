// SPDX-License-Identifier: Apache-2.0
#include "cli/run_backend.hpp"

#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "cli/hypothesis_case.hpp"
#include "cli/locate.hpp"
#include "cli/output.hpp"
#include "model/input/diagnostic.hpp"
#include "validation/experiment/cpu/cpu_backend.hpp"
#include "validation/experiment/cuda/cuda_backend.hpp"
#include "validation/experiment/method.hpp"
#include "validation/experiment/runner.hpp"
#include "validation/hypothesis/experiment_name.hpp"
#include "validation/report/experiments_document.hpp"

namespace floorline {

namespace {

std::optional<Observation> measure(Backend& backend, const HypothesisCase& c, const Method& method,
                                   CaseRun& run) {
  if (c.experiment.empty()) {
    run.not_measured = "the hypothesis names no experiment for it";
    return std::nullopt;
  }
  const std::optional<ExperimentSpec> spec = resolve_experiment(c.experiment, backend.scale());
  if (!spec) {
    run.not_measured =
        "the suite has no " + c.experiment + " for the " + backend.name() + " backend";
    return std::nullopt;
  }
  ExperimentRun measured = run_experiment(backend, *spec, method);
  run.not_measured = measured.why_not;
  return std::move(measured.observation);
}

class ExperimentRunner : public BackendRunner {
 public:
  ExperimentRunner(std::unique_ptr<Backend> backend, bool quick)
      : backend_(std::move(backend)), method_(quick ? quick_method() : Method{}) {}

  [[nodiscard]] const Machine& machine() const override { return backend_->machine(); }
  [[nodiscard]] Scale scale() const override { return backend_->scale(); }

  [[nodiscard]] bool is_meant(const Hypothesis& h) const override {
    return h.backends.empty() ||
           std::find(h.backends.begin(), h.backends.end(), backend_->name()) != h.backends.end();
  }

  bool run_experiments(const OutputOptions& output) override {
    const bool show = isatty(STDERR_FILENO) != 0;
    const std::vector<SuiteRow> rows = run_suite(*backend_, method_, [&](const SuiteRow& row) {
      if (show) std::cerr << row.run.spec.name << '\n';
    });
    print(experiments_document(*backend_, rows, method_), output);
    return sound(rows);
  }

  void observe(HypothesisRun& run) override {
    const Hypothesis& h = run.hypothesis;
    run.backend = backend_->name();
    if (!is_meant(h)) {
      run.baseline.not_measured = run.variant.not_measured =
          "its experiments say nothing on the " + run.backend + " backend";
      judge_run(run);
      return;
    }
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

/// Without --device the machine is probed.
std::unique_ptr<Backend> open_cpu(const DeviceOptions& device) {
  CpuBackendOptions options;
  const std::vector<std::string> names = device_list(device);
  if (names.size() > 1) {
    throw InputError(Diagnostic{position_in("command line"), "--device",
                                "expected one: the device file of this machine"});
  }
  if (!names.empty()) {
    options.device = load_device(names.front(), device_path(device.device_path));
  }
  return make_cpu_backend(options);
}

/// What is missing on this machine is said first; then which file describes the device.
std::unique_ptr<Backend> open_cuda(const DeviceOptions& device) {
  if (const std::string why = why_no_cuda(); !why.empty()) throw MeasurementError(why);
  const std::vector<std::string> names = device_list(device);
  if (names.size() != 1) {
    throw InputError(Diagnostic{position_in("command line"), "--device",
                                "expected the one that describes this machine's GPU, such as "
                                "h200_sxm (floorline devices lists them)"});
  }
  DeviceSpec spec = load_device(names.front(), device_path(device.device_path));
  return make_cuda_backend(machine_of(std::move(spec), clocks_of(device)));
}

}  // namespace

std::unique_ptr<BackendRunner> open_backend(const std::string& name, bool quick,
                                            const DeviceOptions& device) {
  if (name != "cpu" && name != "cuda") {
    throw InputError(Diagnostic{position_in("command line"), "--backend",
                                "\"" + name + "\" is no backend" +
                                    did_you_mean(name, {"cpu", "cuda"}) +
                                    "; expected cpu or cuda"});
  }
  if (name == "cpu") return std::make_unique<ExperimentRunner>(open_cpu(device), quick);
  return std::make_unique<ExperimentRunner>(open_cuda(device), quick);
}

}  // namespace floorline
