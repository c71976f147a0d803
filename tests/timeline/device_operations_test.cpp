// SPDX-License-Identifier: Apache-2.0
// What a host thread that copies and launches can overlap: batch h on the host, copy c, step k.
#include <doctest/doctest.h>

#include <string>

#include "model/input/document_node.hpp"
#include "model/timeline/analysis.hpp"
#include "model/timeline/pipeline_file.hpp"

namespace floorline {

namespace {

Pipeline from_text(const std::string& text) {
  const PipelineFile file = read_pipeline(parse_toml(text, "test.toml"));
  ResolvedTimes times;
  times.items = file.items.value_or(1);
  for (const StageEntry& stage : file.stages) {
    times.stages.emplace_back();
    times.stages.back().constant = std::get<Seconds>(stage.time);
  }
  return build_pipeline(file, times);
}

struct Loop {
  int batch = 4;
  int copy = 6;
  int step = 10;
  bool pinned = false;
  bool non_blocking = false;
  bool own_stream = false;
  bool reads_loss = false;  ///< the host waits for each step
};

std::string text_of(const Loop& loop) {
  const auto flag = [](bool on) { return std::string(on ? "true" : "false"); };
  std::string text = "schema = 1\nkind = \"pipeline\"\nitems = 40\n";
  text += "[[stage]]\nname = \"batch\"\nresource = \"host\"\ntime = \"" +
          std::to_string(loop.batch) + " ms\"\n";
  text += "[[stage]]\nname = \"copy\"\nafter = [\"batch\"]\nresource = \"h2d\"\ntime = \"" +
          std::to_string(loop.copy) + " ms\"\npinned = " + flag(loop.pinned) +
          "\nnon_blocking = " + flag(loop.non_blocking) + "\nstream = \"" +
          (loop.own_stream ? "copy" : "main") + "\"\n";
  text += "[[stage]]\nname = \"step\"\nafter = [\"copy\"]\nresource = \"gpu\"\ntime = \"" +
          std::to_string(loop.step) + " ms\"\nstream = \"main\"\n";
  if (loop.reads_loss)
    text += "[[stage]]\nname = \"loss\"\nafter = [\"step\"]\nresource = \"host\"\ntime = \"0 s\"\n";
  return text;
}

double period_ms(const Loop& loop) {
  const Pipeline p = from_text(text_of(loop));
  const Schedule s = make_schedule(p);
  REQUIRE(!s.deadlock);
  const auto period = steady_period(p, s);
  REQUIRE(period);
  REQUIRE(period->kind == PeriodKind::cycle_mean);
  REQUIRE(period->repeats);
  CHECK(period->repeats->in_base_units() == doctest::Approx(period->time.in_base_units()));
  return period->time.in_base_units() * 1e3;
}

}  // namespace

TEST_SUITE_BEGIN("timeline");

// Rows: pinned, non_blocking; columns: the step's stream, a stream of its own.
// The host is blocked by every copy but a pinned non_blocking one; the copy of item i + 1 waits for
// the step of item i on the same stream only.
//   blocked, same stream   the batch is made beside the step before, then the copy: max(h, k) + c
//   free, same stream      the host runs ahead, the stream is the limit: max(h, c + k)
//   blocked, own stream    the host is busy h + c a batch, the step runs beside it: max(h + c, k)
//   free, own stream       all three side by side: max(h, c, k)
TEST_CASE("copies 2 x 2 x 2: a quick host") {  // h 4, c 6, k 10
  for (const bool pinned : {false, true}) {
    for (const bool non_blocking : {false, true}) {
      CAPTURE(pinned);
      CAPTURE(non_blocking);
      // max(4, 10) + 6 = 16 blocked, max(4, 6 + 10) = 16 free: one stream hides no copy at all.
      CHECK(period_ms({.pinned = pinned, .non_blocking = non_blocking}) == doctest::Approx(16));
      // max(4 + 6, 10) = 10 blocked: it overlaps the step already queued on the other stream;
      // max(4, 6, 10) = 10 free.
      CHECK(period_ms({.pinned = pinned, .non_blocking = non_blocking, .own_stream = true}) ==
            doctest::Approx(10));
    }
  }
}

TEST_CASE("copies 2 x 2 x 2: a slow host, which runs ahead only if pinned and non_blocking") {
  // h 12, c 6, k 10. Same stream: blocked max(12, 10) + 6 = 18, free max(12, 16) = 16. Own stream:
  // blocked max(12 + 6, 10) = 18, free max(12, 6, 10) = 12.
  for (const bool pinned : {false, true}) {
    for (const bool non_blocking : {false, true}) {
      CAPTURE(pinned);
      CAPTURE(non_blocking);
      const bool free = pinned && non_blocking;
      Loop loop{.batch = 12, .pinned = pinned, .non_blocking = non_blocking};
      CHECK(period_ms(loop) == doctest::Approx(free ? 16 : 18));
      loop.own_stream = true;
      CHECK(period_ms(loop) == doctest::Approx(free ? 12 : 18));
    }
  }
}

TEST_CASE("a host that reads every loss overlaps nothing, whatever its copies are") {
  // h + c + k = 4 + 6 + 10 = 20 ms in all eight.
  for (const bool pinned : {false, true})
    for (const bool non_blocking : {false, true})
      for (const bool own_stream : {false, true})
        CHECK(period_ms({.pinned = pinned,
                         .non_blocking = non_blocking,
                         .own_stream = own_stream,
                         .reads_loss = true}) == doctest::Approx(20));
}

TEST_CASE("a pageable copy waits for its stream in the call: the host idles for the step before") {
  // From the second item on the host makes its batch beside the step (4 of its 10 ms), then waits
  // 6 ms for the stream inside the call, then 6 ms for the copy.
  const Pipeline p = from_text(text_of({}));
  const Timeline t = analyse(p, make_schedule(p));
  const ResourceUse& host = t.resources[0];
  REQUIRE(host.why.size() >= 2);
  CHECK(host.why[0].wait == Wait::synchronous);
  // 40 copies of 6 ms; 39 waits of 6 ms for the step.
  CHECK(host.why[0].time.in_base_units() == doctest::Approx(0.240));
  CHECK(host.why[1].wait == Wait::synchronous);
  CHECK(host.why[1].time.in_base_units() == doctest::Approx(0.234));
}

TEST_CASE("copies in both directions overlap on two engines, not on one") {
  // 6 ms in and 6 ms out for each item, nothing between: 6 ms an item on two engines, 12 on one.
  const std::string stages =
      "schema = 1\nkind = \"pipeline\"\nitems = 10\n[[stage]]\nname = \"in\"\nresource = \"h2d\"\n"
      "time = \"6 ms\"\n[[stage]]\nname = \"out\"\nafter = [\"in\"]\ntime = \"6 ms\"\nresource = ";
  const Pipeline two = from_text(stages + "\"d2h\"\n");
  CHECK(steady_period(two, make_schedule(two))->time.in_base_units() == doctest::Approx(0.006));
  const Pipeline one = from_text(stages + "\"h2d\"\n");
  CHECK(steady_period(one, make_schedule(one))->time.in_base_units() == doctest::Approx(0.012));
}

TEST_CASE("launches: the host's time to issue counts where kernels are shorter") {
  // Two kernels of 2 us, 5 us to launch each: 10 us an item; with 1 us each the kernels' 4 us.
  const auto text = [](const char* launch) {
    return std::string("schema = 1\nkind = \"pipeline\"\nitems = 10\n") +
           "[[stage]]\nname = \"k1\"\nresource = \"gpu\"\ntime = \"2 us\"\nlaunch = \"" + launch +
           "\"\n[[stage]]\nname = \"k2\"\nresource = \"gpu\"\ntime = \"2 us\"\nlaunch = \"" +
           launch + "\"\n[[resource]]\nname = \"gpu\"\nqueue = \"in_order\"\n";
  };
  const Pipeline slow = from_text(text("5 us"));
  CHECK(steady_period(slow, make_schedule(slow))->time.in_base_units() == doctest::Approx(10e-6));
  const Pipeline quick = from_text(text("1 us"));
  CHECK(steady_period(quick, make_schedule(quick))->time.in_base_units() == doctest::Approx(4e-6));
}

TEST_SUITE_END();

}  // namespace floorline
