// SPDX-License-Identifier: Apache-2.0
#include "model/ledger/liveness.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "model/workload/architecture_file.hpp"
#include "model/workload/model_graph.hpp"
#include "tests/demand/one_op.hpp"
#include "tests/property/random_graph.hpp"

using namespace floorline;
using floorline::testing::Dice;
using floorline::testing::graph_of_toml;

namespace {

/// Operators that touch the tensors they name, of sizes given in bytes.
class Chain {
 public:
  Chain& tensor(const std::string& name, std::int64_t bytes, const char* role = "intermediate") {
    text_ += "[tensor." + name + "]\nshape = [" + std::to_string(bytes) +
             "]\ndtype = \"int8\"\nrole = \"" + role + "\"\n";
    return *this;
  }
  Chain& op(const std::string& name, const std::string& inputs, const std::string& outputs,
            const char* kind = "custom") {
    text_ += "[[op]]\nname = \"" + name + "\"\nkind = \"" + kind + "\"\ninputs = [" + inputs +
             "]\noutputs = [" + outputs + "]\n";
    if (std::string(kind) == "custom") text_ += "flops = 1\n";
    return *this;
  }
  Chain& repeat(const std::string& ops, std::int64_t times, const std::string& carry = "") {
    text_ += "[[repeat]]\nname = \"r" + std::to_string(blocks_++) +
             "\"\ntimes = " + std::to_string(times) + "\nops = [" + ops + "]\n";
    if (!carry.empty()) text_ += "carry = [" + carry + "]\n";
    return *this;
  }
  [[nodiscard]] BoundGraph bound() const { return bind(graph_of_toml(text_)); }

 private:
  std::string text_ = "schema = 1\nkind = \"graph\"\n";
  int blocks_ = 0;
};

GraphMemory model_memory(const char* file, Scenario scenario, ParallelLayout layout = {}) {
  return memory_of(bind(model_graph(load_architecture(file), scenario, layout)));
}

/// The same by definition: every iteration written out, every tensor alive from its maker to its
/// last reader.
ByteCount peak_by_definition(const OperatorGraph& graph) {
  const BoundGraph bound = bind(graph);
  std::map<int, std::pair<int, int>> life;
  for (int i = 0; i < static_cast<int>(bound.ops.size()); ++i) {
    const BoundOperator& op = bound.ops[static_cast<std::size_t>(i)];
    for (const TensorUse& use : bound.inputs(op)) {
      if (life.contains(use.tensor)) life[use.tensor].second = i;
    }
    for (const TensorUse& use : bound.outputs(op)) {
      life[use.tensor] = {i, i};
    }
  }
  ByteCount most;
  for (int i = 0; i < static_cast<int>(bound.ops.size()); ++i) {
    ByteCount sum;
    for (const auto& [t, ends] : life) {
      const bool is_output = bound.tensors[static_cast<std::size_t>(t)].role == TensorRole::output;
      if (is_output || ends.first > i || ends.second < i) continue;
      sum = sum + byte_count(bound.tensors[static_cast<std::size_t>(t)]);
    }
    most = std::max(most, sum);
  }
  return most;
}

/// Outputs that a block carries become intermediates: the folded count has a line for one of them.
OperatorGraph without_carried_outputs(OperatorGraph graph) {
  for (const Repeat& repeat : graph.repeats) {
    for (const auto& [made, read] : repeat.carry)
      graph.tensors[index(made)].role = TensorRole::intermediate;
  }
  return graph;
}

}  // namespace

TEST_SUITE("ledger") {
  TEST_CASE("intermediates live from their maker to their last reader") {
    // a 10 -> b 20 -> c 5; a is read again with c: alive 10, 30, 35 (a b c), 15 + output.
    const BoundGraph graph = Chain()
                                 .tensor("x", 100, "input")
                                 .tensor("w", 7, "weight")
                                 .tensor("a", 10)
                                 .tensor("b", 20)
                                 .tensor("c", 5)
                                 .tensor("y", 3, "output")
                                 .op("one", "\"x\", \"w\"", "\"a\"")
                                 .op("two", "\"a\"", "\"b\"")
                                 .op("three", "\"b\"", "\"c\"")
                                 .op("four", "\"a\", \"c\"", "\"y\"")
                                 .bound();
    const GraphMemory memory = memory_of(graph);
    CHECK(memory.peak_intermediates == ByteCount(35));
    CHECK(memory.at == 2);
    CHECK(memory.inputs == ByteCount(100));
    CHECK(memory.weights == ByteCount(7));
    CHECK(memory.outputs == ByteCount(3));
    CHECK(memory.state == ByteCount(0));
    CHECK(memory.peak() == ByteCount(145));
    const auto alive = alive_at_peak(graph);
    REQUIRE(alive.size() == 3);
    CHECK(alive[0].bytes == ByteCount(20));
    CHECK(alive[2].bytes == ByteCount(5));
  }

  TEST_CASE("what nobody reads is there while it is made; no intermediates, no operator") {
    CHECK(memory_of(
              Chain().tensor("x", 1, "input").tensor("a", 9).op("one", "\"x\"", "\"a\"").bound())
              .peak_intermediates == ByteCount(9));
    const GraphMemory none = memory_of(Chain()
                                           .tensor("x", 1, "input")
                                           .tensor("y", 9, "output")
                                           .op("one", "\"x\"", "\"y\"")
                                           .bound());
    CHECK(none.peak_intermediates == ByteCount(0));
    CHECK(none.at == -1);
  }

  TEST_CASE("a repeat block: internal tensors die, carried ones live on, weights multiply") {
    const auto layers = [](std::int64_t times) {
      return memory_of(Chain()
                           .tensor("x", 10, "input")
                           .tensor("w", 7, "weight")
                           .tensor("cache", 4, "state")
                           .tensor("mid", 40)
                           .tensor("z", 10)
                           .tensor("y", 2, "output")
                           .op("up", "\"x\", \"w\", \"cache\"", "\"mid\"")
                           .op("down", "\"mid\"", "\"z\"")
                           .op("head", "\"z\"", "\"y\"")
                           .repeat("\"up\", \"down\"", times, "[\"z\", \"x\"]")
                           .bound());
    };
    // One iteration reads the graph's input (a line): mid + z = 50 at "down".
    CHECK(layers(1).peak_intermediates == ByteCount(50));
    // Later ones read a carried instance: x 10 + mid 40 at "up" is 50 too; x dies before z is made.
    for (const std::int64_t n : {2, 3, 5, 6, 7, 8, 32, 1'000'000'000}) {
      CAPTURE(n);
      const GraphMemory memory = layers(n);
      CHECK(memory.peak_intermediates == ByteCount(50));
      CHECK(memory.weights == ByteCount(7 * n));
      CHECK(memory.state == ByteCount(4 * n));
      CHECK(memory.inputs == ByteCount(10));
    }
    // No iteration: nothing is made, z is x; neither weights nor cache are there.
    const GraphMemory none = layers(0);
    CHECK(none.peak_intermediates == ByteCount(0));
    CHECK(none.weights == ByteCount(0));
    CHECK(none.state == ByteCount(0));
  }

  TEST_CASE("carried tensors that swap live through the block") {
    // a and b change places each iteration and never die in it: 10 + 10, and the 5 made meanwhile.
    for (const std::int64_t n : {2, 9, 10, 1001}) {
      const GraphMemory memory =
          memory_of(Chain()
                        .tensor("x", 1, "input")
                        .tensor("a", 10)
                        .tensor("b", 10)
                        .tensor("t", 5)
                        .tensor("y", 1, "output")
                        .op("first", "\"x\"", "\"a\", \"b\"")
                        .op("step", "\"a\"", "\"t\"")
                        .op("last", "\"a\", \"b\"", "\"y\"")
                        .repeat("\"step\"", n, "[\"a\", \"b\"], [\"b\", \"a\"]")
                        .bound());
      CAPTURE(n);
      CHECK(memory.peak_intermediates == ByteCount(25));
    }
  }

  TEST_CASE("sums beyond 64 bits overflow as a value") {
    Chain chain;
    std::string all;
    chain.tensor("x", 1, "input");
    for (int i = 0; i < 1100; ++i) {
      const std::string name = "t" + std::to_string(i);
      chain.tensor(name, (std::int64_t{1} << 53U) - 1);
      all += (i == 0 ? "\"" : ", \"") + name + "\"";
    }
    // 1100 x 2^53 = 9.9e18 bytes.
    const GraphMemory memory = memory_of(chain.op("one", "\"x\"", all).bound());
    CHECK(memory.peak_intermediates.overflowed());
    CHECK(memory.peak().overflowed());
  }

  TEST_CASE("decode of Llama-3.1-8B: lines of the whole model") {
    Scenario scenario;
    scenario.batch = 2;
    scenario.context = 1023;  // and one new token: 1024 in the cache
    const GraphMemory memory = model_memory("workloads/llama-3.1-8b.json", scenario);
    CHECK(memory.weights == ByteCount(16'060'522'496));
    CHECK(memory.state == ByteCount(131'072LL * 2 * 1024));
    CHECK(memory.outputs == ByteCount(2LL * 128'256 * 2));
    CHECK(memory.inputs == ByteCount(2 * 4));  // ids, int32
    // At "activation": residual 4096, gate, up and the product 14336 each, 2 B, 2 tokens.
    CHECK(memory.peak_intermediates == ByteCount(2LL * 2 * (4096 + 3 * 14'336)));
  }

  TEST_CASE("recurrent state is updated in place") {
    const BoundGraph graph = Chain()
                                 .tensor("x", 10, "input")
                                 .tensor("s", 64, "state")
                                 .tensor("s_new", 64, "state")
                                 .tensor("y", 10, "output")
                                 .op("scan", "\"x\", \"s\"", "\"y\", \"s_new\"")
                                 .bound();
    CHECK(memory_of(graph).state == ByteCount(64));
  }

  TEST_CASE("training: each layer's activations are kept for its backward pass") {
    // Forward keeps h (5) of n iterations and what they read (x: the input, then z of the one
    // before). Backward reads x and h of each, last one first, and makes g (6), kept for update.
    const auto step = [](std::int64_t n) {
      return memory_of(Chain()
                           .tensor("x", 10, "input")
                           .tensor("h", 5)
                           .tensor("z", 10)
                           .tensor("d", 10)
                           .tensor("dx", 10)
                           .tensor("g", 6)
                           .tensor("p", 1, "state")
                           .op("up", "\"x\"", "\"h\"")
                           .op("down", "\"h\"", "\"z\"")
                           .op("loss", "\"z\"", "\"d\"")
                           .op("back", "\"d\", \"x\", \"h\"", "\"dx\", \"g\"",
                               "norm_backward\"\nrows = 1\ncols = 10 #")
                           .op("step", "\"g\"", "\"p\"", "optimizer\"\nn = 6 #")
                           .repeat("\"up\", \"down\"", n, "[\"z\", \"x\"]")
                           .repeat("\"back\"", n, "[\"dx\", \"d\"]")
                           .repeat("\"step\"", n)
                           .bound());
    };
    // n iterations: (n-1) carried x of 10 and n h of 5. The first "back": all of them, d, dx, g:
    // 15 n - 10 + 10 + 10 + 6 = 15 n + 16. The last one: h, d, dx, n g = 25 + 6 n. (x is a line.)
    for (const std::int64_t n : {2, 3, 4, 8, 9, 100, 101, 1'000'000}) {
      CAPTURE(n);
      CHECK(step(n).peak_intermediates == ByteCount(15 * n + 16));
    }
  }

  TEST_CASE("training: gradients may be what peaks at the end") {
    // g of 100: the last "back" holds n of them, h, d and dx: 100 n + 25.
    const auto step = [](std::int64_t n) {
      return memory_of(Chain()
                           .tensor("x", 10, "input")
                           .tensor("h", 5)
                           .tensor("z", 10)
                           .tensor("d", 10)
                           .tensor("dx", 10)
                           .tensor("g", 100)
                           .tensor("p", 1, "state")
                           .op("up", "\"x\"", "\"h\"")
                           .op("down", "\"h\"", "\"z\"")
                           .op("loss", "\"z\"", "\"d\"")
                           .op("back", "\"d\", \"x\", \"h\"", "\"dx\", \"g\"",
                               "norm_backward\"\nrows = 1\ncols = 10 #")
                           .op("step", "\"g\"", "\"p\"", "optimizer\"\nn = 6 #")
                           .repeat("\"up\", \"down\"", n, "[\"z\", \"x\"]")
                           .repeat("\"back\"", n, "[\"dx\", \"d\"]")
                           .repeat("\"step\"", n)
                           .bound());
    };
    for (const std::int64_t n : {2, 3, 8, 9, 100, 1'000'000}) {
      CAPTURE(n);
      CHECK(step(n).peak_intermediates == ByteCount(100 * n + 25));
    }
  }

  TEST_CASE("a carried output: its buffer and one more, by turns") {
    for (const std::int64_t n : {2, 3, 4, 40, 41}) {
      const GraphMemory memory = memory_of(Chain()
                                               .tensor("x", 10, "input")
                                               .tensor("y", 10, "output")
                                               .op("layer", "\"x\"", "\"y\"")
                                               .repeat("\"layer\"", n, "[\"y\", \"x\"]")
                                               .bound());
      CAPTURE(n);
      CHECK(memory.outputs == ByteCount(10));
      CHECK(memory.peak_intermediates == ByteCount(10));
    }
  }

  TEST_CASE("the scratch is reused") {
    Scenario scenario;
    const BoundGraph graph = bind(
        model_graph(load_architecture("workloads/llama-3.1-8b.json"), scenario, ParallelLayout{}));
    LivenessScratch scratch;
    const GraphMemory first = memory_of(graph, scratch);
    const auto* instances = scratch.instances.data();
    const auto* balance = scratch.balance.data();
    CHECK(memory_of(graph, scratch).peak() == first.peak());
    CHECK(scratch.instances.data() == instances);
    CHECK(scratch.balance.data() == balance);
  }
}

TEST_SUITE("property") {
  TEST_CASE("largest tensor <= peak <= sum, and folded equals unrolled") {
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
      CAPTURE(seed);
      Dice dice(seed);
      const OperatorGraph graph =
          without_carried_outputs(floorline::testing::random_graph(dice, true, 14));
      bool empty_block = false;
      for (const Repeat& repeat : graph.repeats)
        empty_block = empty_block || repeat.times.evaluate({}) == 0;
      if (empty_block) continue;  // "same" operators of the unrolled graph copy what is one tensor
      const BoundGraph bound = bind(graph);
      const GraphMemory memory = memory_of(bound);
      CHECK(memory.peak_intermediates == peak_by_definition(floorline::testing::unrolled(graph)));
      ByteCount largest;
      ByteCount sum;
      for (const BoundTensor& tensor : bound.tensors) {
        if (tensor.role != TensorRole::intermediate || tensor.producer < 0) continue;
        largest = std::max(largest, byte_count(tensor));
        sum = sum + byte_count(tensor) * 15;
      }
      CHECK(largest <= memory.peak_intermediates);
      CHECK(memory.peak_intermediates <= sum);
      ByteCount alive;
      for (const AliveTensor& tensor : alive_at_peak(bound)) alive = alive + tensor.bytes;
      CHECK(alive == memory.peak_intermediates);
    }
  }
}
