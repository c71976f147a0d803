// SPDX-License-Identifier: Apache-2.0
#include "validation/experiment/runner.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "model/device/device_text.hpp"
#include "model/quantity/expect.hpp"

namespace floorline {

namespace {

constexpr double kColdFactor = 20;             // W >= 20 S_keep (design, section 11)
constexpr std::int64_t kMostSets = 4096;       // beyond, bookkeeping would be part of the time
constexpr std::int64_t kMostCalls = 100'000;   // of one sample
constexpr double kResolutionsPerSample = 200;  // a sample is known to half a percent

using Clock = std::chrono::steady_clock;

Seconds since(Clock::time_point start) {
  return Seconds(std::chrono::duration<double>(Clock::now() - start).count());
}

std::string in_mebibytes(Bytes bytes) {
  return std::to_string(static_cast<std::int64_t>(bytes.in_base_units() / 1048576)) + " MiB";
}

std::string digits(Bytes bytes) {
  return std::to_string(static_cast<std::int64_t>(bytes.in_base_units())) + " bytes";
}

/// Sizes that would print alike are printed in bytes.
std::string no_room(Bytes needed, Bytes cap) {
  std::string need = in_mebibytes(needed);
  std::string most = in_mebibytes(cap);
  if (need == most) {
    need = digits(needed);
    most = digits(cap);
  }
  return "needs " + need + " of memory; " + most + " may be taken (memory cap, free memory)";
}

/// What one call takes, from as many calls as the clock needs to tell.
Seconds time_of_call(PreparedExperiment& kernel, Seconds at_least) {
  for (std::int64_t calls = 1;; calls = std::min(calls * 8, kMostCalls)) {
    Seconds once = kernel.time_calls(0, calls);
    if (once < at_least && calls < kMostCalls) continue;
    // The quicker of three: another program's turn must not make the rotation small.
    for (int i = 0; i < 2; ++i) once = std::min(once, kernel.time_calls(0, calls));
    return once / static_cast<double>(calls);
  }
}

/// A sample is whole passes over the buffers, so that none is touched again before all others were:
/// a single call could find its own in a cache. Passes that would take too much of the budget go
/// over fewer buffers; W says over how many.
struct Pass {
  std::int64_t sets = 1;
  std::int64_t passes = 1;
};
Pass pass_of(Seconds call, Seconds at_least, std::int64_t sets, const Method& method) {
  const auto samples = static_cast<double>(std::max<std::int64_t>(method.least_samples, 1));
  const double per_sample = method.budget / samples / std::max(call, Seconds(1e-9));
  Pass pass;
  pass.sets =
      static_cast<std::int64_t>(std::clamp(std::floor(per_sample), 1.0, static_cast<double>(sets)));
  const double pass_seconds = std::max(call.in_base_units(), 1e-9) * static_cast<double>(pass.sets);
  const double most = static_cast<double>(std::max<std::int64_t>(kMostCalls / pass.sets, 1));
  pass.passes = static_cast<std::int64_t>(
      std::clamp(std::ceil(at_least.in_base_units() / pass_seconds), 1.0, most));
  return pass;
}

struct Sampling {
  std::vector<double> samples;
  SampleSummary summary;
  Pass pass;
  bool budget_ended = false;
};

/// Mean time of a call over one sample. Fewer sets than the experiment has: its calls would go on
/// to the others, so each pass is timed alone.
double sample_of(PreparedExperiment& kernel, const Pass& pass, std::int64_t sets) {
  const std::int64_t calls = pass.sets * pass.passes;
  if (pass.sets == sets) {
    return kernel.time_calls(0, calls).in_base_units() / static_cast<double>(calls);
  }
  Seconds sum{0};
  for (std::int64_t i = 0; i < pass.passes; ++i) sum += kernel.time_calls(0, pass.sets);
  return sum.in_base_units() / static_cast<double>(calls);
}

Sampling take_samples(PreparedExperiment& kernel, const Method& method, Seconds at_least,
                      std::int64_t sets) {
  Sampling taken;
  taken.pass = pass_of(time_of_call(kernel, at_least), at_least, sets, method);
  const Clock::time_point start = Clock::now();
  std::int64_t look_at = std::max<std::int64_t>(method.least_samples, 1);
  for (;;) {
    taken.samples.push_back(sample_of(kernel, taken.pass, sets));
    const auto count = static_cast<std::int64_t>(taken.samples.size());
    const bool over = since(start) >= method.budget || count >= method.most_samples;
    if (count < look_at && !over) continue;
    taken.summary = summarize(taken.samples, method.coverage);
    const std::optional<double> width = taken.summary.relative_width();
    const bool narrow = width && *width <= method.interval_width && count >= method.least_samples;
    taken.budget_ended = over && !narrow;
    if (narrow || over) return taken;
    look_at = count + std::max<std::int64_t>(count / 8, 1);
  }
}

/// Elements that belong together: a row whose statistics the reference computes once.
std::int64_t unit_length(const ExperimentSpec& spec) {
  switch (spec.kind) {
    case ExperimentKind::layernorm:
    case ExperimentKind::layernorm_three:
    case ExperimentKind::residual_norm:
    case ExperimentKind::residual_norm_one:
    case ExperimentKind::softmax:
      return spec.sizes.cols;
    case ExperimentKind::attention_naive:
    case ExperimentKind::attention_tiled:
      return spec.sizes.head_dim;
    default:
      return 1;
  }
}

/// A place within [0, length) that depends on the seed and the stratum only.
// NOLINTNEXTLINE(bugprone-easily-swappable-parameters): as in the comment
std::int64_t place(std::uint64_t seed, std::int64_t stratum, std::int64_t length) {
  std::uint64_t z = seed + static_cast<std::uint64_t>(stratum) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  return static_cast<std::int64_t>((z ^ (z >> 27U)) % static_cast<std::uint64_t>(length));
}

Observation observation_of(const Backend& backend, const ExperimentSpec& spec,
                           const Method& method) {
  Observation o;
  o.what = {spec.name, MeasurandKind::time};
  o.timer_resolution = backend.timer_resolution();
  o.warm_up = method.warm_up;
  o.machine = backend.measured_on();
  o.evidence = EvidenceClass::measured;
  o.notes = backend.notes();
  o.notes.push_back("seed of the data: " + std::to_string(method.seed));
  return o;
}

/// What a run is made of.
struct Running {
  Backend& backend;
  PreparedExperiment& kernel;
  const Method& method;
  const Rotation& rotation;
};

Comparison check_correctness(const Running& run, const ExperimentSpec& spec,
                             const ExperimentData& data) {
  const std::int64_t last = run.rotation.sets - 1;
  run.kernel.poison_output(last);
  run.kernel.call(last);
  return compare_output(
      spec, data, run.kernel.output(last),
      elements_to_check(spec, data.output_size, run.method.most_checked_work, run.method.seed));
}

/// W, and what it is less than, when it is.
void note_caches(const Running& run, const Pass& pass, Observation& o) {
  const OnChip& chip = run.backend.machine().chip;
  o.caches.mode = run.method.caches == CacheWish::warm ? CacheMode::warm : CacheMode::rotating;
  o.caches.calls = static_cast<double>(pass.sets);
  o.caches.rotated = run.rotation.each * o.caches.calls;
  if (run.method.caches == CacheWish::warm) return;
  if (!chip.keep_known) {
    o.notes.emplace_back("the device's caches are not known: this run cannot be called cold");
  } else if (o.caches.rotated < chip.keep * kColdFactor) {
    o.notes.push_back("rotates over " + in_mebibytes(o.caches.rotated) +
                      ", less than 20 times the " + in_mebibytes(chip.keep) +
                      " that caches keep (" +
                      (pass.sets < run.rotation.sets ? "time budget" : run.rotation.limit) +
                      "): judged by max(0, W - S_keep) / (calls B)");
  }
}

void measure(const Running& run, Observation& o) {
  for (std::int64_t i = 0; i < run.method.warm_up; ++i) run.kernel.call(i % run.rotation.sets);
  o.before = run.backend.state();
  const Seconds at_least =
      std::max(run.method.sample_at_least, run.backend.timer_resolution() * kResolutionsPerSample);
  Sampling taken = take_samples(run.kernel, run.method, at_least, run.rotation.sets);
  o.after = run.backend.state();
  o.summary = taken.summary;
  o.calls_per_sample = static_cast<double>(taken.pass.sets * taken.pass.passes);
  o.budget_ended = taken.budget_ended;
  o.samples = std::move(taken.samples);
  note_caches(run, taken.pass, o);
}

/// Where a result is not what it must be within its bound.
std::string wrong_element(std::int64_t element, double got, double expected, double allowed) {
  return "element " + std::to_string(element) + " is " + exact_text(got) + ", the reference " +
         exact_text(expected) + ", allowed error " + exact_text(allowed);
}

/// The first element that was not written; absent: all were.
std::optional<std::size_t> first_unwritten(const std::vector<double>& output) {
  for (std::size_t i = 0; i < output.size(); ++i) {
    if (!std::isfinite(output[i])) return i;
  }
  return std::nullopt;
}

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double v : values) most = std::max(most, std::abs(v));
  return most > 0 ? most : 1;
}

}  // namespace

Rotation rotation_of(const ExperimentSpec& spec, const OnChip& chip, const Method& method,
                     Bytes memory_free) {
  Rotation rotation;
  const Bytes held = footprint(spec);
  const Bytes once = touched(spec, chip.sector);
  const Bytes cap = std::min(method.memory_cap, memory_free);
  if (held > cap) {
    rotation.cannot = no_room(held, cap);
    if (cap < memory_free && cap < Method{}.memory_cap) {
      rotation.cannot += "; without --quick up to " +
                         in_mebibytes(std::min(Method{}.memory_cap, memory_free)) + " may be taken";
    }
    return rotation;
  }
  rotation.each = once;
  if (method.caches == CacheWish::warm) return rotation;
  const double needed = std::max(1.0, std::ceil(chip.keep * kColdFactor / once));
  const double fit = std::max(1.0, std::floor(cap / held));
  const double sets = std::min({needed, fit, static_cast<double>(kMostSets)});
  rotation.sets = static_cast<std::int64_t>(sets);
  if (sets < needed) rotation.limit = sets < fit ? "number of buffers" : "memory";
  return rotation;
}

// NOLINTNEXTLINE(bugprone-easily-swappable-parameters): named in the header
std::vector<std::int64_t> elements_to_check(const ExperimentSpec& spec, std::int64_t output_size,
                                            std::int64_t most_work, std::uint64_t seed) {
  std::vector<std::int64_t> elements;
  const std::int64_t unit = unit_length(spec);
  const std::int64_t units = output_size / unit;
  const double work = reference_work(spec);
  const double share = work > 0 ? static_cast<double>(most_work) / work : 1;
  std::int64_t taken = units;
  if (share < 1) {
    taken = static_cast<std::int64_t>(static_cast<double>(units) * share);
    taken = std::clamp<std::int64_t>(taken, std::min<std::int64_t>(units, 16), units);
  }
  elements.reserve(static_cast<std::size_t>(taken * unit));
  for (std::int64_t i = 0; i < taken; ++i) {
    // Stratum i of `taken` equal ones.
    const auto edge = [&](std::int64_t j) {
      return static_cast<std::int64_t>(static_cast<double>(units) * static_cast<double>(j) /
                                       static_cast<double>(taken));
    };
    const std::int64_t begin = taken == units ? i : edge(i);
    const std::int64_t end = taken == units ? i + 1 : std::max(edge(i + 1), begin + 1);
    const std::int64_t at = begin + place(seed, i, end - begin);
    for (std::int64_t j = 0; j < unit; ++j) elements.push_back(at * unit + j);
  }
  return elements;
}

Comparison compare_output(const ExperimentSpec& spec, const ExperimentData& data,
                          const std::vector<double>& output,
                          const std::vector<std::int64_t>& elements) {
  FLOORLINE_EXPECT(static_cast<std::int64_t>(output.size()) == data.output_size);
  Comparison result;
  if (const std::optional<std::size_t> unwritten = first_unwritten(output)) {
    result.message = "element " + std::to_string(*unwritten) + " of the output was not written";
    return result;
  }
  const ErrorBound bound = error_bound(spec);
  const std::vector<double> expected = reference(spec, data, elements);
  const double scale = largest(expected);
  double worst = -1;
  result.correctness.passed = true;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const double got = output[static_cast<std::size_t>(elements[i])];
    const double error = std::abs(got - expected[i]);
    const double allowed = bound.allowed(expected[i]);
    const double exact = error > 0 ? HUGE_VAL : 0;  // where nothing is allowed
    const double ratio = allowed > 0 ? error / allowed : exact;
    if (ratio > 1 && result.correctness.passed) {
      result.correctness.passed = false;
      result.message = wrong_element(elements[i], got, expected[i], allowed);
    }
    if (ratio <= worst) continue;
    worst = ratio;
    result.correctness.max_error = error / scale;
    result.correctness.bound = allowed / scale;
  }
  return result;
}

ExperimentRun run_experiment(Backend& backend, const ExperimentSpec& spec, const Method& method) {
  ExperimentRun run;
  run.spec = spec;
  run.why_not = backend.why_not(spec);
  if (!run.why_not.empty()) return run;
  const Rotation rotation =
      rotation_of(spec, backend.machine().chip, method, backend.memory_free());
  run.why_not = rotation.cannot;
  if (!run.why_not.empty()) return run;
  const ExperimentData data = make_data(spec, method.seed);
  const auto kernel = backend.prepare(spec, data, rotation.sets);
  Observation o = observation_of(backend, spec, method);
  const Running running{backend, *kernel, method, rotation};
  const Comparison compared = check_correctness(running, spec, data);
  o.correctness = compared.correctness;
  if (!compared.correctness.passed) {
    run.wrong = true;
    run.why_not = "the kernel's result is wrong: " + compared.message;
    return run;
  }
  measure(running, o);
  run.observation = std::move(o);
  return run;
}

Method quick_method() {
  Method method;
  method.warm_up = 1;
  method.interval_width = 0.05;
  method.least_samples = 8;
  method.budget = Seconds(0.2);
  method.memory_cap = MiB(256);
  method.most_checked_work = 10'000'000;
  return method;
}

}  // namespace floorline
