// SPDX-License-Identifier: Apache-2.0
// Between a prepared graph and its floors nothing is allocated. The global operator new is replaced
// for the whole program; it counts only between the two markers of Counted.
#include <doctest/doctest.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

#include "model/sweep/sweep.hpp"
#include "tests/demand/one_op.hpp"
#include "tests/floor/test_machine.hpp"

namespace {

std::atomic<bool> g_counting{false};
std::atomic<long> g_allocations{0};

void* allocate_or_null(std::size_t size, std::size_t alignment) noexcept {
  if (g_counting) ++g_allocations;
  const std::size_t least = size == 0 ? 1 : size;
  if (alignment <= alignof(std::max_align_t)) return std::malloc(least);
  return std::aligned_alloc(alignment, (least + alignment - 1) / alignment * alignment);
}
void* allocate(std::size_t size, std::size_t alignment) {
  void* memory = allocate_or_null(size, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

/// Counts the allocations while it lives.
class Counted {
 public:
  Counted() {
    g_allocations = 0;
    g_counting = true;
  }
  ~Counted() { g_counting = false; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  static long so_far() {
    g_counting = false;
    return g_allocations;
  }
};

}  // namespace

// Every form, since a sanitizer brings its own for those that are not replaced.
void* operator new(std::size_t size) { return allocate(size, 1); }
void* operator new[](std::size_t size) { return allocate(size, 1); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return allocate_or_null(size, 1);
}
void* operator new[](std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return allocate_or_null(size, 1);
}
void* operator new(std::size_t size, std::align_val_t alignment,
                   const std::nothrow_t& /*tag*/) noexcept {
  return allocate_or_null(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment,
                     const std::nothrow_t& /*tag*/) noexcept {
  return allocate_or_null(size, static_cast<std::size_t>(alignment));
}
// Every operator new here ends in malloc or aligned_alloc; g++ sees through only some of them.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t /*size*/) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t /*alignment*/) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/, std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t /*size*/,
                       std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}
void operator delete(void* memory, const std::nothrow_t& /*tag*/) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t& /*tag*/) noexcept { std::free(memory); }

using namespace floorline;
using namespace floorline::testing;

namespace {

/// Every kind of work that has scratch of its own: repeat blocks with carried tensors, sequences of
/// unequal length, a product, a collective, a copy.
OperatorGraph large_graph() {
  return graph_of_toml(R"(
schema = 1
kind = "graph"
symbols = { rows = 256, layers = 80, cached = 512 }
[tensor]
x = { shape = ["rows", 64], dtype = "bf16", role = "input" }
r = { shape = ["rows", 64], dtype = "bf16", role = "input" }
w = { shape = [64, 64], dtype = "bf16", role = "weight" }
scale = { shape = [64], dtype = "bf16", role = "weight" }
k = { shape = ["cached", 64], dtype = "bf16", role = "state" }
v = { shape = ["cached", 64], dtype = "bf16", role = "state" }
q = { shape = ["rows", 64], dtype = "bf16", role = "intermediate" }
a = { shape = ["rows", 64], dtype = "bf16", role = "intermediate" }
s = { shape = ["rows", 64], dtype = "bf16", role = "intermediate" }
n = { shape = ["rows", 64], dtype = "bf16", role = "intermediate" }
sum = { shape = ["rows", 64], dtype = "bf16", role = "intermediate" }
host = { shape = ["rows", 64], dtype = "bf16", role = "output" }
[[op]]
name = "q_proj"
kind = "gemm"
inputs = ["x", "w"]
outputs = ["q"]
[[op]]
name = "attention"
kind = "attention"
inputs = ["q", "k", "v"]
outputs = ["a"]
q_heads = 1
kv_heads = 1
head_dim = 64
sequences = [{ count = 1, q_len = 128, kv_len = 256 }, { count = 128, q_len = 1, kv_len = 2 }]
[[op]]
name = "all_reduce"
kind = "all_reduce"
ranks = 8
inputs = ["a"]
outputs = ["s"]
[[op]]
name = "norm"
kind = "rmsnorm"
compute = "fp32"
inputs = ["s", "r", "scale"]
outputs = ["n", "sum"]
[[op]]
name = "fetch"
kind = "copy"
path = "d2h"
inputs = ["n"]
outputs = ["host"]
[[repeat]]
name = "layer"
times = "layers"
ops = ["q_proj", "attention", "all_reduce", "norm"]
carry = [["n", "x"], ["sum", "r"]]
)");
}

}  // namespace

TEST_SUITE("floor") {
  TEST_CASE("the counter counts") {
    const Counted counted;
    const std::vector<int> some(100);
    CHECK(Counted::so_far() >= 1);
    CHECK(some.size() == 100);
  }

  TEST_CASE("floors of a prepared graph allocate nothing") {
    const Machine machine = round_machine();
    const BoundGraph bound = bind(large_graph());
    GraphFloors floors;
    prepare(bound, floors);
    long allocations = 0;
    {
      const Counted counted;
      graph_floors(bound, machine.rates, machine.chip, floors);
      allocations = Counted::so_far();
    }
    CHECK(allocations == 0);
    CHECK(floors.serial.cold > Seconds(0));
  }

  TEST_CASE("the same graph with other symbol values allocates nothing") {
    const Machine machine = round_machine();
    Evaluation evaluation = evaluate(large_graph(), machine);
    const Seconds before = evaluation.floors.serial.cold;
    std::vector<double> values = evaluation.graph.symbol_values;
    values[static_cast<std::size_t>(evaluation.graph.symbols.find("layers").value())] = 160;
    long allocations = 0;
    bool fine = false;
    {
      const Counted counted;
      fine = reevaluate(machine, values, evaluation);
      allocations = Counted::so_far();
    }
    CHECK(fine);
    CHECK(allocations == 0);
    CHECK(evaluation.floors.serial.cold > before);
  }

  TEST_CASE("a sweep allocates as much for 40 chunks as for 4") {
    const auto counted = [](std::uint64_t points) {
      std::vector<GridAxis> axes{GridAxis::parse("rows=128..512:+128"),
                                 GridAxis::parse("layers=1..1e6:+1")};
      Sweep sweep({large_graph(), {}}, {round_machine().device}, {}, Grid(std::move(axes), 1));
      sweep.run({0, 1}, [](std::span<const SweepRow>) { return true; });
      const Counted all;
      sweep.run({0, points}, [](std::span<const SweepRow>) { return true; });
      return Counted::so_far();
    };
    CHECK(counted(4 * Sweep::kChunk) == counted(40 * Sweep::kChunk));
  }
}
