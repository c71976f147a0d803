// SPDX-License-Identifier: Apache-2.0
#include "model/timeline/schedule.hpp"

#include <doctest/doctest.h>

#include "tests/timeline/small_pipelines.hpp"

namespace floorline {

TEST_SUITE_BEGIN("timeline");

TEST_CASE("four stages, the GPU slowest: one item takes the sum, many the GPU's time each") {
  // 5 + 5 + 100 + 5 = 115 ms; then one every 100 ms.
  const Schedule s = make_schedule(chain({5, 5, 100, 5}, 10, 1));
  CHECK(s.completion.front() == 115'000'000'000'000);
  for (std::size_t i = 1; i < 10; ++i)
    CHECK(s.completion[i] - s.completion[i - 1] == 100'000'000'000'000);
}

TEST_CASE("four stages, the loader slowest: ten items in 825 ms, 40 ms a item with two workers") {
  // 80 + 10 + 10 + 5 = 105 ms; 105 + 9 x 80 = 825 ms.
  const Schedule s = make_schedule(chain({80, 10, 10, 5}, 10, 1));
  CHECK(s.time_of(s.completion.front()) == milliseconds(105));
  CHECK(s.makespan_ticks == 825'000'000'000'000);
  // Two workers: pairs end at 80, 160, ...; the second of a pair waits 10 ms for the copy engine
  // and 10 for the GPU: items end at 105, 115, 185, 195, ..., so ten end at 105 + 4 x 80 + 10.
  const Schedule two = make_schedule(chain({80, 10, 10, 5}, 10, 1, 2));
  CHECK(two.time_of(two.completion[1]) == milliseconds(115));
  CHECK(two.makespan() == milliseconds(435));
}

TEST_CASE("a buffer of capacity 0 is a rendezvous: the producer waits until its item is taken") {
  // load 1 ms, consumer 3 ms. Rendezvous: load 1 ends at 2 and is taken at 4 (consumer 0: 1..4), so
  // load 2 starts at 4, not at 2.
  Pipeline p = chain({1, 3}, 3, 0);
  const Schedule s = make_schedule(p);
  CHECK(s.start_of(StageId{0}, 1) == milliseconds(1));
  CHECK(s.start_of(StageId{0}, 2) == milliseconds(4));
  CHECK(s.makespan() == milliseconds(10));
  // One place: load 1 leaves for it at 2, load 2 starts at 2, ends at 3 and keeps the worker to 4.
  p.buffers.front().capacity = 1;
  const Schedule one = make_schedule(p);
  CHECK(one.start_of(StageId{0}, 2) == milliseconds(2));
  CHECK(one.time_of(one.release[static_cast<std::size_t>(one.task(StageId{0}, 2))]) ==
        milliseconds(4));
}

TEST_CASE(
    "a free server takes what was ready first, ties by item then stage, lowest server first") {
  Pipeline p;
  const PoolId pool = p.add(Pool{"cpu", 2, PoolKind::cpu, Sharing::exclusive, Queue::fifo, 1});
  Stage a;
  a.name = "a";
  a.pool = pool;
  a.time.constant = milliseconds(2);
  Stage b = a;
  b.name = "b";
  b.time.constant = milliseconds(3);
  p.add(a);
  p.add(b);
  p.items = 2;
  // All ready at 0: a0 on server 0, b0 on server 1 (item before stage), then a1 at 2 on server 0,
  // b1 at 3 on server 1.
  const Schedule s = make_schedule(p);
  CHECK(s.start_of(StageId{1}, 0) == milliseconds(0));
  CHECK(s.start_of(StageId{0}, 1) == milliseconds(2));
  CHECK(s.start_of(StageId{1}, 1) == milliseconds(3));
  CHECK(s.server[static_cast<std::size_t>(s.task(StageId{0}, 1))] == 0);
  CHECK(s.server[static_cast<std::size_t>(s.task(StageId{1}, 1))] == 1);
}

TEST_CASE("a fair resource runs all at once at an equal share") {
  // Two copies of 4 and 2 ms share one link from 0: the short one has 2 ms of progress at 4 ms, the
  // long one then has 2 ms left alone: 6 ms. With two links neither slows the other: 4 ms.
  Pipeline p;
  Pool link{"link", 1, PoolKind::link, Sharing::fair, Queue::fifo, 1};
  Stage a;
  a.name = "long";
  a.pool = p.add(link);
  a.time.constant = milliseconds(4);
  Stage b = a;
  b.name = "short";
  b.time.constant = milliseconds(2);
  p.add(a);
  p.add(b);
  const Schedule s = make_schedule(p);
  CHECK(s.end_of(StageId{1}, 0) == milliseconds(4));
  CHECK(s.end_of(StageId{0}, 0) == milliseconds(6));
  p.pools.front().servers = 2;
  CHECK(make_schedule(p).makespan() == milliseconds(4));
}

TEST_CASE("in_order holds up what is ready for what comes before it; priority does not") {
  Pipeline p;
  Pool stream{"stream", 1, PoolKind::gpu, Sharing::exclusive, Queue::in_order, 1};
  Pool other{"other", 1, PoolKind::cpu, Sharing::exclusive, Queue::fifo, 1};
  const PoolId gpu = p.add(stream);
  Stage late;
  late.name = "late";
  late.pool = p.add(other);
  late.time.constant = milliseconds(5);
  const StageId cause = p.add(late);
  Stage first;
  first.name = "first";
  first.pool = gpu;
  first.time.constant = milliseconds(1);
  first.sequence = 0;
  first.after = {{cause}};
  p.add(first);
  Stage second = first;
  second.name = "second";
  second.sequence = 1;
  second.after.clear();
  p.add(second);
  // first waits for 5 ms, second behind it although it is ready at 0.
  CHECK(make_schedule(p).start_of(StageId{2}, 0) == milliseconds(6));
  p.pools.front().queue = Queue::priority;
  CHECK(make_schedule(p).start_of(StageId{2}, 0) == milliseconds(0));
}

TEST_CASE(
    "items enter when they arrive, and what has a distance does not wait for what never was") {
  Pipeline p = chain({1, 2}, 3, -1);
  p.arrivals = {seconds(0), milliseconds(10), milliseconds(10.5)};
  p.stages[0].after.push_back({StageId{1}, 2});  // load of item i after gpu of item i - 2
  // 0..1, 1..3; 10..11, 11..13; item 2 arrives at 10.5, its worker is free at 11: 11..12, 13..15.
  const Schedule s = make_schedule(p);
  CHECK(s.start_of(StageId{0}, 2) == milliseconds(11));
  CHECK(s.makespan() == milliseconds(15));
}

TEST_CASE("a worker pool's measured scaling efficiency stretches each worker's time") {
  // Two workers at 0.8: 80 ms become 100 ms each.
  Pipeline p = chain({80}, 2, -1, 2);
  p.pools.front().scaling_efficiency = 0.8;
  CHECK(make_schedule(p).makespan() == milliseconds(100));
}

TEST_CASE("deadlock: a cycle without initial tokens is named") {
  Pipeline p = chain({1, 1}, 2, -1);
  p.stages[0].after.push_back({StageId{1}, 0});
  const Schedule s = make_schedule(p);
  REQUIRE(s.deadlock);
  REQUIRE(s.deadlock->cycle.size() == 2);
  CHECK(s.deadlock->cycle[0].waits_for == "the result of h2d (item 0)");
  CHECK(s.deadlock->cycle[1].waits_for == "the result of load (item 0)");
  p.stages[0].after.back().distance = 1;  // one initial token
  CHECK(!make_schedule(p).deadlock);
}

TEST_CASE("deadlock: a path that needs three items ahead beside a buffer of one") {
  // b of item i needs a of item i + 2 in effect: b(i) waits for c(i), c in batches is not needed;
  // here c's server is taken by a itself: a's ended items fill the only server.
  Pipeline p;
  Stage a;
  a.name = "a";
  a.pool = p.add(Pool{"one", 1, PoolKind::cpu, Sharing::exclusive, Queue::fifo, 1});
  a.time.constant = milliseconds(1);
  const StageId first = p.add(a);
  Stage b = a;
  b.name = "b";
  b.after = {{first}};
  const StageId second = p.add(b);
  p.buffers.push_back({first, second, 0});
  const Schedule s = make_schedule(p);
  REQUIRE(s.deadlock);
  // a keeps the only server until b takes its item; b needs that server.
  REQUIRE(s.deadlock->cycle.size() == 2);
  CHECK(s.deadlock->cycle[0].waits_for ==
        "a server of one, kept by a (item 0) that has no room to leave");
  CHECK(s.deadlock->cycle[1].waits_for == "room before b (item 0)");
}

TEST_SUITE_END();

}  // namespace floorline
