// SPDX-License-Identifier: Apache-2.0
// Any bytes as an operator graph file: an InputError, or a graph whose floors are in order.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "model/input/diagnostic.hpp"
#include "model/workload/graph_file.hpp"
#include "tests/fuzz/require_floors.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace floorline;
  try {
    const Node document = parse_document({reinterpret_cast<const char*>(data), size}, "fuzz");
    testing::require_floors(read_graph(document));
  } catch (const InputError&) {  // a fine answer
  }
  return 0;
}
