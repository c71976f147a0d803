// SPDX-License-Identifier: Apache-2.0
#include "model/timeline/kinds/copies.hpp"

#include "model/quantity/unit_names.hpp"
#include "model/timeline/kinds/kind_keys.hpp"

namespace floorline {

namespace {

bool two_ways(CopyDirection direction) {
  return direction == CopyDirection::both || direction == CopyDirection::round_trip;
}

Pipeline pipeline_of(const Copies& in) {
  Pipeline p;
  p.name = "copies";
  p.items = in.batched ? 1 : in.count;
  const Bytes moved = (in.batched ? static_cast<double>(in.count) : 1) * in.each;
  const Seconds out = in.latency + moved / in.bandwidth;
  const Seconds back = in.latency + moved / in.back_bandwidth.value_or(in.bandwidth);
  const bool one_way_back = in.direction == CopyDirection::d2h;
  const bool returns = two_ways(in.direction);
  std::optional<StageId> there;
  std::optional<PoolId> engine;
  if (!one_way_back) {
    engine = p.add(
        Pool{.name = returns && in.engines == 1 ? "copy_engine" : "h2d", .kind = PoolKind::h2d});
    there = p.add(Stage{.name = "h2d", .pool = *engine, .time = {out, {}}});
  }
  if (!returns && !one_way_back) return p;
  if (!engine || in.engines > 1) engine = p.add(Pool{.name = "d2h", .kind = PoolKind::d2h});
  const StageId home = p.add(Stage{.name = "d2h", .pool = *engine, .time = {back, {}}});
  if (in.direction == CopyDirection::round_trip) {
    p.stages[index_of(home)].after.push_back({*there});
    p.stages[index_of(*there)].after.push_back({home, 1});
  }
  return p;
}

/// What a measured time says of the link.
std::vector<Fact> measured_facts(const Copies& in, BytesPerSecond rate, Seconds scheduled) {
  const auto n = static_cast<double>(in.count);
  const Bytes moved = n * (two_ways(in.direction) ? 2 : 1) * in.each;
  const Seconds measured = *in.measured;
  const BytesPerSecond reached = moved / measured;
  std::vector<Fact> facts{
      {"measured_bytes_per_s", "measured rate", reached.in_base_units(), to_text(reached)},
      factor_fact("measured_ratio", "measured over this schedule", measured / scheduled)};
  const Seconds left = measured - n * (in.each / rate);
  if (!two_ways(in.direction) && left > Seconds(0)) {
    facts.push_back(time_fact("implied_latency_s", "latency that explains it, a call",
                              left / (in.batched ? 1 : n)));
  }
  return facts;
}

}  // namespace

Copies read_copies(TableReader& table, std::vector<std::string>& assumptions) {
  Copies in;
  in.count = count_key(table, "count", {1, 1'000'000, 1});
  in.each = required_bytes(table, "bytes");
  in.direction = static_cast<CopyDirection>(
      word_key(table, "direction", {"h2d", "d2h", "both", "round_trip"}));
  in.latency = time_or_zero(table, "latency", "no latency: bytes over the link alone", assumptions);
  in.bandwidth = required_bandwidth(table, "bandwidth");
  if (table.has("d2h_bandwidth")) in.back_bandwidth = required_bandwidth(table, "d2h_bandwidth");
  in.batched = table.flag("batched").value_or(false);
  in.engines = static_cast<int>(count_key(table, "engines", {1, 2, 2}));
  in.measured = table.quantity<Seconds>("measured_time");
  if (in.measured && !(*in.measured > Seconds(0))) {
    table.error("measured_time", "expected a time above zero");
    in.measured.reset();
  }
  return in;
}

BuiltKind build(const Copies& in) {
  BuiltKind kind;
  kind.kind = "copies";
  kind.pipeline = pipeline_of(in);
  const BytesPerSecond rate =
      in.direction == CopyDirection::d2h ? in.back_bandwidth.value_or(in.bandwidth) : in.bandwidth;
  const auto n = static_cast<double>(in.count);
  const Seconds moving = in.each / rate;
  const Seconds apart = n * (in.latency + moving);
  const Seconds together = in.latency + n * moving;
  const char* way = in.direction == CopyDirection::d2h ? "d2h" : "h2d";
  kind.facts = {
      time_fact("bytes_term_s", std::string("one copy ") + way + ", bytes over bandwidth", moving),
      time_fact("copy_s", std::string("one copy ") + way, in.latency + moving),
      bytes_fact("crossover_bytes", "latency equals bytes at (n half)", in.latency * rate),
      time_fact("apart_s", "all, one call each", apart),
      time_fact("batched_s", "all, one call", together)};
  if (in.latency + moving > Seconds(0)) {
    kind.facts.push_back(share_fact("latency_share", "latency share of one copy",
                                    in.latency / (in.latency + moving)));
    const BytesPerSecond runs_at = in.each / (in.latency + moving);
    kind.facts.push_back(
        {"achieved_bytes_per_s", "one copy runs at", runs_at.in_base_units(), to_text(runs_at)});
    kind.facts.push_back(factor_fact("batching_speedup", "batching buys", apart / together));
  }
  if (in.measured) {
    kind.after = [in, rate](const Pipeline&, const Schedule& schedule) {
      if (!(schedule.makespan() > Seconds(0))) return std::vector<Fact>{};
      return measured_facts(in, rate, schedule.makespan());
    };
  }
  return kind;
}

}  // namespace floorline
