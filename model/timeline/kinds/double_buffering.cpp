// SPDX-License-Identifier: Apache-2.0
#include "model/timeline/kinds/double_buffering.hpp"

#include "model/timeline/kinds/kind_keys.hpp"

namespace floorline {

DoubleBuffering read_double_buffering(TableReader& table, std::vector<std::string>&) {
  DoubleBuffering in;
  in.tiles = count_key(table, "tiles", {1, 1'000'000, 100});
  in.buffers = count_key(table, "buffers", {1, 1'000'000, 2});
  in.produce = required_time(table, "produce_time");
  in.consume = required_time(table, "consume_time");
  in.drain = table.quantity<Seconds>("drain_time");
  return in;
}

BuiltKind build(const DoubleBuffering& in) {
  BuiltKind kind;
  kind.kind = "double_buffering";
  Pipeline& p = kind.pipeline;
  p.name = "double buffering";
  p.items = in.tiles;
  const PoolId source = p.add(Pool{.name = "producer", .kind = PoolKind::h2d});
  const PoolId gpu = p.add(Pool{.name = "consumer", .kind = PoolKind::gpu});
  const StageId produce = p.add(Stage{.name = "produce", .pool = source, .time = {in.produce, {}}});
  const StageId consume =
      p.add(Stage{.name = "consume", .pool = gpu, .time = {in.consume, {}}, .after = {{produce}}});
  p.stages[index_of(produce)].after.push_back(
      {consume, in.buffers, Event::finish, DependencyKind::credit});
  if (in.drain) {
    const PoolId sink = p.add(Pool{.name = "drain", .kind = PoolKind::d2h});
    const StageId drain =
        p.add(Stage{.name = "drain", .pool = sink, .time = {*in.drain, {}}, .after = {{consume}}});
    p.stages[index_of(consume)].after.push_back(
        {drain, in.buffers, Event::finish, DependencyKind::credit});
  }
  return kind;
}

}  // namespace floorline
