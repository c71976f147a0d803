// SPDX-License-Identifier: Apache-2.0
// Any bytes as a *.gguf file: tensors that lie in it, each once, or an InputError.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "model/input/diagnostic.hpp"
#include "model/workload/weights_file/gguf_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace floorline;
  try {
    const StoredWeights weights = parse_gguf({reinterpret_cast<const char*>(data), size}, "fuzz");
    // No two on the same bytes, none outside: together they are no larger than the file.
    if (total_bytes(weights) > ByteCount(static_cast<std::int64_t>(size))) std::abort();
    by_dtype(weights);
    largest_tensors(weights, 4);
  } catch (const InputError&) {  // a fine answer
  }
  return 0;
}
