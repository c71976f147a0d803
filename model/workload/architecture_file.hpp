// SPDX-License-Identifier: Apache-2.0
// A model's config.json (or the same keys as TOML) to its architecture. Keys are used, known not to
// matter, or unknown: an unknown one that may change sizes is an error, any other is named in the
// assumptions. workloads/MODELS.md tells the keys.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/workload/architecture.hpp"

namespace floorline {

struct Node;

/// Throws InputError, with all that is wrong.
Architecture load_architecture(const std::string& path);
/// From text, for tests.
Architecture parse_architecture(std::string_view text, std::string_view file_name);
Architecture architecture_from(const Node& config, std::string name);
/// Whether a document is a model configuration and not one of our own formats.
bool is_model_config(const Node& document);
/// "LlamaForCausalLM"…: what `architectures` may say.
std::vector<std::string> known_architectures();

}  // namespace floorline
