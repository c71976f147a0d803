// SPDX-License-Identifier: Apache-2.0
// Weights by a path: a *.safetensors file, an index of several, a *.gguf file, or a folder that
// holds one of these.
#pragma once

#include <string>

#include "model/workload/weights_file/stored_weights.hpp"

namespace floorline {

/// In a folder: model.safetensors.index.json, else its *.safetensors, else its *.gguf (one model).
/// Throws InputError.
StoredWeights load_stored_weights(const std::string& path);

}  // namespace floorline
