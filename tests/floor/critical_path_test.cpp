// SPDX-License-Identifier: Apache-2.0
#include "model/floor/critical_path.hpp"

#include <doctest/doctest.h>

#include <string>

#include "tests/demand/one_op.hpp"
#include "tests/floor/test_machine.hpp"
#include "tests/property/random_graph.hpp"

using namespace floorline;
using namespace floorline::testing;

namespace {

/// The longest path alone, in microseconds.
double path(const OperatorGraph& graph, const Machine& machine, PathTime which = PathTime::cold) {
  const BoundGraph bound = bind(graph);
  GraphFloors floors;
  prepare(bound, floors);
  graph_floors(bound, machine.rates, machine.chip, floors);
  return longest_path(bound, floors, which).in_base_units() * 1e6;
}

/// Builds graphs whose operators take so many microseconds each (as work of the tensor unit,
/// 125 FLOP a picosecond).
class Chain {
 public:
  TensorId input() { return tensor(TensorRole::input); }
  TensorId op(double microseconds, std::vector<TensorId> inputs) {
    Operator op;
    op.name = "op" + std::to_string(graph.ops.size());
    op.compute = Precision::bf16;
    op.accumulate = Precision::fp32;
    op.attributes.push_back({Key::flops, Expression(microseconds * 125e6)});
    op.inputs = std::move(inputs);
    const TensorId made = tensor(TensorRole::intermediate);
    op.outputs = {made};
    graph.ops.push_back(std::move(op));
    return made;
  }
  void repeat(int first, int last, double times, std::vector<std::pair<TensorId, TensorId>> carry) {
    Repeat repeat;
    repeat.name = "r" + std::to_string(graph.repeats.size());
    repeat.times = Expression(times);
    for (int i = first; i <= last; ++i) repeat.ops.push_back(static_cast<OperatorId>(i));
    repeat.carry = std::move(carry);
    graph.repeats.push_back(std::move(repeat));
  }
  OperatorGraph graph;

 private:
  /// Empty, so that only the stated work takes time.
  TensorId tensor(TensorRole role) {
    return add_tensor(graph, "t" + std::to_string(graph.tensors.size()), 0, role);
  }
};

}  // namespace

TEST_SUITE("floor") {
  TEST_CASE("critical path: a chain, a diamond, and two chains side by side") {
    const Machine machine = round_machine();
    Chain chain;
    const TensorId a = chain.op(1, {chain.input()});
    chain.op(2, {a});
    CHECK(path(chain.graph, machine) == doctest::Approx(3).epsilon(1e-12));

    Chain diamond;
    const TensorId top = diamond.op(1, {diamond.input()});
    const TensorId left = diamond.op(5, {top});
    const TensorId right = diamond.op(3, {top});
    diamond.op(2, {left, right});
    CHECK(path(diamond.graph, machine) == doctest::Approx(8).epsilon(1e-12));  // 1 + 5 + 2

    Chain two;
    const TensorId b = two.op(4, {two.input()});
    two.op(4, {two.input()});
    two.op(1, {b});
    CHECK(path(two.graph, machine) == doctest::Approx(5).epsilon(1e-12));  // 4 + 1, the other 4
  }

  TEST_CASE("critical path: a carried tensor makes iterations follow each other") {
    const Machine machine = round_machine();
    for (const int times : {0, 1, 2, 80}) {
      CAPTURE(times);
      Chain c;
      const TensorId x = c.op(10, {c.input()});
      const TensorId y = c.op(3, {x});
      const TensorId z = c.op(2, {y});
      c.op(7, {z});
      c.repeat(1, 2, times, {{z, x}});
      // 10, then 5 an iteration, then 7; with none the last operator reads what the first made.
      CHECK(path(c.graph, machine) == doctest::Approx(17 + 5 * times).epsilon(1e-12));
    }
  }

  TEST_CASE("critical path: iterations that carry nothing are side by side") {
    const Machine machine = round_machine();
    for (const int times : {1, 2, 80}) {
      Chain c;
      const TensorId x = c.op(10, {c.input()});
      c.op(3, {x});
      c.repeat(1, 1, times, {});
      CHECK(path(c.graph, machine) == doctest::Approx(13).epsilon(1e-12));
    }
  }

  TEST_CASE("critical path: two carried tensors, the slower one wins after a while") {
    const Machine machine = round_machine();
    // a is ready at 0 and takes 3 an iteration; b is ready at 100 and takes 1; the end reads both.
    const auto graph = [](double times) {
      Chain c;
      const TensorId a = c.op(0, {c.input()});
      const TensorId b = c.op(100, {c.input()});
      const TensorId a2 = c.op(3, {a});
      const TensorId b2 = c.op(1, {b});
      c.op(0.5, {a2, b2});
      c.repeat(2, 3, times, {{a2, a}, {b2, b}});
      return c.graph;
    };
    CHECK(path(graph(10), machine) ==
          doctest::Approx(110.5).epsilon(1e-12));  // 100 + 10 against 30
    CHECK(path(graph(50), machine) == doctest::Approx(150.5).epsilon(1e-12));  // both 150
    CHECK(path(graph(80), machine) == doctest::Approx(240.5).epsilon(1e-12));  // 3 x 80
  }

  TEST_CASE("critical path: an iteration in the middle may end last") {
    const Machine machine = round_machine();
    // p and q change places. p starts a long operator whose result nobody carries; q comes at 50.
    Chain c;
    const TensorId p = c.op(0, {c.input()});
    const TensorId q = c.op(50, {c.input()});
    c.op(100, {p});
    const TensorId p2 = c.op(0, {q});
    const TensorId q2 = c.op(0, {p});
    c.repeat(2, 4, 3, {{p2, p}, {q2, q}});
    // Iterations 1 and 3 have p at 0 and end at 100; the second has it at 50.
    CHECK(path(c.graph, machine) == doctest::Approx(150).epsilon(1e-12));
    CHECK(path(unrolled(c.graph), machine) == doctest::Approx(150).epsilon(1e-12));
  }

  TEST_CASE("critical path: what is carried may be what was carried before") {
    const Machine machine = round_machine();
    // next <- made, older <- next: an iteration reads what the one before the last one made.
    Chain c;
    const TensorId next = c.op(0, {c.input()});
    const TensorId older = c.op(0, {c.input()});
    const TensorId made = c.op(4, {older});
    c.repeat(2, 2, 6, {{made, next}, {next, older}});
    CHECK(path(c.graph, machine) ==
          doctest::Approx(12).epsilon(1e-12));  // three pairs side by side
  }

  TEST_CASE("critical path: an operator without inputs starts at once in every iteration") {
    const Machine machine = round_machine();
    Chain c;
    const TensorId x = c.op(10, {c.input()});
    const TensorId free = c.op(6, {});
    const TensorId y = c.op(1, {x, free});
    c.repeat(1, 2, 3, {{y, x}});
    CHECK(path(c.graph, machine) == doctest::Approx(13).epsilon(1e-12));  // 10 + 3 x 1
  }

  TEST_CASE("critical path: millions of iterations cost no more than a few") {
    const Machine machine = round_machine();
    Chain c;
    const TensorId x = c.input();
    const TensorId y = c.op(3, {x});
    c.repeat(0, 0, 1e9, {{y, x}});
    CHECK(path(c.graph, machine) == doctest::Approx(3e9).epsilon(1e-9));
  }

  TEST_CASE("critical path: repeat blocks are the same as the graph written out") {
    const Machine machine = round_machine();
    int with_carry = 0;
    for (int seed = 0; seed < 500; ++seed) {
      CAPTURE(seed);
      Dice dice(static_cast<std::uint64_t>(seed) + 10'000);
      const OperatorGraph graph = random_graph(dice, true, seed % 5 == 0 ? 80 : 9);
      for (const Repeat& repeat : graph.repeats) with_carry += repeat.carry.empty() ? 0 : 1;
      const OperatorGraph flat = unrolled(graph);
      if (flat.ops.empty()) continue;  // all blocks ran no times
      for (const PathTime which : {PathTime::cold, PathTime::any_residency}) {
        CHECK(path(graph, machine, which) ==
              doctest::Approx(path(flat, machine, which)).epsilon(1e-9));
      }
    }
    CHECK(with_carry > 200);
  }

  TEST_CASE("critical path: per-resource sums hold where independent chains share a unit") {
    const Machine machine = round_machine();
    Chain c;
    for (int i = 0; i < 5; ++i) c.op(2, {c.input()});
    const Evaluation e = evaluate(c.graph, machine);
    CHECK(e.floors.critical_path.cold.in_base_units() * 1e6 == doctest::Approx(10).epsilon(1e-12));
    CHECK(path(c.graph, machine) == doctest::Approx(2).epsilon(1e-12));
  }

  TEST_CASE("a chain is known as one, and the matrix gives the same") {
    // 5 + 3 (2 + 4) + 1 us: each waits for the one before.
    Chain c;
    const TensorId x = c.op(5, {c.input()});
    const TensorId a = c.op(2, {x});
    const TensorId b = c.op(4, {a, x});
    c.op(1, {b});
    c.repeat(1, 2, 3, {{b, x}});
    const Machine machine = round_machine();
    const BoundGraph bound = bind(c.graph);
    CHECK(is_chain(bound));
    GraphFloors floors;
    prepare(bound, floors);
    graph_floors(bound, machine.rates, machine.chip, floors);
    CHECK(longest_path(bound, floors, PathTime::cold).in_base_units() * 1e6 == doctest::Approx(24));
    floors.chain = false;
    CHECK(longest_path(bound, floors, PathTime::cold).in_base_units() * 1e6 == doctest::Approx(24));
  }

  TEST_CASE("what is no chain") {
    // The last reads the first, not the one before it; a block whose iterations do not wait.
    Chain c;
    const TensorId x = c.op(5, {c.input()});
    c.op(2, {x});
    c.op(4, {x});
    CHECK_FALSE(is_chain(bind(c.graph)));
    Chain d;
    const TensorId y = d.op(5, {d.input()});
    d.op(2, {y});
    d.repeat(1, 1, 3, {});
    CHECK_FALSE(is_chain(bind(d.graph)));
  }
}
