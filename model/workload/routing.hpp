// SPDX-License-Identifier: Apache-2.0
// What a router of experts is taken to do where the data decide.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace floorline {

enum class Routing : std::uint8_t {
  least,    ///< the least that any data could cause: the only one that is a floor of every run
  uniform,  ///< every set of top_k experts equally likely, tokens apart: expected amounts
  all,      ///< the most that data could cause
};

constexpr std::string_view name_of(Routing routing) {
  switch (routing) {
    case Routing::least:
      return "least";
    case Routing::uniform:
      return "uniform";
    case Routing::all:
      return "all";
  }
  return "";
}

constexpr std::optional<Routing> routing_from(std::string_view name) {
  for (const Routing r : {Routing::least, Routing::uniform, Routing::all}) {
    if (name == name_of(r)) return r;
  }
  return std::nullopt;
}

}  // namespace floorline
