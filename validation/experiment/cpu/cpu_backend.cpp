// SPDX-License-Identifier: Apache-2.0
#include "validation/experiment/cpu/cpu_backend.hpp"

#include <algorithm>
#include <chrono>
#include <functional>

#include "model/device/device_file.hpp"
#include "validation/experiment/cpu/cpu_buffers.hpp"
#include "validation/experiment/cpu/cpu_identity.hpp"
#include "validation/experiment/cpu/cpu_plan.hpp"
#include "validation/experiment/cpu/worker_pool.hpp"

namespace floorline {

namespace {

using Clock = std::chrono::steady_clock;

/// The smallest step that the clock was seen to make.
Seconds clock_step() {
  Clock::duration least = Clock::duration::max();
  for (int i = 0; i < 1000; ++i) {
    const Clock::time_point first = Clock::now();
    Clock::time_point second = Clock::now();
    while (second == first) second = Clock::now();
    least = std::min(least, second - first);
  }
  return Seconds(std::chrono::duration<double>(least).count());
}

class CpuExperiment final : public PreparedExperiment {
 public:
  CpuExperiment(const ExperimentSpec& spec, const ExperimentData& data, cpu::CpuPlan plan,
                std::int64_t sets, cpu::WorkerPool& pool, cpu::SpareMapping& spare, bool broken)
      : plan_(std::move(plan)),
        sets_(sets),
        pool_(pool),
        broken_(broken),
        buffers_(spec, data, plan_, {sets, std::max<std::int64_t>(pool.workers(), kParts), spare}) {
  }

  void call(std::int64_t set) override {
    const cpu::KernelArguments& arguments = buffers_.arguments(set);
    for (std::int64_t i = 0; i < plan_.repeats; ++i) {
      for (const cpu::Kernel kernel : plan_.kernels) region(kernel, arguments);
    }
  }
  // NOLINTNEXTLINE(bugprone-easily-swappable-parameters): the interface
  Seconds time_calls(std::int64_t first_set, std::int64_t calls) override {
    const Clock::time_point start = Clock::now();
    for (std::int64_t i = 0; i < calls; ++i) call((first_set + i) % sets_);
    return Seconds(std::chrono::duration<double>(Clock::now() - start).count());
  }
  std::vector<double> output(std::int64_t set) override { return buffers_.output(set); }
  void poison_output(std::int64_t set) override { buffers_.poison_output(set); }

 private:
  static constexpr std::int64_t kParts = 8;  // of a broken kernel

  /// A broken one leaves out one of eight parts.
  void region(cpu::Kernel kernel, const cpu::KernelArguments& arguments) {
    const std::int64_t workers = pool_.workers();
    if (!broken_) {
      pool_.run([&](std::int64_t worker) { kernel(arguments, worker, workers); });
      return;
    }
    for (std::int64_t part = 0; part + 1 < kParts; ++part) kernel(arguments, part, kParts);
  }

  cpu::CpuPlan plan_;
  std::int64_t sets_;
  cpu::WorkerPool& pool_;
  bool broken_;
  cpu::CpuBuffers buffers_;
};

class CpuBackend final : public Backend {
 public:
  explicit CpuBackend(const CpuBackendOptions& options)
      : identity_(cpu::read_cpu_identity()),
        kernels_(*options.level == '\0' ? &cpu::best_kernels()
                                        : cpu::kernels_of_level(options.level)),
        pool_(cpu::usable_processors()),
        resolution_(clock_step()),
        broken_(options.break_kernels) {
    if (kernels_ == nullptr) {
      throw MeasurementError(std::string("this processor has no ") + options.level + " kernels");
    }
    machine_ = machine_of(options.device ? *options.device : probed(options.probe_budget), {});
  }

  [[nodiscard]] std::string name() const override { return "cpu"; }
  [[nodiscard]] const Machine& machine() const override { return machine_; }
  [[nodiscard]] MeasuredOn measured_on() const override {
    MeasuredOn on;
    on.backend = "cpu";
    on.device = identity_.brand.empty() ? identity_.vendor : identity_.brand;
    on.host = identity_.kernel;
    on.versions = {{"floorline", FLOORLINE_VERSION},
                   {"compiler", __VERSION__},
                   {"kernels", kernels_->level},
                   {"threads", std::to_string(pool_.workers())}};
    return on;
  }
  [[nodiscard]] MachineState state() const override {
    MachineState state;
    state.sm_clock = cpu::current_clock();
    state.temperature_celsius = cpu::temperature_celsius();
    return state;
  }
  [[nodiscard]] std::vector<std::string> notes() const override {
    std::vector<std::string> notes;
    const std::optional<double> load = cpu::load_average();
    if (load && *load > 0.5 * static_cast<double>(pool_.workers())) {
      notes.push_back("not idle: load average " + std::to_string(*load).substr(0, 4) + " on " +
                      std::to_string(pool_.workers()) + " processors");
    }
    if (!cpu::temperature_celsius())
      notes.emplace_back("temperature not collected: no sensor in sysfs");
    notes.emplace_back("power not collected");
    if (identity_.hypervisor)
      notes.emplace_back("a virtual machine: its host's other work is not seen");
    return notes;
  }
  [[nodiscard]] Scale scale() const override { return Scale::host; }
  [[nodiscard]] Seconds timer_resolution() const override { return resolution_; }
  [[nodiscard]] Bytes memory_free() const override {
    return identity_.memory_total ? *identity_.memory_total * 0.25 : MiB(256);
  }
  [[nodiscard]] std::string why_not(const ExperimentSpec& spec) const override {
    return cpu::plan_of(spec, *kernels_, pool_.workers()).why_not;
  }
  std::unique_ptr<PreparedExperiment> prepare(const ExperimentSpec& spec,
                                              const ExperimentData& data,
                                              std::int64_t sets) override {
    cpu::CpuPlan plan = cpu::plan_of(spec, *kernels_, std::max<std::int64_t>(pool_.workers(), 8));
    if (!plan.why_not.empty()) throw MeasurementError(spec.name + ": " + plan.why_not);
    return std::make_unique<CpuExperiment>(spec, data, std::move(plan), sets, pool_, spare_,
                                           broken_);
  }

 private:
  static DeviceSpec probed(Seconds budget) {
    const std::string text = cpu::device_text(cpu::probe_machine(budget), "this_cpu");
    return parse_device(text, "probe-cpu", {});
  }

  cpu::CpuIdentity identity_;
  const cpu::LevelKernels* kernels_;
  cpu::WorkerPool pool_;
  Seconds resolution_;
  bool broken_;
  cpu::SpareMapping spare_;  ///< outlives what prepare() returns
  Machine machine_;
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend(const CpuBackendOptions& options) {
  return std::make_unique<CpuBackend>(options);
}

}  // namespace floorline
