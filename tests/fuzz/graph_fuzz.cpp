// SPDX-License-Identifier: Apache-2.0
// Any bytes as an operator graph file: an InputError, or a graph whose floors are in order and
// whose memory is counted.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "model/input/diagnostic.hpp"
#include "model/ledger/liveness.hpp"
#include "model/workload/graph_file.hpp"
#include "tests/fuzz/require_floors.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace floorline;
  try {
    const Node document = parse_document({reinterpret_cast<const char*>(data), size}, "fuzz");
    const OperatorGraph graph = read_graph(document);
    testing::require_floors(graph);
    const BoundGraph bound = bind(graph);
    const GraphMemory memory = memory_of(bound);
    for (const AliveTensor& tensor : alive_at_peak(bound)) {
      if (tensor.bytes > memory.peak_intermediates) std::abort();
    }
  } catch (const InputError&) {  // a fine answer
  }
  return 0;
}
