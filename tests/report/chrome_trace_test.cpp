// SPDX-License-Identifier: Apache-2.0
// The rules of an exported trace, on random pipelines: it is JSON, no two events of one track
// cross, every arrow has two ends inside an event, times are in us to the ns.
#include "model/report/chrome_trace.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <set>

#include "model/input/document_node.hpp"
#include "tests/timeline/random_pipeline.hpp"

namespace floorline {

namespace {

struct Slice {
  std::int64_t from = 0, to = 0;  // ns
};

double number(const Node& event, const char* key) { return event.find(key)->real; }

std::int64_t nanoseconds(const Node& event, const char* key) {
  return std::llround(number(event, key) * 1e3);
}

std::string trace_of(const Pipeline& pipeline) {
  const Timeline t = analyse(pipeline, make_schedule(pipeline));
  TimelineReport report;
  report.pipeline = &pipeline;
  report.timeline = &t;
  return chrome_trace(report);
}

void check_trace(const Node& trace, std::size_t tasks) {
  std::map<std::int64_t, std::vector<Slice>> tracks;
  std::set<std::int64_t> named;
  std::map<std::int64_t, int> arrows;
  std::size_t runs = 0;
  for (const Node& event : trace.find("traceEvents")->items) {
    const std::string& phase = event.find("ph")->text;
    const std::int64_t tid = event.find("tid")->integer;
    if (phase == "M" && event.find("name")->text == "thread_name") named.insert(tid);
    if (phase == "X") {
      const std::int64_t from = nanoseconds(event, "ts");
      tracks[tid].push_back({from, from + nanoseconds(event, "dur")});
      if (event.find("cat")->text != "held") ++runs;
      REQUIRE(named.contains(tid));
    }
    if (phase == "s" || phase == "f") {
      ++arrows[event.find("id")->integer];
      bool inside = false;
      const std::int64_t at = nanoseconds(event, "ts");
      for (const Slice& slice : tracks[tid])
        inside = inside || (slice.from <= at && at <= slice.to);
      REQUIRE(inside);
    }
  }
  CHECK(runs == tasks);
  for (const auto& [id, ends] : arrows) REQUIRE(ends == 2);
  for (const auto& [tid, slices] : tracks)
    for (std::size_t k = 1; k < slices.size(); ++k) REQUIRE(slices[k].from >= slices[k - 1].to);
}

}  // namespace

TEST_SUITE_BEGIN("report");

TEST_CASE("a trace of a random schedule keeps the rules") {
  int checked = 0;
  for (unsigned seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    const Pipeline p = random_pipeline(seed);
    if (make_schedule(p).deadlock) continue;
    check_trace(parse_json(trace_of(p), "trace"),
                p.stages.size() * static_cast<std::size_t>(p.items));
    ++checked;
  }
  CHECK(checked > 50);
}

TEST_CASE("names of stages cannot break a trace") {
  Pipeline p;
  Stage stage;
  stage.name = "\"]}\n\x01\xff";
  stage.pool = p.add(Pool{"\\", 1, PoolKind::gpu, Sharing::exclusive, Queue::fifo, 1});
  stage.time.constant = microseconds(1);
  p.add(stage);
  const Node trace = parse_json(trace_of(p), "trace");
  CHECK(trace.find("traceEvents")->items.size() == 4);
}

TEST_SUITE_END();

}  // namespace floorline
