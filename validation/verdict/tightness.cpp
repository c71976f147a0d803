// SPDX-License-Identifier: Apache-2.0
#include "validation/verdict/tightness.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "model/quantity/expect.hpp"

namespace floorline {

namespace {

constexpr Flops kLargeWork(1e11);
constexpr double kBeyondCache = 4;  // times L2: what stays from the run before is a small part
constexpr double kLargeMessage = 16 * 1048576.0;
constexpr double kMediumMessage = 1048576.0;

constexpr std::array<std::string_view, 6> kSizeNames{
    "F > 1e11", "memory-bound, D > 4 L2", "rest", ">= 16 MiB", "1 to 16 MiB", "< 1 MiB"};

constexpr std::array kTargets{
    TightnessTarget{"h100_sxm", RowKind::gemm, "bfloat16", SizeClass::large_work, 1.34},
    TightnessTarget{"a100_sxm", RowKind::gemm, "bfloat16", SizeClass::large_work, 1.31},
    TightnessTarget{"h100_sxm", RowKind::gemm, "bfloat16", SizeClass::memory_bound, 1.20},
    TightnessTarget{"a100_sxm", RowKind::gemm, "bfloat16", SizeClass::memory_bound, 1.41},
};

SizeClass class_of(const CollectiveRowKeys& keys) {
  const auto message = static_cast<double>(keys.bytes);
  if (message >= kLargeMessage) return SizeClass::large_message;
  return message >= kMediumMessage ? SizeClass::medium_message : SizeClass::small_message;
}

}  // namespace

std::string_view name_of(SizeClass size) { return kSizeNames[static_cast<std::size_t>(size)]; }

double percentile(std::span<const double> sorted, double q) {
  FLOORLINE_EXPECT(!sorted.empty() && q >= 0 && q <= 1);
  const double rank = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(rank));
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double part = rank - std::floor(rank);
  return sorted[below] + part * (sorted[above] - sorted[below]);
}

Percentiles percentiles(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  return {values.size(), percentile(values, 0.1), percentile(values, 0.5), percentile(values, 0.9)};
}

void Tightness::add(const MeasuredRow& row, const RowVerdict& verdict, Bytes kept) {
  if (!(verdict.cold.time() > Seconds(0))) return;  // one rank alone: no work, no ratio
  const double ratio = (row.time + verdict.resolution) / verdict.cold.time();
  if (const auto* collective = std::get_if<CollectiveRowKeys>(&row.keys.work)) {
    return add(row.keys, class_of(*collective), ratio);
  }
  const Demand& demand = verdict.demand;
  const bool large = demand.flops > kLargeWork;
  const bool memory = verdict.cold.binding_term().resource.unit == Unit::hbm &&
                      demand.hbm_read + demand.hbm_write > kept * kBeyondCache;
  if (large) add(row.keys, SizeClass::large_work, ratio);
  if (memory) add(row.keys, SizeClass::memory_bound, ratio);
  if (!large && !memory) add(row.keys, SizeClass::rest, ratio);
}

void Tightness::add(const RowKeys& keys, SizeClass size, double ratio) {
  const std::string gpu(keys.gpu);
  ratios_[{gpu, keys.kind, "", size}].push_back(ratio);
  ratios_[{gpu, keys.kind, variant_of(keys), size}].push_back(ratio);
}

std::vector<TightnessGroup> Tightness::groups() const {
  std::vector<TightnessGroup> all;
  for (const auto& [key, ratios] : ratios_) {
    const auto& [gpu, kind, variant, size] = key;
    all.push_back({gpu, kind, variant, size, percentiles(ratios)});
  }
  return all;
}

std::span<const TightnessTarget> tightness_targets() { return kTargets; }

}  // namespace floorline
