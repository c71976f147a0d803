// SPDX-License-Identifier: Apache-2.0
// Any bytes as JSON: a tree or an InputError, nothing else.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "model/input/diagnostic.hpp"
#include "model/input/document_node.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    floorline::parse_json({reinterpret_cast<const char*>(data), size}, "fuzz.json");
  } catch (const floorline::InputError&) {  // a fine answer
  }
  return 0;
}
