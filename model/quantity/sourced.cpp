// SPDX-License-Identifier: Apache-2.0
#include "model/quantity/sourced.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace floorline {

namespace {

// In the order of Origin and RateKind.
constexpr std::array<std::string_view, 4> kOrigins{"datasheet", "measured", "derived", "assumed"};
constexpr std::array<std::string_view, 3> kRateKinds{"ceiling", "observed", "best_seen"};

template <class Enum, std::size_t N>
std::optional<Enum> find_in(const std::array<std::string_view, N>& names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Enum>(found - names.begin());
}

}  // namespace

std::string_view name_of(Origin origin) { return kOrigins[static_cast<std::size_t>(origin)]; }
std::optional<Origin> origin_from(std::string_view name) { return find_in<Origin>(kOrigins, name); }

std::string_view name_of(RateKind kind) { return kRateKinds[static_cast<std::size_t>(kind)]; }
std::optional<RateKind> rate_kind_from(std::string_view name) {
  return find_in<RateKind>(kRateKinds, name);
}

}  // namespace floorline
