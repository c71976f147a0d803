// SPDX-License-Identifier: Apache-2.0
// The method, on a backend whose times and results are made up: what is rotated, compared, timed,
// and when it ends.
#include "validation/experiment/runner.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <set>

#include "model/device/device_file.hpp"

using namespace floorline;

namespace {

/// How a made-up kernel behaves.
struct Behaviour {
  std::vector<double> times{1e-3};  ///< of the calls in turn, again from the start
  std::int64_t skips_from = -1;     ///< elements from here to `skips_to` are not written
  std::int64_t skips_to = -1;
  double off_by = 0;  ///< added to every element
};

struct Log {
  std::int64_t sets = 0;
  std::int64_t calls = 0;
  std::set<std::int64_t> touched;
  std::vector<std::string> order;
};

class FakeExperiment final : public PreparedExperiment {
 public:
  FakeExperiment(const ExperimentSpec& spec, const ExperimentData& data, std::int64_t sets,
                 const Behaviour& behaviour, Log& log)
      : spec_(spec), data_(data), sets_(sets), behaviour_(behaviour), log_(log) {
    log_.sets = sets;
    output_.assign(static_cast<std::size_t>(data.output_size), 0);
  }
  void call(std::int64_t set) override {
    log_.order.push_back("call");
    log_.touched.insert(set);
    std::vector<std::int64_t> all;
    for (std::int64_t i = 0; i < data_.output_size; ++i) all.push_back(i);
    const std::vector<double> right = reference(spec_, data_, all);
    for (std::int64_t i = 0; i < data_.output_size; ++i) {
      if (i >= behaviour_.skips_from && i < behaviour_.skips_to) continue;
      output_[static_cast<std::size_t>(i)] = right[static_cast<std::size_t>(i)] + behaviour_.off_by;
    }
  }
  Seconds time_calls(std::int64_t first_set, std::int64_t calls) override {
    log_.order.push_back("time");
    double sum = 0;
    for (std::int64_t i = 0; i < calls; ++i) {
      log_.touched.insert((first_set + i) % sets_);
      sum += behaviour_.times[static_cast<std::size_t>(log_.calls++) % behaviour_.times.size()];
    }
    return Seconds(sum);
  }
  std::vector<double> output(std::int64_t) override { return output_; }
  void poison_output(std::int64_t) override {
    log_.order.push_back("poison");
    for (double& v : output_) v = std::numeric_limits<double>::quiet_NaN();
  }

 private:
  ExperimentSpec spec_;
  ExperimentData data_;
  std::int64_t sets_;
  Behaviour behaviour_;
  Log& log_;
  std::vector<double> output_;
};

class FakeBackend final : public Backend {
 public:
  explicit FakeBackend(Behaviour behaviour)
      : machine_(machine_of(load_device("epyc_9654", {{"devices"}}), {})),
        behaviour_(std::move(behaviour)) {}
  [[nodiscard]] std::string name() const override { return "fake"; }
  [[nodiscard]] const Machine& machine() const override { return machine_; }
  [[nodiscard]] MeasuredOn measured_on() const override {
    MeasuredOn on;
    on.backend = "fake";
    return on;
  }
  [[nodiscard]] MachineState state() const override {
    log_.order.push_back("state");
    return {};
  }
  [[nodiscard]] Scale scale() const override { return Scale::tiny; }
  [[nodiscard]] Seconds timer_resolution() const override { return Seconds(1e-7); }
  [[nodiscard]] Bytes memory_free() const override { return GB(1); }
  [[nodiscard]] std::string why_not(const ExperimentSpec& spec) const override {
    return spec.need == Need::two_devices ? "needs two devices; there is one" : "";
  }
  std::unique_ptr<PreparedExperiment> prepare(const ExperimentSpec& spec,
                                              const ExperimentData& data,
                                              std::int64_t sets) override {
    return std::make_unique<FakeExperiment>(spec, data, sets, behaviour_, log_);
  }
  mutable Log log_;

 private:
  Machine machine_;
  Behaviour behaviour_;
};

const ExperimentSpec& triad() {
  static const ExperimentSpec spec = parse_experiment("triad n=1000");
  return spec;
}

}  // namespace

TEST_SUITE("experiment") {
  TEST_CASE("results first, then warm-up, then samples between two looks at the machine") {
    FakeBackend backend({});
    Method method;
    method.warm_up = 2;
    const ExperimentRun run = run_experiment(backend, triad(), method);
    REQUIRE(run.observation);
    CHECK(run.why_not.empty());
    const std::vector<std::string>& order = backend.log_.order;
    const std::vector<std::string> start{"poison", "call", "call", "call", "state", "time"};
    CHECK(std::vector<std::string>(order.begin(), order.begin() + 6) == start);
    CHECK(order.back() == "state");
    const Observation& o = *run.observation;
    CHECK(o.warm_up == 2);
    CHECK(o.correctness->passed);
    CHECK(o.correctness->max_error == 0);
    CHECK(o.summary.median == doctest::Approx(1e-3));
    CHECK_FALSE(o.budget_ended);
    CHECK(o.samples.size() == static_cast<std::size_t>(o.summary.count));
    CHECK(o.summary.count == method.least_samples);  // equal times: the interval is a point
    CHECK(o.machine.backend == "fake");
  }

  TEST_CASE("a kernel that skips a tile, or is off by a little, is not timed") {
    FakeBackend skips({.skips_from = 512, .skips_to = 576});
    const ExperimentRun skipped = run_experiment(skips, triad(), {});
    CHECK(skipped.wrong);
    CHECK_FALSE(skipped.observation);
    CHECK(skipped.why_not ==
          "the kernel's result is wrong: element 512 of the output was not written");
    FakeBackend off({.off_by = 1e-5});  // 2 eps (4 units) and half a place of 4: below 2e-6
    const ExperimentRun wrong = run_experiment(off, triad(), {});
    CHECK(wrong.wrong);
    CHECK(wrong.why_not.find("the kernel's result is wrong: element 0 is ") == 0);
    CHECK(off.log_.order.back() == "call");
  }

  TEST_CASE("what the backend cannot do is said, not run") {
    FakeBackend backend({});
    const ExperimentRun run =
        run_experiment(backend, parse_experiment("peer_copy bytes=4096B"), {});
    CHECK(run.why_not == "needs two devices; there is one");
    CHECK_FALSE(run.wrong);
    CHECK(backend.log_.order.empty());
  }

  TEST_CASE("short calls are gathered until the clock can tell") {
    FakeBackend backend({.times = {1e-6}});  // resolution 1e-7: a sample is to last 2e-5
    const ExperimentRun run = run_experiment(backend, triad(), {});
    // 20 calls: one pass over all buffers is longer.
    CHECK(run.observation->calls_per_sample >= 20);
    CHECK(run.observation->calls_per_sample == run.observation->caches.calls);
    Method warm;
    warm.caches = CacheWish::warm;
    const double calls = run_experiment(backend, triad(), warm).observation->calls_per_sample;
    CHECK(calls >= 20);
    CHECK(calls <= 21);
    CHECK(run.observation->summary.median == doctest::Approx(1e-6));
  }

  TEST_CASE("noise goes on until the most samples, and says that it is too wide") {
    FakeBackend backend({.times = {1e-3, 3e-3}});
    Method method;
    method.caches = CacheWish::warm;  // a call a sample
    method.most_samples = 64;
    const ExperimentRun run = run_experiment(backend, triad(), method);
    CHECK(run.observation->summary.count == 64);
    CHECK(run.observation->budget_ended);
    method.budget = Seconds(0);
    CHECK(run_experiment(backend, triad(), method).observation->summary.count == 1);
  }

  TEST_CASE("W is at least 20 S_keep where memory allows, and what is less is said") {
    OnChip chip;
    chip.keep = MiB(1);
    chip.keep_known = true;
    chip.sector = Bytes(64);
    Method method;
    // triad n = 1000: 12,000 bytes a set; 20 MiB / 12,000 = 1747.6, so 1748 sets.
    Rotation r = rotation_of(triad(), chip, method, GB(1));
    CHECK(r.sets == 1748);
    CHECK(r.each == Bytes(12000));
    CHECK(r.limit.empty());
    method.memory_cap = Bytes(1200000);  // 100 sets
    r = rotation_of(triad(), chip, method, GB(1));
    CHECK(r.sets == 100);
    CHECK(r.limit == "memory");
    method.caches = CacheWish::warm;
    r = rotation_of(triad(), chip, method, GB(1));
    CHECK(r.sets == 1);
    CHECK(r.limit.empty());
    method.memory_cap = Bytes(11999);
    r = rotation_of(triad(), chip, method, GB(1));
    // Both are 0 MiB: bytes tell them apart; 1 GB is free and 4 GB the cap of a run without
    // --quick.
    CHECK(
        r.cannot ==
        "needs 12000 bytes of memory; 11999 bytes may be taken (memory cap, free memory); without "
        "--quick up to 953 MiB may be taken");
    CHECK(rotation_of(triad(), chip, {}, Bytes(11999)).cannot.find("--quick") == std::string::npos);
    chip.keep = GiB(1);
    CHECK(rotation_of(triad(), chip, {}, GB(1)).sets == 4096);
    CHECK(rotation_of(triad(), chip, {}, GB(1)).limit == "number of buffers");
    chip.keep = MiB(1);
    // Stride 64 of fp32: 256 bytes held, one line of 64 and 4 written touched; 20 MiB / 6800 =
    // 3084.
    r = rotation_of(parse_experiment("strided n=100 stride=64"), chip, {}, GB(1));
    CHECK(r.sets == 3085);
    CHECK(r.each == Bytes(6800));
  }

  TEST_CASE("a sample is whole passes: every buffer before the first again") {
    FakeBackend backend({});  // 1 ms a call
    Method method;
    method.memory_cap = Bytes(12000 * 64);
    method.budget = Seconds(1);  // 100 ms for each of 10 samples: a pass of 64 fits
    const ExperimentRun run = run_experiment(backend, triad(), method);
    CHECK(backend.log_.sets == 64);
    CHECK(backend.log_.touched.size() == 64);
    CHECK(run.observation->caches.mode == CacheMode::rotating);
    CHECK(run.observation->caches.calls == 64);
    CHECK(run.observation->caches.rotated == Bytes(12000 * 64));
    CHECK(run.observation->calls_per_sample == 64);
    CHECK(run.observation->notes.back().find("that caches keep (memory)") != std::string::npos);
    method.budget = Seconds(0.1);  // 10 ms: 10 buffers
    const Observation few = *run_experiment(backend, triad(), method).observation;
    CHECK(few.caches.calls == 10);
    CHECK(few.caches.rotated == Bytes(120000));
    CHECK(few.notes.back().find("that caches keep (time budget)") != std::string::npos);
    method.caches = CacheWish::warm;
    const Observation warm = *run_experiment(backend, triad(), method).observation;
    CHECK(warm.caches.mode == CacheMode::warm);
    CHECK(backend.log_.sets == 1);
    CHECK(warm.notes.back().find("caches keep") == std::string::npos);
  }

  TEST_CASE("which elements are compared: all, or whole rows spread evenly") {
    const ExperimentSpec rows = parse_experiment("softmax rows=1000 cols=10");
    CHECK(elements_to_check(rows, 10000, 80000, 1).size() == 10000);  // 8 FLOPs an element
    const std::vector<std::int64_t> some = elements_to_check(rows, 10000, 8000, 1);
    REQUIRE(some.size() == 1000);  // 100 rows, one of each ten
    for (std::size_t i = 0; i < some.size(); ++i) {
      const auto row = some[i] / 10;
      CHECK(row / 10 == static_cast<std::int64_t>(i / 10));
      CHECK(some[i] % 10 == static_cast<std::int64_t>(i % 10));
    }
    const std::vector<std::int64_t> few = elements_to_check(rows, 10000, 1, 1);
    CHECK(few.size() == 160);  // never fewer than 16 rows
    CHECK(elements_to_check(rows, 10000, 8000, 2) != some);
    CHECK(elements_to_check(parse_experiment("two_stage_sum n=1000000"), 1, 1, 1).size() == 1);
  }
}
