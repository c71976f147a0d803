// SPDX-License-Identifier: Apache-2.0
// What a measurement is, whoever made it (a kernel run here, a row of a table, a number typed in):
// the measured amount with its median, spread and the interval of the median, how it was measured,
// and on what. Values are in the base unit of the measurand (s, 1, byte, FLOP, byte/s, FLOP/s).
//   median     middle of the ordered samples; of an even count the mean of the middle two
//   interval   order statistics x_(l), x_(u) (1-based, l + u = n + 1) that hold the median with
//              probability sum_{i=l}^{u-1} C(n,i) / 2^n >= the asked coverage; the narrowest such.
//              Exact for any continuous distribution (Conover, Practical Nonparametric Statistics,
//              3rd ed., 1999, 3.2; Hoefler and Belli, SC15, 4). Too few samples: no interval
//   spread     (maximum - minimum) / median
// It assumes independent samples: drift (clocks, heat) is for the machine states to show.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/quantity/quantity.hpp"

namespace floorline {

enum class MeasurandKind : std::uint8_t { time, ratio, bytes, flops, bandwidth, flop_rate };
std::string_view name_of(MeasurandKind kind);  ///< "time", "ratio"…
std::string_view unit_of(MeasurandKind kind);  ///< "s", "1", "byte", "FLOP", "byte/s", "FLOP/s"
std::optional<MeasurandKind> measurand_kind_named(std::string_view name);

/// What was measured: "baseline", "variant", "time_ratio", "hbm_bytes"…
struct Measurand {
  std::string name;
  MeasurandKind kind = MeasurandKind::time;
};

struct MedianInterval {
  double low = 0;
  double high = 0;
  double coverage = 0;  ///< the exact one reached, at least the one asked for
};

struct SampleSummary {
  double median = 0;
  double minimum = 0;
  double maximum = 0;
  std::optional<MedianInterval> interval;  ///< absent: typed in, or fewer samples than it needs
  std::int64_t count = 0;                  ///< 0: typed in, no samples were seen

  [[nodiscard]] double spread() const { return median > 0 ? (maximum - minimum) / median : 0; }
  /// (high - low) / median: what a run makes small before it stops.
  [[nodiscard]] std::optional<double> relative_width() const;
};

constexpr double kDefaultCoverage = 0.95;

/// Sorts `samples`. They must not be empty and must be finite.
SampleSummary summarize(std::vector<double> samples, double coverage = kDefaultCoverage);
/// A number without samples: median = minimum = maximum, no interval, count 0.
SampleSummary typed_value(double value);
double median_of_sorted(const std::vector<double>& sorted);
/// Ranks l and u (1-based) of the narrowest interval that covers; absent when n is too small.
struct MedianRanks {
  std::int64_t low = 0;
  std::int64_t high = 0;
  double coverage = 0;
};
std::optional<MedianRanks> median_ranks(std::int64_t count, double coverage);

/// What the run did about caches. Whether that makes it cold is the verdict's to say: only with
/// `rotated` >= 20 S_keep; otherwise it is judged by max(0, rotated - S_keep) / (calls B).
enum class CacheMode : std::uint8_t { rotating, warm, unknown };
std::string_view name_of(CacheMode mode);
std::optional<CacheMode> cache_mode_named(std::string_view name);

struct CacheTreatment {
  CacheMode mode = CacheMode::unknown;
  Bytes rotated{0};  ///< W: distinct bytes touched, outputs included, before any is touched again
  double calls = 0;  ///< calls that together touch the W bytes
};

/// Compared with a double-precision reference before anything was timed.
struct Correctness {
  double max_error = 0;  ///< relative to the reference's scale, as the bound
  double bound = 0;      ///< c sqrt(k) eps of the storage and accumulation precision
  bool passed = false;
};

/// Clocks, heat and power at one moment. What was not collected is absent, never zero.
struct MachineState {
  std::optional<Hertz> sm_clock;  ///< of a CPU: the cores' clock
  std::optional<Hertz> memory_clock;
  std::optional<double> temperature_celsius;
  std::optional<double> power_watts;
  std::optional<std::string> throttle_reasons;  ///< "none" when asked and none held
};

/// What it ran on, in words that the machine itself reports.
struct MeasuredOn {
  std::string backend;                                        ///< "cpu", "cuda", "typed", "table"
  std::string device;                                         ///< as the driver or cpuid names it
  std::string driver;                                         ///< empty: not collected
  std::string host;                                           ///< operating system and kernel
  std::vector<std::pair<std::string, std::string>> versions;  ///< "compiler" "g++ 12.2", …
};

/// mechanism: a calculator or a synthetic trace. measured: samples taken on a named device.
/// typed: numbers from elsewhere, without samples; never upgraded to measured.
enum class EvidenceClass : std::uint8_t { mechanism, measured, typed };
std::string_view name_of(EvidenceClass evidence);
std::optional<EvidenceClass> evidence_named(std::string_view name);

struct Observation {
  Measurand what;
  SampleSummary summary;
  Seconds timer_resolution{0};  ///< 0: no timer was involved
  std::int64_t warm_up = 0;     ///< calls before the first sample
  double calls_per_sample = 1;  ///< a sample is the mean over these calls
  CacheTreatment caches;
  std::optional<Correctness> correctness;  ///< absent: nothing to compare (typed, tables)
  MachineState before;
  MachineState after;
  MeasuredOn machine;
  EvidenceClass evidence = EvidenceClass::measured;
  bool budget_ended = false;       ///< the interval was still wider than asked when time ran out
  std::vector<std::string> notes;  ///< "not measured: …", reasons for what is absent
  std::vector<double> samples;     ///< in the order taken; may be thinned to keep records small
};

}  // namespace floorline
