// SPDX-License-Identifier: Apache-2.0
#include "validation/observation/sample.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "model/quantity/expect.hpp"

namespace floorline {

namespace {

template <class Enum>
struct Name {
  Enum value;
  std::string_view name;
  std::string_view unit;
};

constexpr std::array<Name<MeasurandKind>, 6> kKinds{{
    {MeasurandKind::time, "time", "s"},
    {MeasurandKind::ratio, "ratio", "1"},
    {MeasurandKind::bytes, "bytes", "byte"},
    {MeasurandKind::flops, "flops", "FLOP"},
    {MeasurandKind::bandwidth, "bandwidth", "byte/s"},
    {MeasurandKind::flop_rate, "flop_rate", "FLOP/s"},
}};

constexpr std::array<Name<CacheMode>, 3> kModes{{
    {CacheMode::rotating, "rotating", ""},
    {CacheMode::warm, "warm", ""},
    {CacheMode::unknown, "unknown", ""},
}};

constexpr std::array<Name<EvidenceClass>, 3> kEvidence{{
    {EvidenceClass::mechanism, "mechanism", ""},
    {EvidenceClass::measured, "measured", ""},
    {EvidenceClass::typed, "typed", ""},
}};

template <class Enum, std::size_t N>
std::optional<Enum> named(const std::array<Name<Enum>, N>& names, std::string_view name) {
  for (const auto& row : names) {
    if (row.name == name) return row.value;
  }
  return std::nullopt;
}

template <class Enum, std::size_t N>
const Name<Enum>& row_of(const std::array<Name<Enum>, N>& names, Enum value) {
  for (const auto& row : names) {
    if (row.value == value) return row;
  }
  FLOORLINE_EXPECT(!"a value without a name");
  return names.front();
}

/// log C(n, i) - n log 2: the binomial probability of i of n at 1/2, without overflow.
double log_half_binomial(double n, double i) {
  return std::lgamma(n + 1) - std::lgamma(i + 1) - std::lgamma(n - i + 1) - n * std::log(2.0);
}

}  // namespace

std::string_view name_of(MeasurandKind kind) { return row_of(kKinds, kind).name; }
std::string_view unit_of(MeasurandKind kind) { return row_of(kKinds, kind).unit; }
std::optional<MeasurandKind> measurand_kind_named(std::string_view name) {
  return named(kKinds, name);
}
std::string_view name_of(CacheMode mode) { return row_of(kModes, mode).name; }
std::optional<CacheMode> cache_mode_named(std::string_view name) { return named(kModes, name); }
std::string_view name_of(EvidenceClass evidence) { return row_of(kEvidence, evidence).name; }
std::optional<EvidenceClass> evidence_named(std::string_view name) {
  return named(kEvidence, name);
}

std::optional<double> SampleSummary::relative_width() const {
  if (!interval || !(median > 0)) return std::nullopt;
  return (interval->high - interval->low) / median;
}

double median_of_sorted(const std::vector<double>& sorted) {
  FLOORLINE_EXPECT(!sorted.empty());
  const std::size_t half = sorted.size() / 2;
  if (sorted.size() % 2 == 1) return sorted[half];
  return sorted[half - 1] + (sorted[half] - sorted[half - 1]) / 2;
}

std::optional<MedianRanks> median_ranks(std::int64_t count, double coverage) {
  if (count < 1) return std::nullopt;
  // From the middle outwards, one sample on each side at a time, until the interval covers.
  const double n = static_cast<double>(count);
  std::int64_t low = (count + 1) / 2;
  double inside = count % 2 == 0 ? std::exp(log_half_binomial(n, n / 2)) : 0;
  while (inside < coverage) {
    if (low == 1) return std::nullopt;
    --low;
    inside += 2 * std::exp(log_half_binomial(n, static_cast<double>(low)));
  }
  return MedianRanks{low, count + 1 - low, inside};
}

SampleSummary summarize(std::vector<double> samples, double coverage) {
  FLOORLINE_EXPECT(!samples.empty());
  for (const double s : samples) FLOORLINE_EXPECT(std::isfinite(s));
  std::sort(samples.begin(), samples.end());
  SampleSummary summary;
  summary.median = median_of_sorted(samples);
  summary.minimum = samples.front();
  summary.maximum = samples.back();
  summary.count = static_cast<std::int64_t>(samples.size());
  if (const auto ranks = median_ranks(summary.count, coverage)) {
    summary.interval =
        MedianInterval{samples[static_cast<std::size_t>(ranks->low - 1)],
                       samples[static_cast<std::size_t>(ranks->high - 1)], ranks->coverage};
  }
  return summary;
}

SampleSummary typed_value(double value) {
  return SampleSummary{value, value, value, std::nullopt, 0};
}

}  // namespace floorline
