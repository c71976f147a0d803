// SPDX-License-Identifier: Apache-2.0
// Headers of *.safetensors (https://github.com/huggingface/safetensors, "Format"):
//   8 bytes          N, the header's length, little-endian
//   N bytes          JSON { "name": { "dtype", "shape", "data_offsets": [begin, end] }, … }
//   all that follows the data, offsets counted from here; no holes, no overlaps, nothing behind
// The data are not read. Positions of errors count lines and columns from the header's first byte.
#pragma once

#include <string>
#include <string_view>

#include "model/workload/weights_file/stored_weights.hpp"

namespace floorline {

/// Throws InputError with all that is wrong.
StoredWeights load_safetensors(const std::string& path);
/// From bytes in memory, for tests.
StoredWeights parse_safetensors(std::string_view bytes, const std::string& file_name);
/// model.safetensors.index.json and the files beside it that it names.
StoredWeights load_safetensors_index(const std::string& path);

}  // namespace floorline
