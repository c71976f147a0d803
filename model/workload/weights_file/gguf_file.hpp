// SPDX-License-Identifier: Apache-2.0
// Headers of *.gguf, versions 2 and 3 (ggml, docs/gguf.md), little-endian:
//   "GGUF", version u32, tensors u64, keys u64
//   keys      name (length u64, bytes), type u32, value; arrays: item type u32, length u64, items
//   tensors   name, dimensions u32, sizes u64 each (the fastest first), type u32, offset u64
//   data      from the next multiple of general.alignment (32) on; offsets are counted from there
// Quantized types store rows in blocks: of `elements` numbers each, in `bytes`. The data are not
// read. A model in several files (split.count) is all of them together.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/workload/weights_file/stored_weights.hpp"

namespace floorline {

struct GgufType {
  std::string_view name;
  std::int64_t elements = 1;  ///< of a block
  std::int64_t bytes = 0;     ///< 0: a type that was removed from the format
};
/// nullptr: no such type.
const GgufType* gguf_type(std::uint32_t id);

/// Throws InputError. With the other files of a split model beside it.
StoredWeights load_gguf(const std::string& path);
/// One file from bytes in memory, for tests.
StoredWeights parse_gguf(std::string_view bytes, const std::string& file_name);

}  // namespace floorline
