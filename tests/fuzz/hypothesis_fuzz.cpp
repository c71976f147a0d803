// SPDX-License-Identifier: Apache-2.0
// Any bytes as a hypothesis file: an InputError, or a hypothesis that reads back from its own text.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "model/input/diagnostic.hpp"
#include "validation/hypothesis/hypothesis_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace floorline;
  Hypothesis h;
  try {
    h = parse_hypothesis({reinterpret_cast<const char*>(data), size}, "fuzz");
  } catch (const InputError&) {  // a fine answer
    return 0;
  }
  // What is written is a hypothesis, and the same one.
  const std::string text = write_hypothesis(h);
  if (write_hypothesis(parse_hypothesis(text, "fuzz")) != text) std::abort();
  return 0;
}
