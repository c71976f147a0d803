// SPDX-License-Identifier: Apache-2.0
#include "model/quantity/resource.hpp"

#include <array>
#include <cstddef>

namespace floorline {

namespace {

/// In the order of Unit.
constexpr std::array<std::string_view, kUnitCount> kUnitNames{
    "compute",  "memory",  "tensor",  "product", "vector", "linear", "sfu",
    "hbm",      "l2",      "l1_port", "shared",  "atomic", "h2d",    "d2h",
    "peer_out", "peer_in", "net_out", "net_in",  "host"};
static_assert(kUnitNames[static_cast<std::size_t>(Unit::host)] == "host");

constexpr bool has_input(Unit unit) {
  return unit == Unit::tensor || unit == Unit::product || unit == Unit::vector ||
         unit == Unit::linear;
}

std::optional<Unit> unit_from(std::string_view name) {
  for (std::size_t i = 0; i < kUnitNames.size(); ++i) {
    if (kUnitNames[i] == name) return static_cast<Unit>(i);
  }
  return std::nullopt;
}

/// The words between the dots of a name; an id has four at most.
struct Words {
  std::array<std::string_view, 4> word;
  std::size_t count = 0;  ///< 5: more words than an id can have
};

Words split(std::string_view name) {
  Words words;
  while (true) {
    const std::size_t dot = name.find('.');
    if (words.count < words.word.size()) words.word[words.count] = name.substr(0, dot);
    ++words.count;
    if (dot == std::string_view::npos || words.count > words.word.size()) return words;
    name.remove_prefix(dot + 1);
  }
}

}  // namespace

std::string_view name_of(Unit unit) { return kUnitNames[static_cast<std::size_t>(unit)]; }

std::string name_of(ResourceId id) {
  std::string name(name_of(id.unit));
  if (!has_input(id.unit)) return name;
  name.append(".").append(name_of(id.input));
  if (id.unit != Unit::tensor) return name;
  name.append(".").append(name_of(id.accumulate));
  if (id.sparse) name.append(".sparse");
  return name;
}

std::optional<ResourceId> resource_from(std::string_view name) {
  const Words words = split(name);
  const auto unit = unit_from(words.word[0]);
  if (!unit) return std::nullopt;
  ResourceId id{*unit, Precision::none, Precision::none, false};
  if (!has_input(*unit)) return words.count == 1 ? std::optional(id) : std::nullopt;

  const auto input = precision_from(words.word[1]);
  if (!input) return std::nullopt;
  id.input = *input;
  if (*unit != Unit::tensor) return words.count == 2 ? std::optional(id) : std::nullopt;

  const auto accumulate = precision_from(words.word[2]);
  if (!accumulate) return std::nullopt;
  id.accumulate = *accumulate;
  id.sparse = words.count == 4 && words.word[3] == "sparse";
  return words.count == (id.sparse ? 4U : 3U) ? std::optional(id) : std::nullopt;
}

}  // namespace floorline
