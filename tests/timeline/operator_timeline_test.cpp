// SPDX-License-Identifier: Apache-2.0
#include "model/timeline/operator_timeline.hpp"

#include <doctest/doctest.h>

#include <string>

#include "model/floor/critical_path.hpp"
#include "model/input/diagnostic.hpp"
#include "model/timeline/analysis.hpp"
#include "tests/demand/one_op.hpp"
#include "tests/floor/test_machine.hpp"
#include "tests/property/random_graph.hpp"

using namespace floorline;
using namespace floorline::testing;

namespace {

/// Tensors of 4.5 MB (4.5 us of HBM each way); on the round device 1.25 GFLOP are 10 us of bf16,
/// and an all_reduce of 4.5 MB over two ranks is 10 us of the link.
std::string graph_text(const std::string& symbols, const std::string& ops) {
  std::string text = "schema = 1\nkind = \"graph\"\n[symbols]\nn = 1125000\n" + symbols;
  for (const char* name : {"x", "g", "gr", "h", "y"}) {
    text += std::string("[tensor.") + name + "]\nshape = [\"n\"]\ndtype = \"fp32\"\nrole = \"" +
            (name[0] == 'x'   ? "input"
             : name[0] == 'y' ? "output"
                              : "intermediate") +
            "\"\n";
  }
  return text + ops;
}
std::string op(const std::string& name, const std::string& in, const std::string& out,
               const std::string& flops) {
  return "[[op]]\nname = \"" + name + "\"\nkind = \"custom\"\ncompute = \"bf16\"\ninputs = [" + in +
         "]\noutputs = [\"" + out + "\"]\nflops = " + flops + "\n";
}
const std::string kExchange =
    "[[op]]\nname = \"exchange\"\nkind = \"all_reduce\"\ninputs = [\"g\"]\noutputs = [\"gr\"]\n"
    "ranks = 2\n";

Pipeline pipeline_of(const std::string& text, OperatorDuration how = OperatorDuration::cold) {
  const Evaluation e = evaluate(graph_of_toml(text), round_machine());
  return operator_pipeline(e.graph, e.bound, e.floors, how);
}
double us(Seconds t) { return t.in_base_units() * 1e6; }

}  // namespace

TEST_SUITE("timeline") {
  TEST_CASE("communication beside compute") {
    // A 0-10; exchange 10-20 beside B 10-20; C (20 us) 20-40. One after another: 50.
    const Pipeline p = pipeline_of(graph_text("", op("A", "\"x\"", "g", "1.25e9") + kExchange +
                                                      op("B", "\"x\"", "h", "1.25e9") +
                                                      op("C", "\"gr\", \"h\"", "y", "2.5e9")));
    const Timeline t = analyse(p, make_schedule(p));
    CHECK(us(t.schedule.makespan()) == doctest::Approx(40));
    REQUIRE(t.exposed_communication.has_value());
    CHECK(us(*t.exposed_communication) == doctest::Approx(0));
    CHECK(us(*t.communication) == doctest::Approx(10));
  }

  TEST_CASE("communication that the next kernel waits for is exposed") {
    // A 0-10, exchange 10-20, B reads it 20-30, C 30-50.
    const Pipeline p = pipeline_of(graph_text("", op("A", "\"x\"", "g", "1.25e9") + kExchange +
                                                      op("B", "\"gr\"", "h", "1.25e9") +
                                                      op("C", "\"gr\", \"h\"", "y", "2.5e9")));
    const Timeline t = analyse(p, make_schedule(p));
    CHECK(us(t.schedule.makespan()) == doctest::Approx(50));
    CHECK(us(*t.exposed_communication) == doctest::Approx(10));
  }

  TEST_CASE("a repeat block is unrolled; an iteration reads what the last one made") {
    // A, then three times (exchange, B) in a chain: 10 + 3 x 20; then C: 20 more.
    const std::string block =
        "[[repeat]]\nname = \"layer\"\ntimes = \"layers\"\nops = [\"exchange\", \"B\"]\n"
        "carry = [[\"h\", \"g\"]]\n";
    const std::string ops = op("A", "\"x\"", "g", "1.25e9") + kExchange +
                            op("B", "\"gr\"", "h", "1.25e9") + op("C", "\"h\"", "y", "2.5e9");
    const Pipeline three = pipeline_of(graph_text("layers = 3\n", ops + block));
    CHECK(three.stages.size() == 8);
    CHECK(three.stages[3].name == "exchange [1]");
    CHECK(three.stages[3].group == "exchange");
    CHECK(us(make_schedule(three).makespan()) == doctest::Approx(90));
    // No layer: C reads what A made.
    CHECK(us(make_schedule(pipeline_of(graph_text("layers = 0\n", ops + block))).makespan()) ==
          doctest::Approx(30));
    CHECK_THROWS_AS(pipeline_of(graph_text("layers = 200000\n", ops + block)), InputError);
  }

  TEST_CASE("random graphs: between the critical path and the sum of all operators") {
    const Machine machine = round_machine();
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
      CAPTURE(seed);
      Dice dice(seed);
      const OperatorGraph graph = random_graph(dice, true);
      Evaluation e = evaluate(graph, machine);
      const Pipeline p = operator_pipeline(e.graph, e.bound, e.floors, OperatorDuration::cold);
      const double end = us(make_schedule(p).makespan());
      const double path = us(longest_path(e.bound, e.floors, PathTime::cold));
      CHECK(end >= path * (1 - 1e-6));
      CHECK(end <= us(e.floors.serial.cold) * (1 + 1e-6) + 1e-6);
    }
  }
}
