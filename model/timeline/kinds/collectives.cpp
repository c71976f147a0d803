// SPDX-License-Identifier: Apache-2.0
#include "model/timeline/kinds/collectives.hpp"

#include "model/quantity/unit_names.hpp"
#include "model/timeline/kinds/kind_keys.hpp"

namespace floorline {

namespace {

constexpr std::int64_t kMostRanks = 10'000'000;

/// One word of a fixed list, read by `from`.
template <class Enum, class From>
Enum enum_key(TableReader& table, std::string_view key, const std::vector<std::string>& words,
              From from, Enum otherwise) {
  return from(words[word_key(table, key, words)]).value_or(otherwise);
}

}  // namespace

CollectiveKeys read_collective_keys(TableReader& table) {
  CollectiveKeys keys;
  keys.algorithm = enum_key(table, "algorithm", {"ring", "tree", "in_network"},
                            collective_algorithm_from, CollectiveAlgorithm::ring);
  keys.ranks = required_count(table, "ranks", 1, kMostRanks);
  keys.link = {required_time(table, "alpha"), required_bandwidth(table, "bandwidth")};
  return keys;
}

Collectives read_collectives(TableReader& table, std::vector<std::string>& assumptions) {
  Collectives in;
  in.collective =
      enum_key(table, "collective",
               {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast"},
               collective_from, Collective::all_reduce);
  in.keys = read_collective_keys(table);
  in.count = count_key(table, "count", {1, 1'000'000, 1});
  in.message = required_bytes(table, "bytes");
  in.compute =
      time_or_zero(table, "compute_time", "no compute between the collectives", assumptions);
  in.other_alpha = table.quantity<Seconds>("compare_alpha");
  return in;
}

BuiltKind build(const Collectives& in) {
  BuiltKind kind;
  kind.kind = "collectives";
  Pipeline& p = kind.pipeline;
  p.name = "collectives";
  p.items = in.count;
  const PoolId link = p.add(Pool{.name = "link", .kind = PoolKind::link});
  const CollectiveCost one = in.keys.cost(in.collective, in.message);
  const StageId send = p.add(Stage{.name = std::string(name_of(in.collective)),
                                   .pool = link,
                                   .time = {one.time(), {}},
                                   .collective = true});
  if (in.compute > Seconds(0)) {
    const PoolId gpu = p.add(Pool{.name = "gpu", .kind = PoolKind::gpu});
    const StageId compute = p.add(
        Stage{.name = "compute", .pool = gpu, .time = {in.compute, {}}, .after = {{send, 1}}});
    p.stages[index_of(send)].after.push_back({compute});
  }
  const auto n = static_cast<double>(in.count);
  kind.facts = {time_fact("collective_s", "one collective", one.time()),
                time_fact("collective_latency_s", "of it latency (alpha)", one.latency),
                time_fact("collective_bandwidth_s", "of it bytes over the link", one.bandwidth),
                time_fact("all_collectives_s", "all of them", n * one.time())};
  if (in.other_alpha) {
    CollectiveKeys other = in.keys;
    other.link.alpha = *in.other_alpha;
    const Seconds then = other.cost(in.collective, in.message).time();
    kind.facts.push_back(
        time_fact("compared_collective_s", "one at alpha " + to_text(*in.other_alpha), then));
    kind.facts.push_back(time_fact("compared_all_collectives_s", "all of them then", n * then));
  }
  return kind;
}

}  // namespace floorline
