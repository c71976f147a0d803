// SPDX-License-Identifier: Apache-2.0
// Any bytes as TOML: a tree or an InputError, nothing else.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "model/input/diagnostic.hpp"
#include "model/input/document_node.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    floorline::parse_toml({reinterpret_cast<const char*>(data), size}, "fuzz.toml");
  } catch (const floorline::InputError&) {  // a fine answer
  }
  return 0;
}
