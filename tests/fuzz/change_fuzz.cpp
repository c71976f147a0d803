// SPDX-License-Identifier: Apache-2.0
// Any bytes as changes, one a line, of a small graph and of a device: an InputError, or a graph
// that binds and whose floors are in order. Nothing else.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "model/input/diagnostic.hpp"
#include "model/rewrite/assignment.hpp"
#include "model/rewrite/kernel_numbers.hpp"
#include "model/whatif/amdahl.hpp"
#include "model/whatif/whatif.hpp"
#include "model/workload/op_text.hpp"
#include "tests/fuzz/require_floors.hpp"

namespace {

using namespace floorline;

void change(OperatorGraph& graph, const std::string& line) {
  const Assignment a = parse_assignment(line);
  if (names_clock(a.name)) {
    ClockChoice clocks;
    assign(clocks, a);
  } else {
    assign(graph, a);
  }
}

template <class Reader>
void only_input_errors(Reader reader) {
  try {
    reader();
  } catch (const InputError&) {  // a fine answer
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  only_input_errors([&] {
    OperatorGraph graph = parse_op_text(
        "attention batch=2 q_heads=4 kv_heads=2 q_len=8 kv_len=16 head_dim=8 form=naive");
    std::size_t start = 0;
    while (start <= text.size()) {
      const std::size_t end = std::min(text.find('\n', start), text.size());
      if (end > start) change(graph, text.substr(start, end - start));
      start = end + 1;
    }
    floorline::testing::require_floors(graph);
  });
  only_input_errors([&] { (void)read_point(text); });
  only_input_errors([&] { (void)read_measured({text}); });
  only_input_errors([&] {
    KernelNumbers kernel{Flops(1), Bytes(1), FlopsPerSecond(1), BytesPerSecond(1)};
    assign(kernel, parse_assignment(text));
    (void)rates_of(kernel);
  });
  return 0;
}
