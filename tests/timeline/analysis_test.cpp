// SPDX-License-Identifier: Apache-2.0
#include "model/timeline/analysis.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/timeline/small_pipelines.hpp"

namespace floorline {

namespace {

/// As a file would say it: 0.825 and 825 x 1e-3 differ in the last bit.
Seconds ms(double n) { return Seconds(n / 1000); }

Timeline analysed(const Pipeline& p) { return analyse(p, make_schedule(p)); }

Stage stage_on(PoolId pool, const char* name, double milli) {
  Stage stage;
  stage.name = name;
  stage.pool = pool;
  stage.time.constant = ms(milli);
  return stage;
}

PoolId one_server(Pipeline& p, const char* name, PoolKind kind = PoolKind::other) {
  return p.add(Pool{name, 1, kind, Sharing::exclusive, Queue::fifo, 1});
}

}  // namespace

TEST_SUITE_BEGIN("timeline");

TEST_CASE("the loader's 825 ms: the critical path is the loader ten times, then the last item") {
  const Timeline t = analysed(chain({80, 10, 10, 5}, 10, 1));
  CHECK(t.first_item == ms(105));
  CHECK(t.schedule.makespan() == ms(825));
  REQUIRE(t.critical_path.steps.size() == 13);
  for (std::size_t i = 0; i < 10; ++i) {
    CHECK(t.critical_path.steps[i].stage == StageId{0});
    CHECK(t.critical_path.steps[i].item == static_cast<std::int64_t>(i));
    CHECK(t.critical_path.steps[i].wait == (i == 0 ? Wait::nothing : Wait::server));
  }
  for (std::uint32_t s = 1; s < 4; ++s) {
    const PathStep& step = t.critical_path.steps[9 + s];
    CHECK(step.stage == StageId{s});
    CHECK(step.item == 9);
    CHECK(step.wait == Wait::buffer_empty);
    CHECK(step.waited_for == StageId{s - 1});
  }
  REQUIRE(t.period);
  CHECK(t.period->time == ms(80));
  CHECK(t.period->kind == PeriodKind::cycle_mean);
  CHECK(t.period->repeats == ms(80));
  CHECK(t.period->cycle == std::vector<StageId>{StageId{0}});
}

TEST_CASE("times of thousands of tasks sum beyond 63 bits of ticks") {
  // Ticks of a femtosecond: 2^63 of them are 9223 s. 4 workers load for 0.1 s, a step takes 1 s,
  // two places between them: 3000 items, makespan 0.1 + 3000 s, loaded in 300 worker-seconds. The
  // last load begins when its worker is let go, at least 2990 s in: four workers are held or busy
  // until then, so at least 4 x 2990 - 300 = 11,660 s are held, and at most 4 x 3000.1 - 300.
  const Timeline t = analysed(chain({100, 1000}, 3000, 2, 4));
  REQUIRE(t.resources.size() == 2);
  const ResourceUse& workers = t.resources[0];
  CHECK(workers.busy.in_base_units() == doctest::Approx(300));
  CHECK(workers.held.in_base_units() > 11660);
  CHECK(workers.held.in_base_units() < 11700.4);
  const double all = (workers.busy + workers.held + workers.idle).in_base_units();
  CHECK(all == doctest::Approx(4 * 3000.1));
}

TEST_CASE("two loader workers halve the period; the GPU of 100 ms sets it otherwise") {
  const Timeline two = analysed(chain({80, 10, 10, 5}, 10, 1, 2));
  REQUIRE(two.period);
  CHECK(two.period->time == ms(40));
  CHECK(two.period->repeats == ms(40));
  const Timeline slow_gpu = analysed(chain({5, 5, 100, 5}, 10, 1));
  CHECK(slow_gpu.period->time == ms(100));
  CHECK(slow_gpu.period->cycle == std::vector<StageId>{StageId{2}});
}

TEST_CASE("busy, held and idle time, and why") {
  // load 1 ms, consumer 3 ms, buffer 1, three items: loads 0..1, 1..2, 2..3; the consumer runs
  // 1..4, 4..7, 7..10. Load 1 goes into the buffer at 2; load 2 keeps its worker from 3 to 4.
  const Timeline t = analysed(chain({1, 3}, 3, 1));
  const ResourceUse& loader = t.resources[0];
  CHECK(loader.busy == ms(3));
  CHECK(loader.held == ms(1));
  CHECK(loader.idle == ms(6));
  CHECK(loader.utilization == doctest::Approx(0.3));
  REQUIRE(loader.why.size() == 2);
  CHECK(loader.why[0].ended);
  CHECK(loader.why[0].time == ms(6));
  CHECK(loader.why[1].wait == Wait::buffer_full);
  CHECK(loader.why[1].stage == StageId{1});
  const ResourceUse& consumer = t.resources[1];
  CHECK(consumer.busy == ms(9));
  REQUIRE(consumer.why.size() == 1);
  CHECK(consumer.why[0].wait == Wait::buffer_empty);
  CHECK(consumer.why[0].stage == StageId{0});
  CHECK(consumer.why[0].time == ms(1));
}

TEST_CASE("slack: how much later a stage may end") {
  // a 2 ms and b 5 ms both before c 1 ms: a may end 3 ms later, nothing else any.
  Pipeline p;
  const StageId a = p.add(stage_on(one_server(p, "x"), "a", 2));
  const StageId b = p.add(stage_on(one_server(p, "y"), "b", 5));
  Stage c = stage_on(one_server(p, "z"), "c", 1);
  c.after = {{a}, {b}};
  p.add(c);
  const Timeline t = analysed(p);
  CHECK(t.groups[0].slack == ms(3));
  CHECK(t.groups[1].slack == ms(0));
  CHECK(t.groups[2].slack == ms(0));
  // Twice as fast: b 2.5 + 1 = 3.5; free: a's 2 + 1 = 3. A faster a buys nothing.
  CHECK(t.groups[1].twice_as_fast->makespan == ms(3.5));
  CHECK(t.groups[1].free->makespan == ms(3));
  CHECK(t.groups[0].free->makespan == ms(6));
  CHECK(!t.period);  // one item
}

TEST_CASE("an anomaly: a faster stage that ends later is marked") {
  // x (10 ms, after a: 3 ms) and y (1 ms, after b: 2 ms) share one server; z (10 ms) follows y.
  // As given: y 2..3, z 3..13, x 3..13: 13 ms. With a in 1.5 ms x comes first: x 1.5..11.5,
  // y ..12.5, z ..22.5.
  Pipeline p;
  const StageId a = p.add(stage_on(one_server(p, "ra"), "a", 3));
  const StageId b = p.add(stage_on(one_server(p, "rb"), "b", 2));
  const PoolId shared = one_server(p, "shared");
  Stage x = stage_on(shared, "x", 10);
  x.after = {{a}};
  p.add(x);
  Stage y = stage_on(shared, "y", 1);
  y.after = {{b}};
  const StageId y_id = p.add(y);
  Stage z = stage_on(one_server(p, "rz"), "z", 10);
  z.after = {{y_id}};
  p.add(z);
  const Timeline t = analysed(p);
  CHECK(t.schedule.makespan() == ms(13));
  CHECK(t.groups[0].twice_as_fast->makespan == ms(22.5));
  CHECK(t.groups[0].twice_as_fast->anomaly);
  CHECK(!t.groups[4].twice_as_fast->anomaly);
}

TEST_CASE("GPU-Util is the union of kernels; communication beside a kernel is not exposed") {
  // Two streams: kernels 0..4 and 2..6 (after a host stage of 2): union 6. The collective runs
  // 4..10 (after the first kernel): 2 ms beside the second kernel, 4 ms exposed. End 10.
  Pipeline p;
  const StageId first = p.add(stage_on(one_server(p, "s0", PoolKind::gpu), "k0", 4));
  const StageId host = p.add(stage_on(one_server(p, "host", PoolKind::host), "launch", 2));
  Stage second = stage_on(one_server(p, "s1", PoolKind::gpu), "k1", 4);
  second.after = {{host}};
  p.add(second);
  Stage reduce = stage_on(one_server(p, "net", PoolKind::network), "all_reduce", 6);
  reduce.after = {{first}};
  reduce.collective = true;
  p.add(reduce);
  const Timeline t = analysed(p);
  CHECK(*t.gpu_util == doctest::Approx(0.6));
  CHECK(*t.communication == ms(6));
  CHECK(*t.exposed_communication == ms(4));
}

TEST_CASE("period of a cycle through a buffer and a credit") {
  // a 2 ms, b 3 ms, a rendezvous between: a's next start waits for b's start: cycle a -> b -> a is
  // 2 ms over distance 1; b alone 3 ms: the period is 3. With a waiting for the END of b one item
  // before, it is 2 + 3 = 5; two items before: 2.5, below b's own 3.
  Pipeline p = chain({2, 3}, 20, 0);
  CHECK(largest_cycle_mean(p)->time == ms(3));
  p.stages[0].after.push_back({StageId{1}, 1, Event::finish, DependencyKind::credit});
  CHECK(largest_cycle_mean(p)->time == ms(5));
  CHECK(steady_period(p, make_schedule(p))->repeats == ms(5));
  p.stages[0].after.back().distance = 2;
  CHECK(largest_cycle_mean(p)->time == ms(3));
}

TEST_CASE("stages that share servers in order of readiness have a simulated period") {
  // Two stages of 2 and 3 ms on one server: at least 5 ms an item, and so it is.
  Pipeline p = chain({2, 3}, 20, -1);
  p.stages[1].pool = p.stages[0].pool;
  CHECK(!largest_cycle_mean(p));
  const auto period = steady_period(p, make_schedule(p));
  REQUIRE(period);
  CHECK(period->kind == PeriodKind::simulated);
  CHECK(period->at_least == ms(5));
  // In a fixed order it is a cycle mean again.
  p.pools[0].queue = Queue::in_order;
  p.stages[1].sequence = 1;
  CHECK(largest_cycle_mean(p)->time == ms(5));
}

TEST_SUITE_END();

}  // namespace floorline
