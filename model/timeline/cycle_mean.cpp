// SPDX-License-Identifier: Apache-2.0
// The largest cycle mean of a pipeline's event graph; what the graph is: period.hpp.
#include <algorithm>
#include <numeric>

#include "model/timeline/period.hpp"
#include "model/timeline/task_graph.hpp"

namespace floorline {

namespace {

__extension__ typedef __int128 Wide;  // weight x distance, summed over a path: up to 2^120

struct Edge {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  Ticks weight = 0;
  std::int64_t distance = 0;
};

constexpr std::int64_t kMostRelaxations = 200'000'000;

struct EventGraph {
  std::size_t nodes = 0;
  std::vector<Edge> edges;
};

bool constant_times(const Pipeline& p) {
  return p.arrivals.empty() && std::all_of(p.stages.begin(), p.stages.end(),
                                           [](const Stage& s) { return s.time.is_constant(); });
}

std::vector<std::vector<std::uint32_t>> stages_by_pool(const Pipeline& p) {
  std::vector<std::vector<std::uint32_t>> by_pool(p.pools.size());
  for (std::uint32_t s = 0; s < p.stages.size(); ++s)
    by_pool[index_of(p.stages[s].pool)].push_back(s);
  for (auto& stages : by_pool) {
    std::stable_sort(stages.begin(), stages.end(), [&](std::uint32_t a, std::uint32_t b) {
      return p.stages[a].sequence < p.stages[b].sequence;
    });
  }
  return by_pool;
}

bool is_max_plus(const Pipeline& p, const std::vector<std::vector<std::uint32_t>>& by_pool) {
  for (std::size_t r = 0; r < p.pools.size(); ++r) {
    const Pool& pool = p.pools[r];
    if (pool.sharing == Sharing::fair) return false;
    if (by_pool[r].size() <= 1) continue;
    if (pool.queue != Queue::in_order || pool.servers != 1) return false;
  }
  return constant_times(p);
}

/// `next` may not start before a server that ran `before` is free again, `distance` items earlier.
void server_edges(const Pipeline& p, const TaskGraph& g, std::uint32_t before, std::uint32_t next,
                  std::int64_t distance, EventGraph& graph) {
  graph.edges.push_back({before, next, g.constant[before], distance});
  for (const std::uint32_t b : g.buffers_out.of(before)) {
    const Buffer& buffer = p.buffers[b];
    if (buffer.capacity >= kMostTasks) continue;  // never full
    graph.edges.push_back({static_cast<std::uint32_t>(index_of(buffer.consumer)), next, 0,
                           distance + buffer.capacity});
  }
}

EventGraph event_graph(const Pipeline& p, const TaskGraph& g,
                       const std::vector<std::vector<std::uint32_t>>& by_pool) {
  EventGraph graph;
  graph.nodes = p.stages.size();
  for (std::uint32_t s = 0; s < p.stages.size(); ++s) {
    for (const Dependency& d : p.stages[s].after) {
      const auto from = static_cast<std::uint32_t>(index_of(d.stage));
      if (d.distance >= kMostTasks) continue;  // beyond any run
      graph.edges.push_back({from, s, d.event == Event::finish ? g.constant[from] : 0, d.distance});
    }
  }
  for (std::size_t r = 0; r < by_pool.size(); ++r) {
    const std::vector<std::uint32_t>& stages = by_pool[r];
    for (std::size_t k = 0; k < stages.size(); ++k) {
      const bool last = k + 1 == stages.size();
      const std::int64_t servers = std::min(p.pools[r].servers, kMostTasks);
      server_edges(p, g, stages[k], stages[last ? 0 : k + 1], last ? servers : 0, graph);
    }
  }
  return graph;
}

struct Ratio {
  Ticks weight = 0;
  std::int64_t distance = 1;
};

/// Longest paths under distance * w - weight * d; a cycle that still grows after all nodes is a
/// better one. Returns its edges.
class CycleSearch {
 public:
  explicit CycleSearch(const EventGraph& graph) : graph_(graph) {}

  std::vector<std::size_t> better_than(Ratio ratio, std::int64_t& budget) {
    length_.assign(graph_.nodes, 0);
    by_.assign(graph_.nodes, kNone);
    for (std::size_t round = 0; round <= graph_.nodes; ++round) {
      const std::size_t grown = relax(ratio);
      budget -= static_cast<std::int64_t>(graph_.edges.size());
      if (grown == kNone || budget < 0) return {};
      if (const std::vector<std::size_t> cycle = cycle_of_parents(); !cycle.empty()) return cycle;
    }
    return {};
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  std::size_t relax(Ratio ratio) {
    std::size_t grown = kNone;
    for (std::size_t e = 0; e < graph_.edges.size(); ++e) {
      const Edge& edge = graph_.edges[e];
      const Wide gain = static_cast<Wide>(edge.weight) * ratio.distance -
                        static_cast<Wide>(ratio.weight) * edge.distance;
      if (length_[edge.from] + gain <= length_[edge.to]) continue;
      length_[edge.to] = length_[edge.from] + gain;
      by_[edge.to] = e;
      grown = edge.to;
    }
    return grown;
  }

  /// Every cycle of the parent pointers has a positive length (Cherkassky, Goldberg 1999).
  std::vector<std::size_t> cycle_of_parents() {
    std::vector<std::size_t> mark(graph_.nodes, kNone);
    for (std::size_t root = 0; root < graph_.nodes; ++root) {
      std::size_t node = root;
      while (mark[node] == kNone && by_[node] != kNone) {
        mark[node] = root;
        node = graph_.edges[by_[node]].from;
      }
      if (by_[node] == kNone || mark[node] != root) continue;
      std::vector<std::size_t> cycle;
      const std::size_t first = node;
      do {
        cycle.push_back(by_[node]);
        node = graph_.edges[by_[node]].from;
      } while (node != first);
      return cycle;
    }
    return {};
  }

  const EventGraph& graph_;
  std::vector<Wide> length_;
  std::vector<std::size_t> by_;
};

}  // namespace

std::optional<CycleMean> largest_cycle_mean(const Pipeline& pipeline) {
  const auto by_pool = stages_by_pool(pipeline);
  if (!is_max_plus(pipeline, by_pool)) return std::nullopt;
  const TaskGraph tasks = task_graph_of(pipeline, {});
  const EventGraph graph = event_graph(pipeline, tasks, by_pool);
  CycleSearch search(graph);
  Ratio best;
  CycleMean mean;
  std::int64_t budget = kMostRelaxations;
  while (true) {
    const std::vector<std::size_t> cycle = search.better_than(best, budget);
    if (budget < 0) return std::nullopt;
    if (cycle.empty()) break;
    best = {0, 0};
    mean.stages.clear();
    for (const std::size_t e : cycle) {
      best.weight += graph.edges[e].weight;
      best.distance += graph.edges[e].distance;
      mean.stages.push_back(StageId{graph.edges[e].from});
    }
    if (best.distance == 0) return std::nullopt;  // a deadlock, told by the schedule
  }
  std::reverse(mean.stages.begin(), mean.stages.end());
  mean.time = Seconds(static_cast<double>(best.weight) / static_cast<double>(best.distance) /
                      tasks.ticks_per_second);
  return mean;
}

}  // namespace floorline
