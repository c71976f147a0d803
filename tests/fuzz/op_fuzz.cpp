// SPDX-License-Identifier: Apache-2.0
// Any bytes as --op: an InputError, or a graph whose floors are in order. Nothing else.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "model/input/diagnostic.hpp"
#include "model/workload/op_text.hpp"
#include "tests/fuzz/require_floors.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace floorline;
  try {
    testing::require_floors(parse_op_text({reinterpret_cast<const char*>(data), size}));
  } catch (const InputError&) {  // a fine answer
  }
  return 0;
}
