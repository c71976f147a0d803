// SPDX-License-Identifier: Apache-2.0
#include "model/timeline/kinds/collective_cost.hpp"

#include <array>
#include <bit>

namespace floorline {

namespace {

constexpr std::array<std::string_view, 3> kAlgorithms{"ring", "tree", "in_network"};
constexpr std::array<std::string_view, 5> kCollectives{"all_reduce", "all_gather", "reduce_scatter",
                                                       "all_to_all", "broadcast"};

template <class Enum, std::size_t N>
std::optional<Enum> find_in(const std::array<std::string_view, N>& names, std::string_view name) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

double ceil_log2(std::int64_t ranks) {
  return static_cast<double>(std::bit_width(static_cast<std::uint64_t>(ranks - 1)));
}

/// How many alphas, and how often the message crosses one rank's link.
struct Shape {
  double steps = 0;
  double crossings = 0;
};

Shape all_reduce(CollectiveAlgorithm how, double p, double log) {
  switch (how) {
    case CollectiveAlgorithm::ring:
      return {2 * (p - 1), 2 * (p - 1) / p};
    case CollectiveAlgorithm::tree:
      return {2 * log, 2};
    case CollectiveAlgorithm::in_network:
      return {2, 1};
  }
  return {};
}

Shape broadcast(CollectiveAlgorithm how, double p, double log) {
  switch (how) {
    case CollectiveAlgorithm::ring:
      return {p - 1, 1};
    case CollectiveAlgorithm::tree:
      return {log, 1};
    case CollectiveAlgorithm::in_network:
      return {1, 1};
  }
  return {};
}

/// all_gather, reduce_scatter
Shape one_way(CollectiveAlgorithm how, double p, double log) {
  switch (how) {
    case CollectiveAlgorithm::ring:
      return {p - 1, (p - 1) / p};
    case CollectiveAlgorithm::tree:
      return {log, (p - 1) / p};
    case CollectiveAlgorithm::in_network:
      return {1, (p - 1) / p};
  }
  return {};
}

Shape shape_of(Collective what, CollectiveAlgorithm how, std::int64_t ranks) {
  const auto p = static_cast<double>(ranks);
  const double log = ceil_log2(ranks);
  switch (what) {
    case Collective::all_reduce:
      return all_reduce(how, p, log);
    case Collective::broadcast:
      return broadcast(how, p, log);
    case Collective::all_gather:
    case Collective::reduce_scatter:
      return one_way(how, p, log);
    case Collective::all_to_all:
      return {p - 1, (p - 1) / p};
  }
  return {};
}

}  // namespace

std::string_view name_of(CollectiveAlgorithm algorithm) {
  return kAlgorithms[static_cast<std::size_t>(algorithm)];
}
std::optional<CollectiveAlgorithm> collective_algorithm_from(std::string_view name) {
  return find_in<CollectiveAlgorithm>(kAlgorithms, name);
}
std::string_view name_of(Collective collective) {
  return kCollectives[static_cast<std::size_t>(collective)];
}
std::optional<Collective> collective_from(std::string_view name) {
  return find_in<Collective>(kCollectives, name);
}

CollectiveCost collective_cost(Collective what, CollectiveAlgorithm how, Bytes message,
                               std::int64_t ranks, const CollectiveLink& link) {
  if (ranks < 2) return {};
  const Shape shape = shape_of(what, how, ranks);
  return {link.alpha * shape.steps, shape.crossings * message / link.bandwidth};
}

}  // namespace floorline
